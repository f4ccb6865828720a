// The frame's comforts. Menus, sheet and key list open without this file; it adds `?`, Esc and closing by a click beside.
// Pages that are worked by keyboard import from here which key was meant, and whether it may do anything at all.

const keys = document.getElementById("keys");
const menus = () => document.querySelectorAll("details.menu[open]");

/** Whether what has the focus takes text, so that keys belong to it. */
export function isTyping(target) {
  return target.isContentEditable || target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
}

/**
 * The key that was pressed, in lower case; "" where it must do nothing: typed into a field, held down, with a modifier.
 * Where the layout has no Latin letter or digit there (Cyrillic, the upper row of a French keyboard), its place counts.
 */
export function pressed(event) {
  if (event.defaultPrevented || event.repeat || event.isComposing || isTyping(event.target)) return "";
  if (event.ctrlKey || event.altKey || event.metaKey) return "";
  const key = event.key.toLowerCase();
  if (event.shiftKey) return key === "/" ? key : "";
  if (key.length > 1 || /^[a-z0-9/?]$/.test(key)) return key;
  return /^(?:Digit|Key)([0-9A-Z])$/.exec(event.code)?.[1].toLowerCase() ?? key;
}

/** The control under `root` whose key this is. */
export function withKey(root, key) {
  return key.length === 1 ? root.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
  // What asks for something before anything else goes on is not covered.
  if (document.querySelector("dialog:modal")) return;
  if (event.key === "?" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
    event.preventDefault();
    keys.togglePopover();
  }
});

document.addEventListener("click", (event) => {
  for (const menu of menus()) {
    if (!menu.contains(event.target) || event.target.closest("[popovertarget]")) menu.open = false;
  }
});
