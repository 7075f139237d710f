// Views of margins: the soft one of SVC, the hard one or the proof that there is none, and the plane lifted into space.
import { fraction, times, plus, toNumber, ZERO } from "./exact.js";
import { dot, kernelFunction, norm, readCertificate, sum } from "./numbers.js";
import { short } from "./picture.js";
import { VIEWS, choice, drawBoundary, fieldOf, foot, kernels, lineIn, near, score, slider, vector, verdictWords } from "./views.js";

const linear = (pane) => pane.answer.model?.coef && [...pane.answer.model.coef[0].slice(0, 2), pane.answer.model.intercept[0]];
const supports = (pane) => new Set(pane.answer.model?.support ?? []);

/** f of the answer's machine, and y f at every point, computed once for each answer. */
function machine(pane) {
  if (pane.machine?.answer === pane.answer) return pane.machine;
  const { model, settings } = pane.answer;
  const k = kernelFunction({ kernel: settings.kernel ?? "linear", gamma: settings.gamma, degree: settings.degree, coef0: settings.coef0 });
  const [coef, b] = [model.dual_coef[0], model.intercept[0]];
  const held = model.support.map((i) => pane.X[i]);
  const f = (x) => held.reduce((total, z, j) => total + coef[j] * k(z, x)[0], b);
  const alpha = new Float64Array(pane.X.length);
  model.support.forEach((i, j) => (alpha[i] = Math.abs(coef[j])));
  return (pane.machine = { answer: pane.answer, f, alpha, margins: pane.X.map((x, i) => pane.side[i] * f(x)) });
}

/** w = Σ α y x of the answer's machine, in the plane. */
function summedWeights(pane) {
  const { alpha } = machine(pane);
  const total = [0, 1].map((j) => sum(pane.X.map((x, i) => alpha[i] * pane.side[i] * x[j])));
  const w = linear(pane).slice(0, 2);
  const size = sum(pane.X.map((x, i) => alpha[i] * norm(x)));
  return { text: `w = Σ α y x = ${vector(total)}`, holds: norm(total.map((v, j) => v - w[j])) <= 1e-6 * (norm(w) + size) };
}

/** (γ x·z + c)² = φ(x)·φ(z): the machine is linear on φ, with w = Σ α y φ(x). */
function linearOnMap(pane) {
  const { gamma: g, coef0: c } = pane.answer.settings;
  const phi = ([a, b]) => [g * a * a, g * b * b, Math.SQRT2 * g * a * b, ...[a, b].map((v) => Math.sqrt(2 * g * c) * v), c];
  const { alpha, margins } = machine(pane);
  const mapped = pane.X.map(phi);
  const w = phi([0, 0]).map((_, j) => sum(mapped.map((z, i) => alpha[i] * pane.side[i] * z[j])));
  const reach = sum(mapped.map((z, i) => alpha[i] * norm(z)));
  const off = Math.max(...mapped.map((z, i) => Math.abs(pane.side[i] * (dot(w, z) + pane.answer.model.intercept[0]) - margins[i]) / (1 + reach * norm(z))));
  return { text: "kernel = linear on the map: f(x) = w·φ(x) + b with φ(x) = (x₁², x₂², √2 x₁x₂, x₁, x₂, 1), scaled", holds: off <= 1e-9 };
}

function drawStreet(pic, map, w) {
  drawBoundary(pic, map, w);
  for (const level of [-1, 1]) {
    const ends = lineIn(map, w, level);
    if (ends) pic.polyline(ends, { stroke: pic.colours.ink, width: 1.3, dash: [6, 4] });
  }
}

