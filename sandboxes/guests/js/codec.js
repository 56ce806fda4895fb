// Values as strict JSON text (the one codec of arguments, results and state).
//
// A loop with its own stack, not recursion: depth 500 must fit any stack limit, and the engine's JSON.stringify would
// run a toJSON planted on Object.prototype over everything.

const MAX_DEPTH = 500;
const MAX_JSON_CHARS = 8 * 1024 * 1024, MAX_ARGUMENT_CHARS = 16 * 1024 * 1024;
const MAX_LOSSY_ROWS = 50;
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** What `encode` throws: the code word, where, and what to do about it. */
const refusal = (kind, path, message, hint) => ({ __proto__: null, refusal: kind, path, message, hint });
const isRefusal = (thing) => typeof thing === 'object' && thing !== null && protoOf(thing) === null && thing.refusal !== undefined;

const CIRCULAR_HINT = 'return plain data without the link back';
const tooLarge = (path, most) =>
  refusal('large', path, `it is larger than ${most >> 20} MiB as JSON`,
    most === MAX_JSON_CHARS ? 'return a summary instead' : 'send less at once');

const bytesToBase64 = (bytes) => {
  const n = typedLength(bytes), chunks = [];
  let text = '';
  for (let i = 0; i < n; i += 3) {
    const a = bytes[i], b = i + 1 < n ? bytes[i + 1] : 0, c = i + 2 < n ? bytes[i + 2] : 0;
    text += BASE64[a >> 2] + BASE64[(a & 3) << 4 | b >> 4] +
      (i + 1 < n ? BASE64[(b & 15) << 2 | c >> 6] : '=') + (i + 2 < n ? BASE64[c & 63] : '=');
    if (text.length > MAX_JSON_CHARS) break;
  }
  return text;
};

/** The bytes behind a typed array, a DataView or a buffer; undefined for anything else. */
const bytesOf = (value) => {
  if (branded(typedTag, value) !== undefined) return new Uint8ArrayC(typedBuffer(value), typedOffset(value), typedBytes(value));
  if (branded(viewBytes, value) !== undefined) return new Uint8ArrayC(viewBuffer(value), viewOffset(value), viewBytes(value));
  return branded(bufferBytes, value) === undefined ? undefined : new Uint8ArrayC(value);
};

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const step = (key) => typeof key === 'number' ? `[${key}]` : match(IDENTIFIER, key) ? `.${key}` : `[${quote(key)}]`;

/** Where the frame's present element sits, from the root. */
const pathOf = (frame, root) => {
  let path = '';
  for (let at = frame; at !== null; at = at.up) if (at.at !== undefined) path = step(at.at) + path;
  const whole = root + path;
  return whole.length > 160 ? `${textSlice(whole, 0, 80)}…${textSlice(whole, -60)}` : whole;
};

/** A container being written. Its child frame is kept for the next sibling: a list of records costs one, not thousands. */
const frameOf = (kind, source, n, up) => {
  let frame = up === null ? null : up.down;
  if (frame === null) {
    frame = {
      __proto__: null, kind, source, n, up, i: 0, keys: null, values: null, wrote: false, at: undefined,
      depth: up === null ? 1 : up.depth + 1, down: null,
    };
    if (up !== null) up.down = frame;
    return frame;
  }
  frame.kind = kind;
  frame.source = source;
  frame.n = n;
  frame.i = 0;
  frame.wrote = false;
  frame.at = undefined;
  return frame;
};

let quotedKeys = { __proto__: null }, quotedCount = 0;
/** `"key":`, remembered: the records of a list share their keys. */
const quotedKey = (key) => {
  const known = quotedKeys[key];
  if (known !== undefined) return known;
  if (key.length > 64) return `${quote(key)}:`;
  if (++quotedCount > 1000) {
    quotedKeys = { __proto__: null };
    quotedCount = 1;
  }
  return quotedKeys[key] = `${quote(key)}:`;
};

const openMap = (map, up) => {
  const keys = [], values = [];
  let plain = true;
  mapEach(map, (value, key) => {
    append(keys, key);
    append(values, value);
    if (typeof key !== 'string') plain = false;
  });
  const frame = frameOf(plain ? 'map' : 'pairs', map, keys.length, up);
  frame.keys = keys;
  frame.values = values;
  return frame;
};

