// `console`: log, info, debug and the tables go to stdout; warn, error, trace and failed assertions to stderr.

const OUT = 'o', ERR = 'e';
const CHUNK_CHARS = 256 * 1024;
let indentation = '';
const counts = new MapC(), timers = new MapC();

/** NUL and lone surrogates as visible escapes: no stream, store or page takes them as they are. */
const visible = (text) => {
  if (isWellFormed(text) && indexOf(text, '\0') < 0) return text;
  let shown = '', from = 0;
  const n = text.length;
  for (let i = 0; i < n; i++) {
    const unit = charCodeAt(text, i);
    if (unit !== 0 && (unit < 0xd800 || unit > 0xdfff)) continue;
    if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < n) {
      const next = charCodeAt(text, i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        i++;
        continue;
      }
    }
    shown += `${textSlice(text, from, i)}\\u${padStart(numberText(unit, 16), 4, '0')}`;
    from = i + 1;
  }
  return shown + textSlice(text, from);
};

/** Hand a line to the host, in pieces it takes; a piece never ends inside a surrogate pair. */
const write = (stream, text) => {
  if (ended) return;
  let line = visible(text);
  if (indentation) line = indentation + indented(line);
  if (line.length <= CHUNK_CHARS) {
    host(OP_OUTPUT, `${stream}${line}\n`);
    return;
  }
  for (let from = 0; from < line.length;) {
    let to = min(from + CHUNK_CHARS, line.length);
    const unit = charCodeAt(line, to - 1);
    if (to < line.length && unit >= 0xd800 && unit < 0xdc00) to--;
    host(OP_OUTPUT, stream + textSlice(line, from, to));
    from = to;
  }
  host(OP_OUTPUT, `${stream}\n`);
};

const indented = (text) => {
  let out = '', from = 0;
  for (let at = indexOf(text, '\n'); at >= 0; at = indexOf(text, '\n', from)) {
    out += textSlice(text, from, at + 1) + indentation;
    from = at + 1;
  }
  return out + textSlice(text, from);
};

const shown = (value) => typeof value === 'string' ? value : inspect(value);

const asNumber = (value, whole) => {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol' || (typeof value === 'object' && value !== null)) return 'NaN';
  const number = branded(NumberC, value);
  return `${whole && number === number ? (number < 0 ? -floor(-number) : floor(number)) : number}`;
};

/** printf-like substitution of the first argument, as every console does it; gives how many arguments it used. */
const substitute = (format, values) => {
  let text = '', from = 0, used = 1;
  for (let at = indexOf(format, '%'); at >= 0 && at < format.length - 1; at = indexOf(format, '%', from)) {
    const kind = format[at + 1];
    text += textSlice(format, from, at);
    from = at + 2;
    if (kind === '%') text += '%';
    else if (used >= values.length || indexOf('sdifjoOc', kind) < 0) text += `%${kind}`;
    else text += placed(kind, values[used++]);
  }
  return { __proto__: null, text: text + textSlice(format, from), used };
};

const placed = (kind, value) => {
  switch (kind) {
    case 's': return shown(value);
    case 'd': return asNumber(value, false);
    case 'i': return asNumber(value, true);
    case 'f': return asNumber(value, false);
    case 'c': return '';
    case 'j': return plainText(value);
    default: return inspect(value);
  }
};

const format = (values) => {
  const n = values.length;
  if (n === 0) return '';
  let text, next = 1;
  if (typeof values[0] === 'string') {
    text = values[0];
    if (n > 1 && indexOf(text, '%') >= 0) {
      const done = substitute(text, values);
      text = done.text;
      next = done.used;
    }
  } else text = inspect(values[0]);
  for (let i = next; i < n; i++) text += ` ${shown(values[i])}`;
  return text;
};

const say = (stream, values) => write(stream, values.length === 1 && typeof values[0] === 'string' ? values[0] : format(values));
const labelled = (label) => label === undefined ? 'default' : textOf(label, 'default');

