// Views of likelihoods: logistic regression with the surface that it descends, softmax, and least squares beside it.
import { dot, eigenvalues, norm, sigmoid, softplus, sum } from "./numbers.js";
import { CanvasPicture, short } from "./picture.js";
import { drawStart, startControl, startGrips } from "./start.js";
import { VIEWS, choice, drawBoundary, fieldOf, marching, near, slider, vector, verdictWords } from "./views.js";

const now = (pane, name) => pane.answer.frames[name]?.[pane.k];
const scoresOf = (w, X) => X.map((x) => w[0] * x[0] + w[1] * x[1] + w[2]);
/** log(T / (1 - T)): the score at which the probability is T. */
const logit = (t) => Math.log(t / (1 - t));

const ARROWS = 150; // points whose pull is drawn: those of more would hide each other
const MOST_PULL = { log: 1, squared_error: 4 / 27 }; // of (1 − p) p² and p² (1 − p) at p = 2/3 and 1/3

const provedGap = (pane, col) => ({ title: "Proved gap", lines: [{ values: pane.answer.frames.gap, colour: col.classes[1] }], log: true });
const errorsByStep = (pane, col) => ({ title: "Mistakes", lines: [{ values: pane.answer.frames.mistakes, colour: col.soft }], zero: true });

VIEWS.logistic = {
  title: "Logistic regression",
  rule: "P(y = 1 | x) = σ(w·x + b); minimise C Σ loss + ½‖w‖². Arrows: how hard each point pushes the line away.",
  controls: [
    choice("solver", "Method", [["gradient", "Gradient descent"], ["sgd", "Stochastic (SGD)"], ["newton", "Newton"], ["gauss-newton", "Gauss-Newton"]]),
    choice("loss", "Loss", [["log", "Cross-entropy"], ["squared_error", "Squared error"]]),
    choice("C", "Penalty", [[1, "C = 1"], [0.1, "C = 0.1"], [10, "C = 10"], [100, "C = 100"], [null, "none (C = ∞)"]]),
    startControl([["zeros", "w = 0"], ["least_squares", "least squares"]]),
    slider("learning_rate", "Step η", 0.0005, 2, { log: true, auto: true, when: (s) => ["gradient", "sgd"].includes(s.solver) }),
    slider("max_iter", "Steps", 5, 400, { step: 5, when: (s) => s.solver !== "sgd" }),
    slider("threshold", "Threshold T", 0.05, 0.95, { step: 0.05 }),
  ],
  fix: (s) => (s.solver === "gauss-newton" && s.loss === "log" ? { ...s, loss: "squared_error" } : s),
  under(pic, map, pane) {
    const w = now(pane, "weights");
    const field = fieldOf(pane, map, `p${pane.k}`, (empty) => empty.add((x, y) => sigmoid(w[0] * x + w[1] * y + w[2])));
    field.paint(pic, (p) => +(p >= 0.5), (p) => 0.64 * Math.abs(p - 0.5));
    for (const p of [0.1, 0.25, 0.75, 0.9]) drawBoundary(pic, map, w, { tint: false, level: logit(p), width: 1, dash: [2, 4], stroke: pic.colours.soft });
    drawBoundary(pic, map, w, { tint: false, level: logit(pane.answer.settings.threshold) });
  },
  grips: startGrips,
  over(pic, map, pane) {
    drawStart(pic, map, pane.settings);
    const w = now(pane, "weights");
    const [a, b] = [w[0] / map.sx, w[1] / map.sy].map((v, _, both) => v / (norm(both) || 1)); // across the line, in pixels
    const far = 26;
    if (pane.X.length > ARROWS) return;
    pulls(pane).forEach((pull, i) => {
      const [X, Y] = [map.X(pane.X[i][0]), map.Y(pane.X[i][1])];
      const long = (far * pull) / MOST_PULL[pane.answer.settings.loss];
      if (Math.abs(long) > 2) pic.arrow(X, Y, X - long * a, Y + long * b, { stroke: pic.colours.soft, width: 1.2 });
    });
  },
  styles(pane) {
    const w = now(pane, "weights");
    const level = logit(pane.answer.settings.threshold);
    const last = now(pane, "point");
    const f = scoresOf(w, pane.X);
    return (i) => ({ wrong: f[i] >= level !== pane.side[i] > 0, ring: i === last });
  },
  readouts: (pane) => [
    ["(w, b)", vector(now(pane, "weights"))],
    ["Objective", short(now(pane, "objective"), 7)],
    ["Proved gap to the optimum", pane.answer.frames.gap ? short(now(pane, "gap")) : "none: not convex"],
    ["Errors at T", String(pane.X.filter((x, i) => scoresOf(now(pane, "weights"), [x])[0] >= logit(pane.answer.settings.threshold) !== pane.side[i] > 0).length)],
    ["These points", verdictWords(pane)],
  ],
  theorems(pane) {
    const { settings, facts, frames } = pane.answer;
    const found = [];
    if (settings.solver === "gradient" && settings.loss === "log") {
      const L = lipschitz(pane, settings.C);
      const eta = settings.learning_rate ?? 1 / L;
      const falls = frames.objective.every((v, k) => !k || near(v, frames.objective[k - 1]));
      found.push({ text: eta <= (1 / L) * (1 + 1e-9) ? `η = ${short(eta)} ≤ 1/L = ${short(1 / L)}: every step goes down` : `η = ${short(eta)} > 1/L = ${short(1 / L)}: nothing is promised${falls ? "" : ", and it went up"}`, holds: eta > (1 / L) * (1 + 1e-9) || falls });
    }
    if (settings.C === null && settings.loss === "log" && pane.answer.certificate) {
      const [overlap, exists] = [facts.verdict === "overlapping", pane.answer.certificate.kind === "LogisticGap"];
      const text = overlap ? "the classes overlap: the maximum likelihood exists" : "a line has every point on its side or on it: no finite maximum, ‖w‖ grows for ever";
      found.push({ text, holds: overlap === exists });
    }
    return found;
  },
  curves: (pane, col) => [
    { title: "Objective", lines: [{ values: pane.answer.frames.objective, colour: col.ink }] },
    ...(pane.answer.frames.gap ? [provedGap(pane, col)] : []),
    errorsByStep(pane, col),
  ],
  panels: [{ title: "The objective over (w₁, w₂), and the path", height: 230, draw: drawSurface }],
};

