// The points and the plane they are drawn on: tools, gestures, keys, undo.
import { ticks } from "./charts.js";
import { drawOn, makeCanvas } from "./picture.js";
import { randomNumbers } from "./data.js";

const REACH = 16; // pixels: how near a finger must be
const CLOSE = 7; // pixels: a click nearer to a point than this takes hold of it instead of drawing another
const SPREAD = 26; // pixels: of the spray
const HISTORY = 200; // changes that can be undone

/** The points, what they are called, what is selected, and what they were before. */
export class Store {
  constructor() {
    Object.assign(this, { points: [], selected: new Set(), past: [], future: [], before: null, names: ["x₁", "x₂"], labels: [], heard: [] });
    this.window = { x0: -4, x1: 4, y0: -3, y1: 3 };
  }
  /** Replace the points; `draft` while a gesture goes on. Call `keep` before, for what can be undone. */
  set(points, draft = false) {
    if (this.before && points !== this.before.points) {
      this.past.push(this.before);
      if (this.past.length > HISTORY) this.past.shift();
      [this.before, this.future] = [null, []];
    }
    this.points = points;
    for (const i of this.selected) if (i >= points.length) this.selected.delete(i);
    this.heard.forEach((listen) => listen(draft));
  }
  /** What undo brings back: points, and how they are called and seen. */
  get state() {
    const { points, names, labels, window } = this;
    return { points, names, labels, window };
  }
  /** Before a change, or a gesture of many: it can be undone once something has changed. */
  keep() {
    this.before = this.state;
  }
  undo(from = this.past, to = this.future) {
    if (!from.length) return;
    to.push(this.state);
    this.selected.clear();
    const { points, ...rest } = from.pop();
    Object.assign(this, rest, { before: null });
    this.set(points);
  }
  redo() {
    this.undo(this.future, this.past);
  }
  /** New points with a window about them; names of columns and classes if they have any. */
  load(points, names = ["x₁", "x₂"], labels = []) {
    this.keep();
    Object.assign(this, { names, labels });
    this.selected.clear();
    this.frame(points);
    this.set(points);
  }
  frame(points = this.points) {
    if (points.length < 2) return;
    let [x0, x1] = points.reduce(([a, b], p) => [Math.min(a, p.x), Math.max(b, p.x)], [Infinity, -Infinity]);
    let [y0, y1] = points.reduce(([a, b], p) => [Math.min(a, p.y), Math.max(b, p.y)], [Infinity, -Infinity]);
    const wide = (low, high) => Math.max(high - low, 1e-9 * Math.max(-low, high)) || 1; // also where floats are far apart
    const [w, h] = [wide(x0, x1), wide(y0, y1)];
    [x0, x1, y0, y1] = [x0 - 0.22 * w, x1 + 0.22 * w, y0 - 0.22 * h, y1 + 0.22 * h];
    this.window = { x0, x1, y0, y1, alike: Math.max(w / h, h / w) < 4 };
  }
  /** A class as it is called: by the table it came from, by its sign, or by its number. */
  nameOf(c) {
    return this.labels[c] ?? (this.points.some((p) => p.c > 1) ? String(c + 1) : ["−1", "+1"][c] ?? "");
  }
  erase(which) {
    if (!which.size) return;
    this.keep();
    this.selected.clear();
    this.set(this.points.filter((_, i) => !which.has(i)));
  }
}

/** Data to pixels and back. Where both columns have about the same span, a circle is a circle. */
export function mapping(window, width, height) {
  let { x0, x1, y0, y1 } = window;
  if (window.alike !== false) {
    const scale = Math.min(width / (x1 - x0), height / (y1 - y0));
    const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
    [x0, x1] = [cx - width / scale / 2, cx + width / scale / 2];
    [y0, y1] = [cy - height / scale / 2, cy + height / scale / 2];
  }
  const [sx, sy] = [width / (x1 - x0), height / (y1 - y0)];
  return {
    x0, x1, y0, y1, width, height, sx, sy,
    X: (x) => (x - x0) * sx,
    Y: (y) => height - (y - y0) * sy,
    x: (X) => x0 + X / sx,
    y: (Y) => y0 + (height - Y) / sy,
  };
}

