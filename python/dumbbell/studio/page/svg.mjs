// Figures as SVG: white, with axes, units, legend and fonts that every program has, as a report needs them.
import { LIGHT } from "./dom.mjs";

const WIDTH = 720;
const HEIGHT = 210;
const LEFT = 62;
const RIGHT = 14;
const HEAD = 40;
const FOOT = 42;
const LEGEND = 18;
/** A wider stretch without values is a gap, in pixels. */
const GAP_PX = 18;
const INK = "#222222";
const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";

/** The color of a curve on white paper. */
function paper(color) {
  return color === "ink" ? INK : LIGHT[color % LIGHT.length];
}

export function escaped(text) {
  return String(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
}

/** Round values that divide an axis into four to eight parts. */
export function ticks(from, to) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).findLast((width) => span / width >= 4) ?? power;
  const found = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to + 1e-9 * span; n++) found.push(Number((n * step).toPrecision(10)));
  return found;
}

/**
 * A figure of panels below each other. A panel has `title`, `unit`, `curves` ({ name, color, kind }) and `data`: times,
 * then the values of each curve, null where there are none. `marks` are [time, color] at the upper edge.
 * Kinds: line, steps, dashes, points, crosses.
 */
export function svgOf(title, panels, [from, to]) {
  const entries = (panel) => [...panel.curves, ...(panel.marks?.length ? [{ name: "packet dropped", color: "ink", kind: "crosses" }] : [])];
  const rows = panels.map((panel) => legendRows(entries(panel)));
  let top = 30;
  const parts = panels.map((panel, n) => {
    const part = drawn(panel, rows[n], top, from, to);
    top += HEAD + (rows[n].length - 1) * LEGEND + HEIGHT + FOOT;
    return part;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" font-family="${FONT}" font-size="12" fill="${INK}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${top}" fill="white"/>`,
    `<text x="${WIDTH / 2}" y="20" text-anchor="middle" font-size="13" font-weight="bold"${fit(title, WIDTH - 20, 7.4)}>${escaped(title)}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

/** Squeeze a text that is too wide. */
function fit(text, width, perCharacter) {
  return text.length * perCharacter > width ? ` textLength="${width}" lengthAdjust="spacingAndGlyphs"` : "";
}

/** Rows of entries that fit beside each other; an entry has its place. */
function legendRows(curves) {
  const rows = [[]];
  let x = LEFT;
  for (const curve of curves) {
    const width = 30 + 6.6 * curve.name.length;
    if (x + width > WIDTH - RIGHT && rows.at(-1).length) {
      rows.push([]);
      x = LEFT;
    }
    rows.at(-1).push({ ...curve, x });
    x += width + 10;
  }
  return rows;
}

function drawn(panel, rows, above, from, to) {
  const top = above + HEAD + (rows.length - 1) * LEGEND;
  const [least, most] = bounds(panel.data.slice(1));
  const x = (t) => LEFT + ((t - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
  const y = (v) => top + HEIGHT - ((v - least) / (most - least)) * HEIGHT;
  const lines = [];
  for (const t of ticks(from, to)) {
    lines.push(`<path d="M${px(x(t))} ${top}v${HEIGHT}" stroke="#e3e3e3"/>`);
    lines.push(`<text x="${px(x(t))}" y="${top + HEIGHT + 16}" text-anchor="middle">${t}</text>`);
  }
  for (const v of ticks(least, most)) {
    lines.push(`<path d="M${LEFT} ${px(y(v))}H${WIDTH - RIGHT}" stroke="#e3e3e3"/>`);
    lines.push(`<text x="${LEFT - 6}" y="${px(y(v) + 4)}" text-anchor="end">${v}</text>`);
  }
  const inside = `<clipPath id="inside-${panel.key}"><rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - RIGHT}" height="${HEIGHT}"/></clipPath>`;
  const curves = panel.curves.map((curve, n) => path(curve, panel.data[0], panel.data[n + 1], x, y));
  const marks = (panel.marks ?? []).map(([t, color]) => cross(x(t), top + 6, paper(color)));
  const middle = top + HEIGHT / 2;
  return [
    inside,
    ...lines,
    `<g clip-path="url(#inside-${panel.key})">`,
    ...curves,
    ...marks,
    "</g>",
    `<path d="M${LEFT} ${top}v${HEIGHT}H${WIDTH - RIGHT}" fill="none" stroke="${INK}"/>`,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${top + HEIGHT + 34}" text-anchor="middle">time (s)</text>`,
    `<text x="14" y="${middle}" text-anchor="middle" transform="rotate(-90 14 ${middle})"${fit(`${panel.title} (${panel.unit})`, HEIGHT + 20, 6.2)}>${escaped(`${panel.title} (${panel.unit})`)}</text>`,
    ...rows.flatMap((row, n) => row.map((entry) => legendEntry(entry, above + HEAD - 12 + n * LEGEND))),
  ].join("\n");
}

/** The ends of an axis for values from `least` to `most`: from 0, unless all are far from it. Null: no values. */
export function valueRange(least, most) {
  if (least === null || most === null) return [0, 1];
  const base = least > 0.5 * most && least > 0 ? least : Math.min(least, 0);
  return [base, most > base ? most + 0.06 * (most - base) : base + 1];
}

function bounds(all) {
  let [least, most] = [Infinity, -Infinity];
  for (const values of all) {
    for (const value of values) {
      if (value === null || !Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return least > most ? [0, 1] : valueRange(least, most);
}

function px(value) {
  return Number(value.toFixed(1));
}

function path({ color, kind }, times, values, x, y) {
  const stroke = paper(color);
  let text = "";
  let last = null;
  for (let n = 0; n < values.length; n++) {
    if (values[n] === null || !Number.isFinite(values[n])) continue;
    const [a, b] = [px(x(times[n])), px(y(values[n]))];
    if (kind === "points") text += `M${a} ${b}h0`;
    else if (kind === "crosses") text += `M${a - 3} ${b - 3}l6 6m0 -6l-6 6`;
    else if (last === null || a - last > GAP_PX) text += `M${a} ${b}`;
    else if (kind === "steps") text += `V${b}H${a}`;
    else text += `L${a} ${b}`;
    last = a;
  }
  const style = {
    points: 'stroke-width="2.4" stroke-linecap="round"',
    crosses: 'stroke-width="1.3"',
    dashes: 'stroke-width="1.2" stroke-dasharray="5 4"',
  };
  return `<path d="${text}" fill="none" stroke="${stroke}" ${style[kind] ?? 'stroke-width="1.4" stroke-linejoin="round"'}/>`;
}

function cross(x, y, color) {
  return `<path d="M${px(x - 3)} ${y - 3}l6 6m0 -6l-6 6" stroke="${color}" stroke-width="1.3" fill="none"/>`;
}

function legendEntry({ name, color, kind, x }, y) {
  const sample =
    kind === "points" || kind === "crosses"
      ? path({ color, kind }, [0.5], [0], () => x + 11, () => y - 4)
      : path({ color, kind }, [0, 1], [0, 0], (n) => x + n * GAP_PX, () => y - 4);
  return `${sample}<text x="${px(x + 24)}" y="${y}">${escaped(name)}</text>`;
}
