// Percent-encoding and small text tools of the URL Standard.

const IN_FRAGMENT = ' "<>`', IN_QUERY = ' "#<>', IN_SPECIAL_QUERY = ` "#<>'`, IN_PATH = ' "#<>?`{}^',
  IN_USER = ' "#<>?`{}/:;=@[\\]^|';
const HEX = '0123456789ABCDEF';

/** Percent-encode control characters, what is not ASCII, and the characters of `set`. */
const percentEncode = (text, set) => {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit > 0x1f && unit < 0x7f && indexOf(set, text[i]) < 0) {
      out += text[i];
      continue;
    }
    const pair = unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length;
    const piece = toWellFormed(textSlice(text, i, pair ? i + 2 : i + 1)), bytes = new Uint8ArrayC(utf8Length(piece));
    writeUtf8(piece, bytes);
    for (let k = 0; k < typedLength(bytes); k++) out += `%${HEX[bytes[k] >> 4]}${HEX[bytes[k] & 15]}`;
    if (pair) i++;
  }
  return out;
};

const percentDecode = (text) => {
  if (indexOf(text, '%') < 0) return toWellFormed(text);
  const raw = new Uint8ArrayC(utf8Length(text)), { written } = writeUtf8(text, raw), out = new Uint8ArrayC(written);
  let n = 0;
  for (let i = 0; i < written; i++, n++) {
    const high = raw[i] === 37 && i + 2 < written ? hexValue(raw[i + 1]) : -1, low = high < 0 ? -1 : hexValue(raw[i + 2]);
    if (low >= 0) {
      out[n] = high * 16 + low;
      i += 2;
    } else out[n] = raw[i];
  }
  return readUtf8(typedSub(out, 0, n), 0, false, false).text;
};

const hexValue = (unit) => indexOf(HEX, upper(fromCharCode(unit)));

const splitAt = (text, mark) => {
  const at = indexOf(text, mark);
  if (at < 0) return { __proto__: null, before: text, after: null };
  return { __proto__: null, before: textSlice(text, 0, at), after: textSlice(text, at + 1) };
};

const replaceAll = (text, mark, by) => {
  let out = '', from = 0;
  for (let at = indexOf(text, mark); at >= 0; at = indexOf(text, mark, from)) {
    out += textSlice(text, from, at) + by;
    from = at + mark.length;
  }
  return out + textSlice(text, from);
};