export class Plane {
  constructor(parent, store, app, view) {
    Object.assign(this, { store, app, view, lasso: null, cursor: null, held: null, gesture: null });
    this.canvas = makeCanvas(parent, "lab-plane", "The plane with the points");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-describedby", app.helpId);
    this.random = randomNumbers(1);
    const on = (name, handle) => this.canvas.addEventListener(name, handle);
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.up(event));
    on("keydown", (event) => this.key(event));
    on("focus", () => (this.cursor ??= this.canvas.matches(":focus-visible") ? this.middle() : null));
    on("blur", () => (this.release(), (this.cursor = null), this.app.paint()));
  }

  get map() {
    return mapping(this.store.window, this.canvas.clientWidth || 600, this.canvas.clientHeight || 450);
  }
  middle() {
    this.app.paint();
    return [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2];
  }

  // ------------------------------------------------------------------ gestures
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  nearest([X, Y], reach = REACH) {
    const { map } = this;
    let [best, found] = [reach, -1];
    this.store.points.forEach((p, i) => {
      const far = Math.hypot(map.X(p.x) - X, map.Y(p.y) - Y);
      if (far < best) [best, found] = [far, i];
    });
    return found;
  }
  point([X, Y], c = this.app.colour) {
    const { map } = this;
    const round = (v, span) => {
      const step = 10 ** Math.floor(Math.log10(span / 400));
      return +(Math.round(v / step) * step).toPrecision(12);
    };
    return { x: round(map.x(X), map.x1 - map.x0), y: round(map.y(Y), map.y1 - map.y0), c };
  }
  down(event) {
    if (event.button || this.gesture) return; // a second finger does nothing
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.at(event);
    const { store } = this;
    const tool = this.app.tool;
    const hit = this.nearest(at, event.pointerType === "touch" || tool !== "draw" ? REACH : CLOSE);
    const group = store.selected.has(hit);
    this.cursor = null;
    this.gesture = { tool, last: at, start: at, finger: event.pointerId };
    const { map } = this;
    const view = this.view();
    const grips = view?.grips?.(map) ?? [];
    const held = grips.findIndex(([X, Y]) => Math.hypot(X - at[0], Y - at[1]) < REACH);
    if (held >= 0) Object.assign(this.gesture, { tool: "grip", grips, held, pull: view.pull });
    else if (tool === "draw" && hit < 0) store.keep(), store.set([...store.points, this.point(at)], true);
    else if (tool === "spray") store.keep(), this.spray(at);
    else if (tool === "erase") store.keep(), this.rub(at);
    else if (tool === "lasso" && !group) (this.lasso = [at]), store.selected.clear(), this.app.paint();
    else if (hit >= 0) {
      store.keep();
      Object.assign(this.gesture, { tool: "move", which: group ? [...store.selected] : [hit], before: store.points });
    } else this.gesture = null;
  }
  move(event) {
    const { gesture, store } = this;
    if (gesture?.finger !== event.pointerId) return;
    const at = this.at(event);
    const far = Math.hypot(at[0] - gesture.last[0], at[1] - gesture.last[1]);
    if (gesture.tool === "draw" && far > 18) store.set([...store.points, this.point(at)], true), (gesture.last = at);
    if (gesture.tool === "spray" && far > 8) this.spray(at), (gesture.last = at);
    if (gesture.tool === "erase") this.rub(at);
    if (gesture.tool === "lasso") this.lasso.push(at), this.app.paint();
    if (gesture.tool === "grip") {
      gesture.grips[gesture.held] = at;
      gesture.pull(this.map, gesture.grips, true);
    }
    if (gesture.tool === "move") {
      const { map } = this;
      const [dx, dy] = [(at[0] - gesture.start[0]) / map.sx, (gesture.start[1] - at[1]) / map.sy];
      const moved = [...gesture.before];
      for (const i of gesture.which) {
        const p = gesture.before[i];
        moved[i] = { ...this.point([map.X(p.x + dx), map.Y(p.y + dy)], p.c) };
      }
      gesture.moved = true;
      store.set(moved, true);
    }
  }
  up(event) {
    const { gesture, store } = this;
    if (gesture?.finger !== event.pointerId) return;
    this.gesture = null;
    if (gesture.tool === "lasso") {
      const ring = this.lasso;
      const { map } = this;
      this.lasso = null;
      store.selected = new Set(store.points.map((_, i) => i).filter((i) => inside(ring, map.X(store.points[i].x), map.Y(store.points[i].y))));
      return this.app.selected();
    }
    if (gesture.tool === "grip") return gesture.pull(this.map, gesture.grips, false);
    const { x0, x1, y0, y1 } = this.map;
    const gone = ({ x, y }) => x < x0 || x > x1 || y < y0 || y > y1;
    if (gesture.tool === "move" && store.points.some(gone)) store.frame(); // what was dragged out of sight is seen again
    store.set(store.points);
  }
  spray(at) {
    const more = Array.from({ length: 3 }, () => this.point([at[0] + SPREAD * this.random.normal(), at[1] + SPREAD * this.random.normal()]));
    this.store.set([...this.store.points, ...more], true);
  }
  rub([X, Y]) {
    const { map } = this;
    const left = this.store.points.filter((p) => Math.hypot(map.X(p.x) - X, map.Y(p.y) - Y) > REACH);
    if (left.length < this.store.points.length) this.store.selected.clear(), this.store.set(left, true);
  }

  // ------------------------------------------------------------------ keys
  /** Let go of the point that the keys moved, and ask for the whole fit. */
  release() {
    const { held, store } = this;
    this.held = null;
    if (held?.points === store.points) store.set(store.points);
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return; // those are the browser's, or undo
    const { store, app } = this;
    const step = event.shiftKey ? 4 : 20;
    const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    const far = { Home: -1, End: 1 }[event.key];
    if (move) {
      this.cursor ??= this.middle();
      const limit = [this.canvas.clientWidth, this.canvas.clientHeight];
      this.cursor = this.cursor.map((v, j) => Math.max(4, Math.min(limit[j] - 4, v + move[j])));
      if (this.held?.points === store.points) { // and nothing else has changed them since
        store.set(store.points.map((p, i) => (i === this.held.i ? this.point(this.cursor, p.c) : p)), true);
        this.held.points = store.points;
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.cursor ??= this.middle();
      const hit = this.nearest(this.cursor);
      if (this.held) this.release();
      else {
        store.keep();
        if (hit >= 0) this.held = { i: hit, points: store.points };
        else if (app.tool !== "move") store.set([...store.points, this.point(this.cursor)]);
      }
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const hit = this.cursor ? this.nearest(this.cursor) : -1;
      store.erase(store.selected.size ? store.selected : new Set(hit >= 0 ? [hit] : []));
    } else if (/^[1-6]$/.test(event.key)) app.choose(+event.key - 1);
    else if (event.key === "Escape") store.selected.clear(), this.release();
    else if (far) app.goTo(far < 0 ? 0 : Infinity);
    else return;
    event.preventDefault();
    app.paint();
  }

  // ------------------------------------------------------------------ what is seen
  draw() {
    drawOn(this.canvas, this.app.colours, (pic) => this.render(pic, mapping(this.store.window, pic.width, pic.height)));
  }
  render(pic, map) {
    const { colours: col } = pic;
    const view = this.view();
    axes(pic, map, this.store.names);
    view?.under?.(pic, map);
    const style = view?.styles?.(map) ?? (() => ({}));
    const groups = new Map(); // points of one class and strength are drawn at once
    const crosses = [];
    this.store.points.forEach((p, i) => {
      const { size = 6, ring, faint, wrong } = style(i);
      const [X, Y] = [map.X(p.x), map.Y(p.y)];
      const key = 2 * p.c + !!faint;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push([X, Y, size]);
      if (ring) pic.circle(X, Y, size + 4.5, { stroke: col.ink, width: 1.8 });
      if (wrong) crosses.push([X - 2.6, Y - 2.6, X + 2.6, Y + 2.6], [X - 2.6, Y + 2.6, X + 2.6, Y - 2.6]);
      if (this.store.selected.has(i)) pic.circle(X, Y, size + 4, { stroke: col.ink, width: 1.5, dash: [3, 2] });
    });
    for (const [key, places] of groups) {
      pic.marks(key >> 1, places, { fill: col.classes[key >> 1], stroke: col.paper, width: 1.2, alpha: key & 1 ? 0.4 : 1 });
    }
    if (crosses.length) pic.segments(crosses, { stroke: col.paper, width: 1.5 });
    view?.over?.(pic, map);
    if (this.lasso) pic.polygon(this.lasso, { stroke: col.ink, dash: [4, 3], width: 1.2, fill: col.tint });
    if (this.cursor) {
      const [X, Y] = this.cursor;
      pic.segments([[X - 12, Y, X - 4, Y], [X + 4, Y, X + 12, Y], [X, Y - 12, X, Y - 4], [X, Y + 4, X, Y + 12]], { stroke: col.ink, width: 2 });
    }
    if (!this.store.points.length) {
      pic.text("Click to draw points of two classes, or choose data above.", pic.width / 2, pic.height / 2, { align: "center", fill: col.soft, size: 14 });
    }
  }
}

