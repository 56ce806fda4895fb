// The two classes over url.js.

const FORM_SAFE = /[A-Za-z0-9*\-._]/;
const formEncode = (text) => {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit === 0x20) out += '+';
    else if (unit < 0x80) out += match(FORM_SAFE, text[i]) ? text[i] : `%${HEX[unit >> 4]}${HEX[unit & 15]}`;
    else {
      const pair = unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length;
      out += percentEncode(textSlice(text, i, pair ? i + 2 : i + 1), '');
      if (pair) i++;
    }
  }
  return out;
};

const formDecode = (text) => percentDecode(replaceAll(text, '+', ' '));

const readQuery = (query) => {
  const pairs = [];
  for (let at = splitAt(query, '&'); ; at = splitAt(at.after, '&')) {
    if (at.before !== '') {
      const { before, after } = splitAt(at.before, '=');
      append(pairs, [formDecode(before), after === null ? '' : formDecode(after)]);
    }
    if (at.after === null) return pairs;
  }
};

const queryText = (pairs) => {
  let out = '';
  for (let i = 0; i < pairs.length; i++) out += `${i ? '&' : ''}${formEncode(pairs[i][0])}=${formEncode(pairs[i][1])}`;
  return out;
};

const iterate = function* (pairs, pick) {
  for (let i = 0; i < pairs().length; i++) yield pick(pairs()[i]);
};

