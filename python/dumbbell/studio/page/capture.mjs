// The figures of one direction of a TCP connection, from its segments. A figure is a panel with curves: times in seconds,
// values, and `holds` where a value is valid until the next one.
import { roundWidth } from "./reduce.mjs";

/** Flags [RFC 9293 §3.1]. */
const [SYN, RST, ACK] = [0x02, 0x04, 0x10];

/** Continue 32-bit sequence numbers beyond 2^32: each is within 2^31 of the one before. As in plots/time_sequence.py. */
export function unwrapped(numbers) {
  const found = new Float64Array(numbers.length);
  for (let n = 0; n < numbers.length; n++) {
    found[n] = n === 0 ? numbers[0] : found[n - 1] + ((numbers[n] - numbers[n - 1]) | 0);
  }
  return found;
}

/** The places of rows in the order of time; equal times keep their order. */
function inOrder(times) {
  const rows = Array.from(times, (_, row) => row);
  for (let row = 1; row < rows.length; row++) if (times[row] < times[row - 1]) return rows.sort((a, b) => times[a] - times[b]);
  return rows;
}

/**
 * The panels of a direction, and the times of the first and the last segment of its connection. `tables`: those of
 * `Capture.segments`; `labels`: the names of the labels, in the order of their bits.
 */
export function directionPanels({ packets: p, sacks }, direction, labels) {
  const rows = inOrder(p.t_ns).filter((row) => !p.quoted[row]);
  const time = (row) => p.t_ns[row] / 1e9;
  const pick = (chosen, value) => Float64Array.from(chosen, value);
  const sent = rows.filter((row) => p.direction[row] === direction && p.len[row] > 0);
  const back = rows.filter((row) => p.direction[row] !== direction && p.flags[row] & ACK);
  const again = 1 << labels.indexOf("retransmission");
  const low = unwrapped(pick(sent, (row) => p.seq[row]));
  const high = low.map((from, n) => from + p.len[sent[n]]);
  const acked = unwrapped(pick(back, (row) => p.ack[row]));
  const highest = acked.slice();
  for (let n = 1; n < highest.length; n++) highest[n] = Math.max(highest[n], highest[n - 1]);
  const curve = (name, color, kind, t, v, holds = false) => ({ name, color, kind, t, v, holds });
  const those = (all, keep) => all.map((row, n) => [row, n]).filter(([row, n]) => keep(row, n));
  const kB = (pairs, value) => pick(pairs, ([row, n]) => value(row, n) / 1e3);
  const at = (pairs) => pick(pairs, ([row]) => time(row));
  const resent = those(sent, (row) => p.labels[row] & again);
  const first = those(sent, (row) => !(p.labels[row] & again));
  // The window of a SYN is not scaled, and that of a reset has no meaning.
  const offers = those(back, (row) => !(p.flags[row] & (SYN | RST)));
  const selected = selectedEnds(p, sacks, direction);
  const samples = those(back, (row) => p.ack_rtt_ns[row] > 0);
  const end = rows.length ? time(rows.at(-1)) : 0;
  const begin = rows.length ? time(rows[0]) : 0;
  return {
    begin,
    end,
    panels: [
      {
        key: "sequence",
        title: "Sequence numbers",
        unit: "kB",
        curves: [
          curve("segments", 0, "points", at(first), kB(first, (_, n) => high[n])),
          curve("ACK", 2, "line", at(those(back, () => true)), highest.map((ack) => ack / 1e3), true),
          curve("receive window", "ink", "dashes", at(offers), kB(offers, (row, n) => acked[n] + p.window[row]), true),
          curve("SACK", 3, "points", selected.t, selected.v),
          curve("retransmission", 1, "crosses", at(resent), kB(resent, (_, n) => high[n])),
        ],
      },
      {
        key: "rtt",
        title: "RTT samples",
        unit: "ms",
        curves: [curve("segment to its ACK, as in Wireshark", 0, "points", at(samples), pick(samples, ([row]) => p.ack_rtt_ns[row] / 1e6))],
      },
      {
        key: "flight",
        title: "Data in flight and receive window",
        unit: "kB",
        curves: [
          curve("in flight", 0, "line", pick(sent, time), pick(sent, (row) => p.bytes_in_flight[row] / 1e3), true),
          curve("receive window", "ink", "dashes", at(offers), kB(offers, (row) => p.window[row]), true),
        ],
      },
      {
        key: "rates",
        title: "Throughput",
        unit: "Mbit/s",
        curves: [
          rate("frames", "ink", "dashes", sent, p.frame_len),
          rate("new data (goodput)", 0, "line", sent, p.new_bytes),
        ],
      },
    ],
  };

  /** The rate of bytes in windows of about 1/150 of the time. */
  function rate(name, color, kind, chosen, bytes) {
    const width = roundWidth(Math.max((end - begin) / 150, 1e-3));
    const count = Math.max(Math.ceil((end - begin) / width), 1);
    const sums = new Float64Array(count + 1);
    for (const row of chosen) sums[Math.min(Math.floor((time(row) - begin) / width), count - 1)] += bytes[row];
    const values = sums.map((sum) => (8 * sum) / width / 1e6);
    values[count] = NaN;
    const note = `${name}, in windows of ${Number(width.toPrecision(3))} s`;
    return curve(note, color, kind, sums.map((_, n) => begin + n * width), values, true);
  }
}

/** The ends of SACK blocks that the other side has sent, with the times of their segments. */
function selectedEnds(p, sacks, direction) {
  const times = new Map();
  p.frame.forEach((frame, row) => times.set(frame, p.t_ns[row] / 1e9));
  const rows = Array.from(sacks.frame, (_, row) => row).filter((row) => sacks.direction[row] !== direction && !sacks.duplicate[row]);
  rows.sort((a, b) => times.get(sacks.frame[a]) - times.get(sacks.frame[b]));
  return {
    t: Float64Array.from(rows, (row) => times.get(sacks.frame[row])),
    v: unwrapped(Float64Array.from(rows, (row) => sacks.right[row])).map((end) => end / 1e3),
  };
}
