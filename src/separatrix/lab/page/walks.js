// Views of algorithms that walk: Perceptron, pocket, Kozinec, kernel perceptron.
import { dot, norm } from "./numbers.js";
import { short } from "./picture.js";
import { drawStart, startControl, startGrips } from "./start.js";
import { Field, VIEWS, choice, drawBoundary, kernels, near, slider, toggle, vector, verdictWords } from "./views.js";

const frame = (pane, name) => pane.answer.frames[name]?.[pane.k];

/** alpha after the frame's step: how often each point was used. */
function counts(pane) {
  const step = frame(pane, "step");
  const { walked } = pane.answer.frames;
  if (pane.counted?.step === step && pane.counted.answer === pane.answer) return pane.counted;
  const before = pane.counted?.answer === pane.answer && pane.counted.step < step ? pane.counted : null;
  const alpha = before?.alpha ?? new Float64Array(pane.X.length);
  for (let t = before ? before.step + 1 : 0; t <= step; t++) if (walked[t] >= 0) alpha[walked[t]] += 1;
  return (pane.counted = { step, alpha, answer: pane.answer });
}

const lastPoint = (pane) => frame(pane, "point");
const fromZero = (frames) => frames.weights[0].every((v) => v === 0);
/** What bounds the mistakes of a walk, by where it starts. */
const boundOf = (frames) => (fromZero(frames) ? "R²/γ²" : "R²/γ² + 2‖w₀‖/(ηγ)");
const rise = (pane, alpha) => (i) => ({ size: 5.5 + Math.min(9, 2 * Math.sqrt(alpha[i])) });

VIEWS.perceptron = {
  title: "Perceptron",
  rule: "At a mistake, y w·(x, 1) ≤ 0:  w ← w + η y (x, 1). It ends when no point is a mistake.",
  controls: [
    choice("update", "Rule", [["online", "Online: in turn"], ["batch", "Batch: all mistakes"], ["worst", "The worst mistake"]]),
    slider("eta0", "Step η", 0.05, 5, { log: true }),
    startControl([["zeros", "w = 0"], ["ones", "w = 1"], ["first", "w = y₀ (x₀, 1)"]]),
    choice("boundary", "A score of 0", [["mistake", "is a mistake"], ["positive", "predicts +1"], ["correct", "is correct"]]),
    toggle("shuffle", "Random order", (s) => s.update === "online"),
    slider("random_state", "Order no.", 0, 50, { step: 1, when: (s) => s.shuffle && s.update === "online" }),
  ],
  under: (pic, map, pane) => drawBoundary(pic, map, frame(pane, "weights"), { arrow: true }),
  over: (pic, map, pane) => drawStart(pic, map, pane.settings),
  grips: startGrips,
  styles(pane) {
    const [w, last] = [frame(pane, "weights"), lastPoint(pane)];
    const { update, boundary } = pane.answer.settings;
    const fine = (y) => boundary === "correct" || (boundary === "positive" && y > 0); // a score of 0
    const online = update !== "batch";
    const grown = online ? rise(pane, counts(pane).alpha) : () => ({});
    return (i) => {
      const side = pane.side[i] * (w[0] * pane.X[i][0] + w[1] * pane.X[i][1] + w[2]);
      return { ...grown(i), wrong: side < 0 || (side === 0 && !fine(pane.side[i])), ring: i === last };
    };
  },
  readouts(pane) {
    const { facts, frames } = pane.answer;
    const { walked } = frames;
    const upTo = walked.slice(1, frame(pane, "step") + 1).filter((i) => i >= 0);
    const misses = upTo.filter((i) => pane.side[i] > 0).length;
    const online = pane.answer.settings.update !== "batch";
    return [
      ["Weights (w, b)", vector(frame(pane, "weights"))],
      ["Mistakes so far", `${frame(pane, "mistakes")}${facts.bound ? ` of at most ${boundOf(frames)} = ${short(facts.bound)}` : ""}`],
      ...(online ? [["False negatives, false positives", `${misses}, ${upTo.length - misses}`]] : []),
      ["Nearest point", short(frame(pane, "margin"))],
      ["These points", verdictWords(pane)],
    ];
  },
  theorems(pane) {
    const { facts, frames } = pane.answer;
    const { eta0, update } = pane.answer.settings;
    if (update === "batch") return [];
    const found = [summed(pane, frames, eta0), ...gained(pane, eta0)];
    if (!facts.best) return found;
    const [w, l] = [frame(pane, "weights").map((v) => v / eta0), frame(pane, "mistakes")];
    const end = { text: `so l ≤ ${boundOf(frames)}: ${l} ≤ ${short(facts.bound)}`, holds: near(l, facts.bound) };
    if (!fromZero(frames)) return [...found, end];
    const along = w.reduce((total, v, j) => total + v * facts.best[j], 0);
    const [low, high, length] = [l * facts.margin, facts.radius * Math.sqrt(l), norm(w)];
    return [
      ...found,
      { text: `l γ ≤ w*·w/η: ${short(low)} ≤ ${short(along)}`, holds: near(low, along) },
      { text: `w*·w/η ≤ ‖w‖/η: ${short(along)} ≤ ${short(length)}`, holds: near(along, length) },
      { text: `‖w‖/η ≤ R √l: ${short(length)} ≤ ${short(high)}`, holds: near(length, high) },
      end,
    ];
  },
  curves: (pane, col) => {
    const { facts, frames, settings } = pane.answer;
    const three = facts.best && fromZero(frames);
    const along = three && frames.weights.map((w) => w.reduce((total, v, j) => total + (v * facts.best[j]) / settings.eta0, 0));
    return [
      { title: "Risk Σ max(0, −y w·x)", lines: [{ values: frames.objective, colour: col.ink }], zero: true },
      three
        ? {
            title: "The three lines",
            lines: [
              { values: frames.mistakes.map((l) => l * facts.margin), colour: col.classes[0], name: "l γ", dash: [6, 3] },
              { values: along, colour: col.ink, name: "w*·w" },
              { values: frames.mistakes.map((l) => facts.radius * Math.sqrt(l)), colour: col.classes[1], name: "R √l", dash: [2, 3] },
            ],
          }
        : { title: "Mistakes so far", lines: [{ values: frames.mistakes, colour: col.ink }], zero: true },
    ];
  },
};