function inside(ring, X, Y) {
  let odd = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [[a, b], [c, d]] = [ring[i], ring[j]];
    if (b > Y !== d > Y && X < ((c - a) * (Y - b)) / (d - b) + a) odd = !odd;
  }
  return odd;
}

function axes(pic, map, names) {
  const { colours: col, width, height } = pic;
  const style = { stroke: col.rule, width: 1 };
  const across = ticks(map.x0, map.x1, Math.max(3, width / 110));
  const up = ticks(map.y0, map.y1, Math.max(3, height / 90));
  pic.segments([...across.map(({ value: v }) => [map.X(v), 0, map.X(v), height]), ...up.map(({ value: v }) => [0, map.Y(v), width, map.Y(v)])], { ...style, alpha: 0.7 });
  const label = { size: 11, fill: col.soft };
  for (const { value: v, text } of across) if (map.X(v) > 34 && map.X(v) < width - 24 - 7 * names[0].length) pic.text(text, map.X(v), height - 5, { ...label, align: "center" });
  for (const { value: v, text } of up) if (map.Y(v) > 24 && map.Y(v) < height - 22) pic.text(text, 5, map.Y(v) - 3, label);
  pic.text(names[0], width - 7, height - 6, { ...label, align: "right", weight: 600, size: 12, halo: col.paper });
  pic.text(names[1], 6, 15, { ...label, weight: 600, size: 12, halo: col.paper });
}
