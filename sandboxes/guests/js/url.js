// URL and URLSearchParams: the URL Standard for what scripts meet (special schemes, relative resolution, percent-encoding,
// IPv4 and bracketed IPv6 hosts). Names outside ASCII are kept as they are typed, lower-cased: there is no IDNA here.

const PORTS = { __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*:)/;
const FORBIDDEN_HOST = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;

const IN_FRAGMENT = ' "<>`', IN_QUERY = ' "#<>', IN_SPECIAL_QUERY = ` "#<>'`, IN_PATH = ' "#<>?`{}^', IN_USER = ' "#<>?`{}/:;=@[\\]^|';
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
    const high = raw[i] === 37 && i + 2 < written + 0 ? hexValue(raw[i + 1]) : -1, low = high < 0 ? -1 : hexValue(raw[i + 2]);
    if (low >= 0) {
      out[n] = high * 16 + low;
      i += 2;
    } else out[n] = raw[i];
  }
  return readUtf8(typedSub(out, 0, n), 0, false, false).text;
};

const hexValue = (unit) => {
  const at = indexOf(HEX, upper(fromCharCode(unit)));
  return at;
};

const badUrl = (text) => {
  const error = new TypeErrorC(`Invalid URL: ${cut(text, 200)}`);
  put(error, 'code', 'ERR_INVALID_URL');
  put(error, 'input', text);
  return error;
};

const splitAt = (text, mark) => {
  const at = indexOf(text, mark);
  return at < 0 ? { __proto__: null, before: text, after: null } : { __proto__: null, before: textSlice(text, 0, at), after: textSlice(text, at + 1) };
};

/** One number of an IPv4 address: decimal, 0x hexadecimal or 0 octal; NaN when it is none. */
const ipv4Part = (part) => {
  if (part === '') return NaN;
  if (match(/^0[xX][0-9A-Fa-f]*$/, part)) return part.length === 2 ? 0 : NumberC(part);
  if (match(/^0[0-7]*$/, part)) return part === '0' ? 0 : NumberC(`0o${part}`);
  return match(/^[0-9]+$/, part) ? NumberC(part) : NaN;
};

const ipv4 = (host, input) => {
  const parts = [];
  let rest = endsWith(host, '.') ? textSlice(host, 0, -1) : host;
  for (let cutAt = splitAt(rest, '.'); ; cutAt = splitAt(cutAt.after, '.')) {
    append(parts, cutAt.before);
    if (cutAt.after === null) break;
  }
  if (!match(/^(?:[0-9]+|0[xX][0-9A-Fa-f]*)$/, parts[parts.length - 1])) return undefined;
  if (parts.length > 4) throw badUrl(input);
  let value = 0;
  for (let i = 0; i < parts.length; i++) {
    const number = ipv4Part(parts[i]), isLast = i === parts.length - 1, room = isLast ? 256 ** (5 - parts.length) : 256;
    if (number !== number || number >= room) throw badUrl(input);
    value += isLast ? number : number * 256 ** (3 - i);
  }
  return `${floor(value / 16777216)}.${floor(value / 65536) % 256}.${floor(value / 256) % 256}.${value % 256}`;
};

/** The eight groups of an IPv6 address in its short form. */
const ipv6 = (text, input) => {
  const groups = (part) => {
    const list = [];
    if (part === '') return list;
    for (let at = splitAt(part, ':'); ; at = splitAt(at.after, ':')) {
      if (at.after === null && indexOf(at.before, '.') >= 0) {
        const four = ipv4(at.before, input), bytes = [];
        if (four === undefined) throw badUrl(input);
        for (let b = splitAt(four, '.'); ; b = splitAt(b.after, '.')) {
          append(bytes, +b.before);
          if (b.after === null) break;
        }
        append(list, bytes[0] * 256 + bytes[1]);
        append(list, bytes[2] * 256 + bytes[3]);
      } else if (match(/^[0-9A-Fa-f]{1,4}$/, at.before)) append(list, NumberC(`0x${at.before}`));
      else throw badUrl(input);
      if (at.after === null) return list;
    }
  };
  const double = indexOf(text, '::');
  const left = groups(double < 0 ? text : textSlice(text, 0, double)), right = double < 0 ? [] : groups(textSlice(text, double + 2));
  const missing = 8 - left.length - right.length;
  if (double < 0 ? missing !== 0 : missing < 1) throw badUrl(input);
  for (let i = 0; i < missing; i++) append(left, 0);
  for (let i = 0; i < right.length; i++) append(left, right[i]);
  return shortIpv6(left);
};

