"""Estimates by formula or by equations: how far the equations are from holding, in 60 digits.

Each function returns figures as (name, figure, allowed): a claim is false where the figure is above what is allowed.
What that is follows from the data and the precision of the stored weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from soundness.data import Matrix, Table
from soundness.decimals import ONE, ZERO, D, dot, exactly, matrix, sigma, solve, vector
from soundness.layers import cascade

EPS = D(float(np.finfo(np.float64).eps))
VACUOUS = D("0.05")  # of a relative figure: whoever allows more claims nothing
Figures = list[tuple[str, D, D]]


def figures(certificate: Any, table: Table) -> Figures:
    """The figures of the problem the certificate names."""
    return {
        "cascade": cascade,
        "categories": categories,
        "centroids": centroids,
        "complement": complement,
        "firth": firth,
        "medians": medians,
        "shrunken_medians": medians,
        "shrunken_centroids": centroids,
        "least_squares": least_squares,
        "naive_bayes": naive_bayes,
        "ridge": least_squares,
        "squared_error": squared_error,
    }[certificate.problem](certificate, table)


def _mean(rows: Matrix, c: list[D]) -> list[D]:
    total = sum(c, ZERO)
    return [sum((w * row[j] for w, row in zip(c, rows, strict=True)), ZERO) / total for j in range(len(rows[0]))]


def _centred(rows: Matrix, c: list[D], free: bool) -> Matrix:
    if not free:
        return rows
    centre = _mean(rows, c)
    return [[*(a - b for a, b in zip(row, centre, strict=True)), ONE] for row in rows]


def _targets(certificate: Any, table: Table) -> list[int]:
    task = certificate.witness.get("task")
    return table.codes(certificate.classes) if task is None else [int(v) for v in table.labels()[:, task]]


def _weights(certificate: Any, table: Table) -> tuple[list[D], D, list[D]]:
    coef, intercept = vector(certificate.witness["coef"]), vector(certificate.witness["intercept"])
    labelled = certificate.witness.get("task") is None and certificate.class_weight is not None
    c = table.weights(certificate.classes, certificate.class_weight) if labelled else table.weights()
    return coef, intercept[0], c


def squared_error(certificate: Any, table: Table) -> Figures:
    """|gradient_j| / (‖slopes‖ ‖column_j‖ + |penalty_j|), and the Hessian's smallest eigenvalue in those units."""
    witness = certificate.witness
    w, b, c = _weights(certificate, table)
    free, t = bool(witness["fit_intercept"]), _targets(certificate, table)
    C = None if np.isinf(witness["C"]) else exactly(witness["C"])
    c = c if C is None else [C * value for value in c]
    rows = table.rows
    z = _centred(rows, c, free)
    p = len(z[0])
    off = exactly(certificate.unit) + (len(w) + 8) * EPS
    slopes, curves, errors = [], [], []
    for row, target in zip(rows, t, strict=True):
        score = dot(row, w) + b
        up, down = sigma(score), sigma(-score)
        e = down if target else -up  # t - sigma
        spread = up * down
        slopes.append(-2 * e * spread)
        curves.append(2 * spread * (spread + e * (up - down)))
        error = off * (dot([abs(v) for v in row], [abs(v) for v in w]) + abs(b))
        steepest = D("0.16") * error
        errors.append(min(steepest, (2 * error).exp() * 2 * error * abs(slopes[-1])) if error < 50 else steepest)
    pull = [*(w if C is not None else [ZERO] * len(w)), *([ZERO] if free else [])]
    size = sum((k * s * s for k, s in zip(c, slopes, strict=True)), ZERO).sqrt()
    out: Figures = []
    worst = (ZERO, ONE)
    for j in range(p):
        g = sum((k * s * row[j] for k, s, row in zip(c, slopes, z, strict=True)), ZERO) + pull[j]
        column = sum((k * row[j] * row[j] for k, row in zip(c, z, strict=True)), ZERO).sqrt()
        scale = size * column + abs(pull[j])
        noise = sum((k * abs(row[j]) * e for k, e, row in zip(c, errors, z, strict=True)), ZERO) + 8 * off * abs(
            pull[j]
        )
        if scale:
            figure, allowed = abs(g) / scale, min(exactly(witness["tol"]) + 4 * noise / scale, VACUOUS)
            worst = max(worst, (figure, allowed), key=lambda pair: pair[0] / pair[1] if pair[1] else pair[0])
        elif column:  # every score is beyond 1e18: nothing is known of the gradient, and so nothing can be claimed
            worst = (ONE, VACUOUS)
    out.append(("gradient relative to slopes and columns", *worst))
    if not free:
        out.append(("intercept that is not free", abs(b), ZERO))
    if witness["kind"] in ("local minimum", "saddle", "flat", "unsettled"):
        out += _kind(witness["kind"], z, c, curves, C)
    return out


