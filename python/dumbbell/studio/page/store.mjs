// The series in a results directory: DIR/series/KEY/TABLE.parquet. hyparquet reads them, fzstd decompresses them.
import { rates, roundWidth } from "./reduce.mjs";

/** The most curves of a panel. */
const MOST_CURVES = 24;

/** The most links that a panel draws, because more curves hide each other, and the most whose queues are compared for it. */
const MOST_LINKS = 6;
const MOST_COMPARED = 100;

/** The runs among files: [{ key, label, tables: name -> file }]. `files`: [{ path, file }]. */
export async function storedRuns(files) {
  const runs = new Map();
  for (const { path, file } of files) {
    const found = /(?:^|\/)series\/([^/]+)\/([^/]+)\.parquet$/.exec(path);
    if (!found) continue;
    const [, key, name] = found;
    if (!runs.has(key)) runs.set(key, { key, label: `run ${key.slice(0, 8)}`, tables: {} });
    runs.get(key).tables[nameOf(name)] = file;
  }
  for (const { path, file } of files) {
    if (!/(?:^|\/)runs\/[^/]+\.parquet$/.test(path)) continue;
    for (const text of (await columnsOf(file, ["run"])).run) {
      const { key, cell, repetition, seed } = JSON.parse(text);
      const values = Object.entries(cell).map(([name, value]) => `${name} = ${typeof value === "object" ? JSON.stringify(value) : value}`);
      const run = runs.get(key);
      if (run) Object.assign(run, { cell, repetition, label: [...values, `repetition ${repetition + 1}`, `seed ${seed}`].join(", ") });
    }
  }
  return [...runs.values()].sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
}

/** Long names are shortened in file names; the rest is percent-encoded. */
function nameOf(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The columns of a Parquet file as arrays: numbers, or texts. */
export async function columnsOf(file, columns) {
  const buffer = { byteLength: file.size, slice: async (from, to) => (await file.slice(from, to)).arrayBuffer() };
  const parts = Object.fromEntries(columns.map((name) => [name, []]));
  await Parquet.parquetRead({
    file: buffer,
    columns,
    compressors: { ZSTD: (input, length) => Parquet.decompress(input, new Uint8Array(length)) },
    onChunk: ({ columnName, columnData, rowStart }) => parts[columnName].push([rowStart, columnData]),
  });
  return Object.fromEntries(
    Object.entries(parts).map(([name, all]) => {
      const values = all.sort(([a], [b]) => a - b).flatMap(([, data]) => Array.from(data, (v) => (typeof v === "bigint" ? Number(v) : v)));
      return [name, values];
    }),
  );
}

/** The panels of a run: windows and RTTs of its flows, queues, and rates of its links. */
export async function runPanels(run) {
  const names = (kind, most = MOST_CURVES) => Object.keys(run.tables).filter((name) => name.startsWith(`${kind}/`)).sort().slice(0, most);
  const own = (name) => name.slice(name.indexOf("/") + 1);
  const flows = [...new Set([...names("flow"), ...names("rtt")].map(own))];
  const color = (name) => flows.indexOf(own(name));
  const curves = async (kind, value, kindOf, holds, scale, paint, most) => {
    const found = [];
    for (const name of names(kind, most)) {
      const { t_ns: t, [value]: v } = await columnsOf(run.tables[name], ["t_ns", value]);
      found.push({ name: own(name), color: paint(name), kind: kindOf, holds, t: seconds(t), v: Float64Array.from(v, (x) => x * scale) });
    }
    return found;
  };
  const all = await curves("queue", "packets", "line", true, 1, () => 0, MOST_COMPARED);
  const most = new Map(all.map(({ name, v }) => [name, v.reduce((least, x) => Math.max(least, x), 0)]));
  const longest = all.sort((a, b) => most.get(b.name) - most.get(a.name)).slice(0, MOST_LINKS);
  const links = longest.map(({ name }) => name);
  const queues = names("queue", Infinity).length;
  const compared = queues > all.length ? `the first ${all.length} of ${queues}` : `${queues}`;
  const title = queues > longest.length ? `Queue, the longest ${longest.length} of ${compared} links` : "Queue";
  const panels = [
    { key: "cwnd", title: "Congestion window", unit: "kB", curves: await curves("flow", "cwnd", "line", true, 1e-3, color) },
    { key: "queue", title, unit: "packets", curves: longest.map((curve, n) => ({ ...curve, color: n })) },
    { key: "rtt", title: "RTT", unit: "ms", curves: await curves("rtt", "rtt_ns", "points", false, 1e-6, color) },
    { key: "rates", title: "Throughput of the links", unit: "Mbit/s", curves: [] },
  ];
  const departures = {};
  const rated = links.length ? links.map((name) => `departures/${name}`).filter((name) => name in run.tables) : names("departures");
  for (const name of rated) departures[name] = await columnsOf(run.tables[name], ["end_ns", "bytes"]);
  const last = (times) => times.reduce((latest, t) => Math.max(latest, t), 0);
  const ends = [...panels.flatMap((panel) => panel.curves.map(({ t }) => last(t))), ...Object.values(departures).map((d) => last(d.end_ns) / 1e9)];
  const end = Math.max(...ends, 1e-3);
  const width = roundWidth(Math.max(end / 150, 0.01));
  for (const [n, [name, { end_ns: t, bytes }]] of Object.entries(departures).entries()) {
    const values = rates(t.map((ns) => ns / 1e9), bytes, () => true, Math.ceil(end / width) * width, width);
    panels[3].curves.push({
      name: own(name), color: links.length ? links.indexOf(own(name)) : n, kind: "line", holds: true,
      t: Float64Array.from(values, (_, at) => at * width), v: Float64Array.from(values),
    });
  }
  return { begin: 0, end, panels: panels.filter((panel) => panel.curves.length) };
}

function seconds(times) {
  return Float64Array.from(times, (ns) => ns / 1e9);
}
