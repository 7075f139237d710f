// The claims of certificates, checked again from the drawn points. What is exact is done with BigInt; where the claim is
// about real numbers, floats with sums that keep their digits decide up to the same allowance that the library has.
import { ZERO, compare, exactScore, exactSigns, fraction, minus, plus, reduced, signOf, times, toNumber } from "./exact.js";
import { check, finite, need, norm, place, readCertificate, sum } from "./numbers.js";
import { stationarity } from "./equations.js";
import { hingeGap, kernelSeparator, logisticGap } from "./gaps.js";

const LAST_DIGITS = 4e-12; // of a stated bound, as in the library: what another order of summation may change
const BALANCED = 1e-12; // of sum alpha: sum alpha y up to which it is taken for rounding
const LIMIT = 100000; // lines times points that are tried for the fewest errors, as in the library

/** {holds, checks, trusted}: whether the claim of this certificate (as `to_dict` has it) is true of the points. */
export function verify(plain, X, y) {
  try {
    const certificate = readCertificate(plain);
    const checks = checksOf(certificate, X, y);
    const trusted = checks.filter((one) => one.trusted).map((one) => one.name);
    const real = checks.filter((one) => !one.trusted);
    return { holds: real.length > 0 && real.every((one) => one.holds), checks: real, trusted };
  } catch (error) {
    return { holds: false, checks: [], trusted: [], malformed: String(error.message ?? error) };
  }
}

const KINDS = {
  Separator: separator,
  Inseparable: inseparable,
  MarginBracket: marginBracket,
  ErrorBound: errorBound,
  HingeGap: hingeGap,
  LogisticGap: logisticGap,
  Stationarity: stationarity,
  KernelSeparator: kernelSeparator,
};

function checksOf(certificate, X, y) {
  if (certificate.kind === "All") return certificate.parts.flatMap((part) => checksOf(part, X, y));
  if (!(certificate.kind in KINDS)) throw new Error(`no check for a ${certificate.kind}`);
  const classes = certificate.classes;
  const codes = y.map((label) => classes.indexOf(label));
  if (X.length !== y.length || !X.length) throw new Error("points and labels do not fit together");
  if (classes.length < 2 || classes.some((label, c) => c && !(classes[c - 1] < label))) throw new Error("classes");
  if (codes.includes(-1)) throw new Error("a label that the certificate does not know");
  if (certificate.class_weight) throw new Error("weights of classes are not used here");
  return KINDS[certificate.kind](certificate, X, codes);
}

const exactly = (v) => (typeof v === "number" && Number.isFinite(v)) || (v && typeof v === "object" && "n" in v);

/** Rows of weights for the task: one, or one a class. */
function weightsOf(c, d) {
  const rows = c.positive === null ? c.classes.length : 1;
  need(c.positive === null || place(c.positive, c.classes.length), "positive");
  need(c.coef?.length === rows && c.coef.every((w) => w.length === d && w.every(exactly)), "coef");
  need(c.intercept?.length === rows && c.intercept.every(exactly), "intercept");
}

/** For each class pair (or the one task) the rows, their side and the weights between. */
function* contests(c, X, codes) {
  if (c.positive !== null) {
    yield { rows: X, sides: codes.map((code) => (code === c.positive ? 1 : -1)), w: c.coef[0], b: c.intercept[0] };
    return;
  }
  for (let a = 0; a < c.classes.length; a++) {
    for (let other = a + 1; other < c.classes.length; other++) {
      const at = codes.map((code, i) => i).filter((i) => codes[i] === a || codes[i] === other);
      const w = c.coef[a].map((v, j) => minus(fraction(v), fraction(c.coef[other][j])));
      const b = minus(fraction(c.intercept[a]), fraction(c.intercept[other]));
      yield { rows: at.map((i) => X[i]), sides: at.map((i) => (codes[i] === a ? 1 : -1)), w, b };
    }
  }
}