def _kind(kind: str, z: Matrix, c: list[D], curves: list[D], C: D | None) -> Figures:
    p = len(z[0])
    free = len(z[0])
    total = sum(c, ZERO)
    mean = sum((k * abs(h) for k, h in zip(c, curves, strict=True)), ZERO) / total
    H = [[sum((k * h * row[i] * row[j] for k, h, row in zip(c, curves, z, strict=True)), ZERO) for j in range(p)]
         for i in range(p)]  # fmt: skip
    ridge = [ONE if C is not None and not all(row[j] == 1 for row in z) else ZERO for j in range(free)]
    unit = [mean * sum((k * row[j] * row[j] for k, row in zip(c, z, strict=True)), ZERO) + ridge[j] for j in range(p)]
    roots = [value.sqrt() if value else ONE for value in unit]
    scaled = np.array([[float((H[i][j] + (ridge[i] if i == j else ZERO)) / roots[i] / roots[j]) for j in range(p)]
                       for i in range(p)])  # fmt: skip
    lowest = D(float(np.linalg.eigvalsh(scaled)[0]))
    if kind == "saddle":
        return [("a saddle's smallest eigenvalue", lowest, ZERO)]
    return [("smallest eigenvalue below 0, by", -lowest, D("1e-6") if kind == "flat" else D("1e-9"))]


def firth(certificate: Any, table: Table) -> Figures:
    """‖I^(-1/2) sum_i [c_i (t_i - p_i) + h_i (1/2 - p_i)] z_i‖, h_i = c_i p_i (1 - p_i) z_i' I⁻¹ z_i."""
    witness = certificate.witness
    w, b, c = _weights(certificate, table)
    free, t = bool(witness["fit_intercept"]), _targets(certificate, table)
    rows = table.rows
    z = _centred(rows, c, free)
    p = len(z[0])
    scores = [dot(row, w) + b for row in rows]
    spread = [sigma(s) * sigma(-s) for s in scores]
    info = [[sum((k * h * row[i] * row[j] for k, h, row in zip(c, spread, z, strict=True)), ZERO) for j in range(p)]
            for i in range(p)]  # fmt: skip
    score, noise, leverage = [ZERO] * p, ZERO, ZERO
    off = exactly(certificate.unit) + (len(w) + 8) * EPS
    for k, s, h, row, x, target in zip(c, scores, spread, z, rows, t, strict=True):
        length = dot(row, solve(info, row))
        lever = k * h * length
        leverage += lever
        up, down = sigma(s), sigma(-s)
        pull = k * (down if target else -up) + lever * (down - up) / 2
        score = [a + pull * v for a, v in zip(score, row, strict=True)]
        error = off * (dot([abs(v) for v in x], [abs(v) for v in w]) + abs(b))
        noise += (k / 4 + 2 * lever) * error * abs(length).sqrt()
    moved = solve(info, score)
    figure = abs(dot(score, moved)).sqrt()
    back = [dot(row, moved) for row in info]
    unseen = max((abs(a - v) for a, v in zip(back, score, strict=True)), default=ZERO)
    size = max((abs(v) for v in score), default=ZERO)
    out = [
        ("modified score in standard errors", figure, exactly(witness["tol"]) + min(4 * noise, VACUOUS)),
        ("leverages off the number of weights by", abs(leverage - p), D("1e-2")),
        ("part of the modified score that I does not see", unseen, D("1e-20") * size),
    ]
    if not free:
        out.append(("intercept that is not free", abs(b), ZERO))
    return out


