// Values as a person reads them. Never throws, whatever the value does; bounded in depth, items and length.

const INSPECT_DEPTH = 5, INSPECT_ITEMS = 100, INSPECT_KEYS = 60, INSPECT_CHARS = 200000, LINE_CHARS = 76;
const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;

const quoteText = (text) => {
  const shown = text.length > 10000 ? `${textSlice(text, 0, 10000)}… ${text.length - 10000} more characters` : text;
  if (indexOf(shown, "'") >= 0) return quote(shown);
  const body = textSlice(quote(shown), 1, -1);
  let text2 = '', from = 0;
  for (let at = indexOf(body, '\\"'); at >= 0; at = indexOf(body, '\\"', from)) {
    text2 += textSlice(body, from, at) + '"';
    from = at + 2;
  }
  return `'${text2}${textSlice(body, from)}'`;
};

const functionLabel = (value) => {
  let text = '';
  try {
    text = functionText(value);
  } catch { /* a proxy */ }
  const name = textOf(peek(value, 'name'), '');
  if (startsWith(text, 'class')) return `[class ${name || '(anonymous)'}]`;
  const kind = startsWith(text, 'async') ? 'AsyncFunction' : 'Function';
  return name ? `[${kind}: ${cut(name, 100)}]` : `[${kind} (anonymous)]`;
};

/** The name of the class of an object: '' for a plain one. */
const classLabel = (value) => {
  const proto = protoOf(value);
  if (proto === null) return '[Object: null prototype]';
  if (proto === ObjectP || proto === ArrayP) return '';
  const maker = peek(value, 'constructor');
  const name = typeof maker === 'function' ? textOf(peek(maker, 'name'), '') : '';
  return name === 'Object' || name === 'Array' ? '' : cut(name, 100);
};

const errorLabel = (error) => {
  const name = nameOf(error), message = textOf(peek(error, 'message'), '');
  const stack = stackText(framesOfError(error));
  return `${message ? `${name}: ${message}` : name}${stack ? `\n${stack}` : ''}`;
};

/** Join parts on one line when short, else one a line. */
const layOut = (open, parts, close, indent) => {
  if (parts.length === 0) return open + close;
  let width = open.length + close.length + indent, single = true;
  for (let i = 0; i < parts.length; i++) {
    width += parts[i].length + 2;
    if (indexOf(parts[i], '\n') >= 0) single = false;
  }
  if (single && width <= LINE_CHARS) return `${open} ${join(parts, ', ')} ${close}`;
  const pad = repeat(' ', indent + 2);
  const isFilled = single && parts.length > 6 && width / parts.length < 18;
  if (isFilled) return `${open}\n${pad}${filled(parts, pad)}\n${repeat(' ', indent)}${close}`;
  return `${open}\n${pad}${join(parts, `,\n${pad}`)}\n${repeat(' ', indent)}${close}`;
};

/** Many short parts, several a line. */
const filled = (parts, pad) => {
  let text = '', room = LINE_CHARS;
  for (let i = 0; i < parts.length; i++) {
    const piece = parts[i] + (i < parts.length - 1 ? ',' : '');
    const fits = piece.length + 1 <= room;
    text += i === 0 ? piece : fits ? ` ${piece}` : `\n${pad}${piece}`;
    room = (fits ? room : LINE_CHARS) - piece.length - 1;
  }
  return text;
};

const inspect = (value, most = INSPECT_DEPTH) => {
  const walk = { __proto__: null, open: [], left: INSPECT_CHARS, most };
  try {
    return inspectValue(value, walk, 0);
  } catch (thrown) {
    return `[Threw: ${threwText(thrown)}]`;
  }
};

const threwText = (thrown) => {
  const message = isErrorLike(thrown) ? textOf(peek(thrown, 'message'), '') : textOf(thrown, '');
  return cut(message || nameOf(ObjectC(thrown ?? 0)), 200);
};

const inspectValue = (value, walk, indent) => {
  switch (typeof value) {
    case 'string': {
      const text = quoteText(value);
      walk.left -= text.length;
      return text;
    }
    case 'number': return value === 0 && 1 / value < 0 ? '-0' : `${value}`;
    case 'bigint': return `${value}n`;
    case 'symbol': return symbolText(value);
    case 'function': return value === tools ? toolsLabel() : functionLabel(value);
    case 'object': return value === null ? 'null' : value === tools ? toolsLabel() : inspectObject(value, walk, indent);
    default: return `${value}`;
  }
};

const toolsLabel = () => {
  const names = [];
  for (let i = 0; i < toolList.length; i++) append(names, toolList[i].name);
  return `[tools: ${names.length ? join(names, ', ') : 'none'}]`;
};

