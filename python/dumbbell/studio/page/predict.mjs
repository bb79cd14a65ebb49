// Predictions: the results of the next run are hidden until the reader has guessed two of its figures.
import { byId, shown } from "./dom.mjs";

/** The figures of a run that are guessed: name, unit, value. With one flow, named `who`, it has all of the goodput. */
export function subjects(results, who = "flow 1") {
  const goodputs = results.flows.map((flow) => flow.goodput_bps);
  const all = goodputs.reduce((sum, x) => sum + x, 0);
  const [queue] = results.queues;
  const first =
    goodputs.length > 1
      ? [`Goodput of ${who}, part of all`, "%", all > 0 ? (100 * goodputs[0]) / all : 0]
      : ["Utilization", "%", 100 * queue.utilization];
  return [first, ["Delay in the queue, 95 %", "ms", queue.p95_sojourn_ms ?? 0]];
}

/** Points from 0 to 100: a percentage loses two for each point of difference, a delay as much as it is off by ratio. */
export function points(unit, guess, value) {
  const off = unit === "%" ? Math.abs(guess - value) / 50 : Math.abs(guess - value) / Math.max(guess, value, 1);
  return Math.round(100 * Math.max(0, 1 - off));
}

export class Prediction {
  /** `revealed()` when the results may be seen. */
  constructor(revealed) {
    this.hides = false;
    this.results = null;
    byId("predict").addEventListener("click", () => this.begin());
    byId("guess").addEventListener("submit", (event) => {
      event.preventDefault();
      this.end(revealed);
    });
  }

  begin() {
    this.hide(true);
    byId("guess").reset();
    byId("score").textContent = "Choose the run, guess, and show it.";
    byId("guess-0").focus();
  }

  hide(on) {
    this.hides = on;
    document.body.toggleAttribute("data-hidden", on);
    byId("guess").hidden = !on;
    byId("predict").disabled = on;
    this.ask();
  }

  /** A run is done, whose first flow has the name `who`. */
  load(results, who) {
    Object.assign(this, { results, who });
    this.ask();
  }

  ask() {
    if (!this.results) return;
    subjects(this.results, this.who).forEach(([name, unit], n) => {
      byId(`guess-${n}-name`).textContent = `${name}, ${unit}`;
    });
  }

  end(revealed) {
    if (!this.results) return;
    const lines = subjects(this.results, this.who).map(([name, unit, value], n) => {
      const guess = Number(byId(`guess-${n}`).value);
      return `${name}: guessed ${guess} ${unit}, the run has ${shown(value, 1)} ${unit}. Points: ${points(unit, guess, value)}.`;
    });
    this.hide(false);
    byId("score").textContent = lines.join(" ");
    revealed();
    byId("predict").focus();
  }
}
