// What the engine has and a script must not count on, and what it ignores without saying so.
//
// Absent names stay absent: `typeof fetch` is 'undefined' and no getter throws. Why they are absent is said by the hint
// that hints.py derives from the ReferenceError.

deleteProperty(GlobalObject, 'performance'); // its zero would be the moment the image was made
deleteProperty(GlobalObject, 'SharedArrayBuffer'); // no threads to share with

/** queueMicrotask whose callback's error counts like any unhandled rejection, instead of breaking the pump. */
const turn = async (callback) => {
  await undefined;
  callback();
};
replaceable('queueMicrotask', { queueMicrotask(callback) {
  if (typeof callback !== 'function') throw new TypeErrorC('queueMicrotask needs a function');
  turn(callback);
} }.queueMicrotask);

const localeHints = new SetC(); // for the report
const DEAF = 'ignores its locale and options here: there is no Intl. Format by hand.';

/** Keep a method and note when it is given a locale or options that this engine does not look at. */
const deaf = (owner, key, position, what) => {
  const prototype = owner.prototype, original = uncurry(prototype[key]);
  const replacement = { [key](...values) {
    for (let i = position; i < values.length; i++)
      if (values[i] !== undefined) setAdd(localeHints, `${what}.${key} ${DEAF}`);
    return original(this, values[0]); // the one argument any of them looks at
  } }[key];
  put(prototype, key, replacement, false);
};
deaf(NumberC, 'toLocaleString', 0, 'Number');
deaf(BigIntC, 'toLocaleString', 0, 'BigInt');
deaf(DateC, 'toLocaleString', 0, 'Date');
deaf(DateC, 'toLocaleDateString', 0, 'Date');
deaf(DateC, 'toLocaleTimeString', 0, 'Date');
deaf(ArrayC, 'toLocaleString', 0, 'Array');
deaf(StringC, 'localeCompare', 1, 'String');
deaf(StringC, 'toLocaleUpperCase', 0, 'String');
deaf(StringC, 'toLocaleLowerCase', 0, 'String');
