// The view of files that a reader opens: a capture with its connections, or the runs of a results directory.
import { byId, download, element, shown as number } from "./dom.mjs";
import { Panels } from "./panels.mjs";

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

export class FilesView {
  /** `makeWorker()` makes a worker with an engine; each opened file has one of its own, so that it can be stopped. */
  constructor(model, makeWorker) {
    this.model = model;
    this.makeWorker = makeWorker;
    this.worker = null;
    this.panels = new Panels(byId("files-plots"), (from, to) => this.zoom(from, to));
    byId("files-close").addEventListener("click", () => this.close());
    byId("files-whole").addEventListener("click", () => this.zoom());
    byId("files-svg").addEventListener("click", () => {
      if (this.panels.shown) download("dumbbell-figure.svg", new Blob([this.panels.svg(this.title)], { type: "image/svg+xml" }));
    });
    for (const kind of ["capture", "files"]) {
      const input = byId(`${kind}-input`);
      byId(`${kind}-open`).addEventListener("click", () => input.click());
      input.addEventListener("change", () => {
        this.open([...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
        input.value = "";
      });
    }
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      const plain = [...event.dataTransfer.files].map((file) => ({ path: file.name, file }));
      if (entries.length) filesOf(entries).then((files) => this.open(files));
      else if (plain.length) this.open(plain);
    });
  }

  /** Open files: [{ path, file }]. */
  open(files) {
    this.stop();
    this.worker = this.makeWorker();
    this.worker.onmessage = ({ data }) => this[`on_${data.kind}`](data);
    this.worker.onerror = (event) => this.on_error({ message: event.message || "the worker can't be started" });
    document.body.dataset.files = "reading";
    byId("files").hidden = false;
    byId("studio").hidden = true;
    for (const id of ["files-summary", "files-list", "files-chosen"]) byId(id).replaceChildren();
    this.panels.clear();
    this.buttons(false);
    byId("files-title").textContent = files.length === 1 ? files[0].path : `${files.length} files`;
    byId("files-status").textContent = "Reading the files.";
    byId("files-close").focus();
    this.worker.postMessage({ kind: "open", files, labels: this.model.labels });
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }

  close() {
    this.stop();
    this.panels.clear();
    byId("files").hidden = true;
    byId("studio").hidden = false;
    delete document.body.dataset.files;
    byId("files-open").focus();
  }

  buttons(on) {
    byId("files-svg").disabled = !on;
    byId("files-whole").disabled = true;
  }

  on_progress({ bytes, size }) {
    byId("files-status").textContent = `${(bytes / 1e6).toFixed(0)} of ${(size / 1e6).toFixed(0)} MB are read.`;
  }

  on_error({ message }) {
    byId("files-status").textContent = message;
    document.body.dataset.files = "failed";
    document.dispatchEvent(new CustomEvent("files-failed", { detail: { message } }));
  }

  on_capture({ summary, rows, listed }) {
    const packets = summary.properties.reduce((sum, p) => sum + p.packets, 0);
    byId("files-status").textContent =
      `${packets} packets in ${number((summary.properties[0].duration_ns ?? 0) / 1e9, 3)} s: ` +
      `${summary.totals.connections} TCP connections, ${summary.conversations} UDP conversations.`;
    byId("files-summary").replaceChildren(...notes(summary), ...summaryTables(summary, packets));
    this.rows = new Map(rows.map((row) => [`${row.flow} ${row.direction}`, row]));
    byId("files-list").replaceChildren(listed.length ? this.connections(listed, summary.totals.connections) : element("p", {}, "No TCP connection carries data."));
    document.body.dataset.files = "done";
    document.dispatchEvent(new CustomEvent("files-capture", { detail: { summary, rows, listed } }));
    if (listed.length) this.choose(...listed[0]);
  }

  on_results({ runs }) {
    byId("files-status").textContent = `${runs.length} ${runs.length === 1 ? "run" : "runs"} with series.`;
    const options = runs.map(({ key, label }) => element("option", { value: key }, label));
    const select = element("select", { id: "files-run", onchange: () => this.chooseRun(select.value) }, ...options);
    byId("files-list").replaceChildren(element("label", { for: "files-run" }, "Run "), select);
    document.body.dataset.files = "done";
    document.dispatchEvent(new CustomEvent("files-results", { detail: { runs } }));
    this.chooseRun(runs[0].key);
  }

  chooseRun(key) {
    this.title = byId("files-run").selectedOptions[0].textContent;
    this.worker.postMessage({ kind: "choose", key, columns: this.panels.columns });
  }

