// `tools`: nested calls. The host answers later through `settle`.

const OP_CALL = 1, OP_OUTPUT = 2, OP_PROGRESS = 3, OP_COMPILED = 4;
const MAX_NAME_CHARS = 200, MAX_NOTE_CHARS = 2000;
const inFlight = new MapC(); // id → call
let issued = 0, succeeded = 0;
let ended = false;           // the report is made: nothing the script still does reaches the host
const lossyArguments = [];  // what calls lost on their way out, for the report
let toolList = [];           // [{name, description}] as the host gave them

class ToolError extends ErrorC {}
put(ToolError.prototype, 'name', 'ToolError', false);
const ToolErrorP = ToolError.prototype;
const isToolError = (thrown) => isInChain(ToolErrorP, thrown);

/** Fill the error that was made at the call's own place, so that its stack begins there. */
const fill = (error, tool, code, message, hint) => {
  put(error, 'message', message, false);
  put(error, 'code', code);
  put(error, 'hint', hint);
  put(error, 'tool', tool);
  return error;
};

/** Distance between two short words (insertions, deletions, swaps of a letter), at most `most` + 1. */
const distance = (a, b, most) => {
  if (a.length - b.length > most || b.length - a.length > most) return most + 1;
  let row = [];
  for (let j = 0; j <= b.length; j++) append(row, j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      append(next, min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
};

/** The known tool whose name comes nearest, or undefined. */
const nearestTool = (name) => {
  let best, least = 4;
  const wanted = lower(textSlice(name, 0, 100));
  for (let i = 0; i < toolList.length && i < 2000; i++) {
    const known = toolList[i].name, have = lower(known);
    const dot = indexOf(have, '.');
    const d = have === wanted || (dot >= 0 && textSlice(have, dot + 1) === wanted) ? 0 : distance(wanted, have, least - 1);
    if (d < least) {
      least = d;
      best = known;
    }
  }
  return best;
};

const unknownHint = (name, hint) => {
  const near = nearestTool(name);
  if (near === undefined || indexOf(hint, 'Did you mean') >= 0) return hint; // the host's own suggestion stands
  return `Did you mean \`${near}\`? ${hint}`;
};

/** The arguments as JSON text, or `{message, hint}` saying why they cannot be sent. */
const encodeArguments = (tool, args) => {
  let json;
  try {
    json = encode(args === undefined ? {} : args, `${tool}.args`, lossyArguments, MAX_ARGUMENT_CHARS);
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    const message = `${tool}: the arguments cannot be sent: ${thrown.path}: ${thrown.message}`;
    return { __proto__: null, message, hint: `Send plain JSON: ${thrown.hint}.` };
  }
  if (json[0] !== '{')
    return {
      __proto__: null,
      message: `${tool}: the arguments must be one object, not ${kindName(args)}`,
      hint: `Name them: tools.call(${quote(tool)}, { key: value }).`,
    };
  return json;
};

const never = () => new PromiseC(() => {});

const rejectedWith = (error) => new PromiseC((_, reject) => reject(error));
const refused = (error, tool, message, hint) => rejectedWith(fill(error, tool, 'INVALID_INPUT', message, hint));

/** What is wrong with a tool's name, or undefined. */
const wrongName = (name) => {
  if (typeof name !== 'string') return `a tool's name must be a string, not ${kindName(name)}`;
  return name.length > MAX_NAME_CHARS ? `a tool's name has at most ${MAX_NAME_CHARS} characters` : undefined;
};

const call = (name, args) => {
  if (ended) return never();
  const error = new ToolError();
  const wrong = wrongName(name);
  if (wrong !== undefined) return refused(error, cut(textOf(name, ''), 100), wrong, "Write tools.call('name', { key: value }).");
  const json = encodeArguments(name, args);
  if (typeof json !== 'string') return refused(error, name, json.message, json.hint);
  const id = ++issued;
  const record = { __proto__: null, id, tool: name, error, promise: null, resolve: null, reject: null };
  record.promise = new PromiseC((resolve, reject) => {
    record.resolve = resolve;
    record.reject = reject;
  });
  mapSet(inFlight, id, record);
  if (host(OP_CALL, `{"id":${id},"tool":${quote(name)},"args":${json}}`) < 0) {
    mapDelete(inFlight, id);
    record.reject(fill(error, name, 'TOOL_LIMIT', `${name}: the host refused the call`, 'Make fewer or smaller calls.'));
  }
  return record.promise;
};

/** The host's answer to call `id`: its JSON result, or `{code, message, hint}`. */
const settle = (id, ok, json) => {
  const record = mapGet(inFlight, id);
  if (record === undefined) return;
  // Parsed first: a result that does not fit throws here, and the host then answers the same call with an error.
  const answer = parseJson(json);
  mapDelete(inFlight, id);
  if (ok) {
    succeeded++;
    record.resolve(answer);
    return;
  }
  const code = textOf(answer.code, 'TOOL_ERROR'), hint = textOf(answer.hint ?? '', '');
  record.reject(fill(record.error, record.tool, code, textOf(answer.message, 'the call failed'),
    code === 'UNKNOWN_TOOL' ? unknownHint(record.tool, hint) : hint));
};

const list = () => {
  const copy = [];
  for (let i = 0; i < toolList.length; i++) append(copy, { name: toolList[i].name, description: toolList[i].description });
  return copy;
};

const isListed = (name) => {
  for (let i = 0; i < toolList.length; i++) if (toolList[i].name === name) return true;
  return false;
};

// Reading these must not look like a tool unless one really has that name; `then` never, or `await tools` would call it.
const NOT_TOOLS = {
  __proto__: null, toJSON: 1, toString: 1, valueOf: 1, constructor: 1, inspect: 1, length: 1, name: 1, prototype: 1,
  ['__proto__']: 1,
};
const shortForms = { __proto__: null };
const base = freeze({ __proto__: null, call, list });

const shortForm = (name) => {
  const known = shortForms[name];
  if (known !== undefined) return known;
  const made = (args) => call(name, args);
  define(shortForms, name, { __proto__: null, value: made });
  return made;
};

const refuse = () => false;
const tools = new ProxyC(base, {
  __proto__: null,
  get(_, key) {
    if (key === 'call') return call;
    if (key === 'list') return list;
    if (typeof key !== 'string' || key === 'then') return undefined;
    if (NOT_TOOLS[key] !== undefined && !isListed(key)) return undefined;
    return shortForm(key);
  },
  has(_, key) { return key === 'call' || key === 'list' || (typeof key === 'string' && key !== 'then' && isListed(key)); },
  set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse,
});

const numberOrNull = (value) => typeof value === 'number' && isFiniteNumber(value) ? value : null;

const noteJson = (note) => note === undefined || note === null ? 'null' : quote(cut(textOf(note, ''), MAX_NOTE_CHARS));

/** progress({note, completed, total}), or a bare note. */
const progress = (told) => {
  if (ended) return;
  const plain = typeof told === 'object' && told !== null ? told : { __proto__: null, note: told };
  const completed = numberOrNull(peek(plain, 'completed')), total = numberOrNull(peek(plain, 'total'));
  host(OP_PROGRESS, `{"note":${noteJson(peek(plain, 'note'))},"completed":${completed},"total":${total}}`);
};

pinned('tools', tools);
pinned('progress', progress);
