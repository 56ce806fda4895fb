// URL and URLSearchParams: the URL Standard for what scripts meet (special schemes, relative resolution, percent-encoding,
// IPv4 and bracketed IPv6 hosts). Names outside ASCII are kept as they are typed, lower-cased: there is no IDNA here.

const PORTS = { __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*:)/;

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
  const takesBackslash = protocol === null ? base !== null && PORTS[base.protocol] !== undefined : isSpecialScheme;
  const isSlash = (ch) => ch === '/' || (ch === '\\' && takesBackslash);
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
  } else if (isSlash(rest[0])) url.pathname = resolvePath(textSlice(rest, 1), [], isSpecial);
  else url.pathname = resolvePath(rest, segmentsOf(base.pathname), isSpecial);
  return url;
};

const portText = (url) => url.port === '' ? '' : `:${url.port}`;
const hrefOf = (url) => {
  const user = url.username === '' && url.password === '' ? '' : `${url.username}${url.password === '' ? '' : `:${url.password}`}@`;
  const place = url.host === null ? (startsWith(url.pathname, '//') ? '/.' : '') : `//${user}${url.host}${portText(url)}`;
  return `${url.protocol}${place}${url.pathname}` +
    `${url.search === null ? '' : `?${url.search}`}${url.hash === null ? '' : `#${url.hash}`}`;
};