const openSet = (set, up) => {
  const values = [];
  setEach(set, (value) => append(values, value));
  const frame = frameOf('set', set, values.length, up);
  frame.values = values;
  return frame;
};

const openObject = (source, read, up) => {
  const keys = keysOf(read);
  const frame = frameOf('object', source, keys.length, up);
  frame.keys = keys;
  frame.values = read;
  return frame;
};

const errorAsPlain = (error) => {
  const plain = { __proto__: null, name: textOf(error.name, 'Error'), message: textOf(error.message, '') };
  if (hasOwn(error, 'cause')) plain.cause = error.cause;
  return plain;
};

const PLAIN = 0, SPECIAL = 1;
/** Objects straight under Object.prototype (or null) need none of the brand checks, which cost an exception each. */
const kindOf = (value) => {
  const proto = protoOf(value);
  return proto === ObjectP || proto === null ? PLAIN : SPECIAL;
};

const classNamed = (name, proto) => ({ __proto__: null, name, proto });
const WORDLESS = [
  classNamed('iterator', IteratorP), classNamed('iterator', AsyncIteratorP), classNamed('regexp', RegExpP),
  classNamed('WeakMap', WeakMap.prototype), classNamed('WeakSet', WeakSet.prototype), classNamed('WeakRef', WeakRef.prototype),
  classNamed('FinalizationRegistry', FinalizationRegistry.prototype),
];
/** The kind of an object that JSON has no form for, whatever properties it was given; undefined for any other. */
const wordlessKind = (value) => {
  for (let i = 0; i < WORDLESS.length; i++) if (isInChain(WORDLESS[i].proto, value)) return WORDLESS[i].name;
  if (isInChain(TextEncoder.prototype, value)) return 'TextEncoder';
  return isInChain(TextDecoder.prototype, value) ? 'TextDecoder' : undefined;
};

/** What an object without properties says it is (`Math`, a boxed symbol): `{}` would say nothing of it. */
const emptyKind = (frame) => {
  const tag = frame.n === 0 ? peek(frame.source, SymbolC.toStringTag) : undefined;
  return typeof tag === 'string' && tag !== '' ? tag : undefined;
};

/** The text a URL or its query stands for; undefined for anything else. */
const addressText = (value) => {
  if (isInChain(URL.prototype, value)) return branded(urlText, value);
  return isInChain(URLSearchParams.prototype, value) ? branded(paramsText, value) : undefined;
};

/** Turn an object that JSON has no word for into `{json}` (text), `{frame}`, `{value}` or nothing. */
const special = (value, up, lose, lack) => {
  if (isInChain(DateP, value)) {
    const time = branded(dateValue, value);
    if (time !== undefined) return { __proto__: null, json: time === time ? quote(dateText(value)) : lose('invalid date') };
  }
  if (isInChain(MapP, value) && branded(mapSize, value) !== undefined) return { __proto__: null, frame: openMap(value, up) };
  if (isInChain(SetP, value) && branded(setSize, value) !== undefined) return { __proto__: null, frame: openSet(value, up) };
  if (isInChain(ErrorP, value)) return { __proto__: null, frame: openObject(value, errorAsPlain(value), up) };
  const bytes = bytesOf(value);
  if (bytes !== undefined) return { __proto__: null, json: `{"$bytes":"${bytesToBase64(bytes)}"}` };
  const kind = wordlessKind(value);
  if (kind !== undefined) return { __proto__: null, json: lack(kind) };
  const address = addressText(value);
  return address === undefined ? special2(value) : { __proto__: null, json: quote(address) };
};

const special2 = (value) => {
  let primitive = branded(numberValue, value);
  if (primitive === undefined) primitive = branded(stringValue, value);
  if (primitive === undefined) primitive = branded(booleanValue, value);
  if (primitive === undefined) primitive = branded(bigintValue, value);
  return primitive === undefined ? undefined : { __proto__: null, value: primitive };
};

