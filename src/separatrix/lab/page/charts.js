// Curves over the steps: objective, gap, mistakes, and whatever else an algorithm records.
import { short } from "./picture.js";

/** Ticks of a scale from low to high, about n of them, at round numbers: [{value, text}], texts that differ. */
export function ticks(low, high, n = 4) {
  const raw = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  if (!(last - first <= 4 * n)) return []; // no room between floats, or none of them finite
  const digits = Math.max(3, 2 + Math.ceil(Math.log10(Math.max(Math.abs(first), Math.abs(last), 1))));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step).map((value) => ({ value, text: short(value, digits) }));
}

/** The least and the largest of the values that can be shown, on their scale; null if there is none. */
function rangeOf({ lines, log, zero }) {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of lines) {
    for (const v of values) {
      if (v === null || !Number.isFinite(v) || (log && v <= 0)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (low > high) return null;
  if (log) return [Math.log10(low), Math.log10(high)];
  return [zero ? Math.min(low, 0) : low, high];
}

/** Lines of values over steps, the current step marked. `lines`: [{values, colour, dash, name}]. */
export function drawCurves(pic, spec, at) {
  const { title, lines, log } = spec;
  const { colours: col, width, height } = pic;
  const [left, right, top, bottom] = [46, 10, 22, 18];
  const range = (spec.range ??= rangeOf(spec)); // the same for all steps
  const steps = Math.max(2, ...lines.map((line) => line.values.length));
  pic.text(title, left, 13, { size: 12, weight: 600 });
  if (!range) return pic.text("nothing to show yet", left, 40, { size: 11, fill: col.soft });
  const scale = log ? Math.log10 : (v) => v;
  let [low, high] = range;
  if (high - low < 1e-12) [low, high] = [low - 0.5, high + 0.5];
  const X = (k) => left + ((width - left - right) * k) / (steps - 1);
  const Y = (v) => height - bottom - ((height - top - bottom) * (scale(v) - low)) / (high - low);
  const powers = log && Math.floor(high) >= low; // of ten; within one of them, other numbers
  for (const tick of ticks(low, high, Math.max(2, Math.floor((height - top - bottom) / 26)))) {
    const value = log ? 10 ** tick.value : tick.value;
    if (powers && !Number.isInteger(tick.value)) continue;
    pic.line(left, Y(value), width - right, Y(value), { stroke: col.rule, width: 1 });
    pic.text(powers ? `1e${tick.text}` : log ? short(value, 3) : tick.text, left - 6, Y(value), { size: 10.5, fill: col.soft, align: "right", base: "middle" });
  }
  const dense = Math.max(1, Math.floor(steps / 400));
  for (const line of lines) {
    const path = [];
    line.values.forEach((v, k) => {
      if (k % dense === 0 && v !== null && Number.isFinite(v) && (!log || v > 0)) path.push([X(k), Y(v)]);
    });
    if (path.length) pic.polyline(path, { stroke: line.colour, width: 1.8, dash: line.dash });
  }
  let x = left + 14 + title.length * 7;
  for (const line of lines.filter((one) => one.name)) {
    pic.line(x, 9, x + 16, 9, { stroke: line.colour, width: 2, dash: line.dash });
    pic.text(line.name, x + 20, 13, { size: 11, fill: col.soft });
    x += 30 + line.name.length * 6;
  }
  const k = Math.min(at, steps - 1);
  pic.line(X(k), top - 2, X(k), height - bottom, { stroke: col.ink, width: 1, dash: [3, 3], alpha: 0.7 });
  for (const line of lines) {
    const v = line.values[Math.min(k, line.values.length - 1)];
    if (v !== null && Number.isFinite(v) && (!log || v > 0)) pic.circle(X(k), Y(v), 3.5, { fill: line.colour, stroke: col.paper, width: 1.5 });
  }
  pic.text("step 0", left, height - 4, { size: 10.5, fill: col.soft });
  pic.text(String(steps - 1), width - right, height - 4, { size: 10.5, fill: col.soft, align: "right" });
}

/** Which step a place on a chart is. */
export const stepAt = (x, width, steps) => Math.max(0, Math.min(steps - 1, Math.round(((x - 46) / (width - 56)) * (steps - 1))));
