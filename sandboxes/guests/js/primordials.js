// The language as it was before the script could touch it.
//
// A script may overwrite every builtin, so nothing after this file calls a method through an object:
// `mapGet(map, key)`, never `map.get(key)`. Three more habits keep the bridge its own:
// - objects made here have no prototype (`__proto__: null`), lists grow by `append`, never by assignment past
//   their end (an accessor on Array.prototype would see it);
// - no spread, no destructuring of arrays, no for-of: they run Array.prototype[Symbol.iterator];
// - a promise is awaited only after `own` has pinned its constructor, so that `await` stays inside the engine.
const {
  apply, construct, defineProperty: define, getOwnPropertyDescriptor: describeProperty, getPrototypeOf: protoOf, ownKeys,
  deleteProperty, has: hasProperty,
} = Reflect;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const getterOf = (object, key) => uncurry(describeProperty(object, key).get);

const GlobalObject = globalThis;
const ArrayC = Array, BigIntC = BigInt, DateC = Date, ErrorC = Error, MapC = Map, NumberC = Number, ObjectC = Object,
  PromiseC = Promise, ProxyC = Proxy, RangeErrorC = RangeError, SetC = Set, StringC = String, SyntaxErrorC = SyntaxError,
  SymbolC = Symbol, TypeErrorC = TypeError, RegExpC = RegExp, Uint8ArrayC = Uint8Array, WeakSetC = WeakSet, DataViewC = DataView;
const AsyncFunctionC = (async () => {}).constructor;
const TypedArrayC = protoOf(Uint8Array);
const ArrayP = Array.prototype, ErrorP = Error.prototype, MapP = Map.prototype, ObjectP = Object.prototype,
  PromiseP = Promise.prototype, SetP = Set.prototype, DateP = Date.prototype, RegExpP = RegExp.prototype,
  FunctionP = Function.prototype, ArrayBufferP = ArrayBuffer.prototype, TypedArrayP = TypedArrayC.prototype;
const IteratorP = protoOf(protoOf([][Symbol.iterator]()));
const AsyncIteratorP = protoOf(protoOf((async function* () {}).prototype));

const isArray = Array.isArray, keysOf = Object.keys, freeze = Object.freeze, create = Object.create;
const parseJson = JSON.parse, quote = JSON.stringify;
const floor = Math.floor, imul = Math.imul, max = Math.max, min = Math.min;
const fromCharCode = String.fromCharCode, fromCodePoint = String.fromCodePoint;
const isFiniteNumber = Number.isFinite, isIntegerNumber = Number.isInteger;
const decodePart = decodeURIComponent, encodePart = encodeURIComponent;

const hasOwn = Object.hasOwn;
const isPrototypeOf = uncurry(ObjectP.isPrototypeOf);
const isEnumerableIn = uncurry(ObjectP.propertyIsEnumerable);
const slice = uncurry(ArrayP.slice), join = uncurry(ArrayP.join), sort = uncurry(ArrayP.sort);
const textSlice = uncurry(StringC.prototype.slice), indexOf = uncurry(StringC.prototype.indexOf),
  lastIndexOf = uncurry(StringC.prototype.lastIndexOf), charCodeAt = uncurry(StringC.prototype.charCodeAt),
  codePointAt = uncurry(StringC.prototype.codePointAt), startsWith = uncurry(StringC.prototype.startsWith),
  endsWith = uncurry(StringC.prototype.endsWith), lower = uncurry(StringC.prototype.toLowerCase),
  upper = uncurry(StringC.prototype.toUpperCase),
  repeat = uncurry(StringC.prototype.repeat), padStart = uncurry(StringC.prototype.padStart),
  padEnd = uncurry(StringC.prototype.padEnd), isWellFormed = uncurry(StringC.prototype.isWellFormed),
  toWellFormed = uncurry(StringC.prototype.toWellFormed), trim = uncurry(StringC.prototype.trim),
  trimStart = uncurry(StringC.prototype.trimStart), trimEnd = uncurry(StringC.prototype.trimEnd);
