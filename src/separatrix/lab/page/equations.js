// Claims that a gradient is zero: centroids, least squares, naive Bayes, the squared error of a sigmoid.
import { affine, centredRows, check, dot, eigenvalues, finite, inverse, need, norm, sigmoid, softplus, sum } from "./numbers.js";

const UNITS = [2 ** -52, 2 ** -23]; // machine epsilon of what models are stored in

export function stationarity(c, X, codes) {
  const solve = { centroids, least_squares: leastSquares, naive_bayes: naiveBayes, squared_error: squaredError }[c.problem];
  need(solve, "problem");
  need(UNITS.includes(c.unit), "unit");
  return solve(c.witness, X, codes, c.classes.length);
}

const meansOf = (X, codes, k) =>
  Array.from({ length: k }, (_, a) => {
    const rows = X.filter((_, i) => codes[i] === a);
    return X[0].map((_, j) => sum(rows.map((x) => x[j])) / rows.length);
  });
/** The largest entry of each column. */
const sizesOf = (X) => X[0].map((_, j) => Math.max(...X.map((x) => Math.abs(x[j]))));
/** The largest difference of two matrices, each column in its own unit. */
const apartIn = (units, a, b) => Math.max(...a.flatMap((row, i) => row.map((v, j) => Math.abs(v - b[i][j]) / units[j] || 0)));
const apart = (a, b) => Math.max(...a.flat().map((v, i) => Math.abs(v - b.flat()[i])));
/** Hyperplanes of one row for two classes, and of one for each of more, less their mean. */
const contrasts = (rows) => {
  if (rows.length === 2) return [rows[1].map((v, j) => v - rows[0][j])];
  const mean = rows[0].map((_, j) => sum(rows.map((row) => row[j])) / rows.length);
  return rows.map((row) => row.map((v, j) => v - mean[j]));
};

function centroids(witness, X, codes, k) {
  need(witness.centroids.length === k && finite(witness.centroids.flat()) && finite(witness.coef.flat()), "centroids");
  const means = meansOf(X, codes, k);
  need(finite(means.flat()), "classes");
  const sizes = sizesOf(X);
  const normal = contrasts(means);
  need(witness.coef.length === normal.length && witness.intercept.length === normal.length, "coef");
  const overall = means[0].map((_, j) => sum(means.map((m) => m[j])) / k);
  const middle = (k === 2 ? [means[1]] : means).map((m) => m.map((v, j) => (v + (k === 2 ? means[0][j] : overall[j])) / 2));
  const b = witness.coef.map((w, a) => -dot(w, middle[a]));
  return [
    check("centroids against the means, relative to their columns", apartIn(sizes, witness.centroids, means), 1e-12),
    check("coef against the difference of the centroids, relative to the columns", apartIn(sizes, witness.coef, normal), 1e-12),
    check("intercept against the bisector's", apart([witness.intercept], [b]), 4e-14 * Math.max(...witness.coef.map((w) => dot(w.map(Math.abs), sizes)))),
  ];
}

function leastSquares(witness, X, codes, k) {
  need(k === 2 && !witness.multilabel && witness.tol > 0 && witness.tol < 2e-3, "tol");
  need(finite(witness.coef[0]) && witness.coef[0].length === X[0].length && finite(witness.intercept), "coef");
  const residuals = X.map((x, i) => (codes[i] ? 1 : -1) - affine(witness.coef[0], witness.intercept[0], x));
  const rows = centredRows(X, witness.fit_intercept);
  const cosines = rows[0].map((_, j) => {
    const length = norm(rows.map((z) => z[j]));
    return length ? Math.abs(sum(rows.map((z, i) => z[j] * residuals[i]))) / (Math.sqrt(X.length) * length) : 0;
  });
  return [
    check("cosine between a column and the residual, relative to y", Math.max(...cosines), witness.tol),
    check("intercept, which is not free", witness.fit_intercept ? 0 : Math.abs(witness.intercept[0])),
  ];
}

