// The marks of a panel: lines, bands, outlines, points, bars, boxes, spans. Each kind knows its extent, draws itself as
// SVG, and finds its value beside the pointer.
import { paint, svg } from "./dom.mjs";

/** The style of small words in a drawing. */
export const MUTED = "fill:var(--muted);font-size:11px";

// Arrays are lists of numbers, typed arrays, or 32-bit floats in base64 that are added to an offset.
export function unpack(given) {
  if (ArrayBuffer.isView(given)) return given;
  if (Array.isArray(given)) return Float64Array.from(given, (v) => (v === null ? NaN : v));
  const bytes = Uint8Array.from(atob(given.float32), (c) => c.charCodeAt(0));
  return Float64Array.from(new Float32Array(bytes.buffer), (v) => v + given.offset);
}

// Symbols by Matplotlib's letters: corners of a polygon in units of its radius.
function polygon(corners, turn, inner) {
  const points = [];
  for (let k = 0; k < corners * (inner ? 2 : 1); k++) {
    const angle = turn + (k * Math.PI * 2) / (corners * (inner ? 2 : 1));
    const radius = inner && k % 2 ? inner : 1.15;
    points.push([Math.sin(angle) * radius, -Math.cos(angle) * radius]);
  }
  return points;
}
const PLUS = [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1], [-0.4, 0.4],
  [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]];
const SYMBOLS = {
  s: polygon(4, Math.PI / 4), D: polygon(4, 0), d: polygon(4, 0).map(([x, y]) => [x * 0.65, y]),
  "^": polygon(3, 0), v: polygon(3, Math.PI), "<": polygon(3, -Math.PI / 2), ">": polygon(3, Math.PI / 2),
  p: polygon(5, 0), h: polygon(6, 0), "*": polygon(5, 0, 0.5), P: PLUS,
  X: PLUS.map(([x, y]) => [(x - y) * 0.71, (x + y) * 0.71]),
};

