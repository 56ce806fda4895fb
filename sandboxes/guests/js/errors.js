// Errors as a person reads them: name, message, place in the submitted code, causes.

const NOT_DEFINED = /^([\w$]+) is not defined$/;
const SCRIPT_FILE = '<input>'; // what the engine calls code compiled by the AsyncFunction constructor
let headerLines = 2;           // that constructor writes two lines above the body (compile.js may add one)
const MAX_FRAMES = 20;
const MAX_MESSAGE_CHARS = 4000;
const MAX_CAUSES = 4;
const MAX_INNER_ERRORS = 10;
const BODY_NAME = 'anonymous'; // and what it calls the body itself

// The engine reads these two inside itself whenever an error is made. Plain properties in their place, a script can
// neither have code of its own run then, nor lose the line numbers of its own errors.
ErrorC.stackTraceLimit = MAX_FRAMES;
deleteProperty(ErrorC, 'prepareStackTrace');
define(ErrorC, 'stackTraceLimit', { __proto__: null, value: MAX_FRAMES, writable: true, enumerable: true, configurable: true });
const FRAME = /^ *at (?:(.*) \()?(.*?):(\d+):(\d+)\)?$/;

/** The script's own frames of a raw stack: `{name, line, column}`, innermost first. */
const framesOf = (raw) => {
  const frames = [];
  if (typeof raw !== 'string') return frames;
  let start = 0;
  while (start < raw.length && frames.length < MAX_FRAMES) {
    let end = indexOf(raw, '\n', start);
    if (end < 0) end = raw.length;
    const found = end - start < 2000 ? match(FRAME, textSlice(raw, start, end)) : null;
    start = end + 1;
    if (!found || found[2] !== SCRIPT_FILE) continue;
    const line = found[3] - headerLines;
    if (line >= 1) append(frames, { __proto__: null, name: found[1], line, column: +found[4] });
  }
  return frames;
};

/** Frames as text, one a line: `at name (script.js:3:7)`. */
const stackText = (frames) => {
  let text = '';
  for (let i = 0; i < frames.length; i++) {
    const { name, line, column } = frames[i];
    const place = `script.js:${line}:${column}`;
    text += `${i ? '\n' : ''}    at ${!name || name === BODY_NAME || name === '<anonymous>' ? place : `${name} (${place})`}`;
  }
  return text;
};

/** The raw stack the engine kept for a genuine error, else undefined; never runs the script's code. */
const stackOf = (error) => branded(rawStack, error);

/** An error made by a class of the script's own begins with its constructors; the place that matters is the `new`. */
const withoutConstructors = (error, frames) => {
  const maker = peek(error, 'constructor');
  const name = typeof maker === 'function' ? peek(maker, 'name') : undefined;
  let skip = 0;
  while (skip < frames.length - 1 && frames[skip].name && frames[skip].name === name) skip++;
  return skip ? slice(frames, skip) : frames;
};

const framesOfError = (error) => withoutConstructors(error, framesOf(stackOf(error)));

// `error.stack` in the script reads like the report: the script's lines, no frame of the bridge.
define(ErrorP, 'stack', {
  __proto__: null, configurable: true, enumerable: false,
  get() {
    const raw = branded(rawStack, this);
    return raw === undefined ? undefined : `${brief(this)}\n${stackText(withoutConstructors(this, framesOf(raw)))}`;
  },
  set(value) {
    if (typeof this === 'object' && this !== null) put(this, 'stack', value, false);
  },
});

/** `Name: message` on one line, for sentences. */
const brief = (thrown) => {
  if (!isErrorLike(thrown)) return cut(plainText(thrown), 300);
  const name = nameOf(thrown), message = cut(textOf(peek(thrown, 'message'), ''), 300);
  return message ? `${name}: ${message}` : name;
};

const cut = (text, most) => text.length > most ? `${textSlice(text, 0, most)}…` : text;
const isErrorLike = (value) => typeof value === 'object' && value !== null && isInChain(ErrorP, value);
const nameOf = (error) => cut(textOf(peek(error, 'name'), 'Error') || 'Error', 100);

/** A thrown thing that is no error, as text: a string as it is, an object as JSON. */
const plainText = (value) => {
  if (typeof value === 'function') return inspect(value);
  if (typeof value !== 'object' || value === null) return textOf(value, 'unprintable');
  try {
    return encode(value, '$', []);
  } catch {
    return inspect(value);
  }
};

/** The limit of the engine that an error speaks of: 'STACK_LIMIT', 'MEMORY_LIMIT' or undefined. */
const limitOf = (thrown) => {
  if (!isErrorLike(thrown)) return undefined;
  const name = peek(thrown, 'name'), message = peek(thrown, 'message');
  if (name === 'RangeError' && message === 'Maximum call stack size exceeded') return 'STACK_LIMIT';
  if (name === 'InternalError' && message === 'stack overflow') return 'STACK_LIMIT';
  if (name === 'InternalError' && message === 'out of memory') return 'MEMORY_LIMIT';
  return undefined;
};

/** A thrown thing as `{name, message, stack?, line?, column?, tool?, toolCode?, hint?, cause?, errors?}`; bounded, never throws. */
const describe = (thrown, depth = 0) => {
  if (!isErrorLike(thrown))
    return { __proto__: null, name: kindName(thrown), message: cut(plainText(thrown), MAX_MESSAGE_CHARS) };
  const frames = framesOfError(thrown);
  const told = { __proto__: null, name: nameOf(thrown), message: cut(textOf(peek(thrown, 'message'), ''), MAX_MESSAGE_CHARS) };
  if (frames.length) {
    told.line = frames[0].line;
    told.column = frames[0].column;
    told.stack = stackText(frames);
  }
  if (isToolError(thrown)) {
    told.tool = textOf(peek(thrown, 'tool'), '');
    told.toolCode = textOf(peek(thrown, 'code'), 'TOOL_ERROR');
    told.hint = textOf(peek(thrown, 'hint'), '');
  }
  const found = match(NOT_DEFINED, told.message);
  if (found && isListed(found[1])) told.hint = `It is a tool: call it as tools.${found[1]}({ … }).`;
  describeInner(thrown, told, depth);
  return told;
};

const describeInner = (thrown, told, depth) => {
  if (depth >= MAX_CAUSES) return;
  const cause = peek(thrown, 'cause');
  if (cause !== undefined) told.cause = describe(cause, depth + 1);
  const inner = peek(thrown, 'errors');
  if (!branded(isArray, inner)) return;
  told.errors = [];
  const n = min(textLength(inner), MAX_INNER_ERRORS);
  for (let i = 0; i < n; i++) append(told.errors, describe(peek(inner, i), depth + 1));
};

const textLength = (list) => {
  const n = peek(list, 'length');
  return typeof n === 'number' ? n : 0;
};
const kindName = (value) => value === null ? 'null' : isArray(value) ? 'array' : typeof value;
