// Claims about an optimum: both sides of a duality gap.
import { affine, centreOf, centredRows, check, dot, finite, inverse, kernelFunction, longDot, momentAbout, need, norm, place, sigmoid, softplus, sum } from "./numbers.js";

const ALLOWED = 0.1; // of tol: what rounding may take, as in the library
const DOUBT = 2e-13; // relative: above the rounding of these sums, far below any claim
const EPS = 2 ** -52;
const LONG = 50000; // kernel values that are computed with more digits: it takes some ten times as long

const scaleOf = (c) => Math.max(Math.abs(c.primal), 2.3e-308);

export function hingeGap(c, X, codes) {
  const k = c.classes.length;
  need(place(c.positive, k) && (c.negative === null || (place(c.negative, k) && c.negative !== c.positive)), "positive");
  need(["hinge", "squared_hinge"].includes(c.loss) && c.C > 0 && Number.isFinite(c.C), "C");
  need(c.tol > 0 && c.tol <= 1 && finite([c.primal, c.dual, c.intercept]), "tol");
  need(c.fit_intercept === true || c.intercept === 0, "intercept");
  need(finite(c.alpha) && c.alpha.length === c.points.length, "alpha");
  need(c.points.every((i) => place(i, X.length)) && new Set(c.points).size === c.points.length, "points");
  const linear = c.kernel === null;
  need(linear ? finite(c.coef) && c.coef.length === X[0].length : c.coef === null && finite(c.expansion), "coef");
  need(linear || c.expansion.length === c.points.length, "expansion");
  const inside = codes.map((code) => c.negative === null || code === c.positive || code === c.negative);
  const side = codes.map((code) => (code === c.positive ? 1 : -1));
  const alpha = Array(X.length).fill(0);
  c.points.forEach((i, at) => (alpha[i] = c.alpha[at]));
  const outside = sum(alpha.map((a, i) => (inside[i] ? 0 : Math.abs(a))));
  const below = Math.max(0, -Math.min(0, ...alpha)) + outside;
  const squared = c.loss === "squared_hinge";
  const over = squared ? 0 : Math.max(0, ...alpha.map((a) => a / c.C - 1));
  const lean = Math.abs(sum(alpha.map((a, i) => a * side[i])));
  const weights = alpha.map((a, i) => a * side[i]);
  const { scores, own, hull, apart, reach } = linear ? linearParts(c, X, weights) : kernelParts(c, X, weights);
  const slack = scores.map((f, i) => (inside[i] ? Math.max(0, 1 - side[i] * f) : 0));
  const primal = own / 2 + c.C * sum(slack.map((s) => (squared ? s * s : s)));
  const dual = sum(alpha) - hull / 2 - (squared ? sum(alpha.map((a) => (a * a) / (4 * c.C))) : 0);
  const slackness = Math.max(0, ...alpha.map((a, i) => a * Math.max(0, side[i] * scores[i] - 1)));
  const scale = scaleOf(c);
  const [gap, allowed] = [c.tol * scale, ALLOWED * c.tol * scale];
  const move = c.fit_intercept ? lean * reach : 0; // of u, until the multipliers of both classes weigh the same
  const doubt = DOUBT * Math.max(scale, sum(alpha.map(Math.abs))) + (c.fit_intercept ? lean : 0) + move * (Math.sqrt(hull) + move);
  return [
    check("dual feasibility: alpha below 0 or outside the problem, by", below),
    check("dual feasibility: alpha above C, relative to it, by", over, 16 * EPS),
    check("dual feasibility: sum of alpha y, relative to that of alpha", c.fit_intercept ? lean / (sum(alpha) || 1) : 0, 1e-9),
    check("stationarity: ‖w - sum alpha y x‖² / 2", apart / 2, gap + allowed + doubt),
    check("complementary slackness, largest alpha (y f - 1 + xi)", slackness, gap + allowed + doubt),
    check("primal as stated, off by", Math.abs(primal - c.primal), allowed + doubt),
    check("stated lower bound above the bound, by", c.dual - Math.max(dual, 0), doubt),
    check("relative gap", (c.primal - c.dual) / scale, c.tol),
  ];
}

function linearParts(c, X, weights) {
  const centre = centreOf(X, c.fit_intercept);
  const hull = centre.map((m, j) => momentAbout(weights, X, j, m));
  return {
    scores: X.map((x) => affine(c.coef, c.intercept, x)),
    own: dot(c.coef, c.coef),
    hull: dot(hull, hull),
    apart: sum(c.coef.map((w, j) => (w - hull[j]) ** 2)),
    reach: Math.max(...X.map((x) => norm(x.map((v, j) => v - centre[j])))),
  };
}

/** Pairs as two lists: the floats, and what they lack. */
const parted = (pairs) => [pairs.map((pair) => pair[0]), pairs.map((pair) => pair[1])];

