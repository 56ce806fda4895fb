// One run: start, await, report.

const SETTLE_TURNS = 16; // microtask turns after the end in which a late rejection still counts
let currentState = null;

const begin = (init) => {
  const { args, state, seed, tools: given } = parseJson(init);
  toolList = given;
  seedRandom(seed);
  pinned('args', args);
  currentState = state;
  if (state !== null) pinned('state', state);
};

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
  let body, promise, value;
  try {
    body = compile(code);
  } catch (thrown) {
    return uncompiledReport(thrown);
  }
  host(OP_COMPILED, ''); // from here on, a stack used up is the script's own doing
  try {
    promise = start(body);
  } catch (thrown) {
    return thrownReport(thrown, 'SYNTAX_ERROR');
  }
  try {
    value = await promise;
    if (isWhole) value = await own(callWhole(value, GlobalObject.args));
  } catch (thrown) {
    return thrownReport(thrown, 'SCRIPT_ERROR');
  }
  const done = encodeEnd(value, currentState);
  if (done.report !== undefined) return done.report;
  for (let turn = 0; turn < SETTLE_TURNS; turn++) await undefined;
  const open = openCalls();
  const failed = unhandledReport(open, done.json);
  if (failed !== undefined) return failed;
  if (open.first !== undefined) return unawaitedReport(open, done.json);
  return successText(done, open);
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
