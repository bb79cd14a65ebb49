// Elements of a page, and its colors.

const SVG = "http://www.w3.org/2000/svg";

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

/** Make an element of SVG and add it to `parent`, if there is one. */
export function svg(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** A color that follows the page's light or dark: `#rrggbb`, for which the page may have a variable, or a variable's name. */
export function paint(color) {
  return color.startsWith("#") ? `var(--c${color.slice(1).toLowerCase()}, ${color})` : `var(--${color})`;
}

/** The same color now, for a canvas or a file. */
export function shownColor(color) {
  const [, name, own] = /^var\(--([\w-]+)(?:, (#\w+))?\)$/.exec(paint(color));
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || own;
}

/** Offer a file for the reader's disk. */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
