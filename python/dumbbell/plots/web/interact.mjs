// Reading values and zooming, with a mouse, with fingers and with keys. One finger moved up or down scrolls the page.
import { element, paint, svg } from "./dom.mjs";
import { nearest, round } from "./marks.mjs";
import { digits, scaled, shifted } from "./scales.mjs";

/** Shows the values beside a place of the plot. */
export function read(panel, px, py) {
  const { left, right, top } = panel.area;
  if (px < left - 8 || px > right + 8) return clear(panel);
  panel.figure.pointed(panel, panel.scaleX.measureAt(px));
  const found = panel.marks.filter((mark) => panel.figure.isVisible(mark)).map((mark) => nearest(mark, panel.scaleX, panel.scaleY, px, py))
    .filter(Boolean).sort((a, b) => Math.abs(a.py - py) - Math.abs(b.py - py)).slice(0, 8);
  panel.over.replaceChildren();
  panel.readout ??= element("div", { class: "readout" });
  const box = panel.readout;
  if (!panel.frame.contains(box)) panel.frame.append(box);
  box.hidden = !found.length;
  if (!found.length) return;
  const line = found.find((f) => f.mark.kind === "line") ?? found[0];
  if (!panel.x.names) drawCursor(panel, line.px);
  const at = (f) => (panel.x.names ? panel.x.names[Math.round(f.mark.x[f.k])] : digits(f.mark.x[f.k]));
  box.replaceChildren(element("div", { class: "at" }, panel.x.names ? at(line) : `${panel.x.label}: ${at(line)}`));
  for (const f of found) {
    svg("circle", { cx: f.px, cy: f.py, r: 4.5, style: `stroke:${paint(f.mark.color)}`, class: "hit" }, panel.over);
    const interval = f.mark.ends ? f.mark.ends[f.k] : "";
    const text = `${f.mark.label}: ${panel.y.names?.[f.mark.y[f.k]] ?? digits(f.mark.y[f.k])}${interval ? ` ${interval}` : ""}`;
    box.append(element("div", {}, element("span", { class: "swatch", style: `background:${paint(f.mark.color)}` }), text));
  }
  const width = box.offsetWidth;
  box.style.left = `${Math.max(0, line.px + 14 + width > right ? line.px - width - 14 : line.px + 14)}px`;
  box.style.top = `${top + 4}px`;
}

/** Draws a line across the plot at a place. */
export function drawCursor(panel, px) {
  const { top, bottom } = panel.area;
  svg("path", { d: `M${round(px)} ${top}V${bottom}`, class: "cursor" }, panel.over);
}

function clear(panel) {
  panel.over?.replaceChildren();
  if (panel.readout) panel.readout.hidden = true;
  panel.figure.pointed(panel, null);
}

/** Zooms an axis by a factor about a place of it, in pixels; never beyond the whole. */
export function zoomAbout(panel, factor, px) {
  const about = px === undefined ? NaN : panel.scaleX.measureAt(px);
  zoomTo(panel, scaled(panel.zoomX ?? panel.wholeX, panel.wholeX, factor, about));
}

export function pan(panel, pixels) {
  if (!panel.zoomX) return;
  const part = -pixels / panel.scaleX.factor / (panel.zoomX[1] - panel.zoomX[0]);
  zoomTo(panel, shifted(panel.zoomX, panel.wholeX, part));
}

function zoomTo(panel, range) {
  const { wholeX: whole } = panel;
  panel.figure.zoom(panel, range[1] - range[0] < whole[1] - whole[0] ? range : null, panel.zoomY);
}