/** In feature space: w = sum e phi(x), u = sum alpha y phi(x), and every length is a sum of kernel values. */
function kernelParts(c, X, weights) {
  const k = kernelFunction(c.kernel, X.length * c.points.length <= LONG);
  need(c.kernel.kernel !== "poly" || c.kernel.coef0 >= 0, "kernel"); // else it need not be one of a feature space
  const used = c.points.map((i) => X[i]);
  const [e, a] = [c.expansion, c.points.map((i) => weights[i])];
  const rows = X.map((x) => {
    const [values, low] = parted(used.map((z) => k(x, z)));
    return { w: longDot(values, e, low), u: longDot(values, a, low) }; // the inner products of w and u with phi(x)
  });
  const product = (p, name) => {
    const [values, low] = parted(c.points.map((i) => rows[i][name]));
    return longDot(values, p, low)[0];
  };
  const [own, hull, both] = [product(e, "w"), product(a, "u"), product(e, "u")];
  const reach = Math.sqrt(Math.max(0, ...used.map((z) => k(z, z)[0])));
  return { scores: rows.map(({ w }) => w[0] + c.intercept), own, hull, apart: own - 2 * both + hull, reach };
}

export function kernelSeparator(c, X, codes) {
  need(place(c.positive, c.classes.length) && finite([c.intercept, c.smallest]), "smallest");
  need(c.support.every((i) => place(i, X.length)) && new Set(c.support).size === c.support.length, "support");
  need(finite(c.dual_coef) && c.dual_coef.length === c.support.length, "dual_coef");
  const k = kernelFunction(c.kernel);
  const used = c.support.map((i) => X[i]);
  let least = Infinity;
  X.forEach((x, i) => {
    const terms = used.map((z, j) => c.dual_coef[j] * k(x, z)[0]);
    const side = codes[i] === c.positive ? 1 : -1;
    const error = (used.length + 16) * EPS * (sum(terms.map(Math.abs)) + Math.abs(c.intercept));
    least = Math.min(least, side * (sum(terms) + c.intercept) + error);
  });
  return [
    check("smallest y f(x) not above 0, but", c.smallest > 0 ? -c.smallest : Infinity),
    check("smallest y f(x) below what is stated, by", c.smallest - least, 4e-12 * Math.abs(least)),
  ];
}

// ---------------------------------------------------------------------- logistic regression
export function logisticGap(c, X, codes) {
  const [d, k] = [X[0].length, c.classes.length];
  const K = k === 2 ? 1 : k;
  need(c.task === null && c.loss === "log" && ["fenchel", "decrement"].includes(c.bound), "bound");
  need(c.coef.length === K && c.coef.every((w) => finite(w) && w.length === d), "coef");
  need(finite(c.intercept) && c.intercept.length === K, "intercept");
  need(c.C > 0 && (c.C < Infinity || c.bound === "decrement"), "C");
  need(c.tol > 0 && c.tol <= 1 && finite([c.primal, c.dual]), "tol");
  need(c.fit_intercept === true || c.intercept.every((b) => b === 0), "intercept");
  need(!c.reference || K === 1 || [...c.coef[K - 1], c.intercept[K - 1]].every((v) => v === 0), "reference");
  const penalised = c.C < Infinity;
  const problem = { c, X, codes, K, d, penalised, C: penalised ? c.C : 1, free: c.fit_intercept };
  problem.Y = codes.map((code) => (K === 1 ? [code] : Array.from({ length: K }, (_, a) => +(a === code))));
  problem.S = X.map((x) => c.coef.map((w, a) => affine(w, c.intercept[a], x)));
  problem.P = problem.S.map(probabilities);
  const primal = problem.C * sum(problem.S.map((s, i) => loss(s, codes[i]))) + (penalised ? sum(c.coef.flat().map((w) => w * w)) / 2 : 0);
  const scale = scaleOf(c);
  const checks = [
    check("primal as stated, off by", Math.abs(primal - c.primal), ALLOWED * c.tol * scale + DOUBT * scale),
    check("stated lower bound above the primal, by", c.dual - c.primal),
    check("relative gap", (c.primal - c.dual) / scale, c.tol),
  ];
  const { bound, doubt } = c.bound === "fenchel" ? fenchel(problem) : { bound: primal - decrement(problem), doubt: 0 };
  if (Number.isNaN(bound)) return [...checks, { name: "lower bound, by Newton's decrement", trusted: true }];
  return [...checks, check("stated lower bound above the bound, by", c.dual - Math.max(bound, 0), DOUBT * scale + doubt)];
}

function probabilities(s) {
  if (s.length === 1) return [sigmoid(s[0])];
  const top = Math.max(...s);
  const e = s.map((v) => Math.exp(v - top));
  const total = sum(e);
  return e.map((v) => v / total);
}

