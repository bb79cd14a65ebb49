// The view of files that a reader opens: a capture with its connections, or the runs of a results directory.
import { download, element } from "../../plots/web/dom.mjs";
import { scaled, shifted } from "../../plots/web/scales.mjs";
import { connectionTable, nameOfDirection, notes, summaryTables, udpTable } from "./capture-tables.mjs";
import { byId, shown } from "./dom.mjs";
import { onKeys } from "./keys.mjs";
import { TimePanels } from "./time-panels.mjs";

export class FilesView {
  /** `makeWorker()` makes a worker with an engine; each opened file has one of its own, so that it can be stopped. */
  constructor(model, makeWorker) {
    this.model = model;
    this.makeWorker = makeWorker;
    this.worker = null;
    this.range = null;
    this.panels = new TimePanels(byId("files-plots"), {
      zoomed: (range) => this.zoom(...(range ?? [])),
      tall: () => (innerHeight - 260) / 2,
      legends: true,
    });
    byId("files-close").addEventListener("click", () => this.close());
    byId("files-whole").addEventListener("click", () => this.zoom());
    byId("files-svg").addEventListener("click", () => {
      if (this.range) download("dumbbell-figure.svg", new Blob([this.panels.svg(this.title)], { type: "image/svg+xml" }));
    });
    const seen = (change, ...given) => this.zoom(...change(this.range, this.whole, ...given));
    onKeys(() => !byId("files").hidden && this.range, {
      "+": () => seen(scaled, 0.5),
      "=": () => seen(scaled, 0.5),
      "-": () => seen(scaled, 2),
      ArrowLeft: () => seen(shifted, -0.25),
      ArrowRight: () => seen(shifted, 0.25),
      0: () => this.zoom(),
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
    for (const id of ["files-summary", "files-list", "files-chosen", "files-udp"]) byId(id).replaceChildren();
    this.hide();
    this.buttons(false);
    byId("files-title").textContent = nameOf(files);
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
    this.hide();
    byId("files").hidden = true;
    byId("studio").hidden = false;
    delete document.body.dataset.files;
    byId("files-open").focus();
  }

  hide() {
    this.panels.clear();
    this.range = null;
  }

  buttons(on) {
    byId("files-svg").disabled = !on;
    byId("files-whole").disabled = true;
  }

  on_progress({ bytes, size }) {
    byId("files-status").textContent = `${(bytes / 1e6).toFixed(1)} of ${(size / 1e6).toFixed(1)} MB are read.`;
  }

  on_error({ message }) {
    byId("files-status").textContent = message;
    document.body.dataset.files = "failed";
    document.dispatchEvent(new CustomEvent("files-failed", { detail: { message } }));
  }

  on_capture({ summary, rows, listed, udp, memory }) {
    const packets = summary.properties.reduce((sum, p) => sum + p.packets, 0);
    this.found =
      `${packets} packets in ${shown((summary.properties[0].duration_ns ?? 0) / 1e9, 3)} s: ` +
      `${counted(summary.totals.connections, "TCP connection")}, ${counted(summary.conversations, "UDP conversation")}.`;
    byId("files-status").textContent = this.found;
    byId("files-summary").replaceChildren(...notes(summary), ...summaryTables(summary, packets));
    this.rows = new Map(rows.map((row) => [`${row.flow} ${row.direction}`, row]));
    const all = summary.totals.connections;
    byId("files-list").replaceChildren(
      listed.length ? connectionTable(this.rows, listed, all, (...which) => this.choose(...which)) : element("p", {}, "No TCP connection carries data."),
    );
    byId("files-udp").replaceChildren(...(summary.conversations ? [udpTable(udp, summary.conversations)] : []));
    document.body.dataset.files = "done";
    document.dispatchEvent(new CustomEvent("files-capture", { detail: { summary, rows, listed, memory } }));
    if (listed.length) this.choose(...listed[0]);
  }

  on_results({ runs }) {
    this.found = `${counted(runs.length, "run")} with series.`;
    byId("files-status").textContent = this.found;
    const options = runs.map(({ key, label }) => element("option", { value: key }, label));
    const select = element("select", { id: "files-run", onchange: () => this.chooseRun(select.value) }, ...options);
    byId("files-list").replaceChildren(element("label", { for: "files-run" }, "Run "), select);
    document.body.dataset.files = "done";
    document.dispatchEvent(new CustomEvent("files-results", { detail: { runs } }));
    this.chooseRun(runs[0].key);
  }

  chooseRun(key) {
    this.title = byId("files-run").selectedOptions[0].textContent;
    this.worker.postMessage({ kind: "choose", key, columns: this.panels.pixelColumns });
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
    this.worker.postMessage({ kind: "choose", flow, direction, columns: this.panels.pixelColumns });
  }

  on_panels({ begin, end, from, to, panels, memory }) {
    this.whole = [begin, end];
    this.buttons(true);
    byId("files-status").textContent = this.found;
    byId("files-whole").disabled = from <= begin && to >= end;
    this.range = [from, to];
    this.panels.show(panels.map(withPoints), this.range, this.whole);
    document.dispatchEvent(new CustomEvent("files-panels", { detail: { from, to, panels, memory } }));
  }

  zoom(from, to) {
    const [begin, end] = from === undefined ? this.whole : [Math.max(from, this.whole[0]), Math.min(to, this.whole[1])];
    this.worker.postMessage({ kind: "view", from: begin, to: Math.max(end, begin + 1e-6), columns: this.panels.pixelColumns });
  }
}

/** A panel with the points of its curves; its axis begins at 0, unless all values are far from it. */
function withPoints({ data: [x, ...values], curves, ...panel }) {
  const known = values.flat().filter((value) => value !== null);
  const [least, most] = known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  return { ...panel, zero: !(least > 0.5 * most && least > 0), curves: curves.map((curve, n) => ({ ...curve, x, y: values[n] })) };
}

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The name of a file, or of the directory that files are in. */
function nameOf(files) {
  if (files.length === 1) return files[0].path;
  const [first] = files[0]?.path.split("/") ?? [];
  return files.every(({ path }) => path.startsWith(`${first}/`)) ? first : `${files.length} files`;
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