  /** The list of directions that carry data; a button chooses one. */
  connections(listed, all) {
    const heads = ["connection", ...CONNECTION.map(([heading]) => heading)].map((text) => element("th", { scope: "col" }, text));
    const body = listed.map(([flow, direction]) => {
      const [row, back] = [this.rows.get(`${flow} ${direction}`), this.rows.get(`${flow} ${1 - direction}`)];
      const cells = CONNECTION.map(([, value, digits]) => {
        const found = value(row, back);
        return element("td", {}, typeof found === "string" ? found : number(found, digits));
      });
      const name = element("button", { type: "button", onclick: () => this.choose(flow, direction) }, nameOfDirection(row));
      return element("tr", { "data-direction": `${flow} ${direction}` }, element("th", { scope: "row" }, name), ...cells);
    });
    const kept = `The ${listed.length} directions that carry the most data, of ${all} TCP connections`;
    return element(
      "table",
      { class: "figures connections" },
      element("caption", {}, kept),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...body),
    );
  }

  choose(flow, direction) {
    const row = this.rows.get(`${flow} ${direction}`);
    this.title = nameOfDirection(row);
    for (const each of byId("files-list").querySelectorAll("tr[data-direction]")) {
      each.querySelector("button").setAttribute("aria-pressed", each.dataset.direction === `${flow} ${direction}`);
    }
    const labels = this.model.labels.filter((name) => row[name] > 0).map((name) => `${name.replaceAll("_", " ")} ${row[name]}`);
    byId("files-chosen").replaceChildren(
      element("h2", {}, this.title),
      element("p", {}, labels.length ? `Labels of its packets: ${labels.join(", ")}.` : "None of its packets has a label."),
    );
    this.worker.postMessage({ kind: "choose", flow, direction, columns: this.panels.columns });
  }

  on_panels({ begin, end, from, to, panels }) {
    this.whole = [begin, end];
    this.buttons(true);
    byId("files-whole").disabled = from <= begin && to >= end;
    this.panels.draw(panels, [from, to]);
    document.dispatchEvent(new CustomEvent("files-panels", { detail: { from, to, panels } }));
  }

  zoom(from, to) {
    const [begin, end] = from === undefined ? this.whole : [Math.max(from, this.whole[0]), Math.min(to, this.whole[1])];
    this.worker.postMessage({ kind: "view", from: begin, to: Math.max(end, begin + 1e-6), columns: this.panels.columns });
  }
}

/** A direction's name: `#3 10.0.0.1:443 -> 10.0.0.2:5000`. */
function nameOfDirection(row) {
  return `#${row.flow} ${row.src}:${row.src_port} → ${row.dst}:${row.dst_port}`;
}

/** Damage and warnings. */
function notes({ damage, warnings }) {
  const lines = [
    ...damage.map((each) => `Damage at byte ${each.offset}, after ${each.frames} packets: ${each.text}`),
    ...warnings.map(({ text }) => `Warning: ${text}`),
  ];
  return lines.map((line) => element("p", { class: "warning" }, line));
}

/** Frames by content, with their sum; the file; the data packets. */
function summaryTables(summary, packets) {
  const [p] = summary.properties;
  const sum = summary.contents.reduce((all, [, count]) => all + count, 0);
  const { totals } = summary;
  const part = totals.data_packets ? ` (${number((100 * totals.retransmitted_packets) / totals.data_packets, 3)} %)` : "";
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
      ["size", `${number((p.file_size ?? 0) / 1e6, 3)} MB`],
      ["packets", packets],
      ["bytes on the wire", p.bytes],
      ["mean rate", p.bit_rate === null ? "–" : `${number(p.bit_rate / 1e6, 3)} Mbit/s`],
      ["first packet", p.first_ns === null ? "–" : `${new Date(p.first_ns / 1e6).toISOString()}`],
    ]),
  ];
}

function pairs(caption, rows) {
  const body = rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, `${value}`)));
  return element("table", { class: "figures" }, element("caption", {}, caption), element("tbody", {}, ...body));
}

/** The files of dropped entries, folders too: [{ path, file }]. */
async function filesOf(entries) {
  const found = [];
  const asked = (ask) => new Promise((done, refused) => ask(done, refused));
  for (const entry of entries) {
    if (entry.isFile) found.push({ path: entry.fullPath.slice(1), file: await asked((done, refused) => entry.file(done, refused)) });
    else {
      const reader = entry.createReader();
      for (let part = [null]; part.length; ) {
        part = await asked((done, refused) => reader.readEntries(done, refused));
        found.push(...(await filesOf(part)));
      }
    }
  }
  return found;
}
