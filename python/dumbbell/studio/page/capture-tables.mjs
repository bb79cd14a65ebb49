// Tables of a capture: its frames, its TCP connections, its UDP conversations.
import { element } from "../../plots/web/dom.mjs";
import { shown } from "./dom.mjs";

/** Columns of the list of connections: heading, value of a row, digits. As `dumbbell analyze` prints them. */
const CONNECTION = [
  ["packets", (row) => row.packets, 0],
  ["payload, MB", (row) => row.payload_bytes / 1e6, 3],
  ["goodput, Mbit/s", (row) => (row.goodput_bps === null ? null : row.goodput_bps / 1e6), 3],
  ["RTT min, ms", (row) => row.rtt_min_ms, 2],
  ["RTT p50, ms", (row) => row.rtt_p50_ms, 2],
  ["RTT p95, ms", (row) => row.rtt_p95_ms, 2],
  ["sent again", (row) => row.retransmitted_packets, 0],
  ["timeouts", (row) => row.timeouts, 0],
  ["out of order", (row) => row.out_of_order, 0],
  ["duplicate ACKs", (_, back) => back.duplicate_ack, 0],
  ["not captured", (row) => row.lost_segment, 0],
  ["in flight max, kB", (row) => (row.flight_max === null ? null : row.flight_max / 1e3), 1],
  ["end", (row) => row.ending, 0],
];

/** Columns of the list of UDP conversations: heading, value of the direction that began, of the other one, and of QUIC. */
const CONVERSATION = [
  ["packets", (row, back) => row.packets + (back?.packets ?? 0)],
  ["sent, kB", (row) => shown(row.bytes / 1e3, 3)],
  ["received, kB", (_, back) => shown((back?.bytes ?? 0) / 1e3, 3)],
  ["sent, Mbit/s", (row) => shown(row.throughput_bps === null ? null : row.throughput_bps / 1e6, 3)],
  ["received, Mbit/s", (_, back) => shown(back?.throughput_bps ? back.throughput_bps / 1e6 : null, 3)],
  ["QUIC version", (_row, _back, quic) => quic?.version ?? "–"],
  ["handshake RTT, ms", (_row, _back, quic) => shown(quic?.handshake_rtt_ms, 2)],
  ["server name", (_row, _back, quic) => quic?.sni || "–"],
];

/** The list of TCP directions that carry data; a button chooses one. `rows`: by "flow direction"; `listed`: such pairs. */
export function connectionTable(rows, listed, all, choose) {
  const body = listed.map(([flow, direction]) => {
    const [row, back] = [rows.get(`${flow} ${direction}`), rows.get(`${flow} ${1 - direction}`)];
    const cells = CONNECTION.map(([, value, digits]) => {
      const found = value(row, back);
      return element("td", {}, typeof found === "string" ? found : shown(found, digits));
    });
    const name = element("button", { type: "button", onclick: () => choose(flow, direction) }, nameOfDirection(row));
    return element("tr", { "data-direction": `${flow} ${direction}` }, element("th", { scope: "row" }, name), ...cells);
  });
  const kept = listed.length === 1 ? "The direction that carries" : `The ${listed.length} directions that carry the most`;
  return table(`${kept} data, of ${all} TCP connection${all === 1 ? "" : "s"}`, CONNECTION, body);
}

/** The list of UDP conversations. `udp`: [[row, row of the other direction, row of QUIC]], the largest first. */
export function udpTable(udp, all) {
  const body = udp.map(([row, back, quic]) => {
    const name = `#${row.conversation} ${row.src}:${row.src_port} → ${row.dst}:${row.dst_port}`;
    return element("tr", {}, element("th", { scope: "row" }, name), ...CONVERSATION.map(([, value]) => element("td", {}, `${value(row, back, quic)}`)));
  });
  const kept = udp.length === all ? "UDP conversations" : `The ${udp.length} largest of ${all} UDP conversations`;
  return udp.length ? table(kept, CONVERSATION, body) : element("p", {}, `${all} UDP conversations are too many for a list here: dumbbell analyze has them.`);
}

function table(caption, columns, body) {
  const heads = ["connection", ...columns.map(([heading]) => heading)].map((text) => element("th", { scope: "col" }, text));
  return element(
    "table",
    { class: "figures connections" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...body),
  );
}

/** A direction's name: `#3 10.0.0.1:443 -> 10.0.0.2:5000`. */
export function nameOfDirection(row) {
  return `#${row.flow} ${row.src}:${row.src_port} → ${row.dst}:${row.dst_port}`;
}

/** Damage and warnings. */
export function notes({ damage, warnings }) {
  const lines = [
    ...damage.map((each) => `Damage at byte ${each.offset}, after ${each.frames} packets: ${each.text}`),
    ...warnings.map(({ text }) => `Warning: ${text}`),
  ];
  return lines.map((line) => element("p", { class: "warning" }, line));
}

/** Frames by content, with their sum; the file; the data packets. */
export function summaryTables(summary, packets) {
  const [p] = summary.properties;
  const sum = summary.contents.reduce((all, [, count]) => all + count, 0);
  const { totals } = summary;
  const part = totals.data_packets ? ` (${shown((100 * totals.retransmitted_packets) / totals.data_packets, 3)} %)` : "";
  return [
    pairs("Frames by content", [...summary.contents, ["all frames", sum]]),
    ...(summary.tunnels.length ? [pairs("In tunnels, counted above too", summary.tunnels)] : []),
    pairs("TCP", [
      ["connections", totals.connections],
      ["data packets", totals.data_packets],
      ["sent again", `${totals.retransmitted_packets}${part}`],
      ["timeouts", totals.timeouts],
    ]),
    pairs("File", [
      ["format", `${p.format}${p.compression ? `, ${p.compression}` : ""}`],
      ["encapsulation", p.encapsulations.map(([name]) => name).join(", ") || "–"],
      ["size", `${shown((p.file_size ?? 0) / 1e6, 3)} MB`],
      ["packets", packets],
      ["on the wire", `${shown(p.bytes / 1e6, 3)} MB`],
      ["mean rate", p.bit_rate === null ? "–" : `${shown(p.bit_rate / 1e6, 3)} Mbit/s`],
      ["first packet", p.first_ns === null ? "–" : `${new Date(p.first_ns / 1e6).toISOString().replace("T", " ").replace("Z", " UTC")}`],
    ]),
  ];
}

function pairs(caption, rows) {
  const body = rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, `${value}`)));
  return element("table", { class: "figures" }, element("caption", {}, caption), element("tbody", {}, ...body));
}