/** y w·z + η‖z‖² of the point of the last step, z = (x, 1): by so much its score grew. */
function gained(pane, eta) {
  const { weights, step } = pane.answer.frames;
  const i = lastPoint(pane);
  if (!(i >= 0) || step[pane.k] !== step[pane.k - 1] + 1) return [];
  const z = [...pane.X[i], 1];
  const scored = (w) => pane.side[i] * dot(w, z);
  const [before, after, more] = [scored(weights[pane.k - 1]), scored(weights[pane.k]), eta * dot(z, z)];
  const size = norm(z) * (norm(weights[pane.k]) + norm(weights[pane.k - 1]));
  return [{ text: `y w·(x, 1) + η‖(x, 1)‖²: ${short(before)} + ${short(more)} = ${short(after)}`, holds: Math.abs(before + more - after) <= 1e-12 * size }];
}

/** w = w₀ + η Σ α y (x, 1), from the counts of the points. */
function summed(pane, frames, eta) {
  const total = [0, 0, 0];
  counts(pane).alpha.forEach((a, i) => [...pane.X[i], 1].forEach((v, j) => (total[j] += a * pane.side[i] * v)));
  const now = frame(pane, "weights").map((v, j) => (v - frames.weights[0][j]) / eta);
  const size = Math.max(1, norm(now), norm(total));
  return { text: `w = w₀ + η Σ α y (x, 1) = ${vector(frame(pane, "weights"))}`, holds: norm(now.map((v, j) => v - total[j])) < 1e-9 * size };
}

