// The worker for files that a reader opens: a capture, or the series of a results directory. It has an engine of its own.
//
//     page -> worker   engine { bytes }               gzip-compressed dumbbell.wasm
//                      open { files, labels }         [{ path, file }]; names of the labels
//                      choose { ... }                 { flow, direction } of a capture, { key } of a results directory
//                      view { from, to, columns }
//     worker -> page   progress, capture, results, panels, error
import { Engine } from "../engine.mjs";
import { directionPanels } from "./capture.mjs";
import { grid, reduced } from "./reduce.mjs";
import { runPanels, storedRuns } from "./store.mjs";

/** Directions of connections, and UDP conversations, that are listed. */
const MOST_LISTED = 400;

/** With more UDP conversations none is listed: their rows would take seconds. */
const MOST_CONVERSATIONS = 50000;

/** Answers the messages of a page. `post` sends to it; `pieces(file, moved)` makes a file of `Engine.analyze`. */
export function answeringFiles(post, pieces) {
  let engine = null;
  let labels = [];
  let capture = null;
  let segments = { flow: null };
  let runs = [];
  let shown = null;

  function openCapture({ path, file }) {
    const source = pieces(file, (bytes) => post({ kind: "progress", bytes, size: file.size }));
    capture = engine.analyze({ name: path, size: file.size, read: source });
    segments = { flow: null };
    const numbers = capture.largest(MOST_LISTED);
    const rows = numbers.length ? capture.rows("flows", numbers) : [];
    const sending = rows.filter((row) => row.payload_bytes > 0).sort((a, b) => b.payload_bytes - a.payload_bytes);
    const listed = sending.slice(0, MOST_LISTED).map((row) => [row.flow, row.direction]);
    post({ kind: "capture", summary: capture.summary, rows, listed, udp: conversations(), memory: engine.memory });
  }

  /** The largest UDP conversations: rows of both directions, and of QUIC. */
  function conversations() {
    const { conversations: all } = capture.summary;
    if (all === 0 || all > MOST_CONVERSATIONS) return [];
    const found = new Map();
    for (const row of capture.rows("udp")) {
      if (!found.has(row.conversation)) found.set(row.conversation, [null, null, null]);
      found.get(row.conversation)[row.direction] = row;
    }
    for (const row of capture.rows("quic")) found.get(row.conversation)[2] = row;
    const bytes = ([row, back]) => row.bytes + (back?.bytes ?? 0);
    return [...found.values()].filter(([row]) => row).sort((a, b) => bytes(b) - bytes(a)).slice(0, MOST_LISTED);
  }

  function ofDirection({ flow, direction }) {
    if (segments.flow !== flow) segments = { flow, tables: capture.segments(flow) };
    return directionPanels(segments.tables, direction, labels);
  }

  function view({ from, to, columns }) {
    const x = grid(from, to, columns);
    const panels = shown.panels.map(({ key, title, unit, curves }) => ({
      key,
      title,
      unit,
      curves: curves.map(({ name, color, kind }) => ({ name, color, kind })),
      data: [x, ...curves.map(({ t, v, holds }) => reduced(t, v, from, to, columns, holds))],
    }));
    post({ kind: "panels", begin: shown.begin, end: shown.end, from, to, panels, memory: engine.memory });
  }

  const answers = {
    async engine({ bytes }) {
      const plain = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
      engine = await Engine.load(await plain.arrayBuffer());
    },
    async open({ files, labels: names }) {
      labels = names;
      runs = await storedRuns(files);
      if (runs.length) return post({ kind: "results", runs: runs.map(({ key, label }) => ({ key, label })) });
      if (files.some(({ path }) => path.endsWith("manifest.json"))) {
        throw new Error("these results have no series: make them with `dumbbell run --trace`");
      }
      const [first, ...others] = files.filter(({ path }) => !path.endsWith("names.json"));
      if (!first) throw new Error("no file given");
      if (others.length) throw new Error(`${files.length} files given: one capture, or one results directory can be opened`);
      if (first.path.endsWith(".toml")) {
        throw new Error(`${first.path}: \`dumbbell studio ${first.path}\` writes a page with this scenario`);
      }
      openCapture(first);
    },
    async choose({ columns, ...which }) {
      shown = which.key === undefined ? ofDirection(which) : await runPanels(runs.find(({ key }) => key === which.key));
      view({ from: shown.begin, to: Math.max(shown.end, shown.begin + 1e-6), columns });
    },
    view,
  };
  let last = Promise.resolve();
  return ({ data }) => {
    // One after another: the engine must be there before a file.
    last = last.then(() => answers[data.kind](data)).catch((error) => post({ kind: "error", message: error.message }));
    return last;
  };
}
