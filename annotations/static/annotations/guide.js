// Searching the guideline beside the items: what does not say it is put away, and what does is marked where it stands.
// label.js fetches this file when somebody searches for the first time.

const MARKS = /\p{M}/gu;

/** A text without case and accents, and for each of its characters the place in the text as it is written. */
function folded(text) {
  let flat = "";
  const places = [];
  for (let place = 0; place < text.length; place += 1) {
    const plain = text[place].normalize("NFD").replace(MARKS, "").toLowerCase();
    for (const character of plain) {
      flat += character;
      places.push(place);
    }
  }
  return { flat, places };
}

function unmark(root) {
  for (const mark of root.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
  root.normalize();
}

/** Mark every place of `root` that says `wanted` (folded); how many there are. */
function mark(root, wanted) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  let found = 0;
  for (const text of texts) {
    const { flat, places } = folded(text.data);
    const hits = [];
    for (let at = flat.indexOf(wanted); at >= 0; at = flat.indexOf(wanted, at + wanted.length)) hits.push(at);
    // From the end, so that the places before stay what they are.
    for (const at of hits.reverse()) {
      const range = document.createRange();
      range.setStart(text, places[at]);
      range.setEnd(text, places[at + wanted.length] ?? text.data.length);
      range.surroundContents(document.createElement("mark"));
      found += 1;
    }
  }
  return found;
}

const says = (element) => element.querySelector("mark") !== null;

/** Of a rule whose name says it everything stays; else its own words, and those examples that say it. */
function sift(rule) {
  const examples = [...rule.querySelectorAll(".rule-examples > li")];
  const named = says(rule.querySelector("h3"));
  for (const example of examples) example.hidden = !named && !says(example);
  rule.hidden = !says(rule);
}

/** Of the text the parts that say it stay, under the heading that they stand under. */
function siftText(text) {
  let heading = null;
  for (const part of text.children) {
    part.hidden = !says(part);
    if (/^H\d$/.test(part.tagName)) heading = part;
    else if (!part.hidden && heading) heading.hidden = false;
  }
}

/** Show of the guideline under `root` what says `query`, marked; all of it where that is empty. Returns the hits. */
export function search(root, query) {
  unmark(root);
  for (const part of root.querySelectorAll("[hidden]")) part.hidden = false;
  const wanted = folded(query.trim()).flat.replace(/\s+/g, " ");
  if (!wanted) return 0;
  const found = mark(root, wanted);
  for (const rule of root.querySelectorAll(".rule")) sift(rule);
  for (const example of root.querySelectorAll(":scope > .rule-examples > li")) example.hidden = !says(example);
  const text = root.querySelector(".guide-text");
  if (text) siftText(text);
  root.scrollTop = 0;
  return found;
}
