// The frame's comforts. Menus, sheet and key list open without this file; it adds `?`, Esc and closing by a click beside.

const keys = document.getElementById("keys");
const menus = () => document.querySelectorAll("details.menu[open]");

function isTyping(target) {
  return target.isContentEditable || target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
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
