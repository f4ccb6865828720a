// The draft's forms: Ctrl+S saves, and leaving with something unsaved asks first.

const form = document.querySelector("form[data-guard]");

if (form) {
  // What the server sent as unsaved (a refusal, a preview, two people at once) is unsaved here too.
  let unsaved = Boolean(document.querySelector("[data-unsaved]"));
  let leaving = false;
  form.addEventListener("input", () => { unsaved = true; });
  form.addEventListener("submit", () => { leaving = true; });
  window.addEventListener("pageshow", () => { leaving = false; });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved && !leaving) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}
