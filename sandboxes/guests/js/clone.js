// structuredClone: the standard's algorithm for the types this engine has; nothing can be transferred.

const DOMExceptionC = DOMException;
const uncloneable = (what) => new DOMExceptionC(`${what} could not be cloned.`, 'DataCloneError');
const ERROR_TYPES = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

const cloneBuffer = (buffer, seen) => {
  const known = mapGet(seen, buffer);
  if (known !== undefined) return known;
  const copy = bufferSlice(buffer, 0);
  mapSet(seen, buffer, copy);
  return copy;
};

const VIEW_TYPES = {
  __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
  BigUint64Array, Float32Array, Float64Array,
};
if (typeof Float16Array === 'function') VIEW_TYPES.Float16Array = Float16Array;

/** A copy of what is no plain object or list, or undefined. */
const cloneKnown = (value, seen) => {
  const time = branded(dateValue, value);
  if (time !== undefined) return new DateC(time);
  if (branded(bufferBytes, value) !== undefined) return cloneBuffer(value, seen);
  const tag = branded(typedTag, value);
  if (tag !== undefined) return new VIEW_TYPES[tag](cloneBuffer(typedBuffer(value), seen), typedOffset(value), typedLength(value));
  if (branded(viewBytes, value) !== undefined)
    return new DataViewC(cloneBuffer(viewBuffer(value), seen), viewOffset(value), viewBytes(value));
  if (isInChain(RegExpP, value)) return new RegExpC(value.source, value.flags);
  const boxed = special2(value);
  return boxed === undefined ? undefined : ObjectC(boxed.value);
};

const cloneError = (error, seen) => {
  const name = textOf(peek(error, 'name'), 'Error');
  const copy = construct(ERROR_TYPES[name] ?? ErrorC, [textOf(peek(error, 'message'), '')]);
  mapSet(seen, error, copy);
  if (hasOwn(error, 'cause')) put(copy, 'cause', cloneValue(error.cause, seen), false);
  put(copy, 'stack', peek(error, 'stack'), false);
  return copy;
};

const cloneProperties = (value, copy, seen) => {
  const keys = keysOf(value);
  for (let i = 0; i < keys.length; i++) put(copy, keys[i], cloneValue(value[keys[i]], seen));
  return copy;
};

const cloneValue = (value, seen) => {
  if (typeof value === 'function') throw uncloneable(functionLabel(value));
  if (typeof value === 'symbol') throw uncloneable(symbolText(value));
  if (typeof value !== 'object' || value === null) return value;
  const known = mapGet(seen, value);
  if (known !== undefined) return known;
  if (isPromise(value)) throw uncloneable('A promise');
  if (isInChain(ErrorP, value)) return cloneError(value, seen);
  if (isArray(value)) {
    const copy = new ArrayC(value.length);
    mapSet(seen, value, copy);
    return cloneProperties(value, copy, seen);
  }
  if (branded(mapSize, value) !== undefined) {
    const copy = new MapC(), { keys, values } = openMap(value, null);
    mapSet(seen, value, copy);
    for (let i = 0; i < keys.length; i++) mapSet(copy, cloneValue(keys[i], seen), cloneValue(values[i], seen));
    return copy;
  }
  if (branded(setSize, value) !== undefined) {
    const copy = new SetC(), { values } = openSet(value, null);
    mapSet(seen, value, copy);
    for (let i = 0; i < values.length; i++) setAdd(copy, cloneValue(values[i], seen));
    return copy;
  }
  const special = kindOf(value) === SPECIAL ? cloneKnown(value, seen) : undefined;
  const copy = special ?? {};
  mapSet(seen, value, copy);
  return special === undefined ? cloneProperties(value, copy, seen) : copy;
};

replaceable('structuredClone', { structuredClone(value) {
  if (arguments.length === 0) throw new TypeErrorC('structuredClone needs a value');
  return cloneValue(value, new MapC());
} }.structuredClone);
