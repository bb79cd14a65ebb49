// Axes: from values to pixels and back, and the numbers that label them.

// Returns numbers as texts: at most four significant digits, no exponent between 0.001 and ten million.
export function digits(value) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-3) return value.toExponential(2).replace("e+", "e").replace("-", "\u2212");
  const places = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return String(Number(value.toFixed(places))).replace("-", "\u2212");
}

// Returns tick labels with the same number of decimals, as many as the step needs.
function tickText(value, step) {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e7 || (step && step < 1e-4))) return digits(value);
  if (!step) return digits(value);
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "\u2212");
}

// Returns the step of 1, 2 or 5 times a power of ten that divides a range into about `count` parts.
function niceStep(range, count) {
  const rough = range / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((f) => f * power >= rough * 0.999);
  return factor * power;
}

function linearTicks(low, high, count) {
  const step = niceStep(high - low, count);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    ticks.push({ value: k * step, text: tickText(k * step, step) });
  }
  return ticks;
}

function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  if (decades < 0.5) return linearTicks(low, high, count).filter((tick) => tick.value > 0);
  const factors = decades * 3 <= count ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / count));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (power % every !== 0) continue;
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push({ value, text: digits(value) });
    }
  }
  return ticks.length > 1 ? ticks : linearTicks(low, high, count).filter((tick) => tick.value > 0);
}

// A scale works on `range`: both ends in the axis' own measure, which is the logarithm on a logarithmic axis.
export class Scale {
  constructor(log, range, from, to) {
    this.log = log;
    this.range = range;
    this.from = from;
    this.factor = (to - from) / (range[1] - range[0]);
  }
  measure(value) {
    return this.log ? (value > 0 ? Math.log10(value) : NaN) : value;
  }
  value(measure) {
    return this.log ? 10 ** measure : measure;
  }
  at(value) {
    return this.from + (this.measure(value) - this.range[0]) * this.factor;
  }
  measureAt(pixel) {
    return this.range[0] + (pixel - this.from) / this.factor;
  }
  ticks(count) {
    const [low, high] = this.range.map((m) => this.value(m));
    return this.log ? logTicks(low, high, count) : linearTicks(low, high, count);
  }
}

/**
 * The range that is `factor` times as long as [from, to], within [begin, end]. `fixed` keeps its place on the screen; the
 * middle does if `fixed` isn't in the range.
 */
export function scaled([from, to], [begin, end], factor, fixed) {
  const place = fixed >= from && fixed <= to ? fixed : (from + to) / 2;
  const length = Math.min((to - from) * factor, end - begin);
  return within([place - (place - from) * (length / (to - from)), length], begin, end);
}

/** The range [from, to], later by `part` of its length, within [begin, end]. */
export function shifted([from, to], [begin, end], part) {
  return within([from + part * (to - from), to - from], begin, end);
}

function within([from, length], begin, end) {
  const start = Math.min(Math.max(from, begin), end - length);
  return [start, start + length];
}
