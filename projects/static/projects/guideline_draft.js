// The draft's forms: Ctrl+S saves, and leaving with something unsaved asks first. The text saves itself while it is
// being written; what somebody else saved meanwhile is never replaced by that.

const form = document.querySelector("form[data-guard]");

const IDLE = 1500;
const AGAIN = 8000;

class Autosave {
  constructor(form, saved) {
    this.form = form;
    this.saved = saved;
    this.state = form.querySelector("#save-state");
    this.running = null;
    this.stopped = false;
    form.addEventListener("input", () => this.later(IDLE));
  }

  later(wait) {
    clearTimeout(this.timer);
    if (!this.stopped) this.timer = setTimeout(() => this.save(), wait);
  }

  say(text) {
    if (this.state.textContent !== text) this.state.textContent = text;
  }

  // One at a time: the next one begins with the revision that this one brings back.
  save() {
    if (this.running) return this.later(IDLE);
    this.running = this.send().finally(() => { this.running = null; });
    return this.running;
  }

  async send() {
    const sent = new FormData(this.form);
    this.say(this.state.dataset.saving);
    let answer;
    try {
      answer = await fetch(this.form.dataset.autosave, { method: "POST", body: sent });
    } catch {
      this.say(this.state.dataset.waiting);
      return this.later(AGAIN);
    }
    const told = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {};
    if (answer.ok && told.revision) {
      this.form.elements.revision.value = told.revision;
      if (this.form.elements.text.value === sent.get("text").replaceAll("\r\n", "\n")) {
        this.saved();
        this.say(this.state.dataset.saved);
      }
    } else if (answer.status >= 500) {
      this.say(this.state.dataset.waiting);
      this.later(AGAIN);
    } else {
      this.stopped = true;
      this.say(told.message ?? this.state.dataset.refused);
    }
  }
}

if (form) {
  // What the server sent as unsaved (a refusal, a preview, two people at once) is unsaved here too.
  let unsaved = Boolean(document.querySelector("[data-unsaved]"));
  let leaving = false;
  const autosave = form.dataset.autosave ? new Autosave(form, () => { unsaved = false; }) : null;
  form.addEventListener("input", () => { unsaved = true; });
  form.addEventListener("submit", (event) => {
    clearTimeout(autosave?.timer);
    if (autosave?.running) {
      // What is under way would make this form stale: wait for its revision, then send.
      event.preventDefault();
      autosave.running.then(() => form.requestSubmit(event.submitter));
      return;
    }
    leaving = true;
  });
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
