// Marking parts of a text: select with mouse, finger or arrow keys, then a label. The answer is kept in a hidden field of
// the form as [{field, start, end, label}], counted in code points of the untouched text, as the server counts it.

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const words = new Intl.Segmenter(undefined, { granularity: "word" });
let picked = null; // the newest selection: { text, start, end } in UTF-16 units of the element `text`
let anchor = null; // where a selection by keyboard began

const questionsIn = (root) => [...root.querySelectorAll("[data-widget=spans]")];
const fieldOf = (question) => question.querySelector("[data-spans]");
const isTextarea = (text) => text.matches("textarea");
const contentOf = (text) => (isTextarea(text) ? text.value : text.textContent);

/** The form or page that a question and the texts it is about stand in. */
function scopeOf(question) {
  const form = question.closest("form");
  return form?.querySelector("[data-text]") ? form : document;
}

const textsOf = (scope) => [...scope.querySelectorAll("[data-text]")];
const textOf = (scope, field) => textsOf(scope).find((text) => text.dataset.text === field);

function spansOf(question) {
  try {
    const found = JSON.parse(fieldOf(question).value);
    return Array.isArray(found) ? found.filter((span) => span?.label) : [];
  } catch {
    return [];
  }
}

// -- code points ------------------------------------------------------------------------------------------------------

// The server strips an example's text that is typed into a field; an item's text is as it is.
const skipped = (text) => (isTextarea(text) ? text.value.length - text.value.trimStart().length : 0);

function toPoints(text, unit) {
  let points = 0;
  for (const _ of contentOf(text).slice(skipped(text), unit)) points += 1;
  return points;
}

function toUnits(text, points) {
  const content = contentOf(text);
  let unit = skipped(text);
  for (let left = points; left > 0 && unit < content.length; left -= 1) unit += content.codePointAt(unit) > 0xffff ? 2 : 1;
  return unit;
}

/** Without white space around it, and never in the middle of what is read as one character. */
function tidy({ text, start, end }) {
  const content = contentOf(text);
  const part = content.slice(start, end);
  let from = start + part.length - part.trimStart().length;
  let to = end - (part.length - part.trimEnd().length);
  if (from >= to) return null;
  const all = graphemes.segment(content);
  const last = all.containing(to - 1);
  from = all.containing(from).index;
  to = last.index + last.segment.length;
  return { text, start: from, end: to };
}

// -- what is selected ---------------------------------------------------------------------------------------------------