/** y − p of the cross-entropy, (y − p) p (1 − p) of the squared error: what each point has in the gradient, times (x, 1). */
function pulls(pane) {
  const slope = pane.answer.settings.loss === "log" ? () => 1 : (f) => sigmoid(f) * sigmoid(-f);
  return scoresOf(now(pane, "weights"), pane.X).map((f, i) => pane.side[i] * sigmoid(-pane.side[i] * f) * slope(f));
}

/** The largest curvature of the objective: λmax(Σ z z') C / 4, z = (x, 1), and 1 of the penalty. */
function lipschitz(pane, C) {
  if (pane.steepest?.answer === pane.answer) return pane.steepest.L;
  const rows = pane.X.map((x) => [...x, 1]);
  const gram = [0, 1, 2].map((i) => [0, 1, 2].map((j) => sum(rows.map((z) => z[i] * z[j]))));
  const top = eigenvalues(gram).at(-1);
  pane.steepest = { answer: pane.answer, L: C === null ? top / 4 : (C * top) / 4 + 1 };
  return pane.steepest.L;
}

/** The objective over two weights, with the third where the path ends: heights as shades and lines, the path on top. */
function drawSurface(pic, pane) {
  const { colours: col, width, height } = pic;
  const { frames, settings } = pane.answer;
  const path = frames.weights;
  const b = path.at(-1)[2];
  const kept = pane.surface?.answer === pane.answer ? pane.surface : (pane.surface = surface(pane, path, b, settings));
  const [left, bottom] = [44, 24];
  const size = [width - left - 8, height - bottom - 8];
  if (kept.made?.col !== col || String(kept.made.size) !== String(size)) kept.made = shaded(kept, col, size);
  const { low, high, canvas, x0, x1, y0, y1 } = kept.made;
  const X = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - 8);
  const Y = (v) => height - bottom - ((v - y0) / (y1 - y0)) * (height - bottom - 8);
  pic.image(canvas, left, 8, ...size);
  const dense = Math.max(1, Math.floor(path.length / 400));
  const seen = path.filter((_, k) => k <= pane.k && (k % dense === 0 || k === pane.k)).map((w) => [X(w[0]), Y(w[1])]);
  const clipped = seen.map(([x, y]) => [Math.max(left, Math.min(width - 8, x)), Math.max(8, Math.min(height - bottom, y))]);
  pic.polyline(clipped, { stroke: col.paper, width: 4 });
  pic.polyline(clipped, { stroke: col.ink, width: 1.8 });
  if (clipped.length < 60) clipped.forEach(([x, y]) => pic.circle(x, y, 2.4, { fill: col.ink }));
  const last = clipped.at(-1);
  if (last) pic.circle(...last, 5, { fill: col.classes[1], stroke: col.paper, width: 1.5 });
  pic.text(`w₁: ${short(x0, 2)} to ${short(x1, 2)}; b = ${short(b, 2)}; F: ${short(low, 3)} to ${short(high, 3)}`, left, height - 7, { size: 10.5, fill: col.soft });
  pic.text("w₂", left - 8, 16, { size: 11, fill: col.soft, align: "right" });
  pic.text(short(y1, 2), left - 8, 32, { size: 10, fill: col.soft, align: "right" });
  pic.text(short(y0, 2), left - 8, height - bottom, { size: 10, fill: col.soft, align: "right" });
}

