// Panels as one file of SVG: with axes, units, legends and fonts that every program has, as a report needs them.
import { svg } from "../../plots/web/dom.mjs";
import { legendOf } from "../../plots/web/marks.mjs";

const HEIGHT = 240;
const LEFT = 10;
const ROW = 18;
const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";

/** Panels below each other. `color(name, own)`: the color of a variable; `own` is that on white paper, for a curve. */
export function svgOf(title, panels, width, color) {
  const root = svg("svg", { width, "font-family": FONT, "font-size": 12, style: "fill:var(--ink)" });
  const paper = svg("rect", { width, style: "fill:var(--paper)" }, root);
  const text = (x, y, words, more = {}) => svg("text", { x, y, ...more }, root, printable(words));
  svg("title", {}, root, printable(title));
  text(width / 2, 20, title, { "text-anchor": "middle", "font-size": 13, "font-weight": "bold", ...squeezed(title, width - 20, 7.4) });
  let top = 30;
  for (const panel of panels) {
    text(LEFT, top + 14, panel.title, { "font-weight": "bold" });
    let left = LEFT;
    top += ROW;
    for (const { label, drawn } of legendOf(panel)) {
      const wide = 34 + 6.6 * label.length;
      if (left > LEFT && left + wide > width) [left, top] = [LEFT, top + ROW];
      drawn.setAttribute("x", left);
      drawn.setAttribute("y", top + 3);
      root.append(drawn);
      text(left + 30, top + 14, label);
      left += wide;
    }
    top += ROW + 4;
    const plot = panel.drawing(width, HEIGHT);
    plot.setAttribute("y", top);
    plot.removeAttribute("aria-hidden");
    root.append(plot);
    top += HEIGHT;
    text(width / 2, top + 10, panel.x.label, { "text-anchor": "middle" });
    top += 28;
  }
  for (const each of [root, paper]) each.setAttribute("height", top);
  root.setAttribute("viewBox", `0 0 ${width} ${top}`);
  const drawing = new XMLSerializer().serializeToString(root);
  return `${drawing.replace(/var\(--([\w-]+)(?:, (#\w+))?\)/g, (_, name, own) => color(name, own))}\n`;
}

/** A text without characters that XML has not. */
function printable(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
}

/** Squeeze a text that is too wide. */
function squeezed(text, width, perCharacter) {
  return text.length * perCharacter > width ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
}
