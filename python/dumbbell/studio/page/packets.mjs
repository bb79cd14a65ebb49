// The packets between the routers at a time: waiting, on the link to the right, and ACKs on the way back.
import { shownColor } from "../../plots/web/dom.mjs";
import { FLOWS } from "./dom.mjs";

/** Limits the work of a frame; more packets are narrower than a pixel. */
const MOST_SHOWN = 2000;

/** Draw packets on a canvas, as the worker finds them at a time. */
export function drawPackets(canvas, packets) {
  const ratio = devicePixelRatio;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.lineWidth = 1;
  ctx.font = "12px system-ui, sans-serif";
  ctx.strokeStyle = ctx.fillStyle = getComputedStyle(canvas).color;
  // From left to right: the queue, router r1, the link, router r2.
  const rows = { there: 46, back: 106 };
  const [left, right] = [Math.round(width * 0.36), width - 26];
  frame(ctx, rows, left, right, packets);
  const colors = FLOWS.map(shownColor);
  queue(ctx, rows.there, left, packets, colors);
  const [from, span] = [left + 18, right - left - 19];
  onLink(ctx, packets.there, colors, rows.there, (part) => from + part * span);
  onLink(ctx, packets.back, colors, rows.back, (part) => from + span - part * span);
  const { count, there, back, dropped, ends } = packets;
  const text = `Packets between the routers. Waiting at ${ends[0]}: ${count}. On the link to ${ends[1]}: ${there.length}. On the way back: ${back.length}.`;
  canvas.setAttribute("aria-label", `${text} Dropped just before: ${dropped.length}.`);
}

function frame(ctx, { there, back }, left, right, { count, ends }) {
  for (const [x, name] of [
    [left, ends[0]],
    [right + 4, ends[1]],
  ]) {
    ctx.strokeRect(x - 3.5, there - 16.5, 21, back - there + 33);
    ctx.fillText(name, x - 1, (there + back) / 2 + 4, 17);
  }
  ctx.fillText("data", left + 24, there - 20);
  ctx.fillText("ACKs", left + 24, back + 26);
  ctx.fillText(`waiting: ${count}`, 2, there - 20);
  ctx.strokeRect(0.5, there - 10.5, left - 8, 21);
  ctx.globalAlpha = 0.4;
  for (const y of [there, back]) line(ctx, left + 18, y, right, y);
  ctx.globalAlpha = 1;
}

/** The waiting packets, the next one at the right, and crosses for dropped ones below. */
function queue(ctx, y, left, { waiting, count, dropped }, colors) {
  ctx.globalAlpha = 0.35; // packets that don't leave during the run: their flow has no record
  const slot = Math.max(Math.min((left - 12) / Math.max(count, 1), 9), 0.5);
  const packet = (n) => ctx.fillRect(left - 9 - (n + 1) * slot, y - 8, Math.max(slot - 1, 0.5), 16);
  for (let n = waiting.length; n < Math.min(count, MOST_SHOWN); n++) packet(n);
  ctx.globalAlpha = 1;
  waiting.slice(0, MOST_SHOWN).forEach(({ flow }, n) => {
    ctx.fillStyle = colors[flow % colors.length];
    packet(n);
  });
  ctx.lineWidth = 2;
  dropped.forEach(({ flow }, n) => {
    const x = left - 16 - 12 * n;
    if (x < 6) return;
    ctx.strokeStyle = colors[flow % colors.length];
    line(ctx, x - 4, y + 16, x + 4, y + 24);
    line(ctx, x - 4, y + 24, x + 4, y + 16);
  });
}

/** Packets on a link: as long as the time that their bits take. */
function onLink(ctx, packets, colors, y, place) {
  for (const { flow, head, tail } of packets) {
    const [a, b] = [place(head), place(tail)].sort((x, z) => x - z);
    ctx.fillStyle = colors[flow % colors.length];
    ctx.fillRect(a, y - 8, Math.max(b - a - 0.5, 2), 16);
  }
}

function line(ctx, x, y, toX, toY) {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}