def least_squares(certificate: Any, table: Table) -> Figures:
    """The cosine between each column and the residual y - w.x - b, less what a ridge pulls, relative to y."""
    witness = certificate.witness
    free, multilabel = bool(witness["fit_intercept"]), bool(witness["multilabel"])
    W, B = matrix(witness["coef"]), vector(witness["intercept"])
    labelled = not multilabel and certificate.class_weight is not None
    c = table.weights(certificate.classes, certificate.class_weight) if labelled else table.weights()
    if multilabel:
        signs = [[2 * int(v) - 1 for v in row] for row in table.labels()]
    elif len(W) == 1:
        signs = [[2 * code - 1] for code in table.codes(certificate.classes)]
    else:
        signs = [[1 if code == a else -1 for a in range(len(W))] for code in table.codes(certificate.classes)]
    rows, total = table.rows, sum(c, ZERO)
    z = _centred(rows, c, free)
    allowed = min(D("1.1") * exactly(witness["tol"]), VACUOUS)  # as it claims; rounding may take a tenth in a check
    out: Figures = []
    for a, (w, b) in enumerate(zip(W, B, strict=True)):
        residual = [sign[a] - dot(row, w) - b for row, sign in zip(rows, signs, strict=True)]
        for j in range(len(z[0])):
            column = sum((k * row[j] * row[j] for k, row in zip(c, z, strict=True)), ZERO).sqrt()
            if not column:
                continue
            scale = column * total.sqrt()
            pull = exactly(witness.get("alpha", 0.0)) * w[j] if j < len(w) else ZERO
            figure = abs(sum((k * row[j] * r for k, row, r in zip(c, z, residual, strict=True)), -pull)) / scale
            out.append(("cosine between a column and the residual", figure, allowed))
        if not free:
            out.append(("intercept that is not free", abs(b), ZERO))
    return out


def medians(certificate: Any, table: Table) -> Figures:
    """Centroids that leave at most half of the weight of their class on either side, with the row that pulls them."""
    witness, rows, c = certificate.witness, table.rows, table.weights()
    centroids, codes, out = matrix(witness["centroids"]), table.codes(certificate.classes), []
    whole, threshold = sum(c, ZERO), exactly(witness.get("threshold", 0.0))
    centre = vector(witness["centre"]) if "centre" in witness else None
    within = [ZERO] * len(centroids[0])

    def sides(own: list[tuple[Any, D]], j: int, m: D, total: D) -> None:
        below, above = (sum((w for row, w in own if sign * (row[j] - m) > 0), ZERO) for sign in (-1, 1))
        out.append(("weight on one side of a median", max(below, above) - total / 2, 16 * len(rows) * EPS * total))

    for a, centroid in enumerate(centroids):
        own = [(row, w) for row, w, code in zip(rows, c, codes, strict=True) if code == a]
        total = sum((w for _, w in own), ZERO)
        pull = threshold * (total * (1 - total / whole)).sqrt()
        for j, m in enumerate(centroid):
            within[j] += sum((w * abs(row[j] - m) for row, w in own), ZERO)
            sides(own if centre is None else [*own, (centre, pull)], j, m, total + pull)
    for j, m in enumerate(centre or ()):
        sides(list(zip(rows, c, strict=True)), j, m, whole)
    if "prior" in witness:
        for stated, found in zip(vector(witness["absolute"]), within, strict=True):
            out.append(("mean absolute differences", abs(stated - found / whole), 32 * len(rows) * EPS * found / whole))
        prior = vector(witness["prior"])
        out.append(("priors", abs(sum(prior, ZERO) - 1), 16 * len(prior) * EPS))
        out.append(("priors above 0", -min(prior), ZERO))
    return out


