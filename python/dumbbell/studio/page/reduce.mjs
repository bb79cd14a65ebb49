// Series of a run reduced to the columns of a plot. Each column keeps the smallest and the largest value in the order
// in which they occur, so that no spike disappears.

/** The place of the first time after `t`; times ascend. */
export function after(times, t) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The times of a plot's points: two in each column. */
export function grid(from, to, columns) {
  const step = (to - from) / columns / 2;
  return Float64Array.from({ length: 2 * columns + 1 }, (_, n) => from + n * step);
}

/**
 * The values at the times of `grid`. A value that holds until the next one (a window) fills columns without samples; a
 * sample (an RTT) stands for itself, and columns without samples stay empty.
 */
export function reduced(times, values, from, to, columns, holds) {
  const step = (to - from) / columns;
  const found = new Array(2 * columns + 1).fill(null);
  let row = after(times, from);
  let held = holds && row > 0 ? usable(values[row - 1]) : null;
  for (let n = 0; n < columns; n++) {
    const end = n === columns - 1 ? Infinity : from + (n + 1) * step;
    const stop = end === Infinity ? after(times, to) : row + skip(times, row, end);
    let least = held;
    let most = held;
    let leastAt = -1;
    let mostAt = -1;
    for (let at = row; at < stop; at++) {
      const value = usable(values[at]);
      if (value === null) continue;
      if (least === null || value < least) [least, leastAt] = [value, at];
      if (most === null || value > most) [most, mostAt] = [value, at];
      if (holds) held = value;
    }
    row = stop;
    found[2 * n] = leastAt <= mostAt ? least : most;
    found[2 * n + 1] = leastAt <= mostAt ? most : least;
  }
  found[2 * columns] = held;
  return found;
}

/** How many times from a row on are at most `end`. */
function skip(times, row, end) {
  let stop = row;
  while (stop < times.length && times[stop] <= end) stop++;
  return stop - row;
}

function usable(value) {
  return Number.isFinite(value) ? value : null;
}

/** The rate in Mbit/s in windows of a width in seconds: [times of their ends, rates]. `keep` selects rows. */
export function rates(times, bytes, keep, end, width) {
  const count = Math.ceil(end / width - 1e-9);
  const sums = new Float64Array(count);
  for (let row = 0; row < times.length; row++) {
    if (keep(row)) sums[Math.min(Math.floor(times[row] / width), count - 1)] += bytes[row];
  }
  return sums.map((sum, n) => (8 * sum) / (Math.min((n + 1) * width, end) - n * width) / 1e6);
}

/** A width of 1, 2 or 5 times a power of ten: at least `least`. */
export function roundWidth(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((width) => width >= least * (1 - 1e-9));
}
