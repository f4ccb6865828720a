// What must not get lost: answers that the server has not confirmed yet, and what is typed so far. Both are kept in
// the browser under the member's id, so that nobody sends what somebody else gave on the same machine.

const DAY = 24 * 60 * 60 * 1000;
const PATIENCE = 15_000;

/** Entries of one kind in localStorage, by key. Without storage (a browser that forbids it) they last with the page. */
export class Kept {
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
 * "refused" (with its sentence as html), or "away" when nothing came back that could be the server's word on it.
 */
export async function ask(url, fields, options = {}) {
  const headers = { "HX-Request": "true" };
  let body;
  if (fields) {
    // Logging in again changes the token: the cookie has the one that holds now.
    headers["X-CSRFToken"] = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
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

function outcome(response, html) {
  if (response.type === "opaqueredirect") return { kind: "login" };
  const url = response.headers.get("HX-Redirect");
  if (url) return { kind: "moved", url };
  if (response.ok) return { kind: "done", html };
  if (response.status === 422) return { kind: "wrong", html };
  if (response.status >= 500 || response.status === 429 || response.status === 408) return { kind: "away" };
  return { kind: "refused", html, status: response.status };
}
