// The labelling page: one key labels, one request saves it and brings the next item. Without this file the same forms
// work with a button; with it nothing that was given or typed gets lost with a connection, a log-in or a tab.
// One file, though long: the page loads in five requests, and each further module would be one more. The module of a
// kind of answer that needs one (spans.js) is the sixth.

import { isTyping, pressed, withKey } from "../frame.js";

const FLASH_MS = 120;
const SAVING_AFTER = 300;
const DRAFT_AFTER = 1_500;
const ALIVE_EVERY = 5 * 60_000;
const LOOK_AGAIN_EVERY = 30_000;
const IDLE_AFTER = 60_000;
const KEEP_DRAFTS_DAYS = 14;
const DAY = 24 * 60 * 60 * 1000;
const PATIENCE = 15_000;
const LOGGED_IN = "logged in"; // to the other tabs

// -- what must not get lost -----------------------------------------------------------------------------------------

// Answers that the server has not confirmed yet, and what is typed so far. Both are kept in the browser under the
// member's id, so that nobody sends what somebody else gave on the same machine.

/** Entries of one kind in localStorage, by key. Without storage (a browser that forbids it) they last with the page. */
class Kept {
  constructor(member, kind) {
    this.prefix = `concord:${member}:${kind}:`;
    this.memory = new Map();
  }

  put(key, entry) {
    this.memory.set(key, entry);
    try {
      localStorage.setItem(this.prefix + key, JSON.stringify(entry));
    } catch {
      // Full or forbidden: the entry is still in memory, and is sent from there.
    }
  }

  drop(key) {
    this.memory.delete(key);
    try {
      localStorage.removeItem(this.prefix + key);
    } catch {
      // Forbidden: it was never there.
    }
  }

  get(key) {
    return this.all().get(key);
  }

  /** key -> entry, the oldest first. */
  all() {
    const found = new Map(this.memory);
    try {
      for (const name of Object.keys(localStorage)) {
        if (name.startsWith(this.prefix)) found.set(name.slice(this.prefix.length), JSON.parse(localStorage[name]));
      }
    } catch {
      // Forbidden, or written by something else: what is in memory is all there is.
    }
    return new Map([...found].sort(([, a], [, b]) => a.at - b.at));
  }

  /** Forget what is older than `days`. */
  prune(days) {
    for (const [key, entry] of this.all()) if (entry.at < Date.now() - days * DAY) this.drop(key);
  }
}

/**
 * Ask the server, and say how it went: "done" (with html), "wrong" (422, with html), "moved" (with a url), "login",
 * "another" (with the name of who is logged in), "refused" (with its sentence as html), or "away" when nothing came
 * back that could be the server's word on it.
 */
async function ask(url, fields, options = {}) {
  const headers = { "HX-Request": "true", "X-Opened-For": user };
  let body;
  if (fields) {
    headers["X-CSRFToken"] = token();
    body = new URLSearchParams(fields);
  }
  let response;
  try {
    response = await fetch(url, {
      method: fields ? "POST" : "GET",
      headers,
      body,
      redirect: "manual",
      signal: options.keepalive ? undefined : AbortSignal.timeout(PATIENCE),
      ...options,
    });
    const html = response.type === "opaqueredirect" ? "" : await response.text();
    return outcome(response, html);
  } catch {
    return { kind: "away" };
  }
}

/** Logging in again changes the token: the cookie has the one that holds now. */
const token = () => /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";

function outcome(response, html) {
  if (response.type === "opaqueredirect") return { kind: "login" };
  const url = response.headers.get("HX-Redirect");
  if (url) return { kind: "moved", url };
  if (response.ok) return { kind: "done", html };
  if (response.status === 422) return { kind: "wrong", html };
  if (response.status >= 500 || response.status === 429 || response.status === 408) return { kind: "away" };
  const another = response.status === 403 && parsed(html).querySelector("[data-another]");
  if (another) return { kind: "another", name: another.dataset.another };
  return { kind: "refused", html, status: response.status };
}