VIEWS.svc = {
  title: "SVC",
  rule: "min ½‖w‖² + C Σ ξᵢ with yᵢ f(xᵢ) ≥ 1 − ξᵢ, ξᵢ ≥ 0. Points with α > 0 are ringed; drag one and see the boundary follow.",
  controls: [slider("C", "C", 0.01, 1000, { log: true }), ...kernels],
  under(pic, map, pane) {
    const w = linear(pane);
    if (w) {
      drawStreet(pic, map, w);
      const pieces = pane.X.map((x, i) => [{ x: x[0], y: x[1] }, pane.side[i]])
        .filter(([p, y]) => y * score(w, p) < 1 - 1e-6)
        .map(([p, y]) => [p, foot(w, p, y)]);
      pic.segments(pieces.map(([p, q]) => [map.X(p.x), map.Y(p.y), map.X(q.x), map.Y(q.y)]), { stroke: pic.colours.classes[3], width: 1.6 });
      return;
    }
    const field = fieldOf(pane, map, "svc", (empty) => {
      const { model, settings } = pane.answer;
      model.support.forEach((i, j) => empty.addKernel(settings, pane.X[i], model.dual_coef[0][j], 0));
      return empty.add(() => model.intercept[0]);
    });
    field.paint(pic, (v) => +(v >= 0), (v) => 0.05 + 0.2 * Math.min(1, Math.abs(v) / 1.5));
    for (const level of [-1, 1]) pic.segments(field.contour(level), { stroke: pic.colours.ink, width: 1.2, alpha: 0.6 });
    pic.segments(field.contour(0), { stroke: pic.colours.ink, width: 2.4 });
  },
  styles(pane) {
    const [held, { margins }] = [supports(pane), machine(pane)];
    return (i) => ({ ring: held.has(i), wrong: margins[i] < 0, size: 5.5 });
  },
  readouts(pane) {
    const { alpha, margins } = machine(pane);
    const C = pane.answer.settings.C;
    const full = alpha.filter((a) => a >= C * (1 - 1e-6)).length;
    const held = alpha.filter((a) => a > 0).length;
    const w = linear(pane);
    return [
      ["α = 0, between, α = C", `${alpha.length - held}, ${held - full}, ${full} points`],
      ["With ξ > 0", `${margins.filter((m) => m < 1 - 1e-6).length} points, Σ ξ = ${short(margins.reduce((s, m) => s + Math.max(0, 1 - m), 0))}`],
      ["Errors", String(margins.filter((m) => m <= 0).length)],
      ...(w ? [["Margin 1/‖w‖", short(1 / norm(w.slice(0, 2)))]] : []),
    ];
  },
  theorems(pane) {
    const { alpha, margins } = machine(pane);
    const C = pane.answer.settings.C;
    const off = 1e-3;
    const wrong = margins.filter((m, i) => (alpha[i] <= 0 && m < 1 - off) || (alpha[i] > 0 && alpha[i] < C * (1 - 1e-6) && Math.abs(m - 1) > off) || (alpha[i] >= C * (1 - 1e-6) && m > 1 + off)).length;
    const c = pane.answer.certificate;
    const { kernel, degree } = pane.answer.settings;
    return [
      ...(linear(pane) ? [summedWeights(pane)] : []),
      ...(kernel === "poly" && degree === 2 ? [linearOnMap(pane)] : []),
      { text: `KKT: ${margins.length - wrong} of ${margins.length} points lie on the path α = 0, y f = 1, α = C`, holds: wrong === 0 },
      ...(c ? [{ text: `strong duality: primal ${short(c.primal, 8)}, dual ${short(c.dual, 8)}`, holds: c.primal - c.dual <= c.tol * Math.abs(c.primal) }] : []),
    ];
  },
  panels: [{ title: "KKT by point: α over y f(x)", height: 190, draw: drawKkt }],
};

/** Every point at (y f, alpha): the optimum puts all on the path along alpha = 0, up y f = 1, along alpha = C. */
function drawKkt(pic, pane) {
  const { colours: col, width, height } = pic;
  const { alpha, margins } = machine(pane);
  const C = pane.answer.settings.C;
  const [low, high] = [Math.max(-4, Math.min(-0.5, ...margins)), Math.min(5, Math.max(2, ...margins))];
  const X = (m) => 44 + ((width - 58) * (Math.max(low, Math.min(high, m)) - low)) / (high - low);
  const Y = (a) => height - 30 - ((height - 50) * a) / C;
  pic.polyline([[X(low), Y(C)], [X(1), Y(C)], [X(1), Y(0)], [X(high), Y(0)]], { stroke: col.rule, width: 7 });
  pic.text("C", 36, Y(C), { size: 11, fill: col.soft, align: "right", base: "middle" });
  pic.text("0", 36, Y(0), { size: 11, fill: col.soft, align: "right", base: "middle" });
  for (const m of [0, 1]) pic.text(String(m), X(m), height - 12, { size: 11, fill: col.soft, align: "center" });
  pic.text("y f(x)", width - 12, height - 12, { size: 11, fill: col.soft, align: "right" });
  margins.forEach((m, i) => pic.mark(pane.y[i], X(m), Y(alpha[i]), 3.6, { fill: col.classes[pane.y[i]], stroke: col.panel, width: 0.8 }));
}

