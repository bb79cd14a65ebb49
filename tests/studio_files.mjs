// Reads files in Node as the studio's page does: the questions of tests/test_studio_files.py are the document of stdin.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { answeringFiles } = await import(new URL("page/files.mjs", folder));
vm.runInThisContext(`${readFileSync(new URL("parquet/parquet.min.js", folder), "utf8")};globalThis.Parquet = Parquet;`);

/** The parts of a file that the page's worker uses. */
function blob(path) {
  const content = readFileSync(path);
  return { size: content.length, slice: (from, to) => ({ arrayBuffer: async () => Uint8Array.from(content.subarray(from, to)).buffer }) };
}

const answers = {
  // Opens files as the page does, and chooses runs: the last message of each kind, and the panels of each run.
  async opened({ files, choices }) {
    const posted = {};
    const panels = [];
    const worker = answeringFiles((message) => {
      posted[message.kind] = message;
      if (message.kind === "panels") panels.push(message);
    });
    await worker({ data: { kind: "open", files: files.map(([path, place]) => ({ path, file: blob(place) })) } });
    for (const choice of choices) await worker({ data: { kind: "choose", columns: 400, key: posted.results.runs[choice].key } });
    return { ...posted, panels };
  },
};
const found = [];
for (const [kind, question] of JSON.parse(readFileSync(0, "utf8"))) found.push(await answers[kind](question));
process.stdout.write(JSON.stringify(found));
