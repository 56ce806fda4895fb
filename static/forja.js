/* Behaviour for marked elements. Every word is in the page; every page works without this file. */

const live = document.getElementById("live");
const connection = document.getElementById("connection");
const SILENCE_MS = 4000; // the server is never silent for longer than a beat of 1.5 s
const TICK_MS = 2000; // and times stand still a little after the last word
const POLL_MS = 4000;
let heardAt = performance.now();
let heardTime = new Date();
let connected = false;
let socket = null;

// ── Times ──────────────────────────────────────────────────────────────────
const STYLES = {
  time: { timeStyle: "medium", hourCycle: "h23" },
  short: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  full: { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" },
};
const language = document.documentElement.lang;

function localise(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const at = new Date(element.dateTime);
    let style = element.dataset.local;
    if (style !== "full" && at.toDateString() !== new Date().toDateString()) style = "full";
    const shown = new Intl.DateTimeFormat(language, STYLES[style]).format(at);
    if (element.textContent !== shown) element.textContent = shown;
  }
  for (const element of root.querySelectorAll("[data-zone]")) {
    element.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
}

function durationWords(ms) {
  const seconds = ms / 1000;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (seconds < 60) return `${seconds.toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

// Runs' times go on only while the server is heard: a lost connection must not look like progress.
const seen = new WeakMap();
function tick() {
  for (const element of document.querySelectorAll("time[data-elapsed]")) {
    const now = performance.now();
    if (!seen.has(element)) seen.set(element, now);
    if (!connected || now - heardAt > TICK_MS) continue;
    element.textContent = durationWords(Number(element.dataset.elapsed) + now - seen.get(element));
  }
}

// ── Connection ─────────────────────────────────────────────────────────────
function told() {
  const cards = {};
  for (const data of document.querySelectorAll("data[data-run]")) cards[data.dataset.run] = Number(data.value);
  return JSON.stringify({ view: live.dataset.view, cards });
}

function say(why) {
  for (const element of connection.querySelectorAll("[data-why]")) element.hidden = element.dataset.why !== why;
  for (const element of connection.querySelectorAll("[data-as-of]")) {
    element.dateTime = heardTime.toISOString();
    element.textContent = new Intl.DateTimeFormat(language, STYLES.time).format(heardTime);
  }
  connection.querySelector("[data-reconnect]").hidden = why === "signed-out" || why === "gone";
  connection.hidden = false;
}

function heard() {
  live.dataset.heard = "";
  heardAt = performance.now();
  heardTime = new Date();
}

function watchConnection() {
  if (!connected || performance.now() - heardAt < SILENCE_MS) return;
  connected = false;
  say("lost");
  socket?.reconnect(); // a dead network closes nothing by itself
}

let polling = false;
async function poll() {
  if (connected || polling || live.dataset.ended || performance.now() - heardAt < SILENCE_MS) return;
  polling = true;
  try {
    const url = new URL(live.dataset.poll, location.href);
    url.searchParams.set("told", told());
    const answer = await fetch(url, { signal: AbortSignal.timeout(POLL_MS * 2) });
    if (answer.redirected || answer.status === 401) return ended("signed-out");
    if (answer.status === 404) return ended("gone");
    if (!answer.ok || connected) return;
    const text = await answer.text();
    htmx.swap(live, text, { swapStyle: "none" });
    heardTime = new Date();
    say("polling");
    refreshed();
  } catch {
    if (!connected) say("lost");
  } finally {
    polling = false;
  }
}

function ended(why) {
  live.dataset.ended = why;
  say(why);
}

function startLive() {
  htmx.config.wsReconnectDelay = (count) => Math.min(4000, 500 * 2 ** count) * (0.75 + Math.random() / 2);
  live.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
    heard();
    socket.sendImmediately(told());
  });
  live.addEventListener("htmx:wsAfterMessage", () => {
    heard();
    connected = true;
    connection.hidden = true;
    refreshed();
  });
  live.addEventListener("htmx:wsClose", (event) => {
    connected = false;
    if (event.detail.event.code === 4401) return ended("signed-out");
    if (event.detail.event.code === 4404) return ended("gone");
    setTimeout(() => { if (!connected) say("lost"); }, 1500);
  });
  connection.querySelector("[data-reconnect]").addEventListener("click", () => { socket?.reconnect(); heardAt = 0; poll(); });
  setInterval(watchConnection, 500);
  setInterval(poll, POLL_MS);
  setInterval(tick, 200);
}

// ── Panes that follow their end, parts that stay open ──────────────────────
const following = new Map();
const opened = new Map();

document.addEventListener("scroll", (event) => {
  const pane = event.target;
  if (!pane.dataset || !("follow" in pane.dataset)) return;
  following.set(pane.id, pane.scrollHeight - pane.scrollTop - pane.clientHeight < 24);
}, true);

document.addEventListener("toggle", (event) => {
  if (event.target.id && "keep" in event.target.dataset) opened.set(event.target.id, event.target.open);
}, true);

function refreshed() {
  for (const pane of document.querySelectorAll("[data-follow]")) {
    if (following.get(pane.id) !== false) pane.scrollTop = pane.scrollHeight;
  }
  for (const [id, open] of opened) {
    const part = document.getElementById(id);
    if (part && part.open !== open) part.open = open;
  }
  arrived();
  localise(document);
}

// ── Copying ────────────────────────────────────────────────────────────────
async function textToCopy(button) {
  if (!button.dataset.copyUrl) return document.getElementById(button.dataset.copy).textContent;
  const answer = await fetch(button.dataset.copyUrl);
  if (!answer.ok) throw new Error(answer.statusText);
  return (await answer.json()).text;
}

function copyByHand(text) {
  // Where the clipboard API is missing: pages that are neither on this machine nor behind TLS.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not allowed");
}

function toast(name) {
  const element = document.querySelector(`[data-toast="${name}"]`);
  if (!element) return;
  element.hidden = false;
  setTimeout(() => { element.hidden = true; }, 2500);
}

async function copy(button) {
  try {
    const text = await textToCopy(button);
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyByHand(text);
    toast("copied");
  } catch {
    toast("not-copied");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-url]");
  if (button) { copy(button); return; }
  const view = event.target.closest("[data-view-calls]");
  if (view) { event.preventDefault(); showCalls(view.dataset.viewCalls); }
});

// ── Quiet or full calls ────────────────────────────────────────────────────
function showCalls(which) {
  const cards = document.getElementById("cards");
  if (!cards) return;
  cards.dataset.calls = which;
  for (const link of document.querySelectorAll("[data-view-calls]")) {
    if (link.dataset.viewCalls === which) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  document.cookie = `forja_calls=${which}; path=/; max-age=31536000; samesite=lax`;
}

// ── What was just sent comes into view, unless its sender has looked elsewhere ────
const ARRIVES_MS = 15000;
let awaited = null;
let looksElsewhere = false;

for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) {
  document.addEventListener(kind, () => { awaited = null; looksElsewhere = true; }, { passive: true, capture: true });
}
document.addEventListener("htmx:beforeRequest", (event) => { if (event.target.id === "composer") looksElsewhere = false; });

function awaitCard(id) {
  awaited = { id, until: performance.now() + ARRIVES_MS };
  arrived();
}

function arrived() {
  const card = awaited && document.getElementById(awaited.id);
  if (awaited && performance.now() > awaited.until) awaited = null;
  if (!card || !awaited) return;
  awaited = null;
  if (card.getBoundingClientRect().top > innerHeight - 120) card.scrollIntoView({ block: "start" });
}

document.addEventListener("htmx:afterSwap", (event) => {
  const sent = event.detail.successful !== false && document.getElementById("composer")?.dataset.sent;
  if (!sent || event.detail.requestConfig?.elt?.id !== "composer") return;
  forgetDraft();
  if (!looksElsewhere) awaitCard(sent);
});

// ── Drafts: what was typed and not run outlives a reload and is not replaced unasked ────
const DRAFTS = "forja-draft:";
const composer = () => document.getElementById("composer");
const draftKey = () => DRAFTS + composer().dataset.session;
const typed = () => {
  const code = composer()?.elements.code;
  return Boolean(code?.value.trim()) && (code.value !== code.defaultValue || "unsent" in composer().dataset);
};

function storage(work) {
  try { return work(localStorage); } catch { return null; } // switched off, or full
}

function keepDraft() {
  const { code, title } = composer().elements;
  if (!typed()) { forgetDraft(); return; }
  const draft = JSON.stringify({ code: code.value, title: title.value, base: code.defaultValue });
  storage((store) => store.setItem(draftKey(), draft));
}

function forgetDraft() {
  if (composer()) storage((store) => store.removeItem(draftKey()));
}

function draft() {
  try { return JSON.parse(storage((store) => store.getItem(draftKey()))); } catch { return null; }
}

function bringBack(kept) {
  const { code, title } = composer().elements;
  code.value = kept.code;
  title.value = kept.title;
  composer().querySelector("[data-draft-kept]").hidden = true;
}

function restoreDraft() {
  const kept = composer() && draft();
  if (!kept || typeof kept.code !== "string") return;
  const code = composer().elements.code;
  if (code.defaultValue === kept.base || !code.defaultValue) bringBack(kept);
  else if (code.defaultValue !== kept.code) composer().querySelector("[data-draft-kept]").hidden = false;
}

async function askBeforeReplacing(link) {
  const dialog = document.getElementById("replace-draft");
  dialog.returnValue = "keep";
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "replace") return;
    forgetDraft();
    location.assign(link.href);
  }, { once: true });
  dialog.showModal();
}

document.addEventListener("input", (event) => { if (event.target.form?.id === "composer") keepDraft(); });

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-draft-back]")) { bringBack(draft()); keepDraft(); return; }
  const link = event.target.closest('a[href*="#composer"]');
  if (!link || !typed()) return;
  event.preventDefault();
  askBeforeReplacing(link);
});

document.addEventListener("submit", (event) => {
  if (!("signOut" in event.target.dataset)) return;
  storage((store) => { for (const key of Object.keys(store)) if (key.startsWith(DRAFTS)) store.removeItem(key); });
});

// ── Keys ───────────────────────────────────────────────────────────────────
function cardInFocus() {
  return document.activeElement?.closest?.("article.run");
}

function step(by) {
  const cards = [...document.querySelectorAll("article.run")];
  const at = cards.indexOf(cardInFocus());
  const next = cards[at < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  c: () => document.getElementById("run-code")?.focus(),
  j: () => step(1),
  k: () => step(-1),
  o: () => { const part = cardInFocus()?.querySelector("details"); if (part) part.open = !part.open; },
  x: () => cardInFocus()?.querySelector("[data-stop]")?.click(),
  y: () => cardInFocus()?.querySelector("[data-copy-code]")?.click(),
  q: () => showCalls(document.getElementById("cards")?.dataset.calls === "quiet" ? "full" : "quiet"),
  "?": () => document.getElementById("keys")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form?.id === "composer") {
    event.preventDefault();
    event.target.form.requestSubmit();
    return;
  }
  if (event.key === "Escape" && !event.isComposing && event.target.matches?.("input, textarea, select") && !event.target.closest("dialog")) {
    event.target.blur();
    return;
  }
  const typing = event.target.closest?.("input, textarea, select, dialog[open]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

// Browsers without `commandfor` still open and close the help.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[commandfor]");
  if (!button || "commandForElement" in button) return;
  const dialog = document.getElementById(button.getAttribute("commandfor"));
  if (button.getAttribute("command") === "close") dialog.close();
  else dialog.showModal();
});

// A link to a line or call inside a folded part opens it.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const part = target && target.closest("details:not([open])");
  if (part) { part.open = true; target.scrollIntoView({ block: "center" }); }
}
window.addEventListener("hashchange", openTarget);

document.addEventListener("htmx:afterSettle", refreshed);
if (live && window.htmx) startLive();
localise(document);
restoreDraft();
refreshed();
openTarget();