const bench = document.getElementById("bench");
const state = document.getElementById("state");
const { member, user, labelUrl, loginUrl } = bench.dataset;
const unsent = new Kept(member, "unsent");
const drafts = new Kept(member, "draft");
const tabs = new BroadcastChannel(`concord:${member}`);
let busy = false;

const task = () => document.getElementById("task");
const item = () => document.getElementById("item");
const form = () => document.getElementById("answers");
const questions = () => [...task().querySelectorAll("fieldset.question")];
const isTask = () => task().dataset.kind === "task";
const sheet = () => task().dataset.sheet;

// -- the quiet word ---------------------------------------------------------------------------------------------------

function say(word, ...more) {
  const words = document.createElement("span");
  words.append(state.dataset[word] ?? word, ...more);
  state.replaceChildren(words);
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;

function sayRefusal(html, ...more) {
  say(parsed(html).textContent.trim(), " ", ...more);
}

// -- logging in again in place ----------------------------------------------------------------------------------------

const dialog = document.getElementById("log-in");
let out = null; // while the session has ended: { name: of who else is logged in, url: of what was to be looked at }

/** The session has ended, or is somebody else's. Who types is not interrupted: `asks` says whether to ask at once. */
function loggedOut(reply, { asks = true, url = "" } = {}) {
  out = { name: reply.name ?? "", url };
  sayLogIn();
  if (asks) askLogIn();
}

function sayLogIn() {
  const link = document.createElement("a");
  link.href = loginUrl;
  link.dataset.logIn = "";
  const waiting = unsent.all().size > 0;
  link.textContent = waiting ? state.dataset.loginLink : state.dataset.outLink;
  say(waiting ? "login" : "out", " ", link);
}

async function askLogIn() {
  try {
    const { open } = await import(dialog.dataset.module);
    open({ user, ask, token, resume, waiting: () => unsent.all().size > 0 }, out?.name);
  } catch {
    return false; // the link leads to the log-in page
  }
  return true;
}

/** Logged in again: send what is kept, and go on from where the session had ended. */
async function resume() {
  const url = out?.url;
  out = null;
  tabs.postMessage(LOGGED_IN);
  say("back");
  if (unsent.all().size) await flush();
  else if (url) look(url);
  else sendDraft();
}

// -- time on task: seconds in view, without those in which nobody moves ------------------------------------------------

const clock = { seconds: 0, seen: performance.now(), moved: performance.now() };

function tick() {
  const now = performance.now();
  if (document.visibilityState === "visible" && now - clock.moved < IDLE_AFTER) {
    clock.seconds += Math.min(now - clock.seen, 2_000) / 1_000;
  }
  clock.seen = now;
}

setInterval(tick, 1_000);
for (const name of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove", "scroll"]) {
  document.addEventListener(name, () => { clock.moved = performance.now(); }, { capture: true, passive: true });
}

// -- sending ----------------------------------------------------------------------------------------------------------

function fieldsOf(sent, submitter) {
  tick();
  if (sent.elements.seconds) sent.elements.seconds.value = clock.seconds.toFixed(1);
  return [...new FormData(sent, submitter)].filter(([name]) => name !== "csrfmiddlewaretoken");
}

/** Keep it here first, then send it: whatever happens in between, it is sent again until the server has said so. */
function send(sent, submitter) {
  if (busy) return;
  if (sent.id === "ask") {
    sendQuestion(sent);
    return;
  }
  const word = sent.id === "skip" ? "skipped" : isTask() ? "saved" : "corrected";
  const entry = { sheet: sheet(), url: sent.action, fields: fieldsOf(sent, submitter), word, at: Date.now() };
  unsent.put(entry.sheet, entry);
  deliver(entry, { asks: true });
}

/** A question is kept and sent like a label, but brings no other sheet: the item stays in hand. */
function sendQuestion(sent) {
  const entry = { sheet: `ask:${sheet()}:${Date.now()}`, url: sent.action, fields: fieldsOf(sent), word: "asked", at: Date.now() };
  unsent.put(entry.sheet, entry);
  sent.hidePopover();
  sent.reset();
  item()?.focus({ preventScroll: true });
  deliver(entry, { asks: true });
}

/** Send a kept entry; whether to go on with the next one. `asks`: to log in again, if that is needed. */
async function deliver(entry, { asks = !isTyping(document.activeElement) } = {}) {
  busy = true;
  clearTimeout(drafting);
  const waiting = setTimeout(say, SAVING_AFTER, "saving");
  const reply = await ask(entry.url, entry.fields);
  clearTimeout(waiting);
  busy = false;
  if (reply.kind === "away") {
    say("kept");
    later();
    return false;
  }
  if (reply.kind === "login" || reply.kind === "another") {
    loggedOut(reply, { asks });
    return false;
  }
  if (reply.kind === "refused" && (reply.status === 403 || reply.status === 404)) {
    // Not theirs to do now, perhaps again later: who has left the project may come back.
    if (token()) sayRefusal(reply.html, state.dataset.still);
    else loggedOut(reply, { asks }); // the cookie is gone that every form needs, and a log-in brings back
    return true;
  }
  out = null;
  unsent.drop(entry.sheet);
  settle(reply, entry);
  return true;
}

function settle(reply, entry) {
  if (entry.word === "asked") {
    delay = FIRST_DELAY;
    if (reply.kind === "done") say(entry.word);
    else sayRefusal(reply.html ?? "");
  } else if (reply.kind === "moved") {
    location.assign(reply.url);
  } else if (reply.kind === "wrong") {
    say("");
    show(reply.html);
  } else if (reply.kind === "refused") {
    sayRefusal(reply.html);
    look();
  } else {
    delay = FIRST_DELAY;
    drafts.drop(entry.sheet);
    tabs.postMessage(entry.sheet);
    say(entry.word);
    if (entry.sheet === sheet() || !sheet()) show(reply.html);
  }
}

const FIRST_DELAY = 2_000;
const LONGEST_DELAY = 30_000;
let delay = FIRST_DELAY;
let retrying = 0;

function later() {
  clearTimeout(retrying);
  retrying = setTimeout(flush, delay);
  delay = Math.min(delay * 2, LONGEST_DELAY);
}

async function flush() {
  for (const entry of unsent.all().values()) {
    if (busy) return later();
    if (!(await deliver(entry))) return undefined;
  }
  return undefined;
}

window.addEventListener("online", () => { delay = FIRST_DELAY; flush(); });
// Another tab has dealt with the item that is shown here: go on from there.
tabs.addEventListener("message", ({ data }) => {
  if (data === LOGGED_IN && out) comeBack();
  else if (data === sheet() && !busy) look();
});

/** Another tab has logged in. */
function comeBack() {
  if (dialog.open) dialog.close();
  resume();
}

/** Fetch a sheet (the item in hand, or a label to correct) and show it. */
async function look(url = labelUrl) {
  if (busy) return;
  busy = true;
  const reply = await ask(url);
  busy = false;
  if (reply.kind === "done") show(reply.html);
  else if (reply.kind === "moved") location.assign(reply.url);
  else if (reply.kind === "login" || reply.kind === "another") loggedOut(reply, { url });
  else if (reply.kind === "refused") sayRefusal(reply.html);
  else say("offline");
}

// -- what is shown ----------------------------------------------------------------------------------------------------

function show(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const next = holder.content.getElementById("task");
  // The guideline beside the items is that of the page: under another version the page is loaded anew.
  const other = next?.dataset.kind === "task" && next.dataset.version !== bench.dataset.guide;
  if (!next || other) {
    location.assign(labelUrl);
    return;
  }
  if (next.dataset.code && next.dataset.code === task().dataset.code) return;
  task().replaceWith(next);
  arrive();
  item()?.focus({ preventScroll: true });
}

function arrive() {
  Object.assign(clock, { seconds: 0, seen: performance.now(), moved: performance.now() });
  bench.classList.toggle("bench--nothing", task().dataset.kind === "nothing");
  restore();
  document.dispatchEvent(new Event("concord:sheet"));
  markActive(active());
  // The rule of the last item's label is nothing to this one, unless the pointer rests on that label still.
  if (guide && !document.querySelector(".label:hover")) turnGuide(false);
}

// -- drafts -----------------------------------------------------------------------------------------------------------

let drafting = 0;

function typed() {
  if (!isTask()) return;
  drafts.put(sheet(), { fields: fieldsOf(form()), at: Date.now() });
  clearTimeout(drafting);
  drafting = setTimeout(sendDraft, DRAFT_AFTER);
}

/** To the server too, for another device; it also says that somebody is still at it. */
async function sendDraft(options) {
  drafting = 0;
  if (!isTask() || busy || unsent.get(sheet())) return;
  const typedAt = drafts.get(sheet())?.at ?? 0;
  const reply = await ask(task().dataset.draftUrl, [...fieldsOf(form()), ["typed_at", typedAt]], options);
  if ((reply.kind === "login" || reply.kind === "another") && !out) loggedOut(reply, { asks: false });
}

function restore() {
  const kept = unsent.get(sheet()) ?? drafts.get(sheet());
  if (!form() || !kept || kept.at <= Number(task().dataset.typedAt)) return;
  for (const control of form().elements) {
    const values = kept.fields.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control.type === "radio" || control.type === "checkbox") control.checked = values.includes(control.value);
    else if (values.length) control.value = values[0];
  }
  clock.seconds = Number(form().elements.seconds?.value) || 0;
  say("restored");
}