const match = uncurry(RegExpP.exec);
const mapGet = uncurry(MapP.get), mapSet = uncurry(MapP.set), mapHas = uncurry(MapP.has), mapDelete = uncurry(MapP.delete),
  mapEach = uncurry(MapP.forEach), mapSize = getterOf(MapP, 'size');
const setEach = uncurry(SetP.forEach), setSize = getterOf(SetP, 'size'), setAdd = uncurry(SetP.add), setHas = uncurry(SetP.has);
const weakAdd = uncurry(WeakSet.prototype.add), weakHas = uncurry(WeakSet.prototype.has);
const dateValue = uncurry(DateP.getTime), dateText = uncurry(DateP.toISOString), dateNow = Date.now;
const typedTag = getterOf(TypedArrayP, Symbol.toStringTag), typedBuffer = getterOf(TypedArrayP, 'buffer'),
  typedOffset = getterOf(TypedArrayP, 'byteOffset'), typedBytes = getterOf(TypedArrayP, 'byteLength'),
  typedLength = getterOf(TypedArrayP, 'length'), typedSet = uncurry(TypedArrayP.set), typedSub = uncurry(TypedArrayP.subarray);
const viewBuffer = getterOf(DataView.prototype, 'buffer'), viewOffset = getterOf(DataView.prototype, 'byteOffset'),
  viewBytes = getterOf(DataView.prototype, 'byteLength');
const bufferBytes = getterOf(ArrayBufferP, 'byteLength'), bufferSlice = uncurry(ArrayBufferP.slice);
const functionText = uncurry(FunctionP.toString), symbolText = uncurry(Symbol.prototype.toString),
  regExpText = uncurry(RegExpP.toString), numberValue = uncurry(NumberC.prototype.valueOf),
  numberText = uncurry(NumberC.prototype.toString),
  toFixed = uncurry(NumberC.prototype.toFixed),
  stringValue = uncurry(StringC.prototype.valueOf), booleanValue = uncurry(Boolean.prototype.valueOf),
  bigintValue = uncurry(BigIntC.prototype.valueOf);
const rawStack = getterOf(ErrorP, 'stack');

/** Does `value` inherit from `proto`? A proxy that throws when asked does not. */
const isInChain = (proto, value) => {
  try {
    return isPrototypeOf(proto, value);
  } catch {
    return false;
  }
};

/** Add to the end of a list of ours. */
const append = (list, value) => {
  define(list, list.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
};

/** Give an object of ours, or one a script sees, a property that assignment cannot intercept. */
const put = (object, key, value, enumerable = true) =>
  define(object, key, { __proto__: null, value, writable: true, enumerable, configurable: true });

/** Make `await promise` stay inside the engine, whatever has become of Promise.prototype. */
const own = (promise) => {
  define(promise, 'constructor', { __proto__: null, value: PromiseC, writable: true, configurable: true });
  return promise;
};

const pinned = (key, value) =>
  define(GlobalObject, key, { __proto__: null, value, writable: false, enumerable: false, configurable: false });
const replaceable = (key, value) =>
  define(GlobalObject, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

/** `value` as text, whatever it does when asked; `instead` when it throws. */
const textOf = (value, instead) => {
  try {
    return typeof value === 'symbol' ? symbolText(value) : StringC(value);
  } catch {
    return instead;
  }
};

/** `object[key]`, or undefined when reading it throws. */
const peek = (object, key) => {
  try {
    return object[key];
  } catch {
    return undefined;
  }
};

/** Is it a promise of the engine's (an impostor fools nobody but itself)? */
const isPromise = (value) => isInChain(PromiseP, value);

/** `read(value)`, or undefined when `value` is not of that kind: the engine's own brand checks. */
const branded = (read, value) => {
  try {
    return read(value);
  } catch {
    return undefined;
  }
};
