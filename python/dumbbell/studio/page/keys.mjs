// Keys of the page.

/** Call `actions[key]()` for keys outside of fields while `active()`. The space bar belongs to a focused button. */
export function onKeys(active, actions) {
  document.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey || !active()) return;
    const own = event.key === " " ? "input, select, textarea, button, summary, a" : "input, select, textarea";
    if (event.target.closest?.(own)) return;
    event.preventDefault();
    action();
  });
}
