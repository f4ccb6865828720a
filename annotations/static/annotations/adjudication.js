// Adjudicating by keyboard. The pages work without this file: it adds keys, the example's live wording, rationales that
// were used before, and lets go of a case that is left undecided, so that nobody waits for its twenty minutes to end.
// The next case is fetched while this one is read; a decision is sent, and what is shown then is there already.
// Where the same two labels were decided the same way before, the label's key fills the reason in, and Enter decides.

import { isTyping, pressed, withKey } from "../frame.js";

const main = document.getElementById("main");
const find = (selector) => main.querySelector(selector);
const form = () => find("[data-decide]");
const editor = () => find("#example-editor");
const asExample = () => form()?.elements.as_example;
const rationale = () => form()?.elements.rationale;

const isActive = (target) => target.matches("a, button, summary");
const follow = (selector) => find(selector)?.click();

let next = null; // the page that follows: { page: Promise of { url, ok, document } }
let last = null; // what was decided last: {text, value, name, cause, causeName, pair}
let leaving = false; // a form is on its way: the case is not left undecided
let offered = null; // the rationale that was filled in with the label, and nobody has changed since
let wanting = false; // everything is there but the cause: the key that names it decides

// -- choosing ---------------------------------------------------------------------------------------------------------

function check(input) {
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

function choose(key) {
  const picked = withKey(form(), key);
  if (!picked) return false;
  if (picked.type !== "radio") {
    picked.click();
    return true;
  }
  check(picked);
  (rationale().value ? picked : rationale()).focus();
  return true;
}

/** The causes have the digits while one of them has the focus. */
function chooseCause(event) {
  const causes = event.target.closest("[data-causes]");
  const picked = /^[1-9]$/.test(event.key) && causes?.querySelectorAll("input")[Number(event.key) - 1];
  if (!picked) return false;
  picked.focus();
  check(picked);
  if (wanting) submit();
  return true;
}

function setCause(cause) {
  for (const input of form().elements.cause) input.checked = input.value === cause;
}

/** What is chosen, as the entries of the list have it; empty while nothing is. */
function decided() {
  const inputs = [...form().querySelectorAll("[name=value]")].filter((input) => input.matches(":checked"));
  if (!inputs.length) return "";
  if ("none" in inputs[0].dataset) return "[]";
  return JSON.stringify(inputs[0].type === "radio" ? inputs[0].value : inputs.map((input) => input.value));
}

/** What was said before, and the rules of the labels; the first is the likeliest. */
function recalled() {
  return [...main.querySelectorAll("[data-recall] button")];
}

const SEEN = 5; // entries that are shown; the arrow keys go on to the others

/** The entries for what is chosen first, of these the ones for the same two labels, else as they came. */
function arrange() {
  const chosen = decided();
  const rank = (button) => 2 * (button.dataset.value !== chosen) + !("ofPair" in button.dataset);
  const rows = recalled().map((button) => button.parentElement);
  const order = (row) => Number((row.dataset.place ??= rows.indexOf(row)));
  const sorted = [...rows].sort((a, b) => rank(a.firstChild) - rank(b.firstChild) || order(a) - order(b));
  for (const [place, row] of sorted.entries()) {
    row.hidden = place >= SEEN;
    row.parentElement.append(row);
  }
}

/** With the label comes what was last said of it for the same two labels; but never over words of one's own. */
function offer() {
  arrange();
  if (rationale().value.trim() && rationale().value !== offered?.text) return;
  const same = recalled().find((one) => "ofPair" in one.dataset && one.dataset.value === decided());
  if (same) recall(same);
  else if (offered) forget();
  offered = same ? { text: same.dataset.text } : null;
  find("[data-offered]").hidden = !offered;
}

function forget() {
  rationale().value = "";
  setCause("");
}

function recall(button) {
  rationale().value = button.dataset.text;
  if (button.dataset.cause) setCause(button.dataset.cause);
  refreshPreview();
}

/** In an empty rationale, or one that came from the list: the one before or behind. */
function recallByKey(step) {
  const known = recalled();
  const at = known.findIndex((button) => button.dataset.text === rationale().value);
  if (!known.length || (at < 0 && rationale().value.trim())) return false;
  const wanted = known[at + step];
  if (wanted) recall(wanted);
  else if (at + step < 0) rationale().value = "";
  return true;
}

/** What was decided on the page before this one, which was fetched before that. */
function addLast() {
  const list = find("[data-recall] ul");
  if (!last || !list) return;
  const ofPair = find("[data-case]")?.dataset.pair === last.pair;
  const known = recalled().find((one) => one.dataset.text === last.text && one.dataset.value === last.value);
  const row = known?.parentElement ?? list.appendChild(entryOf(last, ofPair));
  if (ofPair) list.prepend(row);
  list.parentElement.hidden = false;
}

function entryOf({ text, value, name, cause, causeName }, ofPair) {
  const row = document.createElement("li");
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "recall-one" });
  Object.assign(button.dataset, { text, value, cause }, ofPair ? { ofPair: "" } : {});
  const words = document.createElement("span");
  Object.assign(words, { className: "clip", dir: "auto", textContent: text });
  const about = document.createElement("span");
  Object.assign(about, { className: "muted", textContent: [name, causeName].filter(Boolean).join(" · ") });
  button.append(words, " ", about);
  row.append(button);
  return row;
}

