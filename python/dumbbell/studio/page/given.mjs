// Scenarios that the page shows as they are: the plans of their cells and the seeds of their repetitions, which Python's plan
// builder has made (any_scenario.py). They come with the page or in its link.
import { element } from "../../plots/web/dom.mjs";
import { byId } from "./dom.mjs";

/** The most characters of a scenario in a link. */
const MOST_CHARACTERS = 20e6;

/** The scenario in a link: `given=` with compressed JSON. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  for (let sum = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    sum += value.length;
    if (sum > MOST_CHARACTERS) throw new Error("the scenario is too large");
    parts.push(value);
  }
  return checked(JSON.parse(await new Blob(parts).text()));
}

/** A scenario with all its parts, but for its file: nothing shows that a file in a link belongs to its plans. */
function checked(given) {
  const isText = (value) => typeof value === "string";
  const isCell = (cell) => [cell?.label, cell?.before, cell?.after].every(isText) && cell.seeds?.length > 0 && cell.seeds.every(isText);
  if (!isText(given?.name) || !given.cells?.length || !given.cells.every(isCell)) throw new Error("it has no scenario");
  return { ...given, file: null };
}

/** The plan of a run as text. */
export function givenPlan({ cells }, { cell, repetition }) {
  const { before, after, seeds } = cells[cell];
  return before + seeds[repetition] + after;
}

/** A number in a link, from 0 to below `count`. */
function place(text, count) {
  const number = Number(text ?? 0);
  return Number.isInteger(number) && number >= 0 && number < count ? number : 0;
}

/** The choice of a run: cell, repetition, link. `changed(choice)` with each new one. */
export class GivenChoice {
  constructor(changed) {
    this.changed = changed;
    for (const id of ["given-cell", "given-repetition", "given-link"]) byId(id).addEventListener("change", () => this.read());
  }

  /** Show a scenario, with the choice of a link's words, and return that choice. */
  show(given, words) {
    this.given = given;
    const cell = place(words.get("cell"), given.cells.length);
    const repetition = place(words.get("repetition"), given.cells[cell].seeds.length);
    byId("given-name").textContent = given.name;
    byId("given-cell").replaceChildren(...given.cells.map(({ label }, n) => element("option", { value: n }, label)));
    byId("given-cell").value = cell;
    this.repetitions(cell, repetition);
    const links = JSON.parse(givenPlan(given, { cell, repetition })).links.map(({ name }) => name);
    byId("given-link").replaceChildren(...links.map((name) => element("option", { value: name }, name)));
    if (links.includes(words.get("link"))) byId("given-link").value = words.get("link");
    return { cell, repetition, link: byId("given-link").value };
  }

  repetitions(cell, chosen) {
    const { seeds } = this.given.cells[cell];
    byId("given-repetition").replaceChildren(...seeds.map((_, n) => element("option", { value: n }, n + 1)));
    byId("given-repetition").value = chosen;
  }

  read() {
    const words = new URLSearchParams({ cell: byId("given-cell").value, repetition: byId("given-repetition").value, link: byId("given-link").value });
    this.changed(this.show(this.given, words));
  }
}