function loss(s, code) {
  if (s.length === 1) return softplus(code ? -s[0] : s[0]);
  const top = s.indexOf(Math.max(...s));
  return Math.log1p(sum(s.map((v, a) => (a === top ? 0 : Math.exp(v - s[top]))))) - (s[code] - s[top]); // also where it is tiny
}

/** P - Y without the cancellation where a row is far on its own side. */
function residual(p, y) {
  if (p.s.length === 1) return [y[0] ? -sigmoid(-p.s[0]) : sigmoid(p.s[0])];
  const others = sum(p.p.map((v, a) => (y[a] ? 0 : v)));
  return p.p.map((v, a) => (y[a] ? -others : v));
}

/** The dual value of the residuals mixed with a constant prediction until they sum to 0; and what rounding has in it. */
function fenchel(problem) {
  const { X, Y, S, P, K, free } = problem;
  const R = S.map((s, i) => residual({ s, p: P[i] }, Y[i]));
  if (!free) return { bound: dualValue(problem, R), doubt: 0 };
  const mean = (rows, a) => sum(rows.map((row) => row[a])) / X.length;
  const [share, spill] = [Y, R].map((rows) => rows[0].map((_, a) => mean(rows, a)));
  const room = spill.map((v, a) => (v > 0 ? share[a] : K === 1 ? 1 - share[a] : Infinity));
  const least = Math.max(...spill.map((v, a) => (v ? Math.abs(v) / (Math.abs(v) + room[a]) : 0)));
  const theta = Math.min(1, 2 * least);
  if (!theta) return { bound: dualValue(problem, R), doubt: 0 };
  const constant = share.map((v, a) => v - (spill[a] * (1 - theta)) / theta);
  const bound = dualValue(problem, R.map((r, i) => r.map((v, a) => (1 - theta) * v + theta * (constant[a] - Y[i][a]))));
  // so little is rounding of the scores, which others may have rounded otherwise: what it costs decides nothing
  return { bound, doubt: theta < 1e-12 ? Math.abs(dualValue(problem, R) - bound) : 0 };
}

/** C sum entropy - ‖C sum R x‖² / 2 */
function dualValue({ c, X, Y, K, C, free }, R) {
  const centre = centreOf(X, free);
  let square = 0;
  for (let a = 0; a < K; a++) {
    if (c.reference && K > 1 && a === K - 1) continue;
    const r = R.map((row) => row[a]);
    centre.forEach((m, j) => (square += (C * momentAbout(r, X, j, m)) ** 2));
  }
  return C * sum(R.map((r, i) => entropy(r, Y[i]))) - square / 2;
}

const tLogT = (t) => (t > 0 ? t * Math.log(t) : 0);
function entropy(r, y) {
  const others = r.length === 1 ? [Math.min(1, Math.abs(r[0]))] : r.filter((_, a) => !y[a]).map((v) => Math.max(0, v));
  const own = Math.min(1, sum(others));
  return -sum(others.map(tLogT)) - (own < 1 ? (1 - own) * Math.log1p(-own) : 0);
}

/** (t + (1 - t) log(1 - t)) / rho², t = lambda rho: NaN where the points are collinear, or there are several classes. */
function decrement({ c, X, Y, S, K, d, C, penalised, free }) {
  if (K > 1) return NaN;
  const rows = centredRows(X, free);
  const order = rows[0].map((_, j) => j);
  const slope = S.map((s, i) => C * (Y[i][0] ? -sigmoid(-s[0]) : sigmoid(s[0])));
  const bend = S.map((s) => C * sigmoid(s[0]) * sigmoid(-s[0]));
  const ridge = (i, j) => (penalised && i === j && i < d ? 1 : 0);
  const H = order.map((i) => order.map((j) => sum(rows.map((z, r) => bend[r] * z[i] * z[j])) + ridge(i, j)));
  const g = order.map((i) => sum(rows.map((z, r) => slope[r] * z[i])) + (penalised && i < d ? c.coef[0][i] : 0));
  const unit = order.map((j) => Math.sqrt(H[j][j]) || 1); // in which columns bend alike, whatever their units
  const inverted = inverse(H.map((row, i) => row.map((v, j) => v / unit[i] / unit[j])));
  if (!inverted) return NaN;
  const length = (v) => {
    const u = v.map((entry, j) => entry / unit[j]);
    return Math.sqrt(Math.max(0, sum(inverted.map((row, i) => u[i] * dot(row, u)))));
  };
  const lambda = length(g);
  const rho = Math.max(...rows.map(length));
  const t = lambda * rho;
  if (!(t < 1)) return Infinity;
  return t < 1e-4 ? 0.5 * lambda ** 2 * (1 + t) : ((t + (1 - t) * Math.log1p(-t)) / rho ** 2) * (1 + 1e-6);
}
