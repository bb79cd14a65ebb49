// The controls: made from the model's fields, so that no range and no name is written here.
import { element } from "../../plots/web/dom.mjs";
import { flowColor } from "./dom.mjs";
import { accepted, defaultsOf, refusals } from "./settings.mjs";

const TICKS = 1000;
const MORE = ["application", "size", "stack", "ecn"];

/** The form for settings. `changed(settings)` is called with new ones. */
export class Controls {
  constructor(model, { path, flows, problems }, changed) {
    this.model = model;
    this.places = { path, flows, problems };
    this.changed = changed;
    this.settings = null;
    this.open = new Set();
  }

  /** Show settings. */
  show(settings, notes = []) {
    this.settings = settings;
    const inputs = this.model.path.map((field) =>
      control(field, `path-${field.name}`, settings[field.name], (value) => this.set({ [field.name]: value })),
    );
    this.places.path.replaceChildren(...inputs);
    this.places.flows.replaceChildren(...settings.flows.map((flow, n) => this.flow(flow, n)), this.add());
    this.report(notes);
  }

  set(change, again = false) {
    this.settings = { ...this.settings, ...change };
    if (again) this.show(this.settings);
    else this.report([]);
    this.changed(this.settings);
  }

  /** Forget the settings: the page shows a scenario of another kind. */
  leave() {
    this.settings = null;
    this.report([]);
  }

  report(notes) {
    const between = this.settings === null ? [] : refusals(this.model, this.settings).map(([n, setting, message]) => `flow ${n + 1}, ${setting}: ${message}`);
    const lines = [...notes, ...between];
    this.places.problems.replaceChildren(...lines.map((line) => element("p", {}, line)));
    this.places.problems.hidden = lines.length === 0;
  }

  flow(flow, n) {
    const inputs = (wanted) =>
      this.model.flow
        .filter(({ name }) => MORE.includes(name) === wanted)
        .map((field) => control(field, `flow-${n}-${field.name}`, flow[field.name], (value) => this.setFlow(n, { [field.name]: value })));
    const more = element("details", { ".open": this.open.has(n) }, element("summary", {}, "Application, stack, ECN"), ...inputs(true));
    more.addEventListener("toggle", () => (more.open ? this.open.add(n) : this.open.delete(n)));
    const remove = element(
      "button",
      { type: "button", class: "remove", "aria-label": `Remove flow ${n + 1}`, onclick: () => this.remove(n) },
      "Remove",
    );
    const title = element(
      "legend",
      {},
      element("span", { class: "swatch", style: `background:${flowColor(n)}`, "aria-hidden": "true" }),
      `Flow ${n + 1}`,
    );
    const many = this.settings.flows.length > 1;
    return element("fieldset", { class: "flow" }, title, many ? remove : null, ...inputs(false), more);
  }

  setFlow(n, change) {
    this.set({ flows: this.settings.flows.map((flow, at) => (at === n ? { ...flow, ...change } : flow)) });
  }

  remove(n) {
    this.open.clear();
    this.set({ flows: this.settings.flows.filter((_, at) => at !== n) }, true);
    this.places.flows.querySelector("#add-flow").focus();
  }

  add() {
    const full = this.settings.flows.length >= this.model.most_flows;
    const onclick = () => {
      const flows = [...this.settings.flows, defaultsOf(this.model.flow)];
      this.set({ flows }, true);
      this.places.flows.querySelector(`#flow-${flows.length - 1}-variant`).focus();
    };
    return element("button", { type: "button", id: "add-flow", ".disabled": full, onclick }, "Add a flow");
  }
}

/** One field: a choice, or a slider with a box for exact values. */
function control(field, id, value, changed) {
  const label = element("label", { for: id, title: field.about }, field.label);
  if (field.options) {
    const options = field.options.map(([name, title]) => element("option", { value: name, title }, name));
    const select = element("select", { id, title: field.about, onchange: () => changed(select.value) }, ...options);
    select.value = value;
    return element("div", { class: "control choice" }, label, select);
  }
  const box = element("input", {
    id,
    type: "number",
    title: field.about,
    min: field.least,
    max: field.most,
    step: "any",
    ".value": value,
    "aria-describedby": field.unit ? `${id}-unit` : null,
  });
  const slider = element("input", {
    type: "range",
    id: `${id}-slider`,
    min: 0,
    max: TICKS,
    "aria-label": `${field.label}, slider`,
    ".value": position(field, value),
  });
  const say = (now) => slider.setAttribute("aria-valuetext", `${now} ${field.unit}`.trim());
  say(value);
  slider.addEventListener("input", () => {
    const [now] = accepted(field, valueAt(field, Number(slider.value)));
    box.value = now;
    say(now);
    changed(now);
  });
  box.addEventListener("change", () => {
    const [now, problem] = accepted(field, box.value);
    box.value = now;
    slider.value = position(field, now);
    say(now);
    box.setCustomValidity("");
    if (problem) {
      box.setCustomValidity(problem);
      box.reportValidity();
      box.addEventListener("input", () => box.setCustomValidity(""), { once: true });
    }
    changed(now);
  });
  const unit = element("span", { class: "unit", id: `${id}-unit` }, field.unit);
  return element("div", { class: "control number" }, label, slider, box, unit);
}

/** The slider's position for a value. */
export function position(field, value) {
  const { least, most, logarithmic } = field;
  const part = logarithmic ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  return Math.round(part * TICKS);
}

/** The value at a slider's position, with three significant digits where the scale is logarithmic. */
export function valueAt(field, place) {
  const { least, most, logarithmic } = field;
  const part = place / TICKS;
  return logarithmic ? Number((least * (most / least) ** part).toPrecision(3)) : least + part * (most - least);
}