function separator(c, X, codes) {
  weightsOf(c, X[0].length);
  need(typeof c.margin === "number" && c.margin >= 0 && c.margin < Infinity, "margin");
  need(c.coef.flat().some((v) => signOf(fraction(v))), "coef");
  let wrong = 0;
  let near = 0;
  const margin = fraction(c.margin);
  for (const { rows, sides, w, b } of contests(c, X, codes)) {
    const signs = exactSigns(rows, w, b);
    const square = times(times(margin, margin), w.map((v) => times(fraction(v), fraction(v))).reduce(plus, ZERO));
    rows.forEach((x, i) => {
      wrong += signs[i] * sides[i] <= 0;
      if (!c.margin) return;
      const score = exactScore(x, w, b);
      near += signs[i] * sides[i] < 0 || compare(times(score, score), square) < 0;
    });
  }
  return [check("rows not strictly on their side", wrong), check("rows nearer than the stated margin", near)];
}

function inseparable(c, X, codes) {
  const [n, k, d] = [X.length, c.classes.length, X[0].length];
  const two = c.positive !== null;
  need(!two || place(c.positive, k), "positive");
  need(["overlapping", "quasi-separable"].includes(c.verdict), "verdict");
  need(c.exact === true || c.verdict === "overlapping", "exact");
  need(typeof c.margin_bound === "number" && c.margin_bound >= 0 && (!c.exact || c.margin_bound === 0), "margin_bound");
  need(c.verdict !== "overlapping" || (c.coef === null && c.intercept === null), "coef");
  const flat = two ? c.weights : c.weights.flat();
  need(finite(flat) && flat.length === (two ? n : n * k), "weights");
  need(c.exact_at.every((i) => place(i, flat.length)) && new Set(c.exact_at).size === c.exact_at.length, "exact_at");
  need(c.exact_at.length === c.exact_weights.length && (c.exact || !c.exact_at.length), "exact_weights");
  const lambda = flat.map(fraction);
  c.exact_at.forEach((i, at) => (lambda[i] = fraction(c.exact_weights[at])));
  const relevant = (i) => two || codes[Math.floor(i / k)] !== i % k;
  const signs = lambda.map(signOf);
  const misplaced = signs.filter((s, i) => s < 0 || (s > 0 && !relevant(i))).length;
  const checks = [
    check("weights below 0, or of a row's own class", misplaced),
    check("all weights are 0", +signs.every((s) => s <= 0)),
  ];
  if (c.verdict === "overlapping") {
    checks.push(check("weights that are not above 0", signs.filter((s, i) => relevant(i) && s <= 0).length));
  }
  const sums = balance(lambda, X, codes, c.positive, k, c.fit_intercept);
  if (c.exact) {
    checks.push(check("sums that are not exactly 0", sums.flat().filter((s) => s.n !== 0n).length));
  } else {
    need(two, "exact");
    const { relative, bound } = roundings(sums[0], flat, X, c.fit_intercept);
    checks.push(check("sums relative to their terms", relative, 2 ** -44));
    checks.push(check("what is proved of the margin", bound, c.margin_bound));
    checks.push({ name: "weights near these make the sums exactly 0", trusted: true });
  }
  if (c.verdict === "quasi-separable") {
    weightsOf(c, d);
    need(c.fit_intercept || c.intercept.every((b) => signOf(fraction(b)) === 0), "intercept");
    const leads = [];
    for (const { rows, sides, w, b } of contests(c, X, codes)) {
      exactSigns(rows, w, b).forEach((s, i) => leads.push(s * sides[i]));
    }
    checks.push(check("rows beyond the boundary", leads.filter((s) => s < 0).length));
    checks.push(check("no row off the boundary", +!leads.some((s) => s > 0)));
  }
  return checks;
}

/** sum ±lambda (x, 1), exactly: one sum, or one a class. */
export function balance(lambda, X, codes, positive, k, intercept) {
  const two = positive !== null;
  const sums = Array.from({ length: two ? 1 : k }, () => Array(X[0].length + 1).fill(ZERO));
  const add = (task, weight, x) => {
    const point = [...x, 1];
    point.forEach((v, j) => (sums[task][j] = plus(sums[task][j], times(weight, fraction(v)))));
  };
  const less = (a) => ({ n: -a.n, d: a.d });
  lambda.forEach((weight, at) => {
    if (!weight.n) return;
    const i = two ? at : Math.floor(at / k);
    if (two) return add(0, codes[i] === positive ? weight : less(weight), X[i]);
    add(codes[i], weight, X[i]);
    add(at % k, less(weight), X[i]);
  });
  return sums.map((row) => row.map((s, j) => (j === X[0].length && !intercept ? ZERO : reduced(s))));
}

