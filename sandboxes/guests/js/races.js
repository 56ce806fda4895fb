// Which calls may still be in flight at the end, and which rejections nobody took.
//
// When is a call in flight at the end a loser, and no failure? When its promise, or a promise that settles because of
// it, was handed to Promise.race, any or allSettled. "Because of it" is read from the engine (`dependents`, engine.c),
// so async wrappers, then chains and adopted promises count, and a replaced Promise.prototype.then changes nothing.
// A call whose promise nobody waits for has no dependents and is never a loser.

const handed = new WeakSetC();
const unhandled = new MapC(); // promise → reason, for rejections nobody has taken yet

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

let isRejectionLost = false; // there was no memory to remember one

const rejected = (promise, reason, isHandled) => {
  try {
    if (isHandled) mapDelete(unhandled, promise);
    else mapSet(unhandled, promise, reason);
  } catch {
    isRejectionLost = true;
  }
};