const shortIpv6 = (groups) => {
  let best = -1, length = 1;
  for (let i = 0; i < 8; i++) {
    let run = 0;
    while (i + run < 8 && groups[i + run] === 0) run++;
    if (run > length) {
      best = i;
      length = run;
    }
    if (run) i += run - 1;
  }
  let out = '';
  for (let i = 0; i < 8; i++) {
    if (i === best) {
      out += i === 0 ? '::' : ':';
      i += length - 1;
    } else out += numberText(groups[i], 16) + (i < 7 ? ':' : '');
  }
  return `[${out}]`;
};

const hostOf = (text, isSpecial, input) => {
  if (startsWith(text, '[')) {
    if (!endsWith(text, ']')) throw badUrl(input);
    return ipv6(textSlice(text, 1, -1), input);
  }
  if (!isSpecial) {
    if (match(/[\0\t\n\r #/:<>?@[\\\]^|]/, text)) throw badUrl(input);
    return percentEncode(text, '');
  }
  const host = lower(percentDecode(text));
  if (host === '' || match(FORBIDDEN_HOST, host)) throw badUrl(input);
  return ipv4(host, input) ?? host;
};

/** Split `user:password@host:port` into the parts of `url`. */
const readAuthority = (url, authority, isSpecial, input) => {
  const at = lastIndexOf(authority, '@');
  if (at >= 0) {
    const { before, after } = splitAt(textSlice(authority, 0, at), ':');
    url.username = percentEncode(before, IN_USER);
    url.password = after === null ? '' : percentEncode(after, IN_USER);
  }
  const place = textSlice(authority, at + 1), bracket = lastIndexOf(place, ']'), colon = indexOf(place, ':', bracket + 1);
  const host = colon < 0 ? place : textSlice(place, 0, colon);
  if (url.protocol === 'file:' && place === '') url.host = '';
  else if (host === '' && (isSpecial || at >= 0 || colon >= 0)) throw badUrl(input);
  else url.host = host === '' ? '' : hostOf(host, isSpecial, input);
  if (url.protocol === 'file:' && url.host === 'localhost') url.host = '';
  url.port = colon < 0 ? '' : portOf(textSlice(place, colon + 1), url.protocol, input);
};

const portOf = (text, protocol, input) => {
  if (text === '') return '';
  if (!match(/^[0-9]+$/, text) || +text > 65535) throw badUrl(input);
  const port = `${+text}`;
  return port === PORTS[protocol] ? '' : port;
};

const isSingleDot = (part) => part === '.' || lower(part) === '%2e';
const isDoubleDot = (part) => {
  const p = lower(part);
  return p === '..' || p === '.%2e' || p === '%2e.' || p === '%2e%2e';
};

/** `path` (after its first slash) with dots resolved, below the segments of `base`. */
const resolvePath = (path, base, isSpecial) => {
  const segments = base, wanted = isSpecial ? replaceAll(path, '\\', '/') : path;
  for (let at = splitAt(wanted, '/'); ; at = splitAt(at.after, '/')) {
    const isLast = at.after === null;
    if (isDoubleDot(at.before)) {
      if (segments.length) segments.length--;
      if (isLast) append(segments, '');
    } else if (isSingleDot(at.before)) {
      if (isLast) append(segments, '');
    } else append(segments, percentEncode(at.before, IN_PATH));
    if (isLast) return `/${join(segments, '/')}`;
  }
};

const replaceAll = (text, mark, by) => {
  let out = '', from = 0;
  for (let at = indexOf(text, mark); at >= 0; at = indexOf(text, mark, from)) {
    out += textSlice(text, from, at) + by;
    from = at + mark.length;
  }
  return out + textSlice(text, from);
};

const segmentsOf = (pathname) => {
  const segments = [];
  if (pathname === '' || pathname === '/') return segments;
  for (let at = splitAt(textSlice(pathname, 1), '/'); ; at = splitAt(at.after, '/')) {
    if (at.after === null) return segments; // the last one is replaced
    append(segments, at.before);
  }
};

const stripped = (text) => {
  let from = 0, to = text.length;
  while (from < to && charCodeAt(text, from) <= 0x20) from++;
  while (to > from && charCodeAt(text, to - 1) <= 0x20) to--;
  return replaceAll(replaceAll(replaceAll(textSlice(text, from, to), '\t', ''), '\n', ''), '\r', '');
};

const blankUrl = (protocol) => ({
  __proto__: null, protocol, username: '', password: '', host: null, port: '', pathname: '', search: null, hash: null, opaque: false,
});

/** Parse `input` against `base` (parsed, or null) into the parts of a URL. */
const parseUrl = (input, base) => {
  const text = stripped(input), { before: beforeHash, after: hash } = splitAt(text, '#');
  const { before: main, after: query } = splitAt(beforeHash, '?');
  const found = match(SCHEME, main), protocol = found ? lower(found[1]) : null;
  let url, rest = found ? textSlice(main, found[1].length) : main;
  const isSpecialScheme = protocol !== null && PORTS[protocol] !== undefined;
  const isSlash = (ch) => ch === '/' || (ch === '\\' && (protocol === null ? base !== null && PORTS[base.protocol] !== undefined : isSpecialScheme));
  if (protocol !== null && !(isSpecialScheme && base !== null && base.protocol === protocol && !isSlash(rest[0]))) {
    url = blankUrl(protocol);
    if (!isSpecialScheme && !isSlash(rest[0])) {
      url.opaque = true;
      url.pathname = percentEncode(rest, '');
    } else readHierarchy(url, rest, isSpecialScheme, isSlash, input);
  } else url = readRelative(rest, base, query, hash, isSlash, input);
  const isSpecial = PORTS[url.protocol] !== undefined;
  if (query !== null) url.search = percentEncode(query, isSpecial ? IN_SPECIAL_QUERY : IN_QUERY);
  if (hash !== null) url.hash = percentEncode(hash, IN_FRAGMENT);
  return url;
};

const readHierarchy = (url, rest, isSpecial, isSlash, input) => {
  let at = 0;
  if (isSpecial && url.protocol !== 'file:') while (isSlash(rest[at])) at++;
  else if (isSlash(rest[0]) && isSlash(rest[1])) at = 2;
  if (at >= 2 || (isSpecial && url.protocol !== 'file:')) {
    let end = at;
    while (end < rest.length && !isSlash(rest[end])) end++;
    readAuthority(url, textSlice(rest, at, end), isSpecial, input);
    at = end;
  } else if (url.protocol === 'file:') url.host = '';
  const path = textSlice(rest, at);
  url.pathname = path === '' ? (isSpecial ? '/' : '') : resolvePath(isSlash(path[0]) ? textSlice(path, 1) : path, [], isSpecial);
};

const readRelative = (rest, base, query, hash, isSlash, input) => {
  if (base === null || (base.opaque && !(rest === '' && query === null && hash !== null))) throw badUrl(input);
  const url = blankUrl(base.protocol), isSpecial = PORTS[base.protocol] !== undefined;
  if (isSlash(rest[0]) && isSlash(rest[1])) {
    readHierarchy(url, rest, isSpecial, isSlash, input);
    return url;
  }
  url.username = base.username;
  url.password = base.password;
  url.host = base.host;
  url.port = base.port;
  url.opaque = base.opaque;
  if (rest === '') {
    url.pathname = base.pathname;
    url.search = query === null ? base.search : null;
  } else url.pathname = isSlash(rest[0]) ? resolvePath(textSlice(rest, 1), [], isSpecial) : resolvePath(rest, segmentsOf(base.pathname), isSpecial);
  return url;
};

const portText = (url) => url.port === '' ? '' : `:${url.port}`;
const hrefOf = (url) => {
  const user = url.username === '' && url.password === '' ? '' : `${url.username}${url.password === '' ? '' : `:${url.password}`}@`;
  return `${url.protocol}${url.host === null ? (startsWith(url.pathname, '//') ? '/.' : '') : `//${user}${url.host}${portText(url)}`}${url.pathname}` +
    `${url.search === null ? '' : `?${url.search}`}${url.hash === null ? '' : `#${url.hash}`}`;
};
