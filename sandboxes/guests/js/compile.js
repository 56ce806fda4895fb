// What the engine runs: the submitted text as the body of an async function.
//
// A whole that is one function (`async () => {…}`, `function main() {…}`) or one call of one (`(async () => {…})()`) would
// do nothing, or nothing anyone awaits, as a body. Such a text parses as one expression: it is compiled as one, and its
// value, when a function, is called with `args`.

let isWhole = false;

/** Where the code begins, after blanks and comments. */
const skipBlanks = (code) => {
  let at = 0;
  for (;;) {
    at = code.length - trimStart(at ? textSlice(code, at) : code).length;
    if (startsWith(code, '//', at)) at = indexOf(code, '\n', at);
    else if (startsWith(code, '/*', at)) {
      at = indexOf(code, '*/', at);
      if (at >= 0) at += 2;
    } else return at;
    if (at < 0) return code.length;
  }
};

const FUNCTION_START = /^(?:async\b|function\b|[\w$]+\s*=>|\(\s*(?:async\b|function\b|\(|\)|[\w$]+\s*[,)=]|\{|\.\.\.))/;

/** The text without blanks and semicolons at its end; undefined when it cannot be one function. */
const wholeExpression = (code) => {
  const start = skipBlanks(code);
  if (!match(FUNCTION_START, textSlice(code, start, start + 200))) return undefined;
  let whole = trimEnd(code);
  for (let n = 0; n < 100 && endsWith(whole, ';'); n++) whole = trimEnd(textSlice(whole, 0, -1));
  return whole;
};

const compile = (code) => {
  const whole = wholeExpression(code);
  if (whole !== undefined) {
    try {
      const body = new AsyncFunctionC(`return (\n${whole}\n)`);
      headerLines = 3;
      isWhole = true;
      return body;
    } catch (thrown) {
      if (limitOf(thrown)) throw thrown;
    }
  }
  return new AsyncFunctionC(code);
};

/** Start the body. Text such as `}); (function () {` closes the function it should be the body of and makes another. */
const start = (body) => {
  const promise = apply(body, undefined, []);
  if (!isPromise(promise)) throw new SyntaxErrorC('the code closes the function it is the body of');
  return own(promise);
};

/** Call the one function that the whole text is; anything else is the value as it stands. */
const callWhole = async (value, args) => {
  if (typeof value !== 'function') return value;
  const made = value(args);
  return isPromise(made) ? await own(made) : made;
};