function surface(pane, path, b, settings) {
  const n = pane.answer.draft ? 22 : 44; // cells across and up
  const reach = (j) => {
    const values = path.map((w) => w[j]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const pad = 0.35 * (high - low) + 0.1 * Math.max(Math.abs(low), Math.abs(high)) + 0.05;
    return [low - pad, high + pad];
  };
  const [[x0, x1], [y0, y1]] = [reach(0), reach(1)];
  const C = settings.C ?? 1;
  const few = Math.ceil(pane.X.length / (pane.answer.draft ? 100 : 400)); // a picture of the surface needs no more
  const rows = pane.X.map((x, i) => [x, pane.side[i]]).filter((_, i) => i % few === 0);
  const loss = settings.loss === "log" ? (m) => softplus(-m) : (m) => sigmoid(-m) ** 2;
  const values = new Float64Array(n * n);
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const [u, v] = [x0 + ((i + 0.5) / n) * (x1 - x0), y1 - ((j + 0.5) / n) * (y1 - y0)];
      let total = settings.C === null ? 0 : (u * u + v * v) / 2;
      for (const [x, y] of rows) total += C * few * loss(y * (u * x[0] + v * x[1] + b));
      values[j * n + i] = total;
    }
  }
  return { answer: pane.answer, values, n, x0, x1, y0, y1 };
}

/** The surface as a picture of this size: shades, and lines of equal height. */
function shaded({ values, n, ...range }, col, size) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const level = (v) => Math.sqrt((v - low) / (high - low || 1));
  const sheet = (width, height) => Object.assign(document.createElement("canvas"), { width, height });
  const small = sheet(n, n);
  const image = small.getContext("2d").createImageData(n, n);
  values.forEach((v, k) => image.data.set([...col.rgb[0], Math.round(25 + 150 * level(v))], 4 * k));
  small.getContext("2d").putImageData(image, 0, 0);
  const canvas = sheet(2 * size[0], 2 * size[1]);
  const pic = new CanvasPicture(canvas.getContext("2d"), canvas.width, canvas.height, col);
  pic.image(small, 0, 0, canvas.width, canvas.height);
  const at = ([i, j]) => [((i + 0.5) / n) * canvas.width, ((j + 0.5) / n) * canvas.height];
  for (let step = 1; step < 10; step++) {
    const lines = marching(values, n, n, low + (step / 10) ** 2 * (high - low));
    pic.segments(lines.map(([p, q]) => [...at(p), ...at(q)]), { stroke: col.soft, width: 1.6, alpha: 0.8 });
  }
  return { low, high, canvas, col, size, ...range };
}

