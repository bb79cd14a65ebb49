// Settings: their bounds, their text in a link, and the plans and files that templates make of them.

/** All settings at their defaults, with one flow. */
export function defaultSettings(model) {
  return { ...defaultsOf(model.path), flows: [defaultsOf(model.flow)] };
}

export function defaultsOf(fields) {
  return Object.fromEntries(fields.map((field) => [field.name, field.default]));
}

/** Return the value that a field takes for a text or number, and the reason if it isn't the given one. */
export function accepted(field, given) {
  if (field.options) {
    const names = field.options.map(([name]) => name);
    if (names.includes(given)) return [given, null];
    return [field.default, `${field.label}: '${given}' given, one of ${names.join(", ")} is needed`];
  }
  const number = typeof given === "number" ? given : given.trim() === "" ? NaN : Number(given);
  const unit = field.unit ? ` ${field.unit}` : "";
  const range = `${field.least} to ${field.most}${unit} is allowed here`;
  if (!Number.isFinite(number)) return [field.default, `${field.label}: '${given}' given, a number from ${range}`];
  const bounded = Math.min(Math.max(number, field.least), field.most);
  const value = Number((Math.round(bounded / field.step) * field.step).toFixed(6));
  return [value, bounded === number ? null : `${field.label}: ${number}${unit} given, ${range}`];
}

/** The texts of settings in a link: those that differ from the defaults, flow by flow. */
export function toFragment(model, settings) {
  const words = new URLSearchParams();
  for (const { name, default: usual } of model.path) if (settings[name] !== usual) words.append(name, settings[name]);
  for (const flow of settings.flows) {
    const own = model.flow.filter(({ name, default: usual }) => flow[name] !== usual);
    words.append("flow", own.map(({ name }) => `${name}:${flow[name]}`).join(","));
  }
  return words.toString();
}

/** The settings of a link, and the problems of those that it can't have. */
export function fromFragment(model, text) {
  const settings = { ...defaultSettings(model), flows: [] };
  const problems = [];
  const take = (target, fields, name, given) => {
    const field = fields.find((f) => f.name === name);
    if (!field) return problems.push(`unknown setting '${name.slice(0, 40)}'`);
    const [value, problem] = accepted(field, given.slice(0, 40));
    target[name] = value;
    if (problem) problems.push(problem);
  };
  for (const [name, given] of new URLSearchParams(text)) {
    if (name !== "flow") {
      take(settings, model.path, name, given);
      continue;
    }
    if (settings.flows.length === model.most_flows) {
      problems.push(`at most ${model.most_flows} flows are possible here`);
      break;
    }
    const flow = defaultsOf(model.flow);
    for (const part of given.split(",").filter(Boolean)) {
      const [own, ...rest] = part.split(":");
      take(flow, model.flow, own, rest.join(":"));
    }
    settings.flows.push(flow);
  }
  if (!settings.flows.length) settings.flows.push(defaultsOf(model.flow));
  return [settings, problems];
}

/** The problems between settings, as a scenario file would have them: [flow's place, setting, message]. */
export function refusals(model, settings) {
  return model.refusals.flatMap(({ setting, below, message }) =>
    settings.flows.flatMap((flow, n) =>
      flow[setting] < settings[below] ? [] : [[n, setting, fill(message, settings, model.tables, flow)]],
    ),
  );
}

/** The plan of one run, the text that `dumbbell run` gives to the simulator. */
export function planText(model, settings) {
  return fill(model.plans[settings.flows.length - 1], settings, model.tables);
}

/** The scenario file. */
export function fileText(model, settings) {
  return fill(model.files[settings.flows.length - 1], settings, model.tables);
}

/** Fill the holes of a template. templates.py has their forms. */
export function fill(template, settings, tables, flow = null) {
  const value = (name) => {
    if (name.startsWith("flow.")) return flow[name.slice(5)];
    if (!name.startsWith("flows.")) return settings[name];
    const [, n, own] = name.split(".");
    return settings.flows[n][own];
  };
  const sum = (terms) => Math.round(terms.reduce((all, [name, times]) => all + value(name) * times, 0));
  const write = (hole) => {
    if (typeof hole === "string") return hole;
    if ("number" in hole) return value(hole.number) * hole.times + (hole.unit ? ` ${hole.unit}` : "");
    if ("whole" in hole) return sum(hole.whole);
    if ("largest" in hole) return Math.max(...hole.largest.map(sum));
    if ("float" in hole) return float(value(hole.float) * hole.times);
    if ("choice" in hole) return value(hole.choice);
    const place = /^flows\.(\d+)\./.exec(hole.by[0]);
    const picked = tables[hole.pick][hole.by.map(value).join("|")];
    return fill(picked, settings, tables, place ? settings.flows[place[1]] : flow);
  };
  return template.map(write).join("");
}

/** A number as Python writes a float, from 0.0001 on. */
function float(number) {
  return Number.isInteger(number) ? `${number}.0` : String(number);
}
