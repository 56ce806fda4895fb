// The report as JSON text, written by hand: nothing of the script's may run while it is made.

const listJson = (items, one) => {
  let text = '[';
  for (let i = 0; i < items.length; i++) text += (i ? ',' : '') + one(items[i]);
  return text + ']';
};
const rowJson = (row) => `{"path":${quote(row.path)},"kind":${quote(row.kind)}}`;
const numberJson = (n) => `${n}`;

/** An error description as JSON, written by hand: nothing of the script's may run while it is made. */
const errorJson = (told) => {
  let text = '';
  const add = (key, json) => { text += `${text ? ',' : ''}"${key}":${json}`; };
  const words = ['code', 'name', 'message', 'stack', 'tool', 'toolCode', 'hint', 'path', 'kind'];
  for (let i = 0; i < words.length; i++) if (typeof told[words[i]] === 'string') add(words[i], quote(told[words[i]]));
  if (told.line !== undefined) add('line', numberJson(told.line));
  if (told.column !== undefined) add('column', numberJson(told.column));
  if (told.cause !== undefined) add('cause', errorJson(told.cause));
  if (told.errors !== undefined) add('errors', listJson(told.errors, errorJson));
  return `{${text}}`;
};

const callsJson = (open) =>
  `"calls":${succeeded},"issued":${issued},` +
  `"inflight":${listJson(open.inflight, numberJson)},"losers":${listJson(open.losers, numberJson)}`;

const failure = (told, open, value) =>
  `{"ok":false,"error":${errorJson(told)},${value === undefined ? '' : `"value":${value},`}` +
  `"hints":${hintsJson()},${callsJson(open)}}`;

const hintsJson = () => {
  const hints = [];
  setEach(localeHints, (hint) => append(hints, hint));
  return listJson(hints, quote);
};

const withCode = (told, code) => {
  told.code = code;
  return told;
};

/** The report of a script that threw. */
const thrownReport = (thrown, fallback) => failure(withCode(describe(thrown), limitOf(thrown) ?? fallback), openCalls());

/** The report of a text that is no script; nothing has run yet, so only its nesting can have used up the stack. */
const uncompiledReport = (thrown) => {
  const limit = limitOf(thrown);
  return failure(withCode(describe(thrown), limit === 'STACK_LIMIT' ? 'COMPILE_ERROR' : limit ?? 'SYNTAX_ERROR'), openCalls());
};

const RESULT_CODES = { __proto__: null, large: 'RESULT_TOO_LARGE' };

const refusedReport = ({ refusal: name, path, message, hint }, code) =>
  failure({ __proto__: null, code, name, message: `${path}: ${message}`, path, hint }, openCalls());

/** `state` as JSON; a refusal names the key. */
const stateJson = (state) => {
  if (state === null) return 'null';
  const keys = keysOf(state);
  let text = '{', wrote = false;
  for (let i = 0; i < keys.length; i++) {
    const value = state[keys[i]];
    if (value === undefined) continue;
    text += `${wrote ? ',' : ''}${quote(keys[i])}:${encode(value, `state${step(keys[i])}`, null)}`;
    wrote = true;
  }
  return text + '}';
};

/** The value and the state as JSON, or the report that refuses one of them. */
const encodeEnd = (value, state) => {
  const lossy = lossyArguments;
  let json = 'null', kept;
  try {
    if (value !== undefined) json = encode(value, '$', lossy);
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    return { __proto__: null, report: refusedReport(thrown, RESULT_CODES[thrown.refusal] ?? 'RESULT_NOT_SERIALIZABLE') };
  }
  try {
    kept = stateJson(state);
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    return { __proto__: null, report: refusedReport(thrown, 'STATE_NOT_SERIALIZABLE') };
  }
  return { __proto__: null, json, lossy, kept, returned: value !== undefined };
};

const unhandledReport = (open, json) => {
  if (isRejectionLost) return OUT_OF_MEMORY;
  let first, found = false;
  mapEach(unhandled, (reason) => {
    if (!found) first = reason;
    found = true;
  });
  return found ? failure(withCode(describe(first), limitOf(first) ?? 'UNHANDLED_REJECTION'), open, json) : undefined;
};

const unawaitedReport = (open, json) => {
  const { tool, error } = open.first;
  const told = describe(error);
  told.message = `${tool} was still in flight when the script returned`;
  told.name = 'UnawaitedCall';
  told.tool = tool;
  delete told.toolCode;
  delete told.hint;
  return failure(withCode(told, 'UNAWAITED_CALL'), open, json);
};

const successText = (done, open) =>
  `{"ok":true,"value":${done.json},"returned":${done.returned},"lossy":${listJson(done.lossy, rowJson)},` +
  `"state":${done.kept},"hints":${hintsJson()},${callsJson(open)}}`;

// Ready made: when this is needed there may be no memory left to make it.
const OUT_OF_MEMORY = '{"ok":false,"error":{"code":"MEMORY_LIMIT","name":"InternalError","message":"out of memory"},' +
  '"inflight":[],"losers":[]}';
