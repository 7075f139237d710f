// What the views of all algorithms share: lines in the plane, fields of scores, and the words of controls.
import { short } from "./picture.js";

export const VIEWS = {};

/** The two ends, in pixels, of w.x + b = level within the plane; null if it does not pass through. */
export function lineIn(map, [w1, w2, b], level = 0) {
  const c = b - level;
  const found = [];
  const add = (x, y) => {
    const tolerance = 1e-9;
    const inside = x >= map.x0 - tolerance * (map.x1 - map.x0) && x <= map.x1 + tolerance * (map.x1 - map.x0);
    if (inside && y >= map.y0 - tolerance * (map.y1 - map.y0) && y <= map.y1 + tolerance * (map.y1 - map.y0)) found.push([map.X(x), map.Y(y)]);
  };
  if (w2) for (const x of [map.x0, map.x1]) add(x, -(w1 * x + c) / w2);
  if (w1) for (const y of [map.y0, map.y1]) add(-(w2 * y + c) / w1, y);
  if (found.length < 2) return null;
  const far = found.map((p) => Math.hypot(p[0] - found[0][0], p[1] - found[0][1]));
  const end = far.indexOf(Math.max(...far));
  return far[end] > 0.5 ? [found[0], found[end]] : null;
}

/** A boundary w.x + b = 0 with a light tint on the side of each class. */
export function drawBoundary(pic, map, w, style = {}) {
  if (!w || w.some((v) => v === null)) return;
  if (style.tint !== false) {
    for (const [side, c] of [[1, 1], [-1, 0]]) {
      const corners = clipHalf(map, w.map((v) => side * v));
      if (corners.length > 2) pic.polygon(corners, { fill: pic.colours.classes[c], alpha: 0.09 });
    }
  }
  const ends = lineIn(map, w, style.level ?? 0);
  if (!ends) return;
  pic.polyline(ends, { stroke: style.stroke ?? pic.colours.ink, width: style.width ?? 2.2, dash: style.dash, alpha: style.alpha });
  if (!style.arrow) return;
  const [mx, my] = [0, 1].map((j) => (ends[0][j] + ends[1][j]) / 2);
  const far = Math.hypot(w[0] * map.sx, w[1] * map.sy) || 1;
  pic.arrow(mx, my, mx + (38 * w[0] * map.sx) / far, my - (38 * w[1] * map.sy) / far, { stroke: style.stroke ?? pic.colours.ink, width: 2 });
}

function clipHalf(map, [w1, w2, b]) {
  const corners = [[map.x0, map.y0], [map.x1, map.y0], [map.x1, map.y1], [map.x0, map.y1]];
  const kept = [];
  corners.forEach((p, i) => {
    const q = corners[(i + 1) % 4];
    const [f, g] = [p, q].map(([x, y]) => w1 * x + w2 * y + b);
    if (f > 0) kept.push(p);
    if (f > 0 !== g > 0 && f !== g) kept.push(p.map((v, j) => v + ((q[j] - v) * f) / (f - g)));
  });
  return kept.map(([x, y]) => [map.X(x), map.Y(y)]);
}

export const score = (w, p) => w[0] * p.x + w[1] * p.y + w[2];

/** The foot, in the plane, of the perpendicular from a point to w.x + b = level. */
export function foot(w, p, level = 0) {
  const t = (score(w, p) - level) / (w[0] ** 2 + w[1] ** 2);
  return { x: p.x - t * w[0], y: p.y - t * w[1] };
}

// ---------------------------------------------------------------------- fields
const GRID = [72, 54]; // cells across and up: a field is smooth