export function symbolPath(symbol, x, y, r) {
  if (symbol === "x") return `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
  if (symbol === "+") return `M${x - r} ${y}h${2 * r}M${x} ${y - r}v${2 * r}`;
  if (symbol === "|") return `M${x} ${y - r}v${2 * r}`;
  if (symbol === ".") return `M${x} ${y}h0`;
  const corners = SYMBOLS[symbol];
  if (!corners) return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  return `M${corners.map(([a, b]) => `${(x + a * r).toFixed(1)} ${(y + b * r).toFixed(1)}`).join("L")}Z`;
}

function isOpen(symbol) {
  return "x+|.".includes(symbol);
}

export function drawSymbols(mark, d, parent) {
  const color = paint(mark.color);
  const fill = isOpen(mark.symbol) ? "none" : mark.hollow ? "var(--paper)" : color;
  const edge = isOpen(mark.symbol) || mark.hollow ? color : "none";
  const pen = mark.symbol === "." ? { "stroke-width": 3, "stroke-linecap": "round" } : { "stroke-width": 1.6 };
  svg("path", { d, style: `fill:${fill};stroke:${edge}`, ...pen, opacity: mark.opacity ?? 1 }, parent);
}

function symbols(m, x, y, r) {
  let d = "";
  for (let k = 0; k < m.x.length; k++) {
    const across = round(x.at(m.x[k])), up = round(y.at(m.y[k]));
    if (Number.isFinite(across) && Number.isFinite(up)) d += symbolPath(m.symbol, across, up, r);
  }
  return d;
}

// Draws words beside points.
function drawTexts(mark, x, y, parent) {
  (mark.texts ?? []).forEach((text, k) => {
    const across = x.at(mark.x[k]), up = y.at(mark.y[k]);
    if (text && Number.isFinite(across) && Number.isFinite(up)) {
      svg("text", { x: round(across + 6), y: round(up - 5), style: "font-size:11px" }, parent, text);
    }
  });
}

export function round(pixel) {
  return Math.round(pixel * 10) / 10;
}

// Values that aren't finite are a gap. One of at most `bridge` pixels is none.
function linePath(mark, x, y) {
  let d = "", pen = false, last = 0, before = 0;
  for (let k = 0; k < mark.x.length; k++) {
    const across = round(x.at(mark.x[k])), up = round(y.at(mark.y[k]));
    if (!Number.isFinite(across) || !Number.isFinite(up)) {
      if (mark.bridge) continue;
      if (pen && mark.steps && Number.isFinite(across)) d += `H${across}`;
      pen = false;
      continue;
    }
    if (!pen || (mark.bridge && across - last > mark.bridge)) d += `M${across} ${up}`;
    else if (!mark.steps) d += `L${across} ${up}`;
    else if (up === before) d += `H${across}`;
    else d += `H${across}V${up}`;
    pen = true;
    last = across;
    before = up;
  }
  return d;
}

function bandPath(mark, x, y) {
  let d = "", begin = 0;
  const flush = (end) => {
    if (end - begin < 1) return;
    const top = [], bottom = [];
    for (let k = begin; k < end; k++) {
      top.push(`${round(x.at(mark.x[k]))} ${round(y.at(mark.high[k]))}`);
      bottom.push(`${round(x.at(mark.x[k]))} ${round(y.at(mark.low[k]))}`);
    }
    d += `M${top.join("L")}L${bottom.reverse().join("L")}Z`;
  };
  for (let k = 0; k <= mark.x.length; k++) {
    if (k < mark.x.length && Number.isFinite(y.at(mark.low[k])) && Number.isFinite(y.at(mark.high[k]))) continue;
    flush(k);
    begin = k + 1;
  }
  return d;
}

// The base of bars: zero, or the lower end of a logarithmic axis.
function ground(y) {
  return y.log ? y.from : y.at(0);
}

export const MARKS = {
  line: {
    xs: (m) => [m.x], ys: (m) => [m.y],
    draw(m, x, y, parent) {
      svg("path", { d: linePath(m, x, y), style: `fill:none;stroke:${paint(m.color)}`, "stroke-width": 1.7,
        "stroke-dasharray": m.dash ?? "", "stroke-linejoin": "round", opacity: m.opacity ?? 1 }, parent);
      drawTexts(m, x, y, parent);
      if (!m.symbol) return;
      drawSymbols(m, symbols(m, x, y, 3.6), parent);
    },
  },
  band: {
    xs: (m) => [m.x], ys: (m) => [m.low, m.high],
    draw(m, x, y, parent) {
      svg("path", { d: bandPath(m, x, y), style: `fill:${paint(m.color)}`, opacity: m.opacity ?? 0.18 }, parent);
    },
  },
  points: {
    xs: (m) => [m.x], ys: (m) => [m.y],
    draw(m, x, y, parent) {
      drawSymbols(m, symbols(m, x, y, m.size ?? 3.6), parent);
      drawTexts(m, x, y, parent);
    },
  },
  outline: {
    xs: (m) => [m.x], ys: (m) => [m.y],
    draw(m, x, y, parent) {
      const color = paint(m.color);
      svg("path", { d: `${linePath(m, x, y)}Z`, style: `fill:${color};stroke:${color}`, "fill-opacity": 0.1 }, parent);
    },
  },
  intervals: {
    xs: (m) => [m.x], ys: (m) => [m.low, m.high],
    draw(m, x, y, parent) {
      let d = "";
      for (let k = 0; k < m.x.length; k++) {
        const low = y.at(m.low[k]), high = y.at(m.high[k]);
        if (Number.isFinite(low) && Number.isFinite(high)) d += `M${round(x.at(m.x[k]))} ${round(low)}V${round(high)}`;
      }
      svg("path", { d, style: `fill:none;stroke:${paint(m.color)}`, "stroke-width": 1.6 }, parent);
    },
  },
  bars: {
    xs: () => [], ys: (m) => [m.y, [0]],
    draw(m, x, y, parent) {
      let d = "";
      const base = round(ground(y));
      for (let k = 0; k < m.x.length; k++) {
        const left = round(x.at(m.x[k] - m.width / 2)), right = round(x.at(m.x[k] + m.width / 2));
        const up = round(y.at(m.y[k]));
        if (Number.isFinite(up)) d += `M${left} ${base}V${up}H${right}V${base}Z`;
      }
      svg("path", { d, style: `fill:${paint(m.color)}`, opacity: 0.8 }, parent);
      if (m.hatched) svg("path", { d, style: "fill:url(#hatch)" }, parent);
    },
  },
  boxes: { // y is the median, `low` and `high` the whiskers, `q1` and `q3` the quartiles
    xs: () => [], ys: (m) => [m.low, m.high],
    draw(m, x, y, parent) {
      let box = "", whiskers = "", median = "";
      for (let k = 0; k < m.x.length; k++) {
        const [low, q1, middle, q3, high] = [m.low, m.q1, m.y, m.q3, m.high].map((values) => round(y.at(values[k])));
        if (!Number.isFinite(middle)) continue;
        const left = round(x.at(m.x[k] - m.width / 2)), right = round(x.at(m.x[k] + m.width / 2));
        median += `M${left} ${middle}H${right}`;
        if (!Number.isFinite(q1)) continue; // few values have no quartiles
        const center = round((left + right) / 2), cap = round((right - left) / 4);
        box += `M${left} ${q1}H${right}V${q3}H${left}Z`;
        whiskers += `M${center} ${q1}V${low}M${center} ${q3}V${high}`;
        whiskers += `M${center - cap} ${low}h${2 * cap}M${center - cap} ${high}h${2 * cap}`;
      }
      const color = paint(m.color);
      svg("path", { d: box, style: `fill:${color};stroke:${color}`, "fill-opacity": 0.3, "stroke-width": 1.3 }, parent);
      svg("path", { d: whiskers, style: `fill:none;stroke:${color}`, "stroke-width": 1.3 }, parent);
      svg("path", { d: median, style: "fill:none;stroke:var(--ink)", "stroke-width": 1.8 }, parent);
    },
  },
  strokes: { // vertical, from `low` to `high`; those of one pixel are drawn as one, until the reader zooms in
    xs: (m) => [m.x], ys: (m) => [m.low, m.high],
    draw(m, x, y, parent, frame) {
      let d = "", pixel = NaN, bottom = 0, top = 0;
      const flush = () => {
        if (!Number.isNaN(pixel)) d += `M${pixel} ${bottom}V${top}`;
      };
      for (let k = 0; k < m.x.length; k++) {
        const across = Math.round(x.at(m.x[k]) * 2) / 2, low = round(y.at(m.low[k])), high = round(y.at(m.high[k]));
        if (!Number.isFinite(low) || across < frame.left || across > frame.right) continue;
        if (across !== pixel) {
          flush();
          [pixel, bottom, top] = [across, low, high];
        }
        bottom = Math.max(bottom, low);
        top = Math.min(top, high);
      }
      flush();
      svg("path", { d, style: `fill:none;stroke:${paint(m.color)}`, "stroke-width": 1.2 }, parent);
    },
  },
  spans: { // of the whole height, or of one strip
    xs: () => [], ys: () => [],
    draw(m, x, y, parent, frame) {
      let d = "";
      const strip = m.strip !== undefined;
      const top = strip ? round(y.at(m.strip - 0.4)) : frame.top, bottom = strip ? round(y.at(m.strip + 0.4)) : frame.bottom;
      for (let k = 0; k < m.x.length; k++) {
        const left = Math.max(frame.left, round(x.at(m.x[k]))), right = Math.min(frame.right, round(x.at(m.x2[k])));
        if (right > left) d += `M${left} ${top}H${right}V${bottom}H${left}Z`;
      }
      svg("path", { d, style: `fill:${paint(m.color)}`, opacity: strip ? 0.45 : 0.16 }, parent);
      if (m.hatched) svg("path", { d, style: "fill:url(#hatch)" }, parent);
    },
  },
  rule: { // a vertical line with a text
    xs: () => [], ys: () => [],
    draw(m, x, y, parent, frame) {
      const across = round(x.at(m.x[0]));
      svg("path", { d: `M${across} ${frame.top}V${frame.bottom}`, style: "fill:none;stroke:var(--muted)", "stroke-dasharray": "3 3" }, parent);
      if (!m.text) return;
      const end = m.at === "top" ? frame.top + 4 : frame.bottom - 4;
      svg("text", { transform: `translate(${across - 4} ${end}) rotate(-90)`, style: MUTED,
        "text-anchor": m.at === "top" ? "end" : "start" }, parent, m.text);
    },
  },
  edge: { // crosses at the upper edge
    xs: () => [], ys: () => [],
    draw(m, x, y, parent, frame) {
      let d = "";
      for (const value of m.x) if (Number.isFinite(x.at(value))) d += symbolPath("x", round(x.at(value)), frame.top + 6, 3.5);
      drawSymbols({ ...m, symbol: "x" }, d, parent);
    },
  },
};

// Returns the value of a mark beside the pointer: its place in pixels, and its distance.
export function nearest(m, x, y, px, py) {
  if (!m.label || !m.y || ["spans", "rule", "strokes", "outline", "edge"].includes(m.kind)) return null;
  let best = null;
  for (let k = 0; k < m.x.length; k++) {
    const across = x.at(m.x[k]), up = y.at(m.y[k]);
    if (!Number.isFinite(up) || !Number.isFinite(across)) continue;
    const away = m.kind === "line" ? Math.abs(across - px) + Math.abs(up - py) * 1e-4 : Math.hypot(across - px, up - py);
    if (!best || away < best.away) best = { mark: m, k, px: across, py: up, away };
  }
  const reach = m.kind === "line" ? 60 : m.kind === "bars" || m.kind === "boxes" ? 50 : 16;
  return best && best.away < reach ? best : null;
}

/** A legend entry's line, symbol or area. */
export function sample(entry) {
  const root = svg("svg", { width: 26, height: 14, "aria-hidden": "true" });
  const color = paint(entry.color);
  if (entry.area) {
    svg("rect", { x: 5, y: 1, width: 16, height: 12, style: `fill:${color}`, opacity: entry.area }, root);
    if (entry.hatched) svg("rect", { x: 5, y: 1, width: 16, height: 12, style: "fill:url(#hatch)" }, root);
  }
  if (entry.dash !== undefined) {
    svg("path", { d: "M1 7H25", style: `stroke:${color}`, "stroke-width": 2, "stroke-dasharray": entry.dash }, root);
  }
  if (entry.symbol) {
    const symbol = entry.symbol === "." ? "o" : entry.symbol;
    drawSymbols({ ...entry, symbol }, symbolPath(symbol, 13, 7, 4), root);
  }
  return root;
}

/** The legend of a panel: [{ label, drawn }], each label of a visible mark once. */
export function legendOf(panel) {
  const entries = new Map();
  for (const mark of panel.marks) {
    if (panel.figure.isVisible(mark)) entries.set(mark.label, mark.kind === "edge" ? { ...mark, color: "ink" } : mark);
  }
  return [...entries].map(([label, mark]) => ({ label, drawn: sample(mark) }));
}
