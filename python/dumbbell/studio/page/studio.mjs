// The studio: settings, worker, plots, figures and playhead together.
import { download, element } from "../../plots/web/dom.mjs";
import { scaled } from "../../plots/web/scales.mjs";
import { Charts } from "./charts.mjs";
import { Controls } from "./controls.mjs";
import { byId, flowColor } from "./dom.mjs";
import { explanation, headline } from "./events.mjs";
import { FilesView } from "./files-view.mjs";
import { descriptions, stateTable, summary, tables } from "./figures.mjs";
import { GivenChoice, givenPlan, unpacked } from "./given.mjs";
import { onKeys } from "./keys.mjs";
import { drawPackets } from "./packets.mjs";
import { Player } from "./player.mjs";
import { Prediction } from "./predict.mjs";
import { fileText, fromFragment, planText, refusals, toFragment } from "./settings.mjs";

const LISTED = 9;

/** Open the studio. `model`: the data of page.py; `worker`: see worker.mjs; `wasm`: gzip-compressed bytes. */
export function open(model, worker, wasm) {
  const app = {
    settings: null,
    given: null,
    choice: null,
    names: [],
    variants: [],
    duration: 0,
    id: 0,
    answered: 0,
    results: null,
    plan: "",
    pinned: null,
    events: [],
    chosen: null,
    range: null,
    waiting: false,
    asked: null,
  };

  const charts = new Charts(byId("plots"), {
    zoomed: (range) => zoom(range),
    hovered: (t) => ask(t ?? player.t),
  });
  const player = new Player((t) => {
    charts.mark(t);
    ask(t);
    listEvents(t);
  });
  const places = { path: byId("path"), flows: byId("flows"), problems: byId("problems") };
  const controls = new Controls(model, places, (settings) => {
    byId("preset").value = "";
    byId("about").textContent = "";
    run(settings);
  });

  const prediction = new Prediction(() => {
    byId("status").textContent = summary(app.results);
  });

  function run(settings) {
    app.settings = settings;
    app.given = null;
    address(toFragment(model, settings));
    if (refusals(model, settings).length) return;
    begin(planText(model, settings), settings.flows.map(({ variant }) => variant));
  }

  /** Run a plan. Flows have the names of their variants if all names of a scenario are the page's own. */
  function begin(text, names = null) {
    const plan = JSON.parse(text);
    const duration = plan.duration_ns / 1e9;
    if (duration !== app.duration || !app.range) app.range = [0, duration];
    app.duration = duration;
    app.variants = plan.flows.map(({ transport }) => transport?.variant?.name ?? null);
    app.names = (names ?? plan.flows.map(({ name }) => name)).map((name, n) => `${n + 1} ${name}`);
    app.rtt = plan.links[0].base_rtt_ns / 1e9;
    app.plan = text;
    app.id += 1;
    document.body.dataset.state = "running";
    const [from, to] = app.range;
    const link = app.given ? app.choice.link : plan.links[0].name;
    worker.postMessage({ kind: "run", id: app.id, plan: text, link, columns: charts.pixelColumns, from, to });
  }

  function address(fragment) {
    if (location.hash !== `#${fragment}`) history.replaceState(null, "", `#${fragment}`);
    byId("given").hidden = app.given === null;
    byId("own").hidden = app.given !== null;
    byId("toml").disabled = app.given !== null && !app.given.file;
  }

  const choices = new GivenChoice((choice) => runGiven(app.given, choice));

  /** Run a scenario that came with the page or in its link. */
  function runGiven(given, choice) {
    Object.assign(app, { given, choice });
    byId("preset").value = given === model.given ? "given" : "";
    byId("about").textContent = "";
    controls.leave();
    const words = new URLSearchParams(location.hash.slice(1));
    const packed = given === model.given ? {} : { given: words.get("given") };
    address(new URLSearchParams({ ...packed, ...choice }).toString());
    begin(givenPlan(given, choice));
  }

  function names() {
    return app.names;
  }

  function zoom(range) {
    app.range = range ?? [0, app.duration];
    byId("whole").disabled = range === null;
    worker.postMessage({ kind: "view", from: app.range[0], to: app.range[1], columns: charts.pixelColumns });
  }

  /** Enlarge around the playhead, or show more of the time. */
  function scale(factor) {
    const [from, to] = scaled(app.range, [0, app.duration], factor, player.t);
    zoom(to - from < app.duration ? [from, to] : null);
  }
  const keys = { "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), 0: () => zoom(null) };
  onKeys(() => !byId("studio").hidden, keys);

  /** Ask for the state at a time: one question at a time, the last one wins. */
  function ask(t) {
    app.asked = t;
    if (app.waiting || !app.results) return;
    app.waiting = true;
    worker.postMessage({ kind: "state", t });
  }

  function listEvents(t) {
    const first = Math.max(0, after(t) - Math.ceil(LISTED / 2));
    const part = app.events.slice(first, first + LISTED);
    const items = part.map((event) => {
      const open = event === app.chosen;
      const mark = element("span", { class: "swatch", style: event.flow === null ? "" : `background:${flowColor(event.flow)}`, "aria-hidden": "true" });
      const label = `${event.t.toFixed(3)} s  ${headline(model, event)}`;
      const button = element("button", { type: "button", "aria-expanded": open, onclick: () => choose(event) }, mark, label);
      return element("li", { class: event.t <= t + 1e-9 ? "" : "later" }, button, open ? why(event) : null);
    });
    byId("events").replaceChildren(...items);
  }

  function after(t) {
    let count = 0;
    for (let low = 0, high = app.events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (app.events[middle].t <= t + 1e-9) count = low = middle + 1;
      else high = middle;
    }
    return count;
  }

  function choose(event) {
    app.chosen = event === app.chosen ? null : event;
    player.toggle(false);
    player.seek(event.t);
    byId("events").querySelector('[aria-expanded="true"]')?.focus();
  }

  function why(event) {
    const variant = event.flow === null ? null : model.variants[app.variants[event.flow]];
    const lines = explanation(model, event, variant, event.flow === null ? 1 : app.mss[event.flow]);
    return element("div", { class: "why" }, ...lines.filter(Boolean).map((line) => element("p", {}, line)));
  }

  function showResults() {
    byId("figures").replaceChildren(...tables(app.results, app.pinned));
    charts.describe(descriptions(app.results));
  }

  function legend() {
    const buttons = names().map((name, n) => {
      const visible = !charts.hidden.has(n);
      const onclick = () => {
        charts.toggle(n);
        legend();
        byId("legend").children[n].focus();
      };
      const mark = element("span", { class: "swatch", style: `background:${flowColor(n)}`, "aria-hidden": "true" });
      return element("button", { type: "button", "aria-pressed": visible, title: "Show or hide this flow", onclick }, mark, name);
    });
    const drop = element("span", { class: "note" }, "× a packet is dropped");
    const pinned = app.pinned ? element("span", { class: "note" }, "- - pinned run") : null;
    byId("legend").replaceChildren(...buttons, drop, ...(pinned ? [pinned] : []));
  }

  const answers = {
    ready({ version }) {
      byId("version").textContent = version;
      fromLink();
    },
    partial({ id, series }) {
      if (id === app.id) charts.update(series, names(), app.range, app.duration);
    },
    done({ id, text, series, events, count, mss, took }) {
      if (id !== app.id) return;
      Object.assign(app, { results: JSON.parse(text), text, events, mss, chosen: null, waiting: false });
      const own = app.results.queues.filter(({ name }) => name === (app.given ? app.choice.link : name));
      app.results.queues = [...own, ...app.results.queues.filter((queue) => !own.includes(queue))];
      charts.hidden.clear();
      charts.update(series, names(), app.range, app.duration);
      byId("count").textContent = count > events.length ? `the first ${events.length} of ${count}` : `${count}`;
      player.events = events;
      const rtts = app.results.flows.map((flow) => flow.rtt_min_ms).filter((ms) => ms !== null);
      player.load(app.duration, rtts.length ? Math.min(...rtts) / 1000 : app.rtt);
      showResults();
      legend();
      byId("status").textContent = prediction.hides ? "" : summary(app.results);
      prediction.load(app.results, app.given ? app.results.flows[0]?.name : undefined);
      document.body.dataset.state = "done";
      app.answered = id;
      document.dispatchEvent(new CustomEvent("studio-done", { detail: { id, took, text, plan: app.plan } }));
    },
    series({ series }) {
      charts.update(series, names(), app.range, app.duration);
      if (app.results) charts.describe(descriptions(app.results));
      document.dispatchEvent(new CustomEvent("studio-series"));
    },
    state(state) {
      app.waiting = false;
      if (state.flows.length === app.names.length) {
        byId("state").replaceChildren(stateTable(state, model.phases));
        drawPackets(byId("packets"), state.packets);
      }
      if (app.asked !== state.t) ask(app.asked);
    },
    table({ text }) {
      download("dumbbell-studio.csv", new Blob([text], { type: "text/csv" }));
    },
    error({ message }) {
      app.waiting = false;
      document.body.dataset.state = "failed";
      controls.report([message]);
      document.dispatchEvent(new CustomEvent("studio-failed", { detail: { message } }));
    },
  };
  worker.onmessage = ({ data }) => answers[data.kind](data);
  worker.onerror = (event) => answers.error({ message: event.message || "the worker can't be started" });

  function fromLink() {
    const text = location.hash.slice(1);
    const words = new URLSearchParams(text);
    if (words.has("given")) {
      const shown = app.given && app.given !== model.given && app.packed === words.get("given") ? Promise.resolve(app.given) : unpacked(words.get("given"));
      app.packed = words.get("given");
      shown.then(
        (given) => runGiven(given, choices.show(given, words)),
        (error) => answers.error({ message: `the link can't be read: ${error.message}` }),
      );
      return;
    }
    if (model.given && (!text || words.has("cell"))) return runGiven(model.given, choices.show(model.given, words));
    if (!text) return usePreset(model.presets[0].name);
    const [settings, notes] = fromFragment(model, text);
    controls.show(settings, notes);
    const link = toFragment(model, settings);
    const same = model.presets.find((preset) => toFragment(model, preset.settings) === link);
    byId("preset").value = same ? same.name : "";
    byId("about").textContent = same ? same.about : "";
    run(settings);
  }

  function usePreset(name) {
    if (name === "given") return runGiven(model.given, choices.show(model.given, new URLSearchParams()));
    const preset = model.presets.find((each) => each.name === name);
    byId("preset").value = name;
    byId("about").textContent = preset.about;
    controls.open.clear();
    controls.show(preset.settings);
    app.range = null;
    run(preset.settings);
  }

  const options = model.presets.map(({ name, title }) => element("option", { value: name }, title));
  if (model.given) options.unshift(element("option", { value: "given" }, `Scenario ${model.given.name}`));
  byId("preset").replaceChildren(element("option", { value: "", ".disabled": true }, "own settings"), ...options);
  byId("preset").addEventListener("change", (event) => usePreset(event.target.value));
  byId("whole").addEventListener("click", () => {
    zoom(null);
    byId("scrub").focus(); // the button has vanished
  });
  byId("pin").addEventListener("click", () => {
    if (!app.results) return;
    const on = app.pinned === null;
    app.pinned = on ? app.results : null;
    byId("pin").setAttribute("aria-pressed", on);
    byId("pin").textContent = on ? "Unpin" : "Pin this run";
    worker.postMessage({ kind: "pin", on });
    showResults();
    legend();
  });
  byId("share").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      byId("status").textContent = "The link is copied.";
    } catch {
      byId("status").textContent = "Copy the address of this page: it has all settings.";
    }
  });
  byId("toml").addEventListener("click", () => {
    const text = app.given ? app.given.file : fileText(model, app.settings);
    download("dumbbell-studio.toml", new Blob([text], { type: "application/toml" }));
  });
  byId("csv").addEventListener("click", () => worker.postMessage({ kind: "table" }));
  const title = () =>
    app.given
      ? `Dumbbell studio: ${app.given.name}, ${app.given.cells[app.choice.cell].label}, repetition ${app.choice.repetition + 1}`
      : `Dumbbell studio: ${app.settings.rate} Mbit/s, base RTT ${app.settings.rtt} ms, ${app.settings.discipline}, ${app.settings.buffer} packets`;
  byId("png").addEventListener("click", async () => download("dumbbell-studio.png", await charts.picture(title())));
  byId("svg").addEventListener("click", () => {
    download("dumbbell-studio.svg", new Blob([charts.svg(title())], { type: "image/svg+xml" }));
  });
  if (model.given?.predict) prediction.begin();
  addEventListener("hashchange", fromLink);
  document.querySelector("form.settings").addEventListener("submit", (event) => event.preventDefault());
  worker.postMessage({ kind: "engine", bytes: wasm }, [wasm.buffer]);
  return app;
}

/** Start the page: the workers are made from the page's own texts. */
export function start() {
  const model = JSON.parse(byId("model").textContent);
  const wasm = () => Uint8Array.from(atob(byId("wasm").textContent), (char) => char.charCodeAt(0));
  const made = (id) => new Worker(URL.createObjectURL(new Blob([byId(id).textContent], { type: "text/javascript" })));
  open(model, made("worker"), wasm());
  new FilesView(model, () => {
    const worker = made("files-worker");
    worker.postMessage({ kind: "engine", bytes: wasm() });
    return worker;
  });
}