/** The sums about the first row, relative to the sizes of their terms, and the margin that they leave room for. */
function roundings(sums, lambda, X, intercept) {
  const d = X[0].length;
  const first = intercept ? X[0] : X[0].map(() => 0);
  const about = X.map((x) => [...x.map((v, j) => Math.abs(v - first[j])), 1]);
  const rest = sums.map((s, j) => Math.abs(toNumber(j < d ? minus(s, times(fraction(first[j]), sums[d])) : s)));
  const size = rest.map((_, j) => sum(about.map((row, i) => Math.abs(lambda[i]) * row[j])));
  const radius = Math.max(...about.map((row) => norm(row.slice(0, d))));
  const bound = ((norm(rest) * (1 + 1e-9)) / sum(lambda.map(Math.abs))) * Math.hypot(1, radius);
  return { relative: Math.max(...rest.map((v, j) => (v ? v / size[j] : 0))), bound: bound * (1 - 1e-12) };
}

const beyond = (name, excess, proved) =>
  Number.isFinite(proved) ? check(name, excess, LAST_DIGITS * Math.abs(proved)) : check(name, Infinity);

function marginBracket(c, X, codes) {
  const d = X[0].length;
  const k = c.classes.length;
  need(place(c.positive, k) && (c.negative === null || (place(c.negative, k) && c.negative !== c.positive)), "positive");
  need(["homogeneous", "input"].includes(c.space) && typeof c.fit_intercept === "boolean", "space");
  need(finite([c.lower, c.upper]), "lower, upper");
  const kept = codes.map((_, i) => i).filter((i) => c.negative === null || [c.positive, c.negative].includes(codes[i]));
  const rows = kept.map((i) => X[i]);
  const side = kept.map((i) => (codes[i] === c.positive ? 1 : -1));
  need(finite(c.alpha) && c.alpha.length === c.points.length && Math.max(...c.alpha) > 0, "alpha");
  need(c.points.every((i) => place(i, rows.length)) && new Set(c.points).size === c.points.length, "points");
  need(finite(c.direction) && c.direction.length === d + c.fit_intercept, "direction");
  const free = c.fit_intercept && c.space === "input";
  const w = c.direction.slice(0, d);
  const b = c.fit_intercept ? c.direction[d] : 0;
  const square = (free ? w : c.direction).map((v) => times(fraction(v), fraction(v))).reduce(plus, ZERO);
  let least = null;
  rows.forEach((x, i) => {
    const score = times(exactScore(x, w, b), fraction(side[i]));
    if (least === null || compare(score, least) < 0) least = score;
  });
  const lower = signOf(square) > 0 ? toNumber(least) / Math.sqrt(toNumber(square)) : -Infinity;
  const upper = hullBound(c, rows, side, free);
  return [
    check("negative weight in the convex combination", Math.max(0, -Math.min(...c.alpha))),
    beyond("lower bound above what the direction proves, by", c.lower - lower, lower),
    beyond("upper bound below what the hull proves, by", upper - c.upper, upper),
  ];
}

/** ‖sum alpha y (x, 1)‖ / sum alpha; with b free, of a combination that balances, what does not counted by its reach. */
function hullBound(c, rows, side, free) {
  const used = c.points.map((i, at) => ({ x: rows[i], y: side[i], a: fraction(Math.max(0, c.alpha[at])), f: c.alpha[at] }));
  const given = used.filter((one) => signOf(one.a) > 0);
  let total = given.map((one) => one.a).reduce(plus, ZERO);
  const tilt = given.map((one) => (one.y > 0 ? one.a : minus(ZERO, one.a))).reduce(plus, ZERO);
  const combined = rows[0].map((_, j) =>
    given.map((one) => times(times(one.a, fraction(one.y)), fraction(one.x[j]))).reduce(plus, ZERO),
  );
  let beside = 0;
  if (free) {
    const heaviest = given.reduce((best, one) => (one.f > best.f ? one : best));
    heaviest.x.forEach((v, j) => (combined[j] = minus(combined[j], times(tilt, fraction(v)))));
    const lean = Math.abs(toNumber(tilt));
    if (lean <= Math.min(BALANCED * toNumber(total), heaviest.f)) {
      total = minus(total, signOf(tilt) < 0 ? minus(ZERO, tilt) : tilt);
    } else {
      const first = (y) => given.find((one) => one.y === y);
      if (!first(1) || !first(-1)) return Infinity;
      beside = lean * Math.max(...[1, -1].map((y) => norm(first(y).x.map((v, j) => v - heaviest.x[j]))));
    }
  } else if (c.fit_intercept) {
    combined.push(tilt);
  }
  const square = combined.map((v) => times(v, v)).reduce(plus, ZERO);
  return (Math.sqrt(toNumber(reduced(square))) + beside) / toNumber(total);
}