document.addEventListener("input", (event) => { if (event.target.form === form() && form()) typed(); });
window.addEventListener("pagehide", () => { if (drafting) sendDraft({ keepalive: true }); });
setInterval(() => { if (performance.now() - clock.moved < ALIVE_EVERY) sendDraft(); }, ALIVE_EVERY);

// -- answering --------------------------------------------------------------------------------------------------------

/** Whether nothing is answered to a question yet. */
function isOpen(question) {
  if (question.querySelector(":checked")) return false;
  return !question.querySelector(".answer-text, [data-spans]")?.value.trim();
}

const isRequired = (question) => question.getAttribute("aria-required") === "true" || "required" in question.dataset;

/** The question that keys answer: where the focus is, else the one that was moved on to, else the first open one. */
function active() {
  const all = questions();
  return (
    all.find((question) => question.contains(document.activeElement)) ??
    all.find((question) => question.classList.contains("question--active")) ??
    all.find(isOpen) ??
    all[0]
  );
}

function markActive(question) {
  const all = questions();
  for (const one of all) one.classList.toggle("question--active", one === question && all.length > 1);
}

/** Where to go after `question`: on to what is open; back to what must not stay open; nowhere when all is done. */
function following(question) {
  const all = questions();
  const after = all.slice(all.indexOf(question) + 1);
  if (!isTask()) return after[0];
  return after.find(isOpen) ?? all.find((one) => isOpen(one) && isRequired(one));
}

