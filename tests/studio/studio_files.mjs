// Reads files in Node as the studio's page does: the questions of tests/studio/test_studio_files.py are the document of stdin.
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import { gzipSync } from "node:zlib";

const folder = pathToFileURL(`${process.argv[2]}/`);
const wasm = readFileSync(new URL("dumbbell.wasm", folder));
const { Engine } = await import(new URL("engine.mjs", folder));
const { answeringFiles } = await import(new URL("page/files.mjs", folder));
vm.runInThisContext(`${readFileSync(new URL("parquet/parquet.min.js", folder), "utf8")};globalThis.Parquet = Parquet;`);

/** A file whose pieces are short, so that frames lie across their ends. */
function inPieces(path) {
  return (at, length) => {
    const bytes = new Uint8Array(Math.min(length, 1000));
    const handle = openSync(path);
    const count = readSync(handle, bytes, 0, bytes.length, at);
    closeSync(handle);
    return bytes.subarray(0, count);
  };
}

const sha256 = (content) => createHash("sha256").update(content).digest("hex");

/** The parts of a file that the page's worker uses. */
function blob(path) {
  const content = readFileSync(path);
  return { size: content.length, slice: (from, to) => ({ arrayBuffer: async () => Uint8Array.from(content.subarray(from, to)).buffer }), path };
}

const answers = {
  async captures({ paths, tables }) {
    const engine = await Engine.load(wasm);
    return paths.map((path) => {
      try {
        const capture = engine.analyze({ name: path, size: statSync(path).size, read: inPieces(path) });
        const rows = Object.fromEntries(tables.map((name) => [name, sha256(capture.rowsText(name))]));
        return { summary: capture.summary, rows, largest: capture.largest(5) };
      } catch (error) {
        return { error: error.message };
      }
    });
  },
  async segments({ path, flow }) {
    const engine = await Engine.load(wasm);
    const tables = engine.analyze({ name: path, size: statSync(path).size, read: inPieces(path) }).segments(flow);
    const plain = ([name, values]) => [name, Array.from(values, (v) => (Number.isNaN(v) ? null : v))];
    return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, Object.fromEntries(Object.entries(table).map(plain))]));
  },
  // Opens files as the page does, and chooses: the last message of each kind.
  async opened({ files, labels, choices }) {
    const posted = {};
    const panels = [];
    const post = (message) => {
      posted[message.kind] = message;
      if (message.kind === "panels") panels.push(message);
    };
    const worker = answeringFiles(post, (file) => inPieces(file.path));
    await worker({ data: { kind: "engine", bytes: gzipSync(wasm, { level: 1 }) } });
    await worker({ data: { kind: "open", files: files.map(([path, place]) => ({ path, file: blob(place) })), labels } });
    for (const choice of choices) {
      const run = typeof choice === "number" ? posted.results.runs[choice] : null;
      await worker({ data: { kind: "choose", columns: 400, ...(run ? { key: run.key } : choice) } });
    }
    return { ...posted, panels };
  },
};
const found = [];
for (const [kind, question] of JSON.parse(readFileSync(0, "utf8"))) found.push(await answers[kind](question));
process.stdout.write(JSON.stringify(found));