function naiveBayes(witness, X, codes, k) {
  const d = X[0].length;
  need(witness.families.every((family) => family === "gaussian") && !("binarize" in witness), "families");
  need(Number.isFinite(witness.alpha) && witness.alpha >= 0, "alpha");
  need(witness.parameters.length === k && witness.prior.length === k && finite(witness.prior), "parameters");
  const counts = Array.from({ length: k }, (_, a) => codes.filter((code) => code === a).length);
  const means = meansOf(X, codes, k);
  const n = X.length;
  const spread = Array.from({ length: k }, (_, a) =>
    X[0].map((_, j) => sum(X.map((x, i) => (codes[i] === a ? (x[j] - means[a][j]) ** 2 : 0)))),
  );
  const overall = X[0].map((_, j) => sum(X.map((x) => x[j])) / n);
  const whole = X[0].map((_, j) => sum(X.map((x) => (x[j] - overall[j]) ** 2)) / n);
  const within = X[0].map((_, j) => sum(spread.map((row) => row[j])) / n);
  const floor = (v, j) => Math.max(v + (witness.smoothing ?? 0) * Math.max(...whole), UNITS[0] * whole[j]);
  const shared = witness.shared_variance === true;
  const expected = shared ? [within.map(floor)] : spread.map((row, a) => row.map((v, j) => floor(v / counts[a], j)));
  const given = shared ? [witness.variances] : witness.variances;
  need(given.length === expected.length && finite(given.flat()), "variances");
  const sizes = sizesOf(X);
  const off = expected.flatMap((row, a) => row.map((v, j) => Math.abs(given[a][j] - v) / (v + (UNITS[0] * sizes[j]) ** 2 * 100) || 0));
  const share = counts.map((count) => count / n);
  const checks = [
    check("classes without rows", counts.filter((count) => !count).length),
    check("priors against the class frequencies", witness.priors_given ? Math.abs(sum(witness.prior) - 1) : apart([witness.prior], [share]), 1e-12),
    check("parameters against the means in the classes, relative to their columns", apartIn(sizes, witness.parameters, means), 1e-12),
    check("variances against the spread in the classes, relative to it", Math.max(...off), 1e-12),
    check("variances that are not above 0", given.flat().filter((v, i) => v <= 0 && expected.flat()[i] > 0).length),
  ];
  need((witness.coef !== null) === shared && (witness.intercept !== null) === shared, "coef");
  if (!shared) return checks;
  const precision = given[0].map((v) => (v > 0 ? 1 / v : 0));
  const slopes = contrasts(means).map((row) => row.map((v, j) => v * precision[j]));
  const base = means.map((row, a) => Math.log(witness.prior[a]) - sum(row.map((m, j) => ((m - means[0][j]) * (m + means[0][j]) * precision[j]) / 2))); // no m², which rounds
  const constant = contrasts(base.map((v) => [v])).map((row) => row[0]);
  need(finite(witness.coef.flat()) && witness.coef.length === slopes.length && witness.coef[0].length === d, "coef");
  const steep = sizes.map((size, j) => size * precision[j]);
  checks.push(check("coef against the log-odds of the parameters, relative to the columns", apartIn(steep, witness.coef, slopes), 1e-11));
  checks.push(check("intercept against the log-odds of the parameters", apart([witness.intercept], [constant]), 1e-14 * Math.max(1, dot(steep, sizes), ...base.map(Math.abs))));
  return checks;
}

/** The gradient of C sum (t - sigma)² + ‖w‖² / 2 relative to slopes and columns, and the Hessian's smallest eigenvalue. */
function squaredError(witness, X, codes, k) {
  const { C, tol, kind, coef, intercept, fit_intercept: free } = witness;
  need(k === 2 && C > 0 && tol > 0 && tol < 1 && finite(coef[0]) && coef[0].length === X[0].length && finite(intercept), "coef");
  need(["local minimum", "saddle", "flat", "unsettled", "unexamined"].includes(kind), "kind");
  const u = X.map((x, i) => (codes[i] ? 1 : -1) * affine(coef[0], intercept[0], x));
  const logs = u.map((v) => -softplus(-v) - 2 * softplus(v));
  const top = Math.max(...logs);
  const size = logs.map((v) => Math.exp(v - top));
  const rows = centredRows(X, free);
  const order = rows[0].map((_, j) => j);
  const unit = Math.exp(-top) / (2 * C); // of the penalty, next to the slopes
  const pull = order.map((j) => (j < X[0].length && C < Infinity ? coef[0][j] * unit : 0));
  const ridge = order.map((j) => (j < X[0].length && C < Infinity ? unit : 0));
  const g = order.map((j) => sum(rows.map((z, i) => (codes[i] ? -1 : 1) * size[i] * z[j])) + pull[j]);
  const columns = order.map((j) => norm(rows.map((z) => z[j])));
  const relative = order.map((j) => (columns[j] || pull[j] ? Math.abs(g[j]) / (norm(size) * columns[j] + Math.abs(pull[j])) : 0));
  const checks = [check("gradient relative to slopes and columns", Math.max(...relative), tol * (1 + 1e-6) + 1e-13)];
  checks.push(check("intercept, which is not free", free ? 0 : Math.abs(intercept[0])));
  if (kind === "unexamined") return checks;
  const bend = size.map((v, i) => v * (3 * sigmoid(u[i]) - 1));
  const mean = sum(bend.map(Math.abs)) / X.length;
  const D = order.map((j) => Math.sqrt(mean * columns[j] ** 2 + ridge[j] || 1));
  const H = order.map((i) => order.map((j) => (sum(rows.map((z, r) => bend[r] * z[i] * z[j])) + (i === j ? ridge[i] : 0)) / (D[i] * D[j])));
  const values = eigenvalues(H);
  const zero = 1e-8 * Math.max(1, values.at(-1));
  if (kind === "saddle") return [...checks, check("smallest eigenvalue of the Hessian", values[0], -zero * (1 - 1e-6))];
  if (kind === "flat") return [...checks, check("smallest eigenvalue off 0, by", Math.abs(values[0]), 4 * zero * (1 + 1e-6))];
  checks.push(check("smallest eigenvalue below what a minimum needs, by", zero - values[0], 1e-12));
  const inverted = inverse(H);
  const step = inverted ? inverted.map((row, i) => dot(row, g.map((v, j) => v / D[j])) / D[i]) : order.map(() => NaN);
  const moved = Math.max(...rows.map((z) => Math.abs(dot(z, step))));
  if (kind === "unsettled") return [...checks, check("change of a score by the next Newton step is below", 0.025 - moved)];
  return [...checks, check("change of a score by the next Newton step", moved, 0.1)];
}