// ---------------------------------------------------------------------- hard margin
/** Of a proof that no line exists: the weights as floats, and the common mean of the two sides, computed exactly. */
export function commonPoint(pane) {
  if (pane.common?.answer === pane.answer) return pane.common;
  const c = readCertificate(pane.answer.certificate);
  const lambda = c.weights.map(fraction);
  c.exact_at.forEach((i, at) => (lambda[i] = fraction(c.exact_weights[at])));
  const mean = (side) => {
    const at = lambda.map((_, i) => i).filter((i) => pane.side[i] === side);
    const total = at.map((i) => lambda[i]).reduce(plus, ZERO);
    return pane.X[0].map((_, j) => toNumber(at.map((i) => times(lambda[i], fraction(pane.X[i][j]))).reduce(plus, ZERO)) / toNumber(total));
  };
  const floats = lambda.map(toNumber);
  const most = Math.max(...floats);
  return (pane.common = { answer: pane.answer, share: floats.map((v) => v / most), means: [mean(-1), mean(1)], exact: c.exact });
}

function drawCombination(pic, map, pane) {
  const { share, means } = commonPoint(pane);
  const col = pic.colours;
  const [X, Y] = [map.X(means[1][0]), map.Y(means[1][1])];
  pane.X.forEach((x, i) => {
    if (share[i] < 0.02) return;
    pic.line(X, Y, map.X(x[0]), map.Y(x[1]), { stroke: col.classes[pane.y[i]], width: 1 + 2.5 * share[i], alpha: 0.35 + 0.5 * share[i] });
  });
  pic.circle(X, Y, 8, { stroke: col.ink, width: 2.4, fill: col.paper });
  pic.circle(X, Y, 2.6, { fill: col.ink });
  pic.text("both means", X, Y - 20, { weight: 600, halo: col.paper, size: 13, align: "center" });
}

/** min ½‖w‖² = max Σ α − ½‖Σ α y x‖², and α > 0 only where y f(x) = 1. */
function duality(pane, w) {
  const { alpha, margins } = machine(pane);
  const [half, total] = [dot(w.slice(0, 2), w.slice(0, 2)) / 2, sum(alpha)];
  const slack = sum(margins.map((m, i) => alpha[i] * Math.abs(m - 1)));
  return [
    { text: `strong duality: ½‖w‖² = Σ α − ½‖w‖²: ${short(half, 6)} = ${short(total - half, 6)}`, holds: Math.abs(2 * half - total) <= 1e-3 * half },
    { text: `KKT: α (y f(x) − 1) = 0 for every point, up to ${short(slack, 2)}`, holds: slack <= 1e-3 * half },
  ];
}

VIEWS.hard_margin = {
  title: "Hard margin",
  rule: "min ½‖w‖² with yᵢ (w·xᵢ + b) ≥ 1 for every point: the widest street. Or the proof that there is none.",
  controls: [],
  under(pic, map, pane) {
    if (linear(pane)) drawStreet(pic, map, linear(pane));
  },
  over(pic, map, pane) {
    if (!pane.answer.model && pane.answer.certificate?.kind === "Inseparable") drawCombination(pic, map, pane);
  },
  styles(pane) {
    const held = supports(pane);
    const share = pane.answer.model ? null : commonPoint(pane).share;
    return (i) => (share ? { size: 4.5 + 5 * share[i] } : { ring: held.has(i) });
  },
  readouts(pane) {
    const w = linear(pane);
    if (w) {
      return [
        ["(w, b)", vector(w)],
        ["Margin 1/‖w‖", short(1 / norm(w.slice(0, 2)), 6)],
        ["Support vectors", String(pane.answer.model.support.length)],
      ];
    }
    const { means } = commonPoint(pane);
    return [
      ["Weighted mean of class +1", vector(means[1])],
      ["Weighted mean of class −1", vector(means[0])],
      ["These points", verdictWords(pane)],
    ];
  },
  theorems(pane) {
    const w = linear(pane);
    if (!w) {
      const { means, exact } = commonPoint(pane);
      return [{ text: "Σ λ y (x, 1) = 0 with λ ≥ 0: no w has every y w·(x, 1) > 0" + (exact ? ", exactly" : ""), holds: norm(means[0].map((v, j) => v - means[1][j])) < 1e-9 * (1 + norm(means[0])) }];
    }
    const c = pane.answer.certificate;
    const margin = 1 / norm(w.slice(0, 2));
    return [
      { text: `margin = 1/‖w‖: ${short(c.lower, 6)} ≤ ${short(margin, 6)} ≤ ${short(c.upper, 6)}`, holds: Math.abs(margin - c.lower) < 1e-3 * margin },
      summedWeights(pane),
      ...duality(pane, w),
      { text: "every point has y (w·x + b) ≥ 1", holds: pane.X.every((x, i) => pane.side[i] * score(w, { x: x[0], y: x[1] }) > 1 - 1e-3) },
    ];
  },
};

