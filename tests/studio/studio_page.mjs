// Calls the functions of the studio's page without a page: the document of stdin has the model and the questions.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const folder = pathToFileURL(`${process.argv[2]}/page/`);
const module = (name) => import(new URL(`${name}.mjs`, folder));
const settings = await module("settings");
const controls = await module("controls");
const reduce = await module("reduce");
const figures = await module("figures");
const events = await module("events");
const predict = await module("predict");
const { answering } = await module("worker");
const { model, questions } = JSON.parse(readFileSync(0, "utf8"));

const answers = {
  texts: (own) => {
    const fragment = settings.toFragment(model, own);
    return {
      plan: settings.planText(model, own),
      file: settings.fileText(model, own),
      refusals: settings.refusals(model, own),
      fragment,
      again: settings.fromFragment(model, fragment),
    };
  },
  link: (text) => settings.fromFragment(model, text),
  sliders: () =>
    [...model.path, ...model.flow]
      .filter((field) => !field.options)
      .map((field) => {
        const values = Array.from({ length: 1001 }, (_, n) => settings.accepted(field, controls.valueAt(field, n)));
        const ends = [field.least, field.most].map((value) => controls.position(field, value));
        return { name: field.name, values: values.map(([value]) => value), problems: values.map(([, problem]) => problem), ends };
      }),
  reduced: ({ times, values, from, to, columns, holds }) => reduce.reduced(times, values, from, to, columns, holds),
  rates: ({ times, bytes, end, width }) => Array.from(reduce.rates(times, bytes, () => true, end, width)),
  widths: (least) => reduce.roundWidth(least),
  predicted: ([results, guesses]) =>
    predict.subjects(results).map(([name, unit, value], n) => [name, value, predict.points(unit, guesses[n], value)]),
  jain: (rates) => figures.jain(rates),
  // Runs plans as the page does, and returns all texts about their events, the windows, and the state at 0.5 s.
  async explained({ wasm, plans }) {
    let posted = [];
    const worker = answering((message) => posted.push(message), async () => {});
    await worker({ data: { kind: "engine", bytes: gzipSync(readFileSync(wasm), { level: 1 }) } });
    const found = [];
    for (const [id, plan] of plans.entries()) {
      posted = [];
      const { duration_ns: end, flows } = JSON.parse(plan);
      await worker({ data: { kind: "run", id, plan, columns: 200, from: 0, to: end / 1e9 } });
      await worker({ data: { kind: "state", t: 0.5 } });
      const [done, state] = posted.filter(({ kind }) => kind !== "partial");
      const variants = flows.map((flow) => model.variants[flow.transport.variant.name]);
      const texts = done.events.map((event) => [
        event.kind,
        events.headline(model, event),
        ...events.explanation(model, event, variants[event.flow] ?? null, done.mss[event.flow] ?? 1),
      ]);
      found.push({ texts, state, cwnd: done.series.cwnd });
    }
    return found;
  },
};
const given = [];
for (const [kind, question] of questions) given.push(await answers[kind](question));
process.stdout.write(JSON.stringify(given));
