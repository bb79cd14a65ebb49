// Acts on the studio's page as a reader does, in a browser: tests/studio/test_studio_page.py adds it to the page.
const found = { examples: [], changed: [], errors: [] };
const byName = (id) => document.getElementById(id);
addEventListener("error", (event) => found.errors.push(event.message));
addEventListener("securitypolicyviolation", (event) => found.errors.push(`${event.violatedDirective} ${event.blockedURI}`));
addEventListener("unhandledrejection", (event) => found.errors.push(String(event.reason?.stack)));
const event = (name) =>
  new Promise((done, refused) => {
    document.addEventListener(name, ({ detail }) => done(detail), { once: true });
    document.addEventListener("studio-failed", ({ detail }) => refused(new Error(detail.message)), { once: true });
  });
const started = async () => document.body.dataset.state === "done" || (await event("studio-done"));
const finished = async (act) => {
  const done = event("studio-done");
  await act();
  const { plan, text } = await done;
  return { plan, text, link: location.hash };
};
const set = (id, value, kind = "change") => {
  byName(id).value = value;
  byName(id).dispatchEvent(new Event(kind, { bubbles: true }));
};
const saved = async (id) => {
  const make = URL.createObjectURL;
  const blob = new Promise((done) => { URL.createObjectURL = (given) => { done(given); return make.call(URL, given); }; });
  HTMLAnchorElement.prototype.click = () => {};
  byName(id).click();
  const given = await blob;
  URL.createObjectURL = make;
  return given;
};
const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const point = (plot, kind, part) => {
  const box = plot.getBoundingClientRect();
  plot.setPointerCapture = () => {}; // there is no real pointer
  plot.dispatchEvent(new PointerEvent(kind, {
    bubbles: true, pointerId: 1, pointerType: "mouse", button: 0, clientX: box.left + part * box.width, clientY: box.top + box.height / 2,
  }));
};
const drag = (plot, from, to) => {
  for (const [kind, part] of [["pointermove", from], ["pointerdown", from], ["pointermove", to], ["pointerup", to]]) point(plot, kind, part);
};
const clock = () => Number(byName("clock").textContent.split(" ")[0]);

const acts = {
  async examples() {
    await started();
    for (const option of byName("preset").options) {
      if (!option.value) continue;
      const report = await finished(() => set("preset", option.value));
      const file = await (await saved("toml")).text();
      found.examples.push({ ...report, name: option.value, file, about: byName("about").textContent });
    }
  },

  async controls({ fragment, changes }) {
    await started();
    await finished(() => { location.hash = `#${fragment}`; });
    for (const [id, kind, value] of changes) found.changed.push(await finished(() => set(id, value, kind)));
    found.slider = await finished(() => set("path-rtt-slider", 300, "input"));
    found.box = byName("path-rtt").value;
    found.added = await finished(() => byName("add-flow").click());
    found.focus = document.activeElement.id;
    found.removed = await finished(() => document.querySelectorAll(".remove")[0].click());
    // The last of three changes at once.
    found.last = await finished(() => { for (const rate of [30, 20, 4]) set("path-rate", rate); });
    // A flow that begins after the end: the message, and no run.
    set("flow-0-start", 50);
    found.late = byName("problems").textContent;
    set("path-rate", "4000");
    found.rate = byName("path-rate").value;
    found.message = byName("path-rate").validationMessage;
  },

  async playhead() {
    await started();
    found.first = { link: location.hash, end: clock(), plots: document.querySelectorAll("#plots .plot svg").length };
    found.labels = [...document.querySelectorAll("#plots [role=img]")].map((each) => each.getAttribute("aria-label"));
    found.status = byName("status").textContent;
    found.figures = byName("figures").textContent;
    found.unlabeled = [...document.querySelectorAll("button, select, input")].filter(
      (each) => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()),
    ).map((each) => each.outerHTML);
    // Steps
    press("Home");
    found.home = clock();
    press("ArrowRight");
    found.event = clock();
    press("ArrowRight");
    press("ArrowLeft");
    found.back = clock();
    set("step-by", "rtt");
    byName("forward").click();
    found.rtt = clock();
    set("scrub", 500, "input");
    found.scrub = clock();
    await new Promise((done) => {
      const wait = () => (byName("state").textContent.includes("At 10.000 s") ? done() : setTimeout(wait, 5));
      wait();
    });
    found.state = byName("state").textContent;
    found.packets = byName("packets").getAttribute("aria-label");
    // Play to the end
    set("speed", "10");
    press(" ");
    found.playing = byName("play").textContent;
    await new Promise((done) => {
      const wait = () => (byName("play").textContent === "Play" ? done() : requestAnimationFrame(wait));
      wait();
    });
    found.end = clock();
    // Explanations
    byName("events").querySelector("button").click();
    found.why = document.querySelector(".why").textContent;
    // A flow is hidden and shown
    byName("legend").querySelector("button").click();
    found.hidden = byName("legend").querySelector("button").getAttribute("aria-pressed");
    byName("legend").querySelector("button").click();
    // A prediction: results are hidden, also those of another run, until there is a guess
    byName("predict").click();
    const seen = () => ["plots", "figures", "status"].map((id) => getComputedStyle(byName(id)).visibility);
    found.guessing = [document.activeElement.id, ...seen(), byName("guess-0-name").textContent];
    await finished(() => set("path-seed", 2));
    found.silent = byName("status").textContent;
    byName("guess").requestSubmit();
    found.unguessed = byName("guess").hidden;
    [byName("guess-0").value, byName("guess-1").value] = ["60", "100"];
    byName("guess").requestSubmit();
    found.guessed = [document.activeElement.id, ...seen(), byName("score").textContent];
    await finished(() => set("path-seed", 1));
    // A part of the time, and all of it
    const zoomed = event("studio-series");
    drag(document.querySelector("#plots .plot"), 0.25, 0.5);
    await zoomed;
    found.zoomed = [byName("whole").disabled, document.querySelector("#plots .future").style.width];
    // Values and the state at the pointer, and its line in all panels
    point(document.querySelector("#plots .plot"), "pointermove", 0.4);
    found.read = document.querySelector("#plots .readout").textContent;
    found.cursors = document.querySelectorAll("#plots .cursor").length;
    await new Promise((done) => {
      const wait = () => (byName("state").querySelector("caption").textContent === `At ${(20).toFixed(3)} s` ? setTimeout(wait, 5) : done());
      wait();
    });
    found.at = byName("state").querySelector("caption").textContent;
    const all = event("studio-series");
    byName("whole").click();
    await all;
    found.whole = byName("whole").disabled;
    // The same with keys
    found.keys = [];
    for (const key of ["+", "+", "-", "0"]) {
      const drawn = event("studio-series");
      press(key);
      await drawn;
      found.keys.push([byName("whole").disabled, clock()]);
    }
    // Pin and compare
    const pinned = event("studio-series");
    byName("pin").click();
    await pinned;
    await finished(() => set("path-buffer", 200));
    found.pinned = byName("figures").textContent;
    found.csv = await (await saved("csv")).text();
    found.svg = await (await saved("svg")).text();
    const picture = await saved("png");
    found.png = [picture.type, [...new Uint8Array(await picture.slice(0, 4).arrayBuffer())]];
    const bitmap = await createImageBitmap(picture);
    found.size = [bitmap.width, bitmap.height];
  },
};