// ---------------------------------------------------------------------- the lift
const HEIGHTS = { paraboloid: (x, y) => x * x + y * y, product: (x, y) => x * y };

VIEWS.lift = {
  title: "Feature map",
  rule: "φ(x) = (x₁, x₂, m(x)): a plane in space separates the lifted points, and its cut is a curve below.",
  controls: [choice("map", "m(x)", [["paraboloid", "x₁² + x₂²"], ["product", "x₁ x₂"]])],
  under(pic, map, pane) {
    const { model, settings } = pane.answer;
    if (!model) return;
    const [w, b, m] = [model.coef[0], model.intercept[0], HEIGHTS[settings.map]];
    const field = fieldOf(pane, map, "lift", (empty) => empty.add((x, y) => w[0] * x + w[1] * y + w[2] * m(x, y) + b));
    field.paint(pic, (v) => +(v >= 0), () => 0.12);
    for (const level of [-1, 1]) pic.segments(field.contour(level), { stroke: pic.colours.ink, width: 1.2, alpha: 0.6 });
    pic.segments(field.contour(0), { stroke: pic.colours.ink, width: 2.4 });
  },
  styles(pane) {
    const held = new Set(pane.answer.model?.support ?? []);
    return (i) => ({ ring: held.has(i) });
  },
  readouts: (pane) => [
    ["In the plane", verdictWords(pane)],
    ["In space", pane.answer.model ? "a plane separates the lifted points" : "no plane separates even the lifted points"],
    ...(pane.answer.model ? [["(w₁, w₂, w₃, b)", vector([...pane.answer.model.coef[0], pane.answer.model.intercept[0]])]] : []),
  ],
  panels: [{ title: "The lifted points: drag to turn", height: 260, draw: drawSpace, turn: true }],
};

function drawSpace(pic, pane) {
  const { colours: col, width, height } = pic;
  const { model, settings } = pane.answer;
  const m = HEIGHTS[settings.map];
  const span = (j) => [Math.min(...pane.X.map((x) => x[j])), Math.max(...pane.X.map((x) => x[j]))];
  const [[x0, x1], [y0, y1]] = [span(0), span(1)];
  const lifted = pane.X.map(([x, y]) => m(x, y));
  const [z0, z1] = [Math.min(0, ...lifted), Math.max(...lifted)];
  const { turn = 0.6, tilt = 0.45 } = pane.pose ?? {};
  const unit = (v, a, b) => (2 * (v - a)) / (b - a || 1) - 1;
  const size = Math.min(width, height * 1.25) * 0.3;
  const place = (x, y, z) => {
    const [u, v, h] = [unit(x, x0, x1), unit(y, y0, y1), unit(z, z0, z1)];
    const [a, b] = [u * Math.cos(turn) - v * Math.sin(turn), u * Math.sin(turn) + v * Math.cos(turn)];
    return [width / 2 + size * a, height / 2 + 8 + size * (b * Math.sin(tilt) - h * Math.cos(tilt) * 0.9)];
  };
  const grid = Array.from({ length: 9 }, (_, i) => i / 8);
  const roof = (x, y) => Math.min(m(x, y), z1);
  const at = (s, a, b) => a + s * (b - a);
  for (const s of grid) {
    pic.polyline(grid.map((t) => place(at(s, x0, x1), at(t, y0, y1), roof(at(s, x0, x1), at(t, y0, y1)))), { stroke: col.rule, width: 1 });
    pic.polyline(grid.map((t) => place(at(t, x0, x1), at(s, y0, y1), roof(at(t, x0, x1), at(s, y0, y1)))), { stroke: col.rule, width: 1 });
  }
  if (model && model.coef[0][2]) {
    const [w, b] = [model.coef[0], model.intercept[0]];
    const level = (x, y) => Math.max(z0 - 0.2 * (z1 - z0), Math.min(z1 + 0.2 * (z1 - z0), -(w[0] * x + w[1] * y + b) / w[2]));
    pic.polygon([[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(([x, y]) => place(x, y, level(x, y))), { fill: col.classes[2], alpha: 0.28, stroke: col.classes[2], width: 1.5 });
  }
  pane.X.forEach(([x, y], i) => {
    const [base, top] = [place(x, y, z0), place(x, y, lifted[i])];
    pic.line(...base, ...top, { stroke: col.classes[pane.y[i]], width: 1, alpha: 0.35 });
    pic.mark(pane.y[i], ...top, 4.2, { fill: col.classes[pane.y[i]], stroke: col.panel, width: 1 });
  });
}
