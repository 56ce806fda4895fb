// One run: compile, await, report.
//
// When is a call in flight at the end a loser, and no failure? When its promise, or a promise that settles because of
// it, was handed to Promise.race, any or allSettled. "Because of it" is read from the engine (`dependents`, engine.c),
// so async wrappers, then chains and adopted promises count, and a replaced Promise.prototype.then changes nothing.
// A call whose promise nobody waits for has no dependents and is never a loser.

const handed = new WeakSetC();
const unhandled = new MapC(); // promise → reason, for rejections nobody has taken yet
const SETTLE_TURNS = 16;      // microtask turns after the end in which a late rejection still counts

const handOver = (items) => {
  for (let i = 0; i < items.length; i++) if (isPromise(items[i])) weakAdd(handed, items[i]);
  return items;
};

const watched = (name) => {
  const original = uncurry(PromiseC[name]);
  const wrapped = { [name](items) {
    let listed;
    try {
      listed = [...items]; // a script's own iterable is asked once
    } catch (thrown) {
      return rejectedWith(thrown);
    }
    return original(this, handOver(listed));
  } }[name];
  put(PromiseC, name, wrapped, false);
};
watched('race');
watched('any');
watched('allSettled');

/** Was the call's promise, or one that hangs on it, handed over? Walks the engine's own reactions, each promise once. */
const isLoser = (promise) => {
  const seen = new SetC(), open = [promise];
  for (let i = 0; i < open.length && i < 10000; i++) {
    if (weakHas(handed, open[i])) return true;
    const next = dependents(open[i]);
    for (let j = 0; j < next.length; j++) {
      if (setHas(seen, next[j])) continue;
      setAdd(seen, next[j]);
      append(open, next[j]);
    }
  }
  return false;
};

const openCalls = () => {
  const split = { __proto__: null, inflight: [], losers: [], first: undefined };
  mapEach(inFlight, (record, id) => {
    const lost = isLoser(record.promise);
    append(lost ? split.losers : split.inflight, id);
    if (!lost && split.first === undefined) split.first = record;
  });
  return split;
};

const rejected = (promise, reason, isHandled) => {
  if (isHandled) mapDelete(unhandled, promise);
  else mapSet(unhandled, promise, reason);
};

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

const callsJson = (open) => `"calls":${succeeded},"issued":${issued},"inflight":${listJson(open.inflight, numberJson)},"losers":${listJson(open.losers, numberJson)}`;

const failure = (told, open, value) =>
  `{"ok":false,"error":${errorJson(told)},${value === undefined ? '' : `"value":${value},`}"hints":${hintsJson()},${callsJson(open)}}`;

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

const RESULT_CODES = { __proto__: null, large: 'RESULT_TOO_LARGE' };

const refusedReport = (refused, code) =>
  failure({ __proto__: null, code, name: refused.refusal, message: `${refused.path}: ${refused.message}`, path: refused.path, hint: refused.hint }, openCalls());

/** `state` as JSON; a refusal names the key. */
const stateJson = (state, lossy) => {
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

const successReport = (value) => {
  const lossy = lossyArguments;
  let json = 'null', kept;
  try {
    if (value !== undefined) json = encode(value, '$', lossy);
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    return { __proto__: null, report: refusedReport(thrown, RESULT_CODES[thrown.refusal] ?? 'RESULT_NOT_SERIALIZABLE') };
  }
  try {
    kept = stateJson(currentState, lossy);
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    return { __proto__: null, report: refusedReport(thrown, 'STATE_NOT_SERIALIZABLE') };
  }
  return { __proto__: null, json, lossy, kept, returned: value !== undefined };
};

const unhandledReport = (open, json) => {
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

let currentState = null;

const begin = (init) => {
  const { args, state, seed, tools: given } = parseJson(init);
  toolList = given;
  seedRandom(seed);
  pinned('args', args);
  currentState = state;
  if (state !== null) pinned('state', state);
};

const OUT_OF_MEMORY = '{"ok":false,"error":{"code":"MEMORY_LIMIT","name":"InternalError","message":"out of memory"},"inflight":[],"losers":[]}';

/** Run the script to its end and give the report; the promise is always fulfilled. */
const run = async (code, init) => {
  try {
    return await own(execute(code, init));
  } catch (thrown) {
    try {
      return thrownReport(thrown, 'SCRIPT_ERROR');
    } catch {
      return OUT_OF_MEMORY;
    }
  } finally {
    ended = true;
  }
};

const execute = async (code, init) => {
  begin(init);
  let promise, value;
  try {
    promise = start(compile(code));
  } catch (thrown) {
    return thrownReport(thrown, 'SYNTAX_ERROR');
  }
  try {
    value = await promise;
    if (isWhole) value = await own(callWhole(value, GlobalObject.args));
  } catch (thrown) {
    return thrownReport(thrown, 'SCRIPT_ERROR');
  }
  const done = successReport(value);
  if (done.report !== undefined) return done.report;
  for (let turn = 0; turn < SETTLE_TURNS; turn++) await undefined;
  const open = openCalls();
  const failed = unhandledReport(open, done.json);
  if (failed !== undefined) return failed;
  if (open.first !== undefined) return unawaitedReport(open, done.json);
  return `{"ok":true,"value":${done.json},"returned":${done.returned},"lossy":${listJson(done.lossy, rowJson)},"state":${done.kept},"hints":${hintsJson()},${callsJson(open)}}`;
};

/** The report of a run that the host must end: its promise is pending and nothing is in flight. */
const finish = (why) => {
  const open = openCalls();
  const report = unhandledReport(open) ?? failure({
    __proto__: null, code: why, name: 'Deadlock', message: 'the script waits for a promise that nothing will ever settle',
  }, open);
  ended = true;
  return report;
};

return { run, settle, rejected, finish };