VIEWS.pocket = {
  title: "Pocket",
  rule: "The perceptron walks on for ever; the weights with the fewest errors so far stay in the pocket.",
  controls: [
    toggle("shuffle", "Random draws"),
    slider("random_state", "Order no.", 0, 50, { step: 1, when: (s) => s.shuffle }),
    slider("max_iter", "Passes", 1, 40, { step: 1 }),
  ],
  under(pic, map, pane) {
    drawBoundary(pic, map, frame(pane, "pocket"), { width: 2.6 });
    drawBoundary(pic, map, frame(pane, "weights"), { tint: false, dash: [5, 5], width: 1.6, stroke: pic.colours.soft });
  },
  styles(pane) {
    const w = frame(pane, "pocket");
    return (i) => ({ ring: i === lastPoint(pane), wrong: w[0] * pane.X[i][0] + w[1] * pane.X[i][1] + w[2] >= 0 !== pane.side[i] > 0 });
  },
  readouts: (pane) => [
    ["In the pocket (solid line)", vector(frame(pane, "pocket"))],
    ["The walk (dashed line)", vector(frame(pane, "weights"))],
    ["Errors of the pocket", String(frame(pane, "errors"))],
    ["Updates so far", String(frame(pane, "mistakes"))],
    ["These points", verdictWords(pane)],
  ],
  curves: (pane, col) => [
    { title: "Errors of the pocket", lines: [{ values: pane.answer.frames.errors, colour: col.ink }], zero: true },
    { title: "Risk of the walk", lines: [{ values: pane.answer.frames.objective, colour: col.soft }], zero: true },
  ],
};

VIEWS.kozinec = {
  title: "Kozinec",
  rule: "w is a point of the hull of z = y (x, 1). Each step goes toward the worst z; ‖w‖ and min z·w/‖w‖ bracket the margin.",
  controls: [
    choice("rule", "Step", [["plain", "Segment (Kozinec)"], ["wolfe", "Hull of a set (Wolfe)"]]),
    slider("epsilon", "Bracket ε", 0.001, 0.5, { log: true }),
    slider("max_iter", "Steps", 10, 400, { step: 10 }),
  ],
  under: (pic, map, pane) => drawBoundary(pic, map, frame(pane, "weights"), { arrow: true }),
  styles: (pane) => (i) => ({ ring: i === lastPoint(pane) }),
  readouts: (pane) => [
    ["w", vector(frame(pane, "weights"))],
    ["Best margin, from", short(Math.max(0, frame(pane, "margin")))],
    ["to", short(frame(pane, "objective"))],
    ["On the wrong side", String(frame(pane, "mistakes"))],
    ["These points", verdictWords(pane)],
  ],
  theorems: (pane) => [{ text: `min z·w/‖w‖ ≤ γ ≤ ‖w‖: ${short(frame(pane, "margin"))} ≤ ${short(frame(pane, "objective"))}`, holds: near(frame(pane, "margin"), frame(pane, "objective")) }],
  curves: (pane, col) => [
    {
      title: "The bracket",
      lines: [
        { values: pane.answer.frames.objective, colour: col.classes[1], name: "‖w‖" },
        { values: pane.answer.frames.margin.map((v) => Math.max(0, v)), colour: col.classes[0], name: "min z·w/‖w‖", dash: [6, 3] },
      ],
      zero: true,
    },
  ],
  panels: [{ title: "The segment step, in the plane of w and the worst z", height: 190, draw: drawSegment }],
};

