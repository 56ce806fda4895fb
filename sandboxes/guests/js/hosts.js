// Hosts of URLs: names, IPv4 in all its spellings, IPv6.

const FORBIDDEN_HOST = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;

const badUrl = (text) => {
  const error = new TypeErrorC(`Invalid URL: ${cut(text, 200)}`);
  put(error, 'code', 'ERR_INVALID_URL');
  put(error, 'input', text);
  return error;
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