class URLSearchParams {
  #pairs = [];
  #changed = null; // tells the URL this belongs to
  constructor(init = '') {
    if (init !== null && (typeof init === 'object' || typeof init === 'function')) this.#take(init);
    else {
      const text = toWellFormed(`${init}`);
      this.#pairs = readQuery(startsWith(text, '?') ? textSlice(text, 1) : text);
    }
  }
  #take(init) {
    if (typeof init[SymbolC.iterator] === 'function') {
      const list = ArrayC.from(init);
      for (let i = 0; i < list.length; i++) {
        const pair = ArrayC.from(list[i]);
        if (pair.length !== 2) throw new TypeErrorC('Each pair of a URLSearchParams needs a name and a value');
        append(this.#pairs, [toWellFormed(`${pair[0]}`), toWellFormed(`${pair[1]}`)]);
      }
      return;
    }
    const keys = keysOf(init);
    for (let i = 0; i < keys.length; i++) append(this.#pairs, [toWellFormed(keys[i]), toWellFormed(`${init[keys[i]]}`)]);
  }
  #set(pairs) {
    this.#pairs = pairs;
    if (this.#changed) this.#changed(queryText(pairs));
  }
  #keep(test) {
    const kept = [];
    for (let i = 0; i < this.#pairs.length; i++) if (test(this.#pairs[i])) append(kept, this.#pairs[i]);
    return kept;
  }
  static bind(params, query, changed) {
    params.#pairs = readQuery(query);
    params.#changed = changed;
  }
  get size() { return this.#pairs.length; }
  append(name, value) {
    append(this.#pairs, [toWellFormed(`${name}`), toWellFormed(`${value}`)]);
    this.#set(this.#pairs);
  }
  delete(name, value) {
    const n = `${name}`;
    this.#set(this.#keep((pair) => pair[0] !== n || (value !== undefined && pair[1] !== `${value}`)));
  }
  get(name) {
    const found = this.getAll(name);
    return found.length ? found[0] : null;
  }
  getAll(name) {
    const n = `${name}`, kept = this.#keep((pair) => pair[0] === n), values = [];
    for (let i = 0; i < kept.length; i++) append(values, kept[i][1]);
    return values;
  }
  has(name, value) {
    const n = `${name}`;
    return this.#keep((pair) => pair[0] === n && (value === undefined || pair[1] === `${value}`)).length > 0;
  }
  set(name, value) {
    const n = toWellFormed(`${name}`), v = toWellFormed(`${value}`);
    let done = false;
    const kept = this.#keep((pair) => {
      if (pair[0] !== n) return true;
      if (done) return false;
      pair[1] = v;
      return done = true;
    });
    if (!done) append(kept, [n, v]);
    this.#set(kept);
  }
  sort() {
    this.#set(sort(this.#pairs, (x, y) => x[0] < y[0] ? -1 : x[0] > y[0] ? 1 : 0));
  }
  forEach(callback, self) {
    for (let i = 0; i < this.#pairs.length; i++) apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
  }
  entries() { return iterate(() => this.#pairs, (pair) => [pair[0], pair[1]]); }
  keys() { return iterate(() => this.#pairs, (pair) => pair[0]); }
  values() { return iterate(() => this.#pairs, (pair) => pair[1]); }
  [SymbolC.iterator]() { return this.entries(); }
  toString() { return queryText(this.#pairs); }
  get [SymbolC.toStringTag]() { return 'URLSearchParams'; }
}
const bindParams = URLSearchParams.bind;
deleteProperty(URLSearchParams, 'bind');

class URL {
  #url;
  #params = new URLSearchParams();
  constructor(input, base) {
    this.#read(parseUrl(toWellFormed(`${input}`), base === undefined ? null : parseUrl(toWellFormed(`${base}`), null)));
  }
  #read(url) {
    this.#url = url;
    bindParams(this.#params, url.search ?? '', (query) => { this.#url.search = query === '' ? null : query; });
  }
  static canParse(input, base) {
    try {
      return new URL(input, base) !== undefined;
    } catch {
      return false;
    }
  }
  static parse(input, base) {
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }
  get href() { return hrefOf(this.#url); }
  set href(value) { this.#read(parseUrl(`${value}`, null)); }
  get origin() {
    const { protocol, host } = this.#url;
    return PORTS[protocol] === undefined || protocol === 'file:' ? 'null' : `${protocol}//${host}${portText(this.#url)}`;
  }
  get protocol() { return this.#url.protocol; }
  set protocol(value) {
    const found = match(SCHEME, `${value}:`);
    if (!found) return;
    const protocol = lower(found[1]);
    if ((PORTS[protocol] === undefined) !== (PORTS[this.#url.protocol] === undefined)) return;
    this.#url.protocol = protocol;
    if (this.#url.port === PORTS[protocol]) this.#url.port = '';
  }
  get username() { return this.#url.username; }
  set username(value) { if (this.#url.host) this.#url.username = percentEncode(`${value}`, IN_USER); }
  get password() { return this.#url.password; }
  set password(value) { if (this.#url.host) this.#url.password = percentEncode(`${value}`, IN_USER); }
  get host() { return `${this.#url.host ?? ''}${portText(this.#url)}`; }
  set host(value) { this.#place(`${value}`); }
  get hostname() { return this.#url.host ?? ''; }
  set hostname(value) {
    const name = `${value}`;
    if (indexOf(name, ':') < 0 || startsWith(name, '[')) this.#place(name + portText(this.#url));
  }
  #place(text) {
    if (this.#url.opaque) return;
    try {
      const read = blankUrl(this.#url.protocol);
      readAuthority(read, text, PORTS[this.#url.protocol] !== undefined, text);
      this.#url.host = read.host;
      if (read.port !== '' || indexOf(text, ':') >= 0) this.#url.port = read.port;
    } catch { /* a host that is none changes nothing */ }
  }
  get port() { return this.#url.port; }
  set port(value) {
    const text = `${value}`, digits = match(/^[0-9]*/, text)[0];
    if (this.#url.host && (digits !== '' || text === '') && +digits <= 65535) this.#url.port = portOf(digits, this.#url.protocol, '');
  }
  get pathname() { return this.#url.pathname; }
  set pathname(value) {
    if (this.#url.opaque) return;
    const path = `${value}`, isSpecial = PORTS[this.#url.protocol] !== undefined;
    const isRooted = startsWith(path, '/') || (isSpecial && startsWith(path, '\\'));
    this.#url.pathname = resolvePath(isRooted ? textSlice(path, 1) : path, [], isSpecial);
  }
  get search() { return this.#url.search ? `?${this.#url.search}` : ''; }
  set search(value) {
    const text = `${value}`, query = startsWith(text, '?') ? textSlice(text, 1) : text;
    const set = PORTS[this.#url.protocol] === undefined ? IN_QUERY : IN_SPECIAL_QUERY;
    this.#url.search = text === '' ? null : percentEncode(query, set);
    this.#read(this.#url);
  }
  get searchParams() { return this.#params; }
  get hash() { return this.#url.hash ? `#${this.#url.hash}` : ''; }
  set hash(value) {
    const text = `${value}`;
    this.#url.hash = text === '' ? null : percentEncode(startsWith(text, '#') ? textSlice(text, 1) : text, IN_FRAGMENT);
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
  get [SymbolC.toStringTag]() { return 'URL'; }
}

const urlText = getterOf(URL.prototype, 'href'), paramsText = uncurry(URLSearchParams.prototype.toString);

replaceable('URL', URL);
replaceable('URLSearchParams', URLSearchParams);