const inspectObject = (value, walk, indent) => {
  const { open } = walk;
  for (let i = 0; i < open.length; i++) if (open[i] === value) return '[Circular]';
  if (open.length > walk.most || walk.left <= 0) return isArray(value) ? '[Array]' : `[${classLabel(value) || 'Object'}]`;
  append(open, value);
  try {
    return inspectOpen(value, walk, indent);
  } catch (thrown) {
    if (limitOf(thrown)) throw thrown;
    return `[Threw: ${threwText(thrown)}]`;
  } finally {
    open.length--;
  }
};

const inspectOpen = (value, walk, indent) => {
  if (isArray(value)) return inspectList(value, value.length, classLabel(value), walk, indent);
  if (kindOf(value) === SPECIAL) {
    const known = inspectKnown(value, walk, indent);
    if (known !== undefined) return known;
  }
  const label = classLabel(value);
  return layOut(label ? `${label} {` : '{', entriesOf(value, keysOf(value), walk, indent), '}', indent);
};

const inspectKnown = (value, walk, indent) => {
  if (isInChain(ErrorP, value)) return inspectError(value, walk, indent);
  if (isInChain(DateP, value)) {
    const time = branded(dateValue, value);
    if (time !== undefined) return time === time ? dateText(value) : 'Invalid Date';
  }
  if (isInChain(MapP, value) && branded(mapSize, value) !== undefined) return inspectMap(value, walk, indent);
  if (isInChain(SetP, value) && branded(setSize, value) !== undefined) {
    const { values } = openSet(value, null);
    return inspectList(values, values.length, `Set(${values.length})`, walk, indent, '{', '}');
  }
  if (isInChain(RegExpP, value)) return textOf(branded(regExpText, value), '[RegExp]');
  if (isPromise(value)) return 'Promise { … }';
  const address = addressText(value);
  if (address !== undefined) return `${classLabel(value)} { ${address} }`;
  const tag = branded(typedTag, value);
  if (tag !== undefined) return inspectList(value, typedLength(value), `${tag}(${typedLength(value)})`, walk, indent);
  const bytes = branded(bufferBytes, value);
  if (bytes !== undefined) return `ArrayBuffer { byteLength: ${bytes} }`;
  const boxed = special2(value);
  return boxed === undefined ? undefined : `[${classLabel(value)}: ${inspectValue(boxed.value, walk, indent)}]`;
};

const inspectError = (error, walk, indent) => {
  const keys = keysOf(error), extra = [];
  for (let i = 0; i < keys.length; i++) if (keys[i] !== 'stack' && keys[i] !== 'message') append(extra, keys[i]);
  const cause = hasOwn(error, 'cause') && !isEnumerableIn(error, 'cause') ? peek(error, 'cause') : undefined;
  const parts = entriesOf(error, extra, walk, indent);
  if (cause !== undefined) append(parts, `[cause]: ${inspectValue(cause, walk, indent + 2)}`);
  const inner = hasOwn(error, 'errors') && !isEnumerableIn(error, 'errors') ? peek(error, 'errors') : undefined;
  if (inner !== undefined) append(parts, `[errors]: ${inspectValue(inner, walk, indent + 2)}`);
  const label = errorLabel(error);
  return parts.length ? layOut(`${label} {`, parts, '}', indent) : label;
};

const inspectList = (list, n, label, walk, indent, open = '[', close = ']') => {
  const parts = [], shown = min(n, INSPECT_ITEMS);
  for (let i = 0; i < shown && walk.left > 0; i++) {
    const part = isArray(list) && !(i in list) ? '<empty>' : readPart(list, i, walk, indent);
    walk.left -= part.length;
    append(parts, part);
  }
  if (n > parts.length) append(parts, `... ${n - parts.length} more item${n - parts.length > 1 ? 's' : ''}`);
  return layOut(label ? `${label} ${open}` : open, parts, close, indent);
};

const inspectMap = (map, walk, indent) => {
  const { keys, values } = openMap(map, null), parts = [], shown = min(keys.length, INSPECT_ITEMS);
  for (let i = 0; i < shown && walk.left > 0; i++)
    append(parts, `${inspectValue(keys[i], walk, indent + 2)} => ${inspectValue(values[i], walk, indent + 2)}`);
  if (keys.length > parts.length) append(parts, `... ${keys.length - parts.length} more items`);
  return layOut(`Map(${keys.length}) {`, parts, '}', indent);
};

const entriesOf = (object, keys, walk, indent) => {
  const parts = [], shown = min(keys.length, INSPECT_KEYS);
  for (let i = 0; i < shown && walk.left > 0; i++) {
    const key = keys[i], part = `${match(PLAIN_KEY, key) ? key : quoteText(key)}: ${readPart(object, key, walk, indent)}`;
    walk.left -= part.length;
    append(parts, part);
  }
  if (keys.length > parts.length) append(parts, `... ${keys.length - parts.length} more keys`);
  return parts;
};

const readPart = (object, key, walk, indent) => {
  let part;
  try {
    part = object[key];
  } catch (thrown) {
    if (limitOf(thrown)) throw thrown;
    return `[Getter threw: ${threwText(thrown)}]`;
  }
  return inspectValue(part, walk, indent + 2);
};
