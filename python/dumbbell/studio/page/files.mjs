// The worker for files that a reader opens: the series of a results directory.
//
//     page -> worker   open { files }                 [{ path, file }]
//                      choose { key, columns }        a run
//                      view { from, to, columns }
//     worker -> page   results, panels, error
import { grid, reduced } from "./reduce.mjs";
import { runPanels, storedRuns } from "./store.mjs";

/** Answers the messages of a page. `post` sends to it. */
export function answeringFiles(post) {
  let runs = [];
  let shown = null;

  function view({ from, to, columns }) {
    const x = grid(from, to, columns);
    const panels = shown.panels.map(({ key, title, unit, curves }) => ({
      key,
      title,
      unit,
      curves: curves.map(({ name, color, kind }) => ({ name, color, kind })),
      data: [x, ...curves.map(({ t, v, holds }) => reduced(t, v, from, to, columns, holds))],
    }));
    post({ kind: "panels", begin: shown.begin, end: shown.end, from, to, panels });
  }

  const answers = {
    async open({ files }) {
      runs = await storedRuns(files);
      if (runs.length) return post({ kind: "results", runs: runs.map(({ key, label }) => ({ key, label })) });
      if (files.some(({ path }) => path.endsWith("manifest.json"))) {
        throw new Error("these results have no series: make them with `dumbbell run --trace`");
      }
      throw new Error(files.length ? `${files[0].path}: a results directory is needed, with its folder series/` : "no file given");
    },
    async choose({ key, columns }) {
      shown = await runPanels(runs.find((run) => run.key === key));
      view({ from: shown.begin, to: Math.max(shown.end, shown.begin + 1e-6), columns });
    },
    view,
  };
  let last = Promise.resolve();
  return ({ data }) => {
    // One after another.
    last = last.then(() => answers[data.kind](data)).catch((error) => post({ kind: "error", message: error.message }));
    return last;
  };
}