// ---------------------------------------------------------------------- softmax
VIEWS.softmax = {
  title: "Softmax",
  rule: "P(c | x) ∝ exp(w_c·x + b_c). Only differences of weights count: take any class as pivot, and nothing moves.",
  controls: [
    slider("C", "C", 0.01, 100, { log: true }),
    choice("identifiability", "Fit with", [["symmetric", "weights that sum to 0"], ["reference", "the last class at 0"]]),
    choice("pivot", "Show relative to", (pane) => [[-1, "nothing"], ...pane.classes.map((_, a) => [a, `class ${pane.nameOf(a)}`])]),
  ],
  local: ["pivot"],
  under(pic, map, pane) {
    const W = pivoted(pane);
    const field = fieldOf(pane, map, `s${pane.k}`, (empty) => {
      empty.tops = empty.values.map(() => 0);
      const m = empty.xs.length;
      empty.ys.forEach((y, j) =>
        empty.xs.forEach((x, i) => {
          const s = W.map((w) => w[0] * x + w[1] * y + w[2]);
          const top = Math.max(...s);
          const chances = s.map((v) => Math.exp(v - top));
          const whole = sum(chances);
          empty.values[j * m + i] = 1 / whole;
          empty.tops[j * m + i] = s.indexOf(top);
        }),
      );
      return empty;
    });
    const { classes } = pane.answer.model;
    field.paint(pic, (_, k) => classes[field.tops[k]], (p) => 0.42 * (p - 1 / W.length));
    for (let a = 0; a < W.length; a++) {
      for (let c = a + 1; c < W.length; c++) {
        drawBoundary(pic, map, W[a].map((v, j) => v - W[c][j]), { tint: false, width: 1.4, dash: W.length > 2 ? [5, 4] : [] });
      }
    }
  },
  readouts(pane) {
    const W = pivoted(pane);
    return [
      ...W.map((w, a) => [`(w, b) of class ${pane.nameOf(a)}`, vector(w)]),
      ["Objective", short(now(pane, "objective"), 7)],
      ["Errors", String(now(pane, "mistakes"))],
      ["P of point 0", vector(chancesOf(W, pane.X[0]))],
    ];
  },
  theorems(pane) {
    const [plain, moved] = [full(pane), pivoted(pane)].map((W) => chancesOf(W, pane.X[0]));
    return [{ text: "the pivot changes weights, and no probability", holds: norm(plain.map((p, a) => p - moved[a])) < 1e-9 }];
  },
  curves: (pane, col) => [
    { title: "Objective", lines: [{ values: pane.answer.frames.objective, colour: col.ink }] },
    provedGap(pane, col),
    errorsByStep(pane, col),
  ],
};

/** The weights of every class; two classes have one row, of the second against the first. */
const full = (pane) => {
  const w = now(pane, "weights");
  return Array.isArray(w[0]) ? w : [[0, 0, 0], w];
};
function pivoted(pane) {
  const W = full(pane);
  const p = pane.settings.pivot ?? -1;
  return p < 0 || p >= W.length ? W : W.map((w) => w.map((v, j) => v - W[p][j]));
}
function chancesOf(W, x) {
  const s = W.map((w) => dot(w, [x[0], x[1], 1]));
  const top = Math.max(...s);
  const e = s.map((v) => Math.exp(v - top));
  return e.map((v) => v / sum(e));
}

// ---------------------------------------------------------------------- least squares
VIEWS.least_squares = {
  title: "Least squares",
  rule: "min Σ (yᵢ − w·xᵢ − b)², drawn with logistic regression (dashed). Drag a point far away on its own side.",
  controls: [],
  under(pic, map, pane) {
    drawBoundary(pic, map, squares(pane));
    drawBoundary(pic, map, pane.answer.facts.logistic, { tint: false, dash: [7, 5], stroke: pic.colours.classes[3] });
  },
  styles(pane) {
    const f = scoresOf(squares(pane), pane.X);
    const most = Math.max(1e-12, ...f.map((v, i) => (pane.side[i] - v) ** 2));
    return (i) => ({ size: 4.5 + 8 * Math.sqrt((pane.side[i] - f[i]) ** 2 / most) * 0.9, wrong: f[i] >= 0 !== pane.side[i] > 0 });
  },
  readouts(pane) {
    const [f, g] = [squares(pane), pane.answer.facts.logistic].map((w) => scoresOf(w, pane.X));
    const errors = (scores) => String(scores.filter((v, i) => v >= 0 !== pane.side[i] > 0).length);
    const heaviest = f.map((v, i) => (pane.side[i] - v) ** 2);
    const i = heaviest.indexOf(Math.max(...heaviest));
    return [
      ["Least squares (solid)", vector(squares(pane))],
      ["Logistic regression (dashed)", vector(pane.answer.facts.logistic)],
      ["Errors: least squares, logistic", `${errors(f)}, ${errors(g)}`],
      ["Heaviest point", `${i}: ${short((100 * heaviest[i]) / sum(heaviest), 3)} % of the sum${(pane.side[i] > 0) === f[i] > 0 ? ", though it is on its side" : ""}`],
    ];
  },
};
const squares = (pane) => [...pane.answer.model.coef[0], pane.answer.model.intercept[0]];
