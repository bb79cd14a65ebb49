// Calls the functions of the studio's page without a page: the document of stdin has the model and the questions.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/page/`);
const module = (name) => import(new URL(`${name}.mjs`, folder));
const settings = await module("settings");
const controls = await module("controls");
const reduce = await module("reduce");
const figures = await module("figures");
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
  jain: (rates) => figures.jain(rates),
};
process.stdout.write(JSON.stringify(questions.map(([kind, given]) => answers[kind](given))));