function refreshPreview() {
  if (editor()?.open) window.htmx?.trigger(editor().querySelector("[hx-post]"), "preview");
}

// -- deciding ---------------------------------------------------------------------------------------------------------

async function load(url) {
  const answer = await fetch(url, { credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { url: answer.url, ok: answer.ok && page.querySelector("[data-case]") !== null, document: page };
}

function prefetch() {
  const link = find("[data-case] [data-next]");
  next = link && { page: load(link.href).catch(() => null) };
}

function say(html) {
  document.getElementById("messages").innerHTML = html;
}

function tell(sentence) {
  const notice = document.createElement("p");
  notice.className = "notice notice--error";
  notice.textContent = sentence;
  document.getElementById("messages").replaceChildren(notice);
}

function show(page, { address = "", message = "" } = {}) {
  main.replaceChildren(...document.importNode(page.querySelector("main"), true).childNodes);
  document.title = page.title;
  if (address) history.pushState({ shown: true }, "", address);
  say(message);
  const left = document.querySelector("#messages [data-left]")?.dataset.left;
  const count = document.querySelector(".entries a[aria-current] .count");
  if (left && count) count.textContent = left;
  window.htmx?.process(main);
  window.scrollTo(0, 0);
  main.focus({ preventScroll: true });
  begin();
}

/** What is decided, as the next page may say it again. */
function remembered(sent) {
  const named = (selector) =>
    [...sent.querySelectorAll(selector)].map((input) => input.closest("label")?.querySelector(".label-name")?.textContent);
  const cause = sent.querySelector("[name=cause]:checked");
  return {
    text: rationale().value,
    value: decided(),
    name: named("[name=value]:checked").filter(Boolean).join(", "),
    cause: cause?.value ?? "",
    causeName: cause?.closest("label").querySelector("[data-name]")?.textContent ?? "",
    pair: find("[data-case]").dataset.pair,
  };
}

async function decide(sent) {
  const kept = remembered(sent);
  sent.inert = true;
  try {
    const body = new URLSearchParams(new FormData(sent));
    const answer = await fetch(sent.action, { method: "POST", body, headers: { "HX-Request": "true" } });
    const where = answer.headers.get("HX-Redirect");
    const text = await answer.text();
    if (answer.redirected) throw new Error("logged out");
    if (answer.ok && where && !text) {
      location.assign(where);
    } else if (answer.ok && where) {
      last = kept;
      const address = new URL(where, location.href).href;
      const ready = await next?.page;
      const page = ready?.ok && ready.url === address ? ready : await load(address);
      // Marking parts of a text needs a module of its own, which runs when its page is loaded.
      if (page.document.querySelector("[data-spans]")) location.assign(address);
      else show(page.document, { address, message: text });
    } else {
      const page = new DOMParser().parseFromString(text, "text/html");
      if (page.querySelector("main")) show(page);
      else say(text);
    }
  } catch {
    tell(sent.dataset.offline);
  }
  sent.inert = false;
  leaving = false;
}

/** Send the form if it is whole; what is missing gets the focus, and the causes their digits. */
function submit() {
  const sent = form();
  const causes = find("[data-causes]");
  wanting = Boolean(rationale().value.trim() && causes && !sent.elements.cause.value);
  if (wanting) {
    causes.querySelector("input").focus();
  } else {
    sent.requestSubmit();
  }
}

// -- keys -------------------------------------------------------------------------------------------------------------

/** The next case, this one undecided: the page that is there already, and this one is let go. */
async function skip() {
  const link = find("[data-next]");
  const ready = form() && (await next?.page);
  if (!ready?.ok || ready.document.querySelector("[data-spans]") || "plain" in form().dataset) {
    link?.click();
    return;
  }
  letGo();
  show(ready.document, { address: ready.url });
}

/** From one conflict of the list to the next, with the arrow keys. */
function move(step) {
  const rows = [...main.querySelectorAll(".queue-row")];
  const at = rows.indexOf(document.activeElement);
  const row = rows[at < 0 ? 0 : at + step];
  row?.focus();
  return Boolean(row);
}

function press(event, key) {
  if (chooseCause(event)) {
    /* done */
  } else if (key === "s") skip();
  else if (key === "q") follow("[data-queue-link]");
  else if (key === "enter" && !isActive(event.target)) form() ? submit() : follow("[data-start]");
  else if (form() && key === "c") edit();
  else if (form() && key === "g") asExample()?.click();
  else if (form() && choose(key)) {
    /* done */
  } else if (key === "o") follow("[data-ask]");
  else if (key === "z") document.querySelector("[data-last]")?.click();
  else if (key === "a" && !form()) follow("[data-alike]");
  else if (key === "r" && !form()) find("[data-reopen]") ? reopen() : follow("[data-report]");
  else if (!form() && (key === "arrowdown" || key === "arrowup")) {
    if (!move(key === "arrowdown" ? 1 : -1)) return;
  } else return;
  event.preventDefault();
}

function reopen() {
  find("[data-reopen]").open = true;
  find("[data-reopen] textarea").focus();
}

/** Into the rationale; one that was filled in is marked whole, so that typing takes its place. */
function edit() {
  rationale().focus();
  if (offered) rationale().select();
}

document.addEventListener("keydown", (event) => {
  const key = pressed(event);
  if (key) {
    press(event, key);
    return;
  }
  if (!isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  const arrow = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (event.key === "Escape") {
    event.target.blur();
  } else if (arrow && event.target === rationale()) {
    if (recallByKey(arrow)) event.preventDefault();
  } else if (event.key === "Enter" && !event.shiftKey && form() && event.target.form === form()) {
    event.preventDefault();
    submit();
  }
});

// -- what is done on the page -----------------------------------------------------------------------------------------

main.addEventListener("change", (event) => {
  if (!form() || event.target.form !== form()) return;
  if (event.target === asExample() && editor()) editor().open = asExample().checked;
  if (event.target.name === "value") offer();
  if (event.target === asExample() || event.target.name === "value") refreshPreview();
});

main.addEventListener("input", (event) => {
  if (rationale() && event.target === rationale()) {
    offered = null;
    find("[data-offered]").hidden = true;
  }
  if (event.target.closest("[data-wording]") || (form() && event.target.form === form())) refreshPreview();
});

main.addEventListener("change", (event) => {
  if (!form() && event.target.closest("[data-wording]")) refreshPreview();
});

/** What is selected in one of the example's texts goes, there and wherever else they say the same. */
function redact(button) {
  if (!worded || worded.selectionStart === worded.selectionEnd) return;
  const { selectionStart: start, selectionEnd: end } = worded;
  const taken = worded.value.slice(start, end).trim();
  worded.setRangeText(button.dataset.redact, start, end, "end");
  // A letter or two stand in other words, too.
  if (taken.length > 2) for (const text of wordings()) text.value = text.value.replaceAll(taken, button.dataset.redact);
  worded.focus();
  refreshPreview();
}

const wordings = () => [...main.querySelectorAll("[data-wording] textarea[name^=content-]")];
let worded = null; // the text of the example that was selected in last
main.addEventListener("focusin", (event) => {
  if (wordings().includes(event.target)) worded = event.target;
});

main.addEventListener("click", (event) => {
  const used = event.target.closest("[data-recall] button");
  const black = event.target.closest("[data-redact]");
  if (black) redact(black);
  if (used) {
    recall(used);
    rationale().focus();
  } else if (window.htmx && event.target.closest("[data-preview]")) {
    event.preventDefault();
    refreshPreview();
  }
});

main.addEventListener("submit", (event) => {
  leaving = true;
  if (event.target !== form() || "plain" in event.target.dataset || event.submitter?.matches("[data-preview]")) return;
  event.preventDefault();
  if (!event.target.inert) decide(event.target);
});

window.addEventListener("pageshow", () => {
  leaving = false;
});

// What was shown without a page of its own being loaded is fetched again when one goes back to it.
window.addEventListener("popstate", () => location.reload());

function letGo() {
  const held = find("[data-release]");
  if (!held || leaving) return;
  const body = new FormData(held);
  body.append("leave", "1");
  navigator.sendBeacon(held.action, body);
}

window.addEventListener("pagehide", letGo);

function begin() {
  for (const button of main.querySelectorAll("[data-redact]")) button.hidden = false;
  offered = null;
  wanting = false;
  addLast();
  setTimeout(prefetch, 150); // after the case itself is held
}

begin();
