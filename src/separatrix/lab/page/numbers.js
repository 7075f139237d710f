// Small tools of numerics: sums that keep their digits, small matrices, and the plain form of certificates.
import { parseFraction } from "./exact.js";

/** A sum as if rounded once (Neumaier). */
export function sum(values) {
  let total = 0;
  let rest = 0;
  for (const v of values) {
    const next = total + v;
    rest += Math.abs(total) >= Math.abs(v) ? total - next + v : v - next + total;
    total = next;
  }
  return total + rest;
}

const upperHalf = (v) => 134217729 * v - (134217729 * v - v); // of its bits, 2²⁷ + 1 times it and back
/** What the float p = a * b lacks of the product without rounding (Dekker); 0 where halves would overflow. */
function lack(a, b, p) {
  const [x, y] = [upperHalf(a), upperHalf(b)];
  return (a - x) * (b - y) - (p - x * y - (a - x) * y - x * (b - y)) || 0;
}

/** Σ (a + low) b as a pair, the float and what it lacks: with twice the digits of a float. */
export function longDot(a, b, low = null) {
  let total = 0;
  let rest = 0;
  for (let j = 0; j < b.length; j++) {
    const p = a[j] * b[j];
    const next = total + p;
    rest += (Math.abs(total) >= Math.abs(p) ? total - next + p : p - next + total) + lack(a[j], b[j], p);
    if (low) rest += low[j] * b[j];
    total = next;
  }
  return [total + rest, total - (total + rest) + rest];
}
export const dot = (a, b) => longDot(a, b)[0];
/** w·x + b, rounded once: far from the origin the two nearly cancel. */
export const affine = (w, b, x) => dot([...w, b], [...x, 1]);
export const norm = (a) => Math.hypot(...a);
export const sigmoid = (t) => (t >= 0 ? 1 / (1 + Math.exp(-t)) : Math.exp(t) / (1 + Math.exp(t)));
/** log(1 + exp(t)) */
export const softplus = (t) => Math.max(t, 0) + Math.log1p(Math.exp(-Math.abs(t)));

/** The mean row; the origin where b is not free, and sums must be about that. */
export const centreOf = (X, free) => X[0].map((_, j) => (free ? sum(X.map((x) => x[j])) / X.length : 0));
/** sum r (x_j - m), without the rounding of the differences. */
export const momentAbout = (r, X, j, m) => dot([...r, ...r], [...X.map((x) => x[j]), ...r.map(() => -m)]);
/** z: the columns about their means, and a 1 where b is free. */
export function centredRows(X, free) {
  const mean = centreOf(X, free);
  return X.map((x) => [...x.map((v, j) => v - mean[j]), ...(free ? [1] : [])]);
}

/** The inverse of a small positive definite matrix, or null. */
export function inverse(matrix) {
  const n = matrix.length;
  const a = matrix.map((row, i) => [...row, ...row.map((_, j) => +(i === j))]);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i][k]) > Math.abs(a[best][k])) best = i;
    [a[k], a[best]] = [a[best], a[k]];
    if (!(Math.abs(a[k][k]) > 1e-14 * Math.max(...matrix.map((row, i) => Math.abs(row[i]))))) return null;
    const pivot = a[k][k];
    for (let j = 0; j < 2 * n; j++) a[k][j] /= pivot;
    for (let i = 0; i < n; i++) {
      const factor = a[i][k];
      if (i === k || !factor) continue;
      for (let j = 0; j < 2 * n; j++) a[i][j] -= factor * a[k][j];
    }
  }
  return a.map((row) => row.slice(n));
}

/** Eigenvalues of a small symmetric matrix, from small to large (Jacobi). */
export function eigenvalues(matrix) {
  const a = matrix.map((row) => [...row]);
  const n = a.length;
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        off += a[p][q] ** 2;
        if (!a[p][q]) continue;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
        for (let k = 0; k < n; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      }
    }
    if (off < 1e-300) break;
  }
  return a.map((row, i) => row[i]).sort((x, y) => x - y);
}

/** What a certificate's `to_dict` wrote, read: arrays nested by their shape, fractions as {n, d}. */
export function fromPlain(plain) {
  if (plain === null || typeof plain !== "object") return plain;
  if (Array.isArray(plain)) return plain.map(fromPlain);
  if ("fraction" in plain) return parseFraction(plain.fraction);
  if ("float" in plain) return { inf: Infinity, "-inf": -Infinity, nan: NaN }[plain.float];
  if ("certificate" in plain) return readCertificate(plain.certificate);
  if ("dict" in plain) return Object.fromEntries(Object.entries(plain.dict).map(([k, v]) => [k, fromPlain(v)]));
  if ("array" in plain) return shaped(plain.array.map(fromPlain), plain.shape);
  throw new Error("not a value that a certificate holds");
}

function shaped(entries, shape) {
  if (shape.reduce((a, b) => a * b, 1) !== entries.length) throw new Error("an array of another shape");
  if (shape.length <= 1) return entries;
  const step = entries.length / shape[0] || 0;
  return Array.from({ length: shape[0] }, (_, i) => shaped(entries.slice(i * step, (i + 1) * step), shape.slice(1)));
}

/** The fields of a certificate. */
export function readCertificate(plain) {
  const fields = Object.entries(plain).filter(([name]) => name !== "kind" && name !== "schema");
  return { kind: plain.kind, ...Object.fromEntries(fields.map(([name, value]) => [name, fromPlain(value)])) };
}

/** One figure of a claim, that must be at most what is allowed; NaN fails. */
export const check = (name, figure, allowed = 0) => ({
  name,
  figure,
  allowed,
  holds: figure <= allowed && allowed < Infinity,
});

export const need = (good, name) => {
  if (!good) throw new Error(`the field ${name} is malformed`);
};
export const finite = (values) => Array.isArray(values) && values.every((v) => typeof v === "number" && Number.isFinite(v));
export const place = (value, k) => Number.isInteger(value) && value >= 0 && value < k;

/** k(a, b) of the kernels that certificates name, as a pair; `long` if powers are to have twice the digits of a float. */
export function kernelFunction(kernel, long = false) {
  const { gamma = 1, coef0 = 0, degree } = kernel;
  if (kernel.kernel === "linear") return longDot;
  need(Number.isFinite(gamma) && gamma > 0, "gamma");
  if (kernel.kernel === "rbf") {
    return (a, b) => [Math.exp(-gamma * a.reduce((total, v, j) => total + (v - b[j]) ** 2, 0)), 0];
  }
  need(kernel.kernel === "poly" && Number.isInteger(degree) && degree >= 0 && Number.isFinite(coef0), "kernel");
  if (!long) return (a, b) => [(gamma * dot(a, b) + coef0) ** degree, 0];
  const product = ([a, low], [b, rest]) => longDot([a, rest], [b, a], [low, 0]);
  return (a, b) => {
    const [inner, low] = longDot(a, b);
    let square = longDot([inner, coef0], [gamma, 1], [low, 0]);
    let power = [1, 0];
    for (let t = degree; t >= 1; t = Math.floor(t / 2)) {
      if (t % 2) power = product(power, square);
      square = product(square, square);
    }
    return power;
  };
}
