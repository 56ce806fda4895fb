// TextEncoder, TextDecoder (UTF-8, UTF-16LE, Latin-1) and structuredClone. atob and btoa are the engine's own.

const REPLACEMENT = '\ufffd';
const ENCODINGS = {
  __proto__: null,
  'utf-8': 'utf-8', utf8: 'utf-8', 'unicode-1-1-utf-8': 'utf-8',
  'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', ucs2: 'utf-16le', 'ucs-2': 'utf-16le', unicode: 'utf-16le',
  latin1: 'windows-1252', 'iso-8859-1': 'windows-1252', iso88591: 'windows-1252', l1: 'windows-1252',
  ascii: 'windows-1252', 'us-ascii': 'windows-1252', 'windows-1252': 'windows-1252', cp1252: 'windows-1252',
};
const WINDOWS_1252 = '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** Write `text` as UTF-8 from `at`; gives how many UTF-16 units were read and bytes written. */
const writeUtf8 = (text, bytes) => {
  const n = text.length, room = typedLength(bytes);
  let at = 0, i = 0;
  for (; i < n; i++) {
    let point = charCodeAt(text, i);
    if (point >= 0xd800 && point <= 0xdfff) {
      const next = point < 0xdc00 && i + 1 < n ? charCodeAt(text, i + 1) : 0;
      point = next >= 0xdc00 && next <= 0xdfff ? (point - 0xd800) * 1024 + next - 0xdc00 + 0x10000 : 0xfffd;
    }
    const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (at + size > room) break;
    if (size === 1) bytes[at] = point;
    else {
      bytes[at] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | point >> 6 * (size - 1);
      for (let k = 1; k < size; k++) bytes[at + k] = 0x80 | point >> 6 * (size - 1 - k) & 63;
    }
    if (size === 4) i++;
    at += size;
  }
  return { read: i, written: at };
};

const utf8Length = (text) => {
  const n = text.length;
  let size = n;
  for (let i = 0; i < n; i++) {
    const unit = charCodeAt(text, i);
    if (unit < 0x80) continue;
    size += unit < 0x800 ? 1 : 2;
    if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < n) {
      const next = charCodeAt(text, i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) i++;
    }
  }
  return size;
};

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text = '') {
    const whole = `${text}`, bytes = new Uint8ArrayC(utf8Length(whole));
    writeUtf8(whole, bytes);
    return bytes;
  }
  encodeInto(text, bytes) { return writeUtf8(`${text}`, bytes); }
}

/** Take `bytes` from `from` as UTF-8, the standard's way: one U+FFFD for each maximal bad part. */
const readUtf8 = (bytes, from, fatal, more) => {
  const n = typedLength(bytes);
  let text = '', i = from;
  while (i < n) {
    const start = i;
    while (i < n && bytes[i] < 0x80 && i - start < 8192) i++;
    if (i > start) {
      text += apply(fromCharCode, undefined, typedSub(bytes, start, i));
      continue;
    }
    const lead = bytes[i];
    const need = lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
    let point = need === 0 ? -1 : lead & (need === 1 ? 0x1f : need === 2 ? 0x0f : 0x07), k = 1;
    for (; point >= 0 && k <= need; k++) {
      if (i + k >= n) {
        if (more) return { __proto__: null, text, rest: i };
        point = -1;
        break;
      }
      const next = bytes[i + k];
      const least = k > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const most = k > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (next < least || next > most) {
        point = -1;
        break;
      }
      point = point * 64 + (next & 63);
    }
    if (point < 0 && fatal) throw new TypeErrorC('The encoded data was not valid for encoding utf-8');
    text += point < 0 ? REPLACEMENT : fromCodePoint(point);
    i += k;
  }
  return { __proto__: null, text, rest: n };
};

const readUtf16 = (bytes, fatal, more) => {
  const n = typedLength(bytes), even = n - n % 2;
  let text = '', rest = even;
  for (let i = 0; i < even; i += 2) text += fromCharCode(bytes[i] | bytes[i + 1] << 8);
  const last = even ? charCodeAt(text, text.length - 1) : 0;
  if (more && last >= 0xd800 && last < 0xdc00) {
    text = textSlice(text, 0, -1);
    rest -= 2;
  }
  if (fatal && (!isWellFormed(text) || (!more && n % 2))) throw new TypeErrorC('The encoded data was not valid for encoding utf-16le');
  if (!more && n % 2) {
    text += REPLACEMENT;
    rest = n;
  }
  return { __proto__: null, text: toWellFormed(text), rest };
};

const readLatin1 = (bytes) => {
  let text = '';
  for (let i = 0; i < typedLength(bytes); i++) {
    const byte = bytes[i];
    text += byte >= 0x80 && byte < 0xa0 ? WINDOWS_1252[byte - 0x80] : fromCharCode(byte);
  }
  return { __proto__: null, text, rest: typedLength(bytes) };
};

const joinBytes = (first, second) => {
  const both = new Uint8ArrayC(typedLength(first) + typedLength(second));
  typedSet(both, first, 0);
  typedSet(both, second, typedLength(first));
  return both;
};

class TextDecoder {
  #encoding; #fatal; #ignoreBom; #kept = new Uint8ArrayC(0); #begun = false;
  constructor(label = 'utf-8', options = {}) {
    const encoding = ENCODINGS[lower(trim(`${label}`))];
    if (encoding === undefined) throw new RangeErrorC(`The encoding label "${label}" is not supported: utf-8, utf-16le and latin1 are`);
    this.#encoding = encoding;
    this.#fatal = !!options?.fatal;
    this.#ignoreBom = !!options?.ignoreBOM;
  }
  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBom; }
  decode(input, options) {
    const given = input === undefined ? new Uint8ArrayC(0) : bytesOf(input);
    if (given === undefined) throw new TypeErrorC('decode needs an ArrayBuffer or a view of one');
    const more = !!options?.stream, bytes = typedLength(this.#kept) ? joinBytes(this.#kept, given) : given;
    const read = this.#encoding === 'utf-8' ? readUtf8(bytes, 0, this.#fatal, more) :
      this.#encoding === 'utf-16le' ? readUtf16(bytes, this.#fatal, more) : readLatin1(bytes);
    this.#kept = joinBytes(typedSub(bytes, read.rest), new Uint8ArrayC(0));
    let text = read.text;
    if (!this.#begun && !this.#ignoreBom && this.#encoding !== 'windows-1252' && text[0] === '\ufeff') text = textSlice(text, 1);
    this.#begun = more && (this.#begun || read.text.length > 0);
    return text;
  }
}

replaceable('TextEncoder', TextEncoder);
replaceable('TextDecoder', TextDecoder);
