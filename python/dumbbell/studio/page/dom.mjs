// Elements of the page.

/** Make an element: attributes, listeners (`onclick`) and properties (`.value`), then its children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith(".")) made[name.slice(1)] = value;
    else if (name.startsWith("aria-") && value !== null) made.setAttribute(name, value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A number with at most `digits` decimals, or a dash where there is none. */
export function shown(value, digits = 2) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return value.toFixed(digits);
}

/** A text for a file on the reader's disk. */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#B5508C", "#A87400", "#2F8FCC", "#332288", "#222222"];
const DARK = ["#5AB4F0", "#F28E4C", "#35C9A0", "#E69ACB", "#F0B93A", "#A6DCFF", "#A99BF0", "#E6E6E6"];

export function isDark() {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** The colors of the flows: from Okabe and Ito's palette, darker or lighter where the contrast needs it. */
export function flowColor(n) {
  return (isDark() ? DARK : LIGHT)[n % LIGHT.length];
}
