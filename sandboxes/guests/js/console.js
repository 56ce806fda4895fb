const inspect = (v) => textOf(v, 'x');
pinned('console', freeze({ __proto__: null, log: (...a) => { host(OP_OUTPUT, 'o' + join(a, ' ') + '\n'); } }));
