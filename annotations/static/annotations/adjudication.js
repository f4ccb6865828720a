// Adjudicating by keyboard. The pages work without this file: it adds keys, the example's live wording, and lets go of
// a case that is left undecided, so that nobody waits for its twenty minutes to end.

import { withKey } from "../frame.js";

const form = document.querySelector("[data-decide]");
const editor = document.getElementById("example-editor");
const asExample = form?.elements.as_example;
let sent = false;

const isTyping = (target) => target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
const isActive = (target) => target.matches("a, button, summary");
const follow = (selector) => document.querySelector(selector)?.click();

function choose(key) {
  const picked = withKey(form, key);
  if (!picked) return false;
  if (picked.type !== "radio") {
    picked.click();
    return true;
  }
  picked.checked = true;
  picked.dispatchEvent(new Event("change", { bubbles: true }));
  (form.elements.rationale.value ? picked : form.elements.rationale).focus();
  return true;
}

function refreshPreview() {
  if (editor?.open) window.htmx?.trigger(editor.querySelector("[hx-post]"), "preview");
}

function press(event) {
  const key = event.key.toLowerCase();
  if (key === "s") follow("[data-next]");
  else if (key === "q") follow("[data-queue-link]");
  else if (key === "enter" && !isActive(event.target)) form ? form.requestSubmit() : follow("[data-start]");
  else if (form && key === "c") form.elements.rationale.focus();
  else if (form && key === "g") asExample?.click();
  else if (!form || !choose(key)) return;
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (!isTyping(event.target)) {
    press(event);
  } else if (event.key === "Escape") {
    event.target.blur();
  } else if (event.key === "Enter" && !event.shiftKey && event.target.form === form && form) {
    event.preventDefault();
    form.requestSubmit();
  }
});

form?.addEventListener("change", (event) => {
  if (event.target === asExample && editor) editor.open = asExample.checked;
  if (event.target === asExample || event.target.name === "value") refreshPreview();
});

form?.addEventListener("input", refreshPreview);

form?.querySelector("[data-preview]")?.addEventListener("click", (event) => {
  if (!window.htmx) return;
  event.preventDefault();
  refreshPreview();
});

form?.addEventListener("submit", () => {
  sent = true;
});

window.addEventListener("pageshow", () => {
  sent = false;
});

window.addEventListener("pagehide", () => {
  const held = document.querySelector("[data-release]");
  if (!held || sent) return;
  const body = new FormData(held);
  body.append("leave", "1");
  navigator.sendBeacon(held.action, body);
});
