// Logging in again on the labelling page, when the session has ended in the middle of work.
// label.js fetches this file when that happens for the first time; without it a link leads to the log-in page.

const dialog = document.getElementById("log-in");
const title = document.getElementById("log-in-title");
const why = document.getElementById("log-in-why");
const problem = document.getElementById("log-in-problem");
const another = document.getElementById("log-in-another");
const form = dialog.querySelector("form");
const { username, password } = form.elements;
const asked = title.textContent;
let page = null; // of the labelling page: { user, ask, token, waiting, resume }
let busy = false;

/** Logging in makes a new token, which every form of the page has to know; their buttons go on to work without us. */
function renewTokens() {
  const token = page.token();
  for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
}

function complain(words) {
  problem.textContent = words;
  password.toggleAttribute("aria-invalid", Boolean(words));
}

function showForm() {
  title.textContent = asked;
  why.textContent = page.waiting() ? why.dataset.waiting : why.dataset.nothing;
  complain("");
  form.hidden = false;
  another.hidden = true;
}

/** Whose label is kept, and where; nobody sends it as theirs. */
function showAnother(name) {
  const link = another.querySelector("a");
  link.textContent = link.dataset.words.replace("%s", name);
  title.textContent = asked;
  why.textContent = why.dataset.another.replace("%s", name);
  form.hidden = true;
  another.hidden = false;
  another.querySelector("button").focus();
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;

async function logIn() {
  if (busy) return;
  busy = true;
  complain("");
  // Without its cookie there is no token: the log-in page brings one.
  if (!page.token()) await page.ask(dialog.dataset.url);
  const reply = await page.ask(dialog.dataset.url, [["username", username.value], ["password", password.value]]);
  busy = false;
  const user = reply.kind === "done" && parsed(reply.html).querySelector("[data-user]");
  if (!user) {
    complain(reply.html ? parsed(reply.html).textContent.trim() : problem.dataset.away);
    if (dialog.open) password.select();
    return;
  }
  password.value = "";
  renewTokens();
  if (user.dataset.user !== page.user) {
    showAnother(user.textContent);
    return;
  }
  dialog.close();
  page.resume();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  logIn();
});
dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
another.querySelector("button").addEventListener("click", () => {
  showForm();
  password.focus();
});
dialog.addEventListener("close", () => {
  password.value = "";
});

/** Ask for user name and password; or say that somebody else, `name`, is logged in. */
export function open(labelling, name) {
  page = labelling;
  if (!dialog.open) {
    showForm();
    dialog.showModal();
  }
  if (name) showAnother(name);
}