/** Light up a label where it stands, also when the next item's label is there meanwhile. */
function flash({ id }) {
  const until = performance.now() + FLASH_MS;
  const paint = () => {
    const lit = performance.now() < until;
    document.getElementById(id)?.closest(".label").classList.toggle("label--pressed", lit);
    if (lit) requestAnimationFrame(paint);
  };
  paint();
}

/** What a label's key does: a category is chosen and goes on, one of several is switched, a part of the text marked. */
function answer(input) {
  if (busy) return;
  flash(input);
  if (input.type !== "radio") {
    input.click();
    markActive(input.closest("fieldset"));
    return;
  }
  input.checked = true;
  goOn(input.closest("fieldset"));
}

/** To the question that is to be answered next, or with all of them to the next item. */
function goOn(question) {
  const next = following(question);
  const comment = form().elements.comment;
  if (!next && comment.required && !comment.value.trim()) {
    typed();
    say("comment");
    comment.focus();
    return;
  }
  if (!next) {
    form().requestSubmit();
    return;
  }
  typed();
  markActive(next);
  const control = next.dataset.widget === "spans" ? item() : next.querySelector(":checked") ?? next.querySelector(CONTROLS);
  control.focus();
}

const CONTROLS = "input[type=radio], input[type=checkbox], textarea";