function lengthBefore(text, node, offset) {
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

const textAt = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("[data-text]");

function selected() {
  const focused = document.activeElement;
  if (focused?.matches("textarea[data-text]")) {
    const { selectionStart: start, selectionEnd: end } = focused;
    return start < end ? { text: focused, start, end } : null;
  }
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const text = textAt(range.startContainer) ?? textAt(range.endContainer);
  if (!text) return null;
  // A selection that runs out of the text ends where the text does.
  const start = text.contains(range.startContainer) ? lengthBefore(text, range.startContainer, range.startOffset) : 0;
  const inside = text.contains(range.endContainer);
  return { text, start, end: inside ? lengthBefore(text, range.endContainer, range.endOffset) : contentOf(text).length };
}

document.addEventListener("selectionchange", () => {
  const found = selected();
  // A finger on a label's button takes the selection away; a tap into the text means it.
  if (found) picked = found;
  else if (textAt(getSelection().anchorNode ?? document.body)) picked = null;
});
document.addEventListener("mousedown", (event) => {
  if (event.target.closest("[data-widget=spans] button")) event.preventDefault();
});

function select(text, start, end) {
  const [from, to] = [start, end].map((unit) => nodeAt(text, unit));
  getSelection().setBaseAndExtent(...from, ...to);
  picked = { text, start, end };
  const range = getSelection().getRangeAt(0).getBoundingClientRect();
  const box = text.closest("#item")?.getBoundingClientRect();
  if (box && (range.top < box.top || range.bottom > box.bottom)) text.closest("#item").scrollTop += range.top - box.top - 40;
}

function nodeAt(text, unit) {
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let left = unit;
  while (walker.nextNode()) {
    if (left <= walker.currentNode.length) return [walker.currentNode, left];
    left -= walker.currentNode.length;
  }
  return [text, text.childNodes.length];
}

// -- marking ------------------------------------------------------------------------------------------------------------

const nameOf = (question, label) =>
  question.querySelector(`[data-label="${CSS.escape(label)}"] .label-name`)?.textContent ?? label;

function quoteOf(scope, span) {
  const text = textOf(scope, span.field);
  return text ? contentOf(text).slice(toUnits(text, span.start), toUnits(text, span.end)) : "";
}

function say(question, ...said) {
  question.querySelector("[data-said]").textContent = said.join(" ");
}

const word = (question, name) => question.querySelector("[data-said]").dataset[name];

function keep(question, spans, none = false) {
  const field = fieldOf(question);
  field.value = spans.length || none ? JSON.stringify(spans) : "";
  show(question);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function mark(question, label) {
  const scope = scopeOf(question);
  picked = selected() ?? picked; // the event that tells of it comes a moment later
  const found = picked && scope.contains(picked.text) && picked.text.isConnected ? tidy(picked) : null;
  if (!found) {
    say(question, word(question, "select"));
    return;
  }
  const span = {
    field: found.text.dataset.text,
    start: toPoints(found.text, found.start),
    end: toPoints(found.text, found.end),
    label,
  };
  const spans = spansOf(question);
  const same = (one) => Object.keys(span).every((key) => one[key] === span[key]);
  if (spans.some(same)) {
    say(question, word(question, "twice"));
    return;
  }
  keep(question, [...spans, span]);
  say(question, word(question, "marked"), nameOf(question, label), quoteOf(scope, span));
  if (!isTextarea(found.text)) getSelection().removeAllRanges();
  picked = null;
  anchor = { text: found.text, start: found.end, end: found.end };
}

function remove(question, place) {
  const spans = spansOf(question);
  const [gone] = spans.splice(place, 1);
  if (!gone) return;
  keep(question, spans);
  say(question, word(question, "removed"), nameOf(question, gone.label), quoteOf(scopeOf(question), gone));
}

function toggleNone(question) {
  if (spansOf(question).length) {
    say(question, word(question, "first"));
    return;
  }
  keep(question, [], fieldOf(question).value !== "[]");
}

document.addEventListener("click", (event) => {
  const question = event.target.closest("[data-widget=spans]");
  const button = question && event.target.closest("button");
  if (!button) return;
  if (button.dataset.label) mark(question, button.dataset.label);
  else if ("none" in button.dataset) toggleNone(question);
  else if (button.dataset.place) {
    remove(question, Number(button.dataset.place));
    (question.querySelector("[data-place]") ?? question.querySelector("[data-label]")).focus();
  }
});

// -- what is shown ------------------------------------------------------------------------------------------------------

function show(question) {
  const scope = scopeOf(question);
  const spans = spansOf(question);
  question.querySelector("[data-none]").setAttribute("aria-pressed", fieldOf(question).value === "[]");
  question.querySelector(".spans").replaceChildren(...spans.map((span, place) => line(question, scope, span, place)));
  for (const text of textsOf(scope)) if (!isTextarea(text)) paint(scope, text);
}

function line(question, scope, span, place) {
  const row = document.createElement("li");
  const swatch = Object.assign(document.createElement("span"), { className: "swatch" });
  swatch.style.setProperty("--label", colourOf(question, span.label));
  const name = Object.assign(document.createElement("b"), { textContent: nameOf(question, span.label), dir: "auto" });
  const quote = Object.assign(document.createElement("q"), { textContent: quoteOf(scope, span), dir: "auto" });
  const button = Object.assign(document.createElement("button"), { type: "button", className: "span-remove" });
  button.textContent = "×";
  button.dataset.place = place;
  const words = question.querySelector(".spans").dataset.remove;
  button.setAttribute("aria-label", `${words}: ${name.textContent}, ${quote.textContent}`);
  row.append(swatch, name, " ", quote, button);
  return row;
}

const colourOf = (question, label) =>
  question.querySelector(`[data-label="${CSS.escape(label)}"]`)?.style.getPropertyValue("--label") ?? "currentColor";

/** Underline each part in the colours of the labels on it, one line for each. The characters stay as they are. */
function paint(scope, text) {
  const content = text.textContent;
  const here = questionsIn(scope).flatMap((question) =>
    spansOf(question)
      .filter((span) => span.field === text.dataset.text)
      .map((span) => ({
        start: toUnits(text, span.start),
        end: toUnits(text, span.end),
        colour: colourOf(question, span.label),
        name: nameOf(question, span.label),
      })),
  );
  const borders = [...new Set([0, content.length, ...here.flatMap(({ start, end }) => [start, end])])];
  borders.sort((a, b) => a - b);
  const parts = borders.slice(1).map((end, place) => {
    const start = borders[place];
    const on = here.filter((span) => span.start < end && start < span.end);
    return on.length ? underlined(content.slice(start, end), on) : document.createTextNode(content.slice(start, end));
  });
  text.replaceChildren(...parts);
}

function underlined(words, on) {
  const part = Object.assign(document.createElement("mark"), { className: "span", textContent: words });
  part.title = on.map(({ name }) => name).join(", ");
  part.style.backgroundImage = on.map(({ colour }) => `linear-gradient(${colour}, ${colour})`).join(", ");
  part.style.backgroundPosition = on.map((_, place) => `0 calc(100% - ${place * 5}px)`).join(", ");
  part.style.paddingBlockEnd = `${on.length * 5}px`;
  return part;
}

// -- by keyboard ----------------------------------------------------------------------------------------------------------

/** The next or previous stretch that is not white space, of `all` segments, from a place on. */
function step(all, content, from, forward) {
  let place = forward ? from : from - 1;
  while (place >= 0 && place < content.length) {
    const found = all.containing(place);
    if (found.segment.trim()) return { start: found.index, end: found.index + found.segment.length };
    place = forward ? found.index + found.segment.length : found.index - 1;
  }
  return null;
}

function move(text, forward) {
  const texts = textsOf(document).filter((one) => !isTextarea(one));
  const from = picked ?? anchor;
  for (let one = from?.text ?? text, first = true; one; first = false) {
    const content = contentOf(one);
    const edge = first && from ? (forward ? from.end : from.start) : forward ? 0 : content.length;
    const found = step(words.segment(content), content, edge, forward);
    if (found) {
      anchor = { text: one, ...found };
      select(one, found.start, found.end);
      return;
    }
    one = texts[texts.indexOf(one) + (forward ? 1 : -1)];
  }
}

function extend(forward, single) {
  if (!picked || !anchor) return;
  const { text, start, end } = picked;
  const content = contentOf(text);
  const all = (single ? graphemes : words).segment(content);
  // The end that moves is the one away from where the selection began.
  const atStart = start < anchor.start || (end === anchor.end && !forward && !single);
  const edge = atStart ? start : end;
  const found = step(all, content, edge, forward);
  if (!found) return;
  const place = forward ? found.end : found.start;
  const [from, to] = atStart ? [place, end] : [start, place];
  if (from < to) select(text, from, to);
}

document.addEventListener("keydown", (event) => {
  const questions = questionsIn(document);
  const held = event.altKey || event.metaKey || event.isComposing || event.defaultPrevented;
  if (!questions.length || held || event.target.closest("input, textarea, select, [popover], dialog")) return;
  const last = questions.findLast((question) => spansOf(question).length);
  if (event.key === "Backspace" && last) {
    remove(last, spansOf(last).length - 1);
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const text = picked?.text ?? anchor?.text ?? textsOf(document).find((one) => !isTextarea(one));
    if (!text || (event.ctrlKey && !event.shiftKey)) return;
    const forward = (event.key === "ArrowRight") === (getComputedStyle(text).direction === "ltr");
    if (event.shiftKey) extend(forward, event.ctrlKey);
    else move(text, forward);
  } else {
    return;
  }
  event.preventDefault();
});

// -- begin ----------------------------------------------------------------------------------------------------------------

function begin() {
  picked = null;
  anchor = null;
  for (const question of questionsIn(document)) show(question);
}

/** The text of an example was edited: marks go with their words, and end where these are gone. */
document.addEventListener("beforeinput", ({ target }) => {
  if (!target.matches("textarea[data-text]")) return;
  const before = questionsIn(target.form).map((question) => [
    question,
    spansOf(question).map((span) => [span, quoteOf(target.form, span)]),
  ]);
  target.addEventListener("input", () => before.forEach(([question, spans]) => carry(question, target, spans)), { once: true });
});

function carry(question, text, spans) {
  const content = text.value.trim();
  const kept = spans.flatMap(([span, quote]) => {
    if (span.field !== text.dataset.text) return [span];
    const near = toUnits(text, span.start) - skipped(text);
    const after = content.indexOf(quote, Math.max(0, near - quote.length));
    const place = after < 0 ? content.lastIndexOf(quote) : after;
    if (place < 0 || !quote) return [];
    const start = [...content.slice(0, place)].length;
    return [{ ...span, start, end: start + [...quote].length }];
  });
  if (spans.length) keep(question, kept);
}

document.addEventListener("concord:sheet", begin);
document.addEventListener("htmx:load", begin);
begin();