// Chromium ends requests in progress if an interface of the machine comes or goes (ERR_NETWORK_CHANGED).
const loaded = async (path, tries = 3) => {
  try {
    return await (await fetch(path)).blob();
  } catch (error) {
    if (tries === 1) throw error;
    await new Promise((done) => setTimeout(done, 500));
    return loaded(path, tries - 1);
  }
};

acts.capture = async ({ name }) => {
  await started();
  const panels = () => new Promise((done, refused) => {
    document.addEventListener("files-panels", ({ detail }) => done(detail), { once: true });
    document.addEventListener("files-failed", ({ detail }) => refused(new Error(detail.message)), { once: true });
  });
  const capture = new Promise((done) => document.addEventListener("files-capture", ({ detail }) => done(detail), { once: true }));
  const drawn = panels();
  // As if it were dropped on the page.
  const transfer = new DataTransfer();
  transfer.items.add(new File([await loaded(`/${name}`)], name));
  dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
  const { summary, listed, memory } = await capture;
  const first = await drawn;
  Object.assign(found, { summary, listed, memory: [memory, first.memory] });
  found.panels = first.panels.map(({ key }) => key);
  found.canvases = document.querySelectorAll("#files-plots .plot svg").length;
  found.frames = document.querySelector("#files-summary table").textContent;
  found.connections = [...document.querySelectorAll(".connections tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));
  found.hidden = [byName("files").hidden, byName("studio").hidden];
  found.svg = await (await saved("files-svg")).text();
  const next = panels();
  drag(document.querySelector("#files-plots .plot"), 0.2, 0.4);
  const { from, to } = await next;
  found.zoomed = [from, to];
  found.keys = [];
  for (const key of ["+", "ArrowRight", "-", "0"]) {
    const drawn = panels();
    press(key);
    const seen = await drawn;
    found.keys.push([seen.from, seen.to]);
  }
  byName("files-close").click();
  found.closed = [byName("files").hidden, byName("studio").hidden];
};

acts.link = async ({ fragment }) => {
  await started();
  await finished(() => { location.hash = `#${fragment}`; });
  Object.assign(found, { name: byName("given-name").textContent, file_disabled: byName("toml").disabled });
};

acts.given = async ({ fragment }) => {
  const utilization = () => [...document.querySelectorAll("#figures tr")].find((row) => row.textContent.startsWith("Utilization")).lastChild.textContent;
  const run = async (act) => found.runs.push(await finished(act));
  await started();
  found.runs = [await finished(() => set("given-repetition", 0))];
  await run(() => set("given-cell", 1));
  await run(() => set("given-repetition", 1));
  found.utilization = [utilization()];
  await run(() => set("given-link", "r2->r3"));
  found.utilization.push(utilization());
  found.names = [...document.querySelectorAll("#legend button")].map((button) => button.textContent);
  await new Promise((done) => {
    const wait = () => (byName("packets").getAttribute("aria-label").includes("at r2") ? done() : setTimeout(wait, 5));
    wait();
  });
  found.packets = byName("packets").getAttribute("aria-label");
  found.file = await (await saved("toml")).text();
  await run(() => { location.hash = `#${fragment}`; });
  await run(() => set("given-cell", 1));
  await finished(() => set("preset", "sawtooth"));
  found.own = [byName("given").hidden, byName("own").hidden];
  const broken = new Promise((done) => document.addEventListener("studio-failed", ({ detail }) => done(detail.message), { once: true }));
  location.hash = "#given=AAAA";
  found.broken = await broken;
};

/** Ends at once with the first error that nothing catches, in place of waiting for an event that doesn't come. */
const uncaught = new Promise((_, refused) => {
  addEventListener("error", (event) => refused(event.error ?? new Error(event.message)));
  addEventListener("unhandledrejection", (event) => refused(event.reason));
});

export function act(name, given) {
  Promise.race([acts[name](given), uncaught])
    .catch((error) => found.errors.push(String(error.stack)))
    .then(() => fetch("/", { method: "POST", body: JSON.stringify(found) }));
}