/** Enter: on from what is answered; what is left open is for the server to accept or not. */
function enter() {
  const question = active();
  if (isTask() && questions().every(isOpen) && questions().some(isRequired)) {
    // Pressed once too often, on an item that came by itself: nothing is wrong yet.
    say("choose");
    return;
  }
  if (question && isTask() && !isOpen(question)) goOn(question);
  else form().requestSubmit();
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-widget=multilabel] input[type=checkbox]") || !target.checked) return;
  for (const other of target.closest("fieldset").querySelectorAll(":checked")) {
    // Either some labels, or "none of these".
    if ("none" in other.dataset !== "none" in target.dataset) other.checked = false;
  }
});

document.addEventListener("submit", (event) => {
  if (!event.target.closest("#task")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const logIn = event.target.closest("a[data-log-in]");
  if (logIn) {
    event.preventDefault();
    askLogIn().then((asked) => asked || location.assign(logIn.href));
    return;
  }
  const label = event.target.closest("label.label");
  const link = event.target.closest("#task a[data-undo], #task a[data-back]");
  if (label?.control.type === "radio" && event.target !== label.control) {
    // Arrow keys click the radio itself, and only choose; a pointer means it.
    event.preventDefault();
    answer(label.control);
  } else if (link) {
    event.preventDefault();
    say("");
    look(link.href);
  }
});

document.addEventListener("input", (event) => {
  if (!event.target.matches(".label-filter")) return;
  const wanted = event.target.value.trim().toLocaleLowerCase();
  for (const label of event.target.closest("fieldset").querySelectorAll(".label")) {
    label.hidden = !label.querySelector(".label-name").textContent.toLocaleLowerCase().includes(wanted);
  }
});

// -- keys -------------------------------------------------------------------------------------------------------------

const ACTIONS = {
  c: () => document.getElementById("comment")?.focus(),
  g: () => toggleGuide(),
  q: () => openAsk(),
  s: () => openSkip(),
  z: () => task().querySelector("a[data-undo]")?.click(),
  "/": () => (active()?.querySelector(".label-filter") ?? guideSearch())?.focus(),
};

document.addEventListener("keydown", (event) => {
  if (dialog.open) return;
  if (event.key === "Escape") {
    leave(event.target);
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form === form() && form()) {
    event.preventDefault();
    enter();
    return;
  }
  if (event.key === "/" && event.target.matches(".label-filter") && !event.target.value) {
    // Once more: on from the labels to the guideline.
    event.preventDefault();
    guideSearch()?.focus();
    return;
  }
  if (event.key === "Enter" && event.target.matches(".label-filter")) {
    event.preventDefault();
    const first = event.target.closest("fieldset").querySelector(".label:not([hidden])");
    if (first) answer(first.control ?? first);
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form?.id === "ask") {
    event.preventDefault();
    event.target.form.requestSubmit();
    return;
  }
  const key = pressed(event);
  if (key && react(key, event.target)) event.preventDefault();
});

/** What a key does; whether it did anything. */
function react(key, target) {
  const open = document.querySelector(":popover-open");
  if (open) {
    const reason = open.id === "skip" && withKey(open, key);
    reason?.click?.();
    return Boolean(reason);
  }
  if (key === "enter") {
    if (!form() || target.closest("a, button, summary")) return false;
    enter();
    return true;
  }
  // Keys may repeat from question to question: the one that is being answered comes first.
  const input = [active(), ...questions()].map((question) => question && withKey(question, key)).find(Boolean);
  if (input) answer(input);
  else ACTIONS[key]?.();
  return Boolean(input || ACTIONS[key]);
}

function leave(target) {
  if (document.querySelector(":popover-open")) return;
  if (target === searchField) {
    searchField.value = "";
    searchGuide();
    item()?.focus({ preventScroll: true });
    return;
  }
  if (isTyping(target) && task().contains(target)) {
    if (target.matches(".label-filter")) {
      target.value = "";
      target.dispatchEvent(new Event("input", { bubbles: true }));
    }
    item()?.focus({ preventScroll: true });
  } else if (task().dataset.kind === "correction") {
    task().querySelector("a[data-back]").click();
  }
}

function openSkip() {
  const skip = document.getElementById("skip");
  if (!skip) return;
  skip.showPopover();
  skip.querySelector("[data-key]").focus();
}

function openAsk() {
  const card = document.getElementById("ask");
  if (!card) return;
  card.showPopover();
  document.getElementById("ask-text").focus();
}

// -- the guideline at hand ----------------------------------------------------------------------------------------------

const guide = document.getElementById("guide");
const narrow = matchMedia("(max-width: 860px)");

const searchField = document.getElementById("guide-search");
const searchFound = document.getElementById("guide-found");

/** The field that searches the guideline, brought into view. */
function guideSearch() {
  if (!guide) return null;
  if (narrow.matches) {
    if (!guide.matches(":popover-open")) guide.showPopover();
  } else if (document.body.classList.contains("guide-hidden")) toggleGuide();
  return searchField;
}

async function searchGuide() {
  turnGuide(false);
  try {
    const { search } = await import(searchField.dataset.module);
    const found = search(document.getElementById("guide-all"), searchField.value);
    searchFound.textContent = searchField.value.trim() ? searchFound.dataset.found.replace("%s", found) : "";
  } catch {
    searchFound.textContent = state.dataset.offline;
  }
}

searchField?.addEventListener("input", searchGuide);

function toggleGuide() {
  if (!guide) return;
  if (narrow.matches) {
    guide.togglePopover();
    return;
  }
  const hidden = document.body.classList.toggle("guide-hidden");
  // A cookie, so that the server lays the page out so from the start and nothing moves.
  document.cookie = `guideline=${hidden ? "hidden" : "shown"}; path=/; max-age=31536000; samesite=lax`;
}

function showRule(id) {
  const rule = document.getElementById(id);
  if (searchField?.value.trim()) return;
  if (!guide || !rule || task().dataset.version !== bench.dataset.guide) return;
  const copy = rule.cloneNode(true);
  copy.removeAttribute("id");
  document.getElementById("guide-rule").replaceChildren(copy);
  turnGuide(true);
}

function turnGuide(toRule) {
  document.getElementById("guide-rule").hidden = !toRule;
  document.getElementById("guide-all").hidden = toRule;
  document.getElementById("guide-whole").hidden = !toRule;
}

document.addEventListener("pointerover", (event) => {
  const label = event.target.closest?.(".label");
  const rule = label?.dataset.rule ?? label?.control?.dataset.rule;
  if (rule && event.pointerType !== "touch") showRule(rule);
});
document.addEventListener("focusin", (event) => {
  const question = event.target.closest("fieldset.question");
  if (question) markActive(question);
  if (event.target.dataset.rule) showRule(event.target.dataset.rule);
});
document.getElementById("guide-toggle")?.addEventListener("click", toggleGuide);
document.getElementById("guide-whole")?.addEventListener("click", () => turnGuide(false));

// -- begin ------------------------------------------------------------------------------------------------------------

drafts.prune(KEEP_DRAFTS_DAYS);
tabs.postMessage(LOGGED_IN);
arrive();
flush();
setInterval(() => {
  if (task().dataset.kind === "nothing" && document.visibilityState === "visible") look();
}, LOOK_AGAIN_EVERY);
