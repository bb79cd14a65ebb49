// Cells of two swept values: colors by value, numbers in the cells. A wide grid scrolls inside its box.
import { element } from "./dom.mjs";
import { digits } from "./scales.mjs";

const CELL = 58; // smallest width of a cell, in pixels

function mix(stops, part) {
  const place = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const channel = (color, n) => parseInt(color.slice(1 + 2 * n, 3 + 2 * n), 16);
  return [0, 1, 2].map((n) => Math.round(channel(stops[k], n) + (channel(stops[k + 1], n) - channel(stops[k], n)) * (place - k)));
}

// Returns black or white: the one with the higher contrast by WCAG's relative luminance.
function inkOn(rgb) {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

export function drawGrid(panel) {
  const { rows, columns, values, texts, unit, low, high, stops } = panel.grid;
  const cell = (r, c) => {
    const made = element("td", { style: `min-width:${CELL}px` }, texts[r][c]);
    if (values[r][c] === null) return made;
    const color = mix(stops, (values[r][c] - low) / (high - low));
    made.style.backgroundColor = `rgb(${color.join(",")})`;
    made.style.color = inkOn(color);
    made.title = `${rows[r]}, ${columns[c]}: ${digits(values[r][c])}`;
    return made;
  };
  const heading = (scope, name) => element("th", { scope }, name);
  const table = element("table", { class: "cells" },
    element("thead", {}, element("tr", {}, element("td"), ...columns.map((name) => heading("col", name)))),
    element("tbody", {}, ...rows.map((name, r) => element("tr", {}, heading("row", name), ...columns.map((_, c) => cell(r, c))))));
  panel.frame.append(
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": panel.title || panel.figure.title }, table),
    element("div", { class: "scale" }, element("span", {}, digits(low)),
      element("span", { class: "ramp", style: `background:linear-gradient(to right, ${stops.join(",")})` }),
      element("span", {}, `${digits(high)} ${unit}`)));
}
