// One pair of axes, drawn as SVG. Titles and axis names are text of the page: they wrap on a narrow screen.
import { element, svg } from "./dom.mjs";
import { drawGrid } from "./grid.mjs";
import { MARKS, MUTED, round, unpack } from "./marks.mjs";
import { digits, Scale } from "./scales.mjs";

const LETTER = 6.6; // width of a digit of a tick label
const STRIP = 22; // height of a row of a panel of strips
const NARROW = 480; // width below which a panel has fewer ticks and a smaller height
let clips = 0;

// Returns the lowest and the highest finite measure of arrays on an axis.
function extent(arrays, log) {
  let low = Infinity, high = -Infinity;
  for (const values of arrays) {
    for (const value of values) {
      if (!Number.isFinite(value) || (log && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return null;
  return log ? [Math.log10(low), Math.log10(high)] : [low, high];
}

/** `figure`: the `Panels` that it belongs to; see figure.mjs. */
export class Panel {
  constructor(given, figure, parent) {
    this.figure = figure;
    this.zoomX = this.zoomY = null;
    this.update(given);
    this.frame = element("div", { class: "plot" });
    this.box = element("div", { class: "panel" },
      this.title ? element(figure.heading, { class: "panel-title" }, this.title) : null,
      this.y.label ? element("div", { class: "axis-name" }, `\u2191 ${this.y.label}`) : null,
      this.frame,
      this.x.label && !this.x.unit ? element("div", { class: "axis-name x" }, `${this.x.label} \u2192`) : null);
    parent.append(this.box);
    this.zoomable = !this.x.names && !this.grid;
    if (!this.grid) figure.prepare(this);
  }

  /** Takes new values; the axes keep their zoom. */
  update(given) {
    Object.assign(this, given);
    for (const mark of this.marks) {
      for (const key of ["x", "y", "low", "high", "q1", "q3", "x2"]) if (mark[key]) mark[key] = unpack(mark[key]);
    }
    if (!this.grid) this.ranges();
  }

  // The ends of both axes without zoom.
  ranges() {
    const shown = this.marks.filter((mark) => this.figure.isDecisive(mark));
    const pick = (axis) => shown.flatMap((mark) => MARKS[mark.kind][axis](mark));
    const names = this.x.names;
    const texts = this.marks.some((m) => m.texts?.length);
    let x = names ? [-0.5, names.length - 0.5] : this.x.range ?? extent(pick("xs"), this.x.log) ?? [0, 1];
    if (!names && !this.x.range) {
      const part = texts ? 0.08 : this.marks.some((m) => m.symbol) ? 0.03 : 0;
      const beside = x[0] === x[1] ? 0.5 : (x[1] - x[0]) * part;
      x = [x[0] - beside, x[1] + beside];
    }
    let y = extent(pick("ys"), this.y.log) ?? [0, 1];
    const crowded = texts || this.marks.some((m) => m.kind === "edge");
    const pad = (y[1] - y[0] || Math.abs(y[1]) || 1) * (crowded ? 0.12 : 0.05);
    const zero = this.y.zero && !this.y.log;
    y = [zero && y[0] >= 0 ? 0 : y[0] - pad, zero && y[1] <= 0 && y[0] < 0 ? 0 : y[1] + pad];
    if (this.y.top !== undefined) y[1] = this.y.log ? Math.log10(this.y.top) : this.y.top;
    this.wholeX = x;
    this.wholeY = this.y.names ? [this.y.names.length - 0.5, -0.5] : y;
  }

  draw(width) {
    const strips = this.y.names?.length;
    const height = strips ? 40 + STRIP * strips : this.figure.heightOf(this, width < NARROW);
    this.frame.replaceChildren();
    if (this.grid) return drawGrid(this);
    this.frame.append(this.drawing(width, height));
  }

  /** Axes and marks as SVG of this size. */
  drawing(width, height) {
    const strips = this.y.names?.length;
    const rangeY = strips ? this.wholeY : this.zoomY ?? this.figure.wholeY(this), rangeX = this.zoomX ?? this.wholeX;
    const margin = { top: this.better ? 22 : 8, right: 12, bottom: 24, left: 0 };
    const names = this.x.names ? fitNames(this.x.names, width - 70) : null;
    if (names) margin.bottom = names.height;
    const y = new Scale(this.y.log, rangeY, height - margin.bottom, margin.top);
    const ticksY = strips ? this.y.names.map((name, value) => ({ value, text: shortened(name, width < NARROW ? 14 : 30) }))
      : y.ticks(height / 50);
    margin.left = Math.max(this.figure.indent, 10 + LETTER * Math.max(2, ...ticksY.map((tick) => tick.text.length)));
    const ends = [margin.left, width - margin.right];
    const x = new Scale(this.x.log, rangeX, ...(this.x.reversed ? ends.reverse() : ends));
    this.area = { left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom };
    Object.assign(this, { scaleX: x, scaleY: y });
    const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true",
      style: "font-size:12px;fill:var(--ink)" });
    const id = `clip-${clips++}`;
    const clip = svg("clipPath", { id }, svg("defs", {}, root));
    const { left, right, top, bottom } = this.area;
    svg("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 4 }, clip);
    const line = (d, color, thick) => svg("path", { d, style: `fill:none;stroke:var(--${color})`, "stroke-width": thick }, root);
    for (const tick of ticksY) {
      const up = round(y.at(tick.value));
      line(`M${left} ${up}H${right}`, "line", 0.8);
      svg("text", { x: left - 6, y: up + 4, "text-anchor": "end" }, root, tick.text);
    }
    if (names) drawNames(names, x, bottom, root);
    else {
      const [low, high] = x.range.map((m) => x.value(m));
      const ticksX = this.x.ticks?.filter((value) => value >= low && value <= high)
        .map((value) => ({ value, text: digits(value) })) ?? x.ticks((right - left) / 70);
      for (const tick of ticksX) {
        const across = round(x.at(tick.value));
        line(`M${across} ${top}V${bottom}`, "line", 0.8);
        const text = this.x.unit ? `${tick.text} ${this.x.unit}` : tick.text;
        svg("text", { x: Math.min(across, width - LETTER * text.length / 2 - 1), y: bottom + 17, "text-anchor": "middle" },
          root, text);
      }
    }
    const inside = svg("g", { "clip-path": `url(#${id})` }, root);
    for (const mark of this.marks) if (this.figure.isVisible(mark)) MARKS[mark.kind].draw(mark, x, y, inside, this.area);
    line(`M${left} ${top}V${bottom}H${right}`, "muted", 1);
    // Above the axes, because the best cells are in this corner.
    if (this.better) svg("text", { x: right, y: top - 8, "text-anchor": "end", style: MUTED }, root, "better \u2197");
    this.over = svg("g", { class: "over" }, root);
    return root;
  }

  // Panels with the same x axis zoom together along it.
  get axis() {
    return `${this.x.label} ${this.x.range ?? ""}`;
  }

  description() {
    const labels = [...new Set(this.marks.map((mark) => mark.label).filter(Boolean))];
    const what = `${this.title || this.figure.title}: ${this.y.label} over ${this.x.label || "categories"}`;
    return `${what}. Curves: ${labels.join(", ")}. Left and right arrow keys read values${this.zoomable ? ", + and - zoom, 0 shows all" : ""}.`;
  }
}

function shortened(text, letters) {
  return text.length > letters ? `${text.slice(0, letters - 1)}\u2026` : text;
}

// Breaks names of categories into lines; turns them where they would overlap.
function fitNames(names, width) {
  const each = width / names.length;
  const letters = Math.floor(each / LETTER);
  const wrapped = names.map((name) => {
    const lines = [""];
    for (const word of name.split(" ")) {
      const line = lines.at(-1);
      if (line && line.length + word.length + 1 > Math.max(letters, 4)) lines.push(word);
      else lines[lines.length - 1] = line ? `${line} ${word}` : word;
    }
    return lines;
  });
  const longest = Math.max(...wrapped.flat().map((line) => line.length));
  if (longest <= letters) return { lines: wrapped, turned: false, every: 1, height: 12 + 14 * Math.max(...wrapped.map((l) => l.length)) };
  const short = names.map((name) => [shortened(name, 22)]);
  const height = 16 + Math.max(...short.map(([name]) => name.length)) * LETTER * 0.8;
  return { lines: short, turned: true, every: Math.max(1, Math.ceil(14 / each)), height };
}

function drawNames(names, x, bottom, root) {
  names.lines.forEach((lines, k) => {
    if (k % names.every) return;
    const across = round(x.at(k));
    if (names.turned) {
      // A turned name extends to the left: the first ones have the least space before the edge.
      const space = Math.floor((across + 3) / (0.62 * LETTER));
      svg("text", { transform: `translate(${across + 3} ${bottom + 10}) rotate(-52)`, "text-anchor": "end" }, root,
        shortened(lines[0], Math.max(4, space)));
      return;
    }
    lines.forEach((line, row) => svg("text", { x: across, y: bottom + 16 + 14 * row, "text-anchor": "middle" }, root, line));
  });
}