function errorBound(c, X, codes) {
  weightsOf(c, X[0].length);
  need(c.errors >= 0 && c.lower_bound >= 0 && finite([c.errors, c.lower_bound]), "errors");
  need(["nothing", "identical rows", "enumeration", "search"].includes(c.proof), "proof");
  need(c.fit_intercept === true || (c.fit_intercept === false && c.intercept[0] === 0), "fit_intercept");
  const signs = exactSigns(X, c.coef[0], c.intercept[0]);
  const errors = signs.filter((s, i) => s >= 0 !== (codes[i] === c.positive)).length;
  const checks = [
    check("errors as stated, off by", Math.abs(errors - c.errors), 1e-12 * errors),
    check("lower bound above the errors found, by", c.lower_bound - errors, 1e-12 * errors),
  ];
  if (!(c.lower_bound > 0)) return checks;
  if (!c.fit_intercept) return [...checks, { name: "lower bound of lines through the origin", trusted: true }];
  let known = 0;
  if (c.proof === "identical rows") known = identicalRows(X, codes, c.positive);
  if (c.proof === "enumeration" || c.proof === "search") {
    const few = (points) => X[0].length === 2 && ((points * (points - 1)) / 2) * points <= LIMIT;
    if (c.proof === "search" && !few(X.length)) return [...checks, { name: "lower bound, on the word of a search", trusted: true }];
    known = few(costsOf(X, codes, c.positive).length) ? fewestErrors(X, codes, c.positive) : 0; // points in one place are one
  }
  return [...checks, check("lower bound above what is proven, by", c.lower_bound - known, 1e-12 * known)];
}

const costsOf = (X, codes, positive) => {
  const places = new Map();
  X.forEach((x, i) => {
    const key = x.map((v) => v + 0).join();
    if (!places.has(key)) places.set(key, { x, cost: [0, 0] });
    places.get(key).cost[+(codes[i] === positive)] += 1; // of predicting +, and of predicting -
  });
  return [...places.values()];
};

const identicalRows = (X, codes, positive) => sum(costsOf(X, codes, positive).map(({ cost }) => Math.min(...cost)));

/** The fewest errors of any line, by trying those through two points: each splits what is off it, and its own points. */
function fewestErrors(X, codes, positive) {
  const points = costsOf(X, codes, positive);
  const exact = points.map(({ x }) => x.map(fraction));
  let best = Math.min(...[0, 1].map((side) => sum(points.map(({ cost }) => cost[side]))));
  for (let p = 0; p < points.length; p++) {
    for (let q = p + 1; q < points.length; q++) {
      const [dx, dy] = [0, 1].map((j) => minus(exact[q][j], exact[p][j]));
      const off = exact.map((x) => signOf(minus(times(dx, minus(x[1], exact[p][1])), times(dy, minus(x[0], exact[p][0])))));
      const on = points.map((_, i) => i).filter((i) => off[i] === 0);
      const axis = signOf(dx) ? 0 : 1;
      on.sort((i, j) => compare(exact[i][axis], exact[j][axis]));
      const along = alongLine(on.map((i) => points[i].cost));
      for (const turn of [1, -1]) {
        let cost = along;
        off.forEach((s, i) => s && (cost += points[i].cost[turn * s > 0 ? 0 : 1]));
        best = Math.min(best, cost);
      }
    }
  }
  return best;
}

/** Of points in order on a line: the least cost of a cut, one side + and the other -, with a point on the cut itself +. */
function alongLine(costs) {
  let best = Infinity;
  for (let cut = 0; cut <= costs.length; cut++) {
    for (const left of [0, 1]) best = Math.min(best, sum(costs.map((cost, i) => cost[i < cut ? left : 1 - left])));
  }
  return best;
}