def _scaled(certificate: Any, table: Table, means: Matrix) -> tuple[Matrix, list[D], list[D]]:
    """Centroids shrunken by the threshold, squares of the columns' units, and what priors add to the scores."""
    witness, rows, c = certificate.witness, table.rows, table.weights()
    k, d, codes = len(means), len(means[0]), table.codes(certificate.classes)
    units, constants = [ONE] * d, [ZERO] * k
    if "deviation" not in witness:
        return means, units, constants
    counts = [sum((w for w, code in zip(c, codes, strict=True) if code == a), ZERO) for a in range(k)]
    n, centre = sum(counts, ZERO), _mean(rows, c)
    stated = vector(witness["deviation"])
    for j in range(d):
        within = sum((w * (row[j] - means[code][j]) ** 2 for row, w, code in zip(rows, c, codes, strict=True)), ZERO)
        found = (within / (n - k)).sqrt()
        whole = sum((w * (row[j] - centre[j]) ** 2 for row, w in zip(rows, c, strict=True)), ZERO)
        off = abs(stated[j] - found) if stated[j] else max(ZERO, found - (4 * EPS * whole / (n - k)).sqrt())
        largest = max(abs(row[j]) for row in rows)
        assert off <= D("1e-9") * found + 64 * len(rows) * EPS * largest, "standard deviations"
    if witness["threshold"] is not None:
        middle = sorted(stated)
        median = (middle[(d - 1) // 2] + middle[d // 2]) / 2
        for a in range(k):
            error = (1 / counts[a] - 1 / n).sqrt() * exactly(witness["threshold"])
            for j in range(d):
                off = means[a][j] - centre[j]
                left = max(abs(off) - error * (stated[j] + median), ZERO)
                means[a][j] = centre[j] + left.copy_sign(off)
    if witness["prior"] is not None:
        units = [s * s if s else ONE for s in stated]
        constants = [p.ln() for p in vector(witness["prior"])]
    return means, units, constants


def centroids(certificate: Any, table: Table) -> Figures:
    """Centroids against the means of the classes, hyperplanes against their bisectors; relative to the entries."""
    witness = certificate.witness
    mu, W, B = matrix(witness["centroids"]), matrix(witness["coef"]), vector(witness["intercept"])
    rows, codes = table.rows, table.codes(certificate.classes)
    c = table.weights(certificate.classes, certificate.class_weight)
    unit, n, d = exactly(certificate.unit), len(rows), len(rows[0])
    largest = [max(abs(row[j]) for row in rows) for j in range(d)]
    apart = exactly(np.finfo(np.float32 if certificate.unit > 1e-10 else np.float64).smallest_subnormal)
    out: Figures = []
    means = []
    for a in range(len(mu)):
        own = [i for i, code in enumerate(codes) if code == a]
        means.append(_mean([rows[i] for i in own], [c[i] for i in own]))
    means, units, constants = _scaled(certificate, table, means)
    for a in range(len(mu)):
        for j in range(d):
            out.append(("centroids", abs(mu[a][j] - means[a][j]), (4 * unit + 8 * n * EPS) * largest[j] + apart))
    if len(mu) == 2:
        pairs = [(means[1], means[0], constants[1] - constants[0])]
    else:
        centre = [sum(col, ZERO) / len(means) for col in zip(*means, strict=True)]
        pairs = [(m, centre, constant) for m, constant in zip(means, constants, strict=True)]
    for w, b, (one, other, constant) in zip(W, B, pairs, strict=True):
        for j in range(d):
            slope = (one[j] - other[j]) / units[j]
            allowed = (8 * unit + 16 * n * EPS) * largest[j] / units[j] + D("1e-9") * abs(slope)
            out.append(("coef against the centroids", abs(w[j] - slope), allowed))
        bisector = constant - sum(((p - q) * (p + q) / 2 / u for p, q, u in zip(one, other, units, strict=True)), ZERO)
        slack = 8 * unit + 16 * n * EPS + (D("1e-9") if any(u != ONE for u in units) else ZERO)
        room = sum((max(abs(v), slack * m / u) * m for v, m, u in zip(w, largest, units, strict=True)), ZERO)
        spread = sum((m * m / u * slack for m, u in zip(largest, units, strict=True)), abs(constant) * 8 * unit)
        out.append(("intercept against the bisector's", abs(b - bisector), (d + 8) * 4 * unit * room + 2 * spread))
    return out


def _totals(certificate: Any, table: Table) -> tuple[list[D], Matrix]:
    """The weight of each class, and of each column in it."""
    rows, codes, c = table.rows, table.codes(certificate.classes), table.weights()
    counts, totals = [ZERO] * len(certificate.classes), [[ZERO] * len(rows[0]) for _ in certificate.classes]
    for row, code, w in zip(rows, codes, c, strict=True):
        counts[code] += w
        totals[code] = [t + w * v for t, v in zip(totals[code], row, strict=True)]
    return counts, totals


def categories(certificate: Any, table: Table) -> Figures:
    """Probabilities against the smoothed shares of the categories in each class."""
    witness = certificate.witness
    theta, prior, alpha = matrix(witness["parameters"]), vector(witness["prior"]), exactly(witness["alpha"])
    rows, codes, c = table.rows, table.codes(certificate.classes), table.weights()
    sizes, n = [int(m) for m in witness["n_categories"]], len(rows)
    counts, _ = _totals(certificate, table)
    out: Figures = []
    if not witness["priors_given"]:
        total = sum(counts, ZERO)
        out += [("priors", abs(p - m / total), 64 * n * EPS) for p, m in zip(prior, counts, strict=True)]
    for a, count in enumerate(counts):
        first = 0
        for j, size in enumerate(sizes):
            for v in range(size):
                found = [w for row, code, w in zip(rows, codes, c, strict=True) if code == a and row[j] == v]
                expected = (sum(found, ZERO) + alpha) / (count + size * alpha)
                out.append(("probabilities", abs(theta[a][first + v] - expected), 128 * n * EPS))
            first += size
    return out


def complement(certificate: Any, table: Table) -> Figures:
    """Shares outside of each class, and coef against the logarithms of the shares that are stated."""
    witness = certificate.witness
    theta, alpha, unit = matrix(witness["parameters"]), exactly(witness["alpha"]), exactly(certificate.unit)
    _, totals = _totals(certificate, table)
    k, d, n = len(theta), len(theta[0]), len(table.rows)
    out: Figures = []
    for a in range(k):
        others = [sum((totals[c][j] for c in range(k) if c != a), alpha) for j in range(d)]
        whole = sum(others, ZERO)
        out += [("shares", abs(t - o / whole), 128 * n * EPS) for t, o in zip(theta[a], others, strict=True)]
    weights = [[-t.ln() for t in row] for row in theta]
    if witness["norm"]:
        weights = [[w / sum(row, ZERO) for w in row] for row in weights]
    size = max(abs(w) for row in weights for w in row)
    mean = [sum(column, ZERO) / k for column in zip(*weights, strict=True)]
    pairs = [(weights[1], weights[0])] if k == 2 else [(row, mean) for row in weights]
    for w, (one, other) in zip(matrix(witness["coef"]), pairs, strict=True):
        for v, p, q in zip(w, one, other, strict=True):
            out.append(
                ("coef against the shares", abs(v - p + q), 8 * unit * abs(v) + 256 * (d + k) * EPS * (size + 1))
            )
    out += [("intercept", abs(b), ZERO) for b in vector(witness["intercept"])]
    return out


def naive_bayes(certificate: Any, table: Table) -> Figures:
    """Parameters against means and spreads of the classes, and log-odds against the parameters that are stated."""
    witness = certificate.witness
    theta, prior = matrix(witness["parameters"]), vector(witness["prior"])
    families, alpha = list(witness["families"]), exactly(witness["alpha"])
    rows, codes, c = table.rows, table.codes(certificate.classes), table.weights()
    k, d, n = len(theta), len(rows[0]), len(rows)
    total = sum(c, ZERO)
    unit = exactly(certificate.unit)
    counts = [sum((w for w, code in zip(c, codes, strict=True) if code == a), ZERO) for a in range(k)]
    means = [_mean(*zip(*((row, w) for row, w, code in zip(rows, c, codes, strict=True) if code == a), strict=True))
             for a in range(k)]  # fmt: skip
    largest = [max(abs(row[j]) for row in rows) for j in range(d)]
    out: Figures = []
    if not witness["priors_given"]:
        out += [("priors", abs(prior[a] - counts[a] / total), 64 * n * EPS) for a in range(k)]
    together = [
        sum((counts[a] * means[a][j] + alpha for j in range(d) if families[j] == "multinomial"), ZERO) for a in range(k)
    ]
    for j, family in enumerate(families):
        for a in range(k):
            expected, size = means[a][j], largest[j]
            if family == "bernoulli":
                expected, size = (counts[a] * expected + alpha) / (counts[a] + 2 * alpha), ONE
            elif family == "multinomial":
                expected = (counts[a] * expected + alpha) / together[a] if together[a] else ZERO
                size = ONE
            elif family == "poisson":
                expected = max(expected, EPS * sum((m[j] for m in means), ZERO) / k)
            elif family != "gaussian":
                raise ValueError(f"No oracle for the family {family!r}.")
            out.append((f"parameters of {family}", abs(theta[a][j] - expected), 128 * n * EPS * size))
    if "gaussian" in families:
        out += _variances(certificate, rows, codes, c, counts, means, largest)
    if witness["coef"] is not None:
        out += _log_odds(certificate, theta, prior, unit, largest)
    return out


def _variances(certificate: Any, rows: Any, codes: Any, c: Any, counts: Any, means: Any, largest: Any) -> Figures:
    witness, out = certificate.witness, []
    total, k, n = sum(counts, ZERO), len(means), len(rows)
    shared = bool(witness["shared_variance"])
    given = [vector(witness["variances"])] if shared else matrix(witness["variances"])
    for j, family in enumerate(witness["families"]):
        if family != "gaussian":
            continue
        spreads = [
            sum(
                (w * (row[j] - means[a][j]) ** 2 for w, row, code in zip(c, rows, codes, strict=True) if code == a),
                ZERO,
            )
            for a in range(k)
        ]
        grand = sum((counts[a] * means[a][j] for a in range(k)), ZERO) / total
        overall = (
            sum(spreads, ZERO) / total + sum((counts[a] * (means[a][j] - grand) ** 2 for a in range(k)), ZERO) / total
        )
        raw = [sum(spreads, ZERO) / total] if shared else [s / m for s, m in zip(spreads, counts, strict=True)]
        for stated, value in zip(given, raw, strict=True):
            expected = max(value[j] if isinstance(value, list) else value, EPS * overall)
            slip = 64 * EPS * largest[j]
            allowed = D("1e-12") * n * expected + 2 * slip * expected.sqrt() + slip * slip + 2 * EPS * overall
            out.append(("variances", abs(stated[j] - expected), allowed))
    return out


def _log_odds(certificate: Any, theta: Any, prior: Any, unit: D, largest: Any) -> Figures:
    """coef = contrast of the natural parameters; intercept = contrast of log prior - sum of log-partitions."""
    witness, out = certificate.witness, []
    k, d = len(theta), len(theta[0])
    variances = None if witness["variances"] is None else vector(witness["variances"])
    natural, partition, size = [[ZERO] * d for _ in range(k)], [[ZERO] * d for _ in range(k)], [ZERO] * d
    blur = [ZERO] * d  # of the intercept, from the rounding of the parameters
    for j, family in enumerate(witness["families"]):
        for a in range(k):
            value = theta[a][j]
            if family == "gaussian":
                if variances is not None and variances[j]:
                    natural[a][j], partition[a][j] = value / variances[j], value * value / (2 * variances[j])
            elif family == "bernoulli":
                natural[a][j], partition[a][j] = (value / (ONE - value)).ln(), -(ONE - value).ln()
            elif family == "multinomial":
                natural[a][j] = value.ln()
            elif value:
                natural[a][j], partition[a][j] = value.ln(), value
            size[j] = max(size[j], abs(natural[a][j]))
            blur[j] = max(blur[j], abs(partition[a][j]))
    constant = [prior[a].ln() - sum(partition[a], ZERO) for a in range(k)]
    heights = max((abs(p.ln()) for p in prior), default=ZERO) + sum(blur, ZERO) + 1
    if k == 2:
        pairs = [(natural[1], natural[0], constant[1], constant[0])]
    else:
        mean = [sum(col, ZERO) / k for col in zip(*natural, strict=True)]
        pairs = [(natural[a], mean, constant[a], sum(constant, ZERO) / k) for a in range(k)]
    for w, b, (one, other, p, q) in zip(matrix(witness["coef"]), vector(witness["intercept"]), pairs, strict=True):
        for j in range(d):
            slack = 8 * unit * abs(w[j]) + 256 * EPS * size[j] + 4 * EPS
            out.append(("coef against the log-odds", abs(w[j] - one[j] + other[j]), slack))
        out.append(
            ("intercept against the log-odds", abs(b - p + q), 8 * unit * abs(b) + 256 * (d + 4) * EPS * heights)
        )
    return out
