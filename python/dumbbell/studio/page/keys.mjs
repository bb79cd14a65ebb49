// Keys of the page, and the range of time that they enlarge.

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

/**
 * A range of time that is `factor` times as long as [from, to], within [begin, end]. `fixed` keeps its place on the screen;
 * the middle does if `fixed` isn't in the range.
 */
export function scaled([from, to], [begin, end], factor, fixed) {
  const place = fixed >= from && fixed <= to ? fixed : (from + to) / 2;
  const length = Math.min((to - from) * factor, end - begin);
  return moved([place - (place - from) * (length / (to - from)), length], begin, end);
}

/** The range [from, to], later by `part` of its length, within [begin, end]. */
export function shifted([from, to], [begin, end], part) {
  return moved([from + part * (to - from), to - from], begin, end);
}

function moved([from, length], begin, end) {
  const start = Math.min(Math.max(from, begin), end - length);
  return [start, start + length];
}
