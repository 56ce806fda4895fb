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
    while (at < code.length && indexOf(' \t\r\n\ufeff\u00a0', code[at]) >= 0) at++;
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
  let end = code.length;
  while (end > start && indexOf(' \t\r\n;', code[end - 1]) >= 0) end--;
  return textSlice(code, 0, end);
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
  const body = new AsyncFunctionC(code);
  if (typeof body !== 'function') throw new SyntaxErrorC('the code closes the function it is the body of');
  return body;
};

/** Call the one function that the whole text is; anything else is the value as it stands. */
const callWhole = async (value, args) => {
  if (typeof value !== 'function') return value;
  const made = value(args);
  return isPromise(made) ? await own(made) : made;
};