/** Values of a function at the middle of cells that cover the plane. */
export class Field {
  constructor(map) {
    Object.assign(this, { map, values: new Float64Array(GRID[0] * GRID[1]) });
    this.key = [map.x0, map.x1, map.y0, map.y1].join();
    this.xs = Array.from({ length: GRID[0] }, (_, i) => map.x0 + ((i + 0.5) / GRID[0]) * (map.x1 - map.x0));
    this.ys = Array.from({ length: GRID[1] }, (_, j) => map.y1 - ((j + 0.5) / GRID[1]) * (map.y1 - map.y0));
  }
  /** Add weight * f(x, y) everywhere. */
  add(f, weight = 1) {
    const [m, n] = GRID;
    for (let j = 0; j < n; j++) for (let i = 0; i < m; i++) this.values[j * m + i] += weight * f(this.xs[i], this.ys[j]);
    return this;
  }
  /** Add weight * (k(z, x) + one) everywhere. A Gaussian is a product of one factor across and one up. */
  addKernel({ kernel, gamma, degree, coef0 }, z, weight, one) {
    const [m, n] = GRID;
    const { values, xs, ys } = this;
    const rbf = kernel === "rbf";
    const power = (v) => {
      let found = v;
      for (let t = 1; t < degree; t++) found *= v; // much quicker than v ** degree
      return found;
    };
    const across = Float64Array.from(xs, (x) => (rbf ? weight * Math.exp(-gamma * (x - z[0]) ** 2) : x * z[0]));
    const up = ys.map((y) => (rbf ? Math.exp(-gamma * (y - z[1]) ** 2) : y * z[1]));
    const shift = weight * one;
    for (let j = 0, k = 0; j < n; j++) {
      const v = up[j];
      if (rbf) for (let i = 0; i < m; i++, k++) values[k] += across[i] * v + shift;
      else for (let i = 0; i < m; i++, k++) values[k] += weight * (kernel === "poly" ? power(gamma * (across[i] + v) + coef0) : across[i] + v) + shift;
    }
  }
  /** Shade by `group(value)`, a class, and `alpha(value)`, its opacity. */
  paint(pic, group, alpha) {
    const [m, n] = GRID;
    if (!this.canvas) {
      this.canvas = document.createElement("canvas");
      [this.canvas.width, this.canvas.height] = GRID;
      this.pixels = this.canvas.getContext("2d").createImageData(m, n);
    }
    const { data } = this.pixels;
    const { rgb } = pic.colours;
    for (let k = 0, at = 0; k < m * n; k++, at += 4) {
      const colour = rgb[group(this.values[k], k)];
      data[at] = colour[0];
      data[at + 1] = colour[1];
      data[at + 2] = colour[2];
      data[at + 3] = 255 * alpha(this.values[k], k);
    }
    this.canvas.getContext("2d").putImageData(this.pixels, 0, 0);
    pic.image(this.canvas, 0, 0, pic.width, pic.height);
  }
  /** The largest |value|. */
  get most() {
    let found = 1e-12;
    for (const v of this.values) if (v > found || -v > found) found = Math.abs(v);
    return found;
  }
  /** Pieces of the level set of the field, or of other values on its cells, in pixels. */
  contour(level, values = this.values) {
    const [m, n] = GRID;
    const { width, height } = this.map;
    const at = ([i, j]) => [((i + 0.5) / m) * width, ((j + 0.5) / n) * height];
    return marching(values, m, n, level).map(([p, q]) => [...at(p), ...at(q)]);
  }
}

/** Pieces of a level set of values on m by n cells, by marching squares, as pairs of places counted in cells. */
export function marching(values, m, n, level) {
  const pieces = [];
  const f = (i, j) => values[j * m + i] - level;
  for (let j = 0; j + 1 < n; j++) {
    for (let i = 0; i + 1 < m; i++) {
      const a = f(i, j);
      const b = f(i + 1, j);
      const c = f(i + 1, j + 1);
      const d = f(i, j + 1);
      if (a > 0 === b > 0 && b > 0 === c > 0 && c > 0 === d > 0) continue;
      const cuts = [];
      if (a > 0 !== b > 0) cuts.push([i + a / (a - b), j]);
      if (b > 0 !== c > 0) cuts.push([i + 1, j + b / (b - c)]);
      if (d > 0 !== c > 0) cuts.push([i + d / (d - c), j + 1]);
      if (a > 0 !== d > 0) cuts.push([i, j + a / (a - d)]);
      for (let k = 0; k + 1 < cuts.length; k += 2) pieces.push([cuts[k], cuts[k + 1]]);
    }
  }
  return pieces;
}

/** A field that is made anew only when the answer, the plane or the key has changed. */
export function fieldOf(pane, map, key, make) {
  const field = new Field(map);
  const whole = `${field.key}|${key}`;
  if (pane.field?.whole !== whole || pane.field.answer !== pane.answer) pane.field = { whole, answer: pane.answer, field: make(field) };
  pane.field.field.map = map;
  return pane.field.field;
}

// ---------------------------------------------------------------------- words of controls
export const choice = (name, label, options, when) => ({ name, label, kind: "choice", options, when });
/** With `auto`, the left end stands for null: the library chooses. */
export const slider = (name, label, low, high, { log = false, step, when, auto } = {}) => ({ name, label, kind: "slider", low, high, log, step, when, auto });
export const toggle = (name, label, when) => ({ name, label, kind: "toggle", when });
export const kernels = [
  choice("kernel", "Kernel", [["rbf", "Gaussian (rbf)"], ["poly", "Polynomial"], ["linear", "Linear"]]),
  slider("gamma", "γ", 0.02, 20, { log: true, when: (s) => s.kernel !== "linear" }),
  slider("degree", "Degree", 1, 5, { step: 1, when: (s) => s.kernel === "poly" }),
];

/** Weights as text. */
export const vector = (w) => (w ? `(${w.map((v) => short(v)).join(", ")})` : "–");
export const near = (a, b) => a <= b + 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
/** How the points lie: what is proved of them, in words. */
export function verdictWords(pane) {
  const words = {
    separable: "a line separates the classes",
    "quasi-separable": "a line has every point on its side or on it, none strictly",
    overlapping: "no line separates the classes",
  };
  return words[pane.answer.facts.verdict] ?? "not decided";
}