/** The rows of a table as `[[cell, …], …]`, its header first. */
const tableRows = (data) => {
  const rows = [], columns = [], isList = isArray(data), keys = keysOf(data);
  let values = false;
  for (let i = 0; i < keys.length && i < INSPECT_ITEMS; i++) {
    const row = peek(data, keys[i]);
    if (typeof row !== 'object' || row === null) values = true;
    else {
      const names = keysOf(row);
      for (let j = 0; j < names.length && columns.length < 30; j++) if (!listHas(columns, names[j])) append(columns, names[j]);
    }
  }
  const header = [isList ? '(index)' : '(key)'];
  for (let j = 0; j < columns.length; j++) append(header, columns[j]);
  if (values) append(header, 'value');
  append(rows, header);
  for (let i = 0; i < keys.length && i < INSPECT_ITEMS; i++) append(rows, tableRow(keys[i], peek(data, keys[i]), columns, values));
  return rows;
};

const tableRow = (key, row, columns, values) => {
  const isObject = typeof row === 'object' && row !== null, cells = [key];
  for (let j = 0; j < columns.length; j++)
    append(cells, isObject && hasOwn(row, columns[j]) ? cut(inspect(peek(row, columns[j]), 1), 80) : '');
  if (values) append(cells, isObject ? '' : cut(inspect(row), 80));
  return cells;
};

const listHas = (list, value) => {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
  return false;
};

const tableText = (rows) => {
  const widths = [];
  for (let j = 0; j < rows[0].length; j++) {
    let width = 0;
    for (let i = 0; i < rows.length; i++) width = max(width, rows[i][j].length);
    append(widths, width);
  }
  let text = '';
  for (let i = 0; i < rows.length; i++) {
    for (let j = 0; j < widths.length; j++)
      text += (j ? ' | ' : '') + (j === widths.length - 1 ? rows[i][j] : padEnd(rows[i][j], widths[j]));
    text += '\n';
    if (i > 0) continue;
    for (let j = 0; j < widths.length; j++) text += (j ? '-|-' : '') + repeat('-', widths[j]);
    text += '\n';
  }
  return textSlice(text, 0, -1);
};

const elapsed = (label) => `${label}: ${dateNow() - mapGet(timers, label)}ms`;

const consoleMethods = {
  __proto__: null,
  log: (...values) => say(OUT, values),
  info: (...values) => say(OUT, values),
  debug: (...values) => say(OUT, values),
  warn: (...values) => say(ERR, values),
  error: (...values) => say(ERR, values),
  trace: (...values) => {
    const place = stackText(framesOf(rawStack(new ErrorC())));
    write(ERR, `Trace${values.length ? `: ${format(values)}` : ''}\n${place}`);
  },
  assert: (condition, ...values) => {
    if (!condition) write(ERR, `Assertion failed${values.length ? `: ${format(values)}` : ''}`);
  },
  dir: (value) => write(OUT, inspect(value)),
  dirxml: (...values) => say(OUT, values),
  table: (data) => {
    if (typeof data !== 'object' || data === null) return say(OUT, [data]);
    try {
      write(OUT, tableText(tableRows(isInChain(MapP, data) || isInChain(SetP, data) ? parseJson(encode(data, '$', [])) : data)));
    } catch {
      write(OUT, inspect(data));
    }
  },
  group: (...values) => {
    if (values.length) say(OUT, values);
    if (indentation.length < 40) indentation += '  ';
  },
  groupEnd: () => { indentation = textSlice(indentation, 2); },
  count: (label) => {
    const key = labelled(label), n = (mapGet(counts, key) ?? 0) + 1;
    mapSet(counts, key, n);
    write(OUT, `${key}: ${n}`);
  },
  countReset: (label) => { mapDelete(counts, labelled(label)); },
  time: (label) => { mapSet(timers, labelled(label), dateNow()); },
  timeLog: (label, ...values) => {
    const key = labelled(label);
    if (mapHas(timers, key)) write(OUT, elapsed(key) + (values.length ? ` ${format(values)}` : ''));
  },
  timeEnd: (label) => {
    const key = labelled(label);
    if (!mapHas(timers, key)) return;
    write(OUT, elapsed(key));
    mapDelete(timers, key);
  },
  clear: () => {},
};
consoleMethods.groupCollapsed = consoleMethods.group;
pinned('console', freeze(consoleMethods));
