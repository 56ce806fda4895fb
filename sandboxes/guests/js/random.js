// Math.random, seeded per run: every VM starts from the same image, and a run can be replayed.

let a = 1, b = 2, c = 3, d = 4;

/** sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, one 32-bit number a step. */
const nextUint32 = () => {
  const t = (a + b | 0) + d | 0;
  d = d + 1 | 0;
  a = b ^ b >>> 9;
  b = c + (c << 3) | 0;
  c = c << 21 | c >>> 11;
  c = c + t | 0;
  return t >>> 0;
};

const seedRandom = (seed) => {
  a = 0x9e3779b9;
  b = 0x243f6a88;
  c = seed | 0;
  d = 1;
  for (let i = 0; i < 15; i++) nextUint32(); // mixes the seed through all four words
};

put(Math, 'random', { random: () => ((nextUint32() >>> 6) * 134217728 + (nextUint32() >>> 5)) / 9007199254740992 }.random, false);
