"use strict";
// Cells of two swept values: colors by value, numbers in the cells. A wide grid scrolls inside its box.

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

function drawGrid(panel, width) {
  const { rows, columns, values, texts, unit, low, high, stops } = panel.grid;
  const scroll = html("div", "scroll", panel.frame);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", panel.title || panel.figure.title);
  const table = html("table", "cells", scroll);
  const head = html("tr", "", html("thead", "", table));
  html("td", "", head);
  for (const name of columns) html("th", "", head, name).scope = "col";
  const body = html("tbody", "", table);
  rows.forEach((name, r) => {
    const line = html("tr", "", body);
    html("th", "", line, name).scope = "row";
    columns.forEach((column, c) => {
      const cell = html("td", "", line, texts[r][c]);
      cell.style.minWidth = `${CELL}px`;
      if (values[r][c] === null) return;
      const color = mix(stops, (values[r][c] - low) / (high - low));
      cell.style.backgroundColor = `rgb(${color.join(",")})`;
      cell.style.color = inkOn(color);
      cell.title = `${name}, ${column}: ${digits(values[r][c])}`;
    });
  });
  const key = html("div", "scale", panel.frame);
  html("span", "", key, digits(low));
  html("span", "ramp", key).style.background = `linear-gradient(to right, ${stops.join(",")})`;
  html("span", "", key, `${digits(high)} ${unit}`);
}
