// The page's own elements, numbers and colors.
import { paint } from "../../plots/web/dom.mjs";

export function byId(id) {
  return document.getElementById(id);
}

/** A number with at most `digits` decimals, or a dash where there is none. */
export function shown(value, digits = 2) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return value.toFixed(digits);
}

/** Colors on white paper, from Okabe and Ito's palette, darker where the contrast needs it; studio.css has those of a dark page. */
export const FLOWS = ["#0072B2", "#D55E00", "#009E73", "#B5508C", "#A87400", "#2F8FCC", "#332288", "#222222"];

/** The color of a curve: a flow's, by its number, or a variable of the page. */
export function colorOf(curve) {
  return typeof curve === "number" ? FLOWS[curve % FLOWS.length] : curve;
}

/** The color of a flow in a style. */
export function flowColor(n) {
  return paint(colorOf(n));
}
