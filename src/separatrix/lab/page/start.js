// Where a walk starts: zeros, a rule, or a line of one's own, which is dragged by two grips or written as three numbers.
import { lineIn } from "./views.js";

const GRIPS = [0.2, 0.8]; // shares of the line's way through the plane
const own = (settings) => (Array.isArray(settings.init) ? settings.init : null);

/** A choice of starts; "own" is a line, upright in the middle of the plane at first. */
export const startControl = (options) => ({ name: "init", label: "Start", kind: "start", options: [...options, ["own", "a line of my own"]] });
export const uprightLine = ({ x0, x1 }) => [1, 0, -+((x0 + x1) / 2).toPrecision(3)];

/** The places of the two grips, in pixels; none without a line of one's own. */
export function startGrips(map, settings) {
  const ends = own(settings) && lineIn(map, settings.init);
  return ends ? GRIPS.map((share) => ends[0].map((v, j) => v + share * (ends[1][j] - v))) : [];
}

/** (w, b) of the line through two places of the plane, as long as `before` and on the same side. */
export function lineThrough(map, [[X1, Y1], [X2, Y2]], before) {
  const [x1, y1, x2, y2] = [map.x(X1), map.y(Y1), map.x(X2), map.y(Y2)];
  const far = Math.hypot(y1 - y2, x2 - x1);
  if (!(far > 0)) return before;
  const side = Math.sign((y1 - y2) * before[0] + (x2 - x1) * before[1]) || 1;
  const scale = (side * Math.hypot(before[0], before[1])) / far;
  const w = [scale * (y1 - y2), scale * (x2 - x1)];
  return [...w, -(w[0] * x1 + w[1] * y1)].map((v) => +v.toPrecision(4));
}

export function drawStart(pic, map, settings) {
  const grips = startGrips(map, settings);
  if (!grips.length) return;
  const col = pic.colours;
  pic.polyline(lineIn(map, settings.init), { stroke: col.soft, width: 1.6, dash: [2, 5] });
  for (const [X, Y] of grips) {
    pic.polygon([[X - 6, Y - 6], [X + 6, Y - 6], [X + 6, Y + 6], [X - 6, Y + 6]], { fill: col.paper, stroke: col.ink, width: 2 });
  }
  pic.text("start", grips[1][0] + 11, grips[1][1] - 9, { size: 12, fill: col.soft, halo: col.paper });
}
