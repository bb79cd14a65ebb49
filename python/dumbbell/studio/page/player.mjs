// The playhead: play, pause, steps by event or by RTT, speed, scrub.
import { byId } from "./dom.mjs";
import { onKeys } from "./keys.mjs";

export class Player {
  /** `moved(t)` with each new time of the playhead. */
  constructor(moved) {
    this.moved = moved;
    this.end = 0;
    this.t = 0;
    this.events = [];
    this.rtt = 0.1;
    this.playing = false;
    byId("play").addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => this.step(-1));
    byId("forward").addEventListener("click", () => this.step(1));
    byId("scrub").addEventListener("input", (event) => this.seek((Number(event.target.value) / 1000) * this.end));
    onKeys(() => !byId("studio").hidden, {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.end),
    });
  }

  /** A new run: the playhead is at its end, unless it stands elsewhere in the old one. */
  load(end, rtt) {
    const atEnd = this.t >= this.end;
    this.end = end;
    this.rtt = rtt;
    this.seek(atEnd ? end : Math.min(this.t, end));
  }

  seek(t) {
    this.t = Math.min(Math.max(t, 0), this.end);
    const scrub = byId("scrub");
    scrub.value = Math.round((1000 * this.t) / this.end);
    scrub.setAttribute("aria-valuetext", `${this.t.toFixed(3)} of ${this.end} seconds`);
    byId("clock").textContent = `${this.t.toFixed(3)} s`;
    this.moved(this.t);
  }

  toggle(on = !this.playing) {
    this.playing = on;
    byId("play").textContent = on ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", on);
    if (!on) return;
    if (this.t >= this.end) this.seek(0);
    let before = null;
    const frame = (now) => {
      if (!this.playing) return;
      if (before !== null) this.seek(this.t + ((now - before) / 1000) * Number(byId("speed").value));
      before = now;
      if (this.t >= this.end) this.toggle(false);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  step(direction) {
    this.toggle(false);
    if (byId("step-by").value === "rtt") return this.seek(this.t + direction * this.rtt);
    const times = this.events.map((event) => event.t);
    const close = 1e-9;
    const next = direction > 0 ? times.find((t) => t > this.t + close) : times.findLast((t) => t < this.t - close);
    this.seek(next ?? (direction > 0 ? this.end : 0));
  }
}