/**
 * Encode `root` as JSON text. `name` begins every path; `lossy` collects `{path, kind}` rows, or is null to refuse
 * what has no form in JSON (state keeps nothing that would come back as something else). `most` bounds the text's length.
 * Throws a refusal: 'circular', 'promise', 'deep', 'large', 'function', 'unreadable'.
 */
const encode = (root, name, lossy, most = MAX_JSON_CHARS) => {
  let out = '', frame = null, value = root, honourToJson = true;
  const here = () => pathOf(frame, name);
  const lose = (kind) => {
    if (lossy !== null && lossy.length < MAX_LOSSY_ROWS) append(lossy, { __proto__: null, path: here(), kind });
    return 'null';
  };
  const lack = (kind) => {
    if (lossy === null) throw refusal('function', here(), `a ${kind} cannot be kept`, 'keep plain data');
    return lose(kind);
  };
  try {
    for (;;) {
      switch (typeof value) {
        case 'string':
          out += quote(value);
          break;
        case 'number':
          out += isFiniteNumber(value) ? value : lose(value !== value ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity');
          break;
        case 'boolean':
          out += value;
          break;
        case 'bigint':
          out += `"${value}"`;
          break;
        case 'object': {
          if (value === null) {
            out += 'null';
            break;
          }
          const proto = protoOf(value), isPlain = proto === ObjectP || proto === ArrayP || proto === null;
          if (!isPlain && isPromise(value)) throw refusal('promise', here(), 'a promise that was never awaited', 'await it');
          for (let at = frame; at !== null; at = at.up)
            if (at.source === value) throw refusal('circular', here(), 'it contains itself', CIRCULAR_HINT);
          if (honourToJson && (isPlain || !isInChain(DateP, value))) {
            const toJson = value.toJSON;
            if (typeof toJson === 'function') {
              const key = frame === null ? '' : textOf(frame.at, '');
              value = apply(toJson, value, [key]);
              honourToJson = false;
              continue;
            }
          }
          honourToJson = true;
          if ((frame === null ? 0 : frame.depth) >= MAX_DEPTH)
            throw refusal('deep', here(), `it is nested deeper than ${MAX_DEPTH} levels`, 'return a flatter structure');
          if (isArray(value)) {
            frame = frameOf('array', value, value.length, frame);
            frame.values = value;
          } else if (isPlain) {
            frame = openObject(value, value, frame);
          } else {
            const other = special(value, frame, lose, lack);
            if (other !== undefined && other.frame === undefined) {
              if (other.json === undefined) {
                value = other.value;
                continue;
              }
              out += other.json;
              break;
            }
            frame = other === undefined ? openObject(value, value, frame) : other.frame;
          }
          const empty = frame.kind === 'object' ? emptyKind(frame) : undefined;
          if (empty !== undefined) {
            frame = frame.up;
            out += lack(empty);
            break;
          }
          out += frame.kind === 'object' || frame.kind === 'map' ? '{' : '[';
          break;
        }
        default:
          out += value === undefined ? lose('undefined') : lack(typeof value);
      }
      honourToJson = true;
      if (out.length > most) throw tooLarge(here(), most);
      // Go to the next value: the following element of the innermost open container, closing those that have ended.
      for (;;) {
        if (frame === null) return out;
        const kind = frame.kind, i = frame.i;
        if (i >= frame.n) {
          out += kind === 'object' || kind === 'map' ? '}' : ']';
          frame = frame.up;
          continue;
        }
        frame.i = i + 1;
        if (kind === 'object') {
          const key = frame.keys[i];
          frame.at = key;
          value = frame.values[key];
          if (value === undefined) continue;
          if (frame.wrote) out += ',';
          else frame.wrote = true;
          out += quotedKey(key);
        } else {
          if (i > 0) out += ',';
          if (kind === 'map') {
            frame.at = frame.keys[i];
            out += quotedKey(frame.at);
          } else frame.at = i;
          value = kind === 'pairs' ? [frame.keys[i], frame.values[i]] : frame.values[i];
        }
        break;
      }
    }
  } catch (thrown) {
    if (isRefusal(thrown) || limitOf(thrown)) throw thrown;
    throw refusal('unreadable', here(), `reading it threw ${brief(thrown)}`, 'return plain data');
  }
};