/** In the plane that w and z span, with w upward: the segment from w to z, and its point nearest to the origin. */
function drawSegment(pic, pane) {
  const { colours: col, width, height } = pic;
  const { frames, settings } = pane.answer;
  const k = Math.min(pane.k, frames.step.length - 1);
  const i = frames.point[k];
  const w = frames.weights[k];
  const z = [...pane.X[i], 1].map((v) => v * pane.side[i]);
  const inner = (a, b) => a.reduce((total, v, j) => total + v * b[j], 0);
  const size = norm(w);
  if (!(size > 0)) return pic.text("w is the origin: no margin.", 16, 40, { fill: col.soft });
  const up = inner(z, w) / size;
  const across = Math.sqrt(Math.max(0, inner(z, z) - up * up));
  const places = [[0, 0], [0, size], [across, up]];
  const [low, high] = [Math.min(0, up), Math.max(size, up)];
  const whole = Math.min((width - 130) / (across || 1), (height - 60) / (high - low || 1));
  const scale = Math.max(whole, (height - 60) / (2.4 * size)); // w is seen, and z may be beyond the edge
  const base = Math.min(low, 0) * scale > -(height - 60) ? low : 0;
  const at = ([x, y]) => [46 + x * scale, height - 26 - (y - base) * scale];
  const [origin, W] = places.map(at);
  const reach = Math.min(1, (width - 130) / (across * scale || 1));
  const Z = at([reach * across, size + reach * (up - size)]);
  pic.line(...origin, ...W, { stroke: col.soft, width: 1.4 });
  pic.line(...W, ...Z, { stroke: col.ink, width: 2 });
  const k2 = Math.max(0, Math.min(1, (size * size - size * up) / (size * size - 2 * size * up + inner(z, z))));
  if (settings.rule === "plain" && k + 1 < frames.step.length) {
    const foot = at([k2 * across, (1 - k2) * size + k2 * up]);
    pic.line(...origin, ...foot, { stroke: col.classes[1], width: 2, dash: [4, 3] });
    pic.circle(...foot, 5, { fill: col.classes[1] });
    pic.text("next w", foot[0] + 9, foot[1] - 5, { size: 12, halo: col.panel });
  }
  for (const [place, name] of [[origin, "0"], [W, "w"], [Z, `${reach < 1 ? "to " : ""}z of point ${i}`]]) {
    if (place !== Z || reach === 1) pic.circle(...place, 4, { fill: col.ink });
    const rightward = place[0] > width - 110;
    pic.text(name, place[0] + (rightward ? -8 : 8), place[1] + (place === Z ? -8 : 14), { size: 12, halo: col.panel, align: rightward ? "right" : "left" });
  }
}

VIEWS.kernel_perceptron = {
  title: "Kernel perceptron",
  rule: "At a mistake, y f(x) ≤ 0:  αᵢ ← αᵢ + 1, where f(x) = Σ αⱼ yⱼ (k(xⱼ, x) + 1).",
  controls: [...kernels, slider("max_iter", "Passes", 1, 100, { step: 1 })],
  under(pic, map, pane) {
    const field = scores(pane, map);
    const { most } = field;
    field.paint(pic, (v) => +(v >= 0), (v) => 0.06 + (0.3 * Math.abs(v)) / most);
    pic.segments(field.contour(0), { stroke: pic.colours.ink, width: 2.2 });
  },
  styles(pane) {
    const { alpha } = counts(pane);
    const grown = rise(pane, alpha);
    return (i) => ({ ...grown(i), faint: !alpha[i], ring: i === lastPoint(pane) });
  },
  readouts: (pane) => [
    ["Mistakes so far", String(frame(pane, "mistakes"))],
    ["Points with α > 0", String(counts(pane).alpha.filter((a) => a > 0).length)],
    ["Largest α", String(Math.max(...counts(pane).alpha))],
    ["Risk", short(frame(pane, "objective"))],
  ],
  theorems: ({ answer: { facts } }) =>
    "same_walk" in facts ? [{ text: `kernel = linear on the map: the perceptron on ${facts.map} makes ${facts.same_walk ? "the same mistakes, one by one" : "other mistakes"}`, holds: facts.same_walk }] : [],
  curves: (pane, col) => [
    { title: "Risk Σ max(0, −y f(x))", lines: [{ values: pane.answer.frames.objective, colour: col.ink }], zero: true },
    { title: "Mistakes so far", lines: [{ values: pane.answer.frames.mistakes, colour: col.soft }], zero: true },
  ],
};

/** f on the plane: from the last frame drawn only the kernels that were added or taken away. */
function scores(pane, map) {
  const { alpha } = counts(pane);
  const key = [map.x0, map.x1, map.y0, map.y1].join();
  const kept = pane.scores;
  if (!kept || kept.key !== key || kept.answer !== pane.answer) {
    pane.scores = { key, answer: pane.answer, field: new Field(map), alpha: new Float64Array(alpha.length) };
  }
  const { field, alpha: before } = pane.scores;
  alpha.forEach((a, i) => {
    if (a !== before[i]) field.addKernel(pane.answer.settings, pane.X[i], (a - before[i]) * pane.side[i], 1);
    before[i] = a;
  });
  field.map = map;
  return field;
}
