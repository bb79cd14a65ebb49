// The view of files that a reader opens: the runs of a results directory.
import { byId, download, element } from "./dom.mjs";
import { Panels } from "./panels.mjs";

export class FilesView {
  /** `makeWorker()` makes a worker; each directory has one of its own, so that it can be stopped. */
  constructor(makeWorker) {
    this.makeWorker = makeWorker;
    this.worker = null;
    this.panels = new Panels(byId("files-plots"), (from, to) => this.zoom(from, to));
    byId("files-close").addEventListener("click", () => this.close());
    byId("files-whole").addEventListener("click", () => this.zoom());
    byId("files-svg").addEventListener("click", () => {
      if (this.panels.shown) download("dumbbell-figure.svg", new Blob([this.panels.svg(this.title)], { type: "image/svg+xml" }));
    });
    const input = byId("files-input");
    byId("files-open").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.open([...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
      input.value = "";
    });
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
    byId("files-list").replaceChildren();
    this.panels.clear();
    this.buttons(false);
    byId("files-title").textContent = files.length === 1 ? files[0].path : `${files.length} files`;
    byId("files-status").textContent = "Reading the files.";
    byId("files-close").focus();
    this.worker.postMessage({ kind: "open", files });
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

  on_error({ message }) {
    byId("files-status").textContent = message;
    document.body.dataset.files = "failed";
    document.dispatchEvent(new CustomEvent("files-failed", { detail: { message } }));
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