/** Lets a mouse and fingers read and zoom. */
export function listen(panel) {
  const root = panel.frame;
  const place = (event) => {
    const box = root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const fingers = new Map();
  root.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, place(event));
    panel.start = place(event);
    if (event.pointerType === "mouse" && event.button === 0 && panel.zoomable) root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointermove", (event) => {
    const [px, py] = place(event);
    const before = fingers.get(event.pointerId);
    if (fingers.size === 2 && before && panel.zoomable) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const wide = Math.abs(px - other[0]), was = Math.abs(before[0] - other[0]);
      fingers.set(event.pointerId, [px, py]);
      if (wide > 10 && was > 10) zoomAbout(panel, was / wide, (px + other[0]) / 2);
      return;
    }
    if (!before || event.pointerType !== "mouse" || !panel.zoomable) {
      if (before && panel.zoomX && panel.zoomable) {
        fingers.set(event.pointerId, [px, py]);
        return pan(panel, px - before[0]);
      }
      return read(panel, px, py);
    }
    if (event.shiftKey) {
      fingers.set(event.pointerId, [px, py]);
      return pan(panel, px - before[0]);
    }
    select(panel, px, py);
  });
  const end = (event) => {
    fingers.delete(event.pointerId);
    const chosen = panel.chosen;
    panel.chosen = null;
    if (chosen && event.type === "pointerup") panel.figure.zoom(panel, chosen.x ?? panel.zoomX, chosen.y ?? panel.zoomY);
    else if (event.type === "pointercancel") clear(panel);
  };
  root.addEventListener("pointerup", end);
  root.addEventListener("pointercancel", end);
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && !fingers.size && clear(panel));
  root.addEventListener("click", (event) => read(panel, ...place(event)));
  if (panel.zoomable) root.addEventListener("dblclick", () => panel.figure.zoom(panel, null, null));
  root.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !panel.zoomable) return; // a plain wheel scrolls the page
    event.preventDefault();
    zoomAbout(panel, event.deltaY > 0 ? 1.25 : 0.8, place(event)[0]);
  }, { passive: false });
}

// Draws the rectangle that the mouse selects: a flat one selects x, a narrow one y.
function select(panel, px, py) {
  const { left, right, top, bottom } = panel.area;
  const inside = (v, low, high) => Math.min(Math.max(v, low), high);
  const [x0, x1] = [panel.start[0], px].map((v) => inside(v, left, right)).sort((a, b) => a - b);
  const [y0, y1] = [panel.start[1], py].map((v) => inside(v, top, bottom)).sort((a, b) => a - b);
  const wide = x1 - x0 > 10, tall = panel.figure.zoomsY && y1 - y0 > 24;
  clear(panel);
  panel.chosen = null;
  if (!wide && !tall) return;
  const x = wide ? [x0, x1] : [left, right], y = tall ? [y0, y1] : [top, bottom];
  svg("rect", { x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0], class: "chosen" }, panel.over);
  panel.chosen = {
    x: wide ? x.map((v) => panel.scaleX.measureAt(v)).sort((a, b) => a - b) : null,
    y: tall ? [y[1], y[0]].map((v) => panel.scaleY.measureAt(v)) : null,
  };
}

/** Lets keys read and zoom while the plot has the focus. */
export function listenToKeys(panel) {
  panel.frame.addEventListener("keydown", (event) => pressed(panel, event));
  panel.frame.addEventListener("blur", () => clear(panel));
}

function pressed(panel, event) {
  const { left, right, top, bottom } = panel.area;
  const step = (right - left) / 40;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const forward = event.key === "ArrowRight";
    if (event.shiftKey) pan(panel, forward ? -4 * step : 4 * step);
    else {
      const from = panel.reading ?? (forward ? left - step : right + step);
      panel.reading = Math.min(Math.max(from + (forward ? step : -step), left), right);
      read(panel, panel.reading, (top + bottom) / 2);
      panel.figure.speak(panel.readout && !panel.readout.hidden ? [...panel.readout.children].map((c) => c.textContent).join("; ") : "no value here");
    }
  } else if (panel.zoomable && (event.key === "+" || event.key === "=")) zoomAbout(panel, 0.5, panel.reading);
  else if (panel.zoomable && event.key === "-") zoomAbout(panel, 2, panel.reading);
  else if (panel.zoomable && event.key === "0") panel.figure.zoom(panel, null, null);
  else if (event.key === "Escape") clear(panel);
  else return;
  event.preventDefault();
}
