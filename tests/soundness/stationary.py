"""Estimates by formula or by equations: how far the equations are from holding, in 60 digits.

Each function returns figures as (name, figure, allowed): a claim is false where the figure is above what is allowed.
What that is follows from the data and the precision of the stored weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from soundness.data import Matrix, Table
from soundness.decimals import ONE, ZERO, D, dot, exactly, matrix, sigma, solve, vector

EPS = D(float(np.finfo(np.float64).eps))
VACUOUS = D("0.05")  # of a relative figure: whoever allows more claims nothing
Figures = list[tuple[str, D, D]]


def figures(certificate: Any, table: Table) -> Figures:
    """The figures of the problem the certificate names."""
    return {
        "centroids": centroids,
        "firth": firth,
        "least_squares": least_squares,
        "naive_bayes": naive_bayes,
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
    """The cosine between each column and the residual y - w.x - b, relative to the length of y."""
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
    off = exactly(certificate.unit) + (len(W[0]) + 8) * EPS
    out: Figures = []
    for a, (w, b) in enumerate(zip(W, B, strict=True)):
        residual = [sign[a] - dot(row, w) - b for row, sign in zip(rows, signs, strict=True)]
        sizes = [dot([abs(v) for v in row], [abs(v) for v in w]) + abs(b) for row in rows]
        for j in range(len(z[0])):
            column = sum((k * row[j] * row[j] for k, row in zip(c, z, strict=True)), ZERO).sqrt()
            if not column:
                continue
            scale = column * total.sqrt()
            figure = abs(sum((k * row[j] * r for k, row, r in zip(c, z, residual, strict=True)), ZERO)) / scale
            noise = off * sum((k * abs(row[j]) * s for k, row, s in zip(c, z, sizes, strict=True)), ZERO) / scale
            out.append(("cosine between a column and the residual", figure, min(D("1e-8") + 4 * noise, VACUOUS)))
        if not free:
            out.append(("intercept that is not free", abs(b), ZERO))
    return out


def centroids(certificate: Any, table: Table) -> Figures:
    """Centroids against the means of the classes, hyperplanes against their bisectors; relative to the entries."""
    witness = certificate.witness
    mu, W, B = matrix(witness["centroids"]), matrix(witness["coef"]), vector(witness["intercept"])
    rows, codes = table.rows, table.codes(certificate.classes)
    c = table.weights(certificate.classes, certificate.class_weight)
    unit, n, d = exactly(certificate.unit), len(rows), len(rows[0])
    largest = [max(abs(row[j]) for row in rows) for j in range(d)]
    out: Figures = []
    means = []
    for a in range(len(mu)):
        own = [i for i, code in enumerate(codes) if code == a]
        means.append(_mean([rows[i] for i in own], [c[i] for i in own]))
        for j in range(d):
            out.append(("centroids", abs(mu[a][j] - means[a][j]), (4 * unit + 8 * n * EPS) * largest[j]))
    if len(mu) == 2:
        pairs = [(means[1], means[0])]
    else:
        pairs = [(m, [sum(col, ZERO) / len(means) for col in zip(*means, strict=True)]) for m in means]
    for w, b, (one, other) in zip(W, B, pairs, strict=True):
        for j in range(d):
            out.append(
                ("coef against the centroids", abs(w[j] - one[j] + other[j]), (8 * unit + 16 * n * EPS) * largest[j])
            )
        bisector = -sum(((p - q) * (p + q) / 2 for p, q in zip(one, other, strict=True)), ZERO)
        room = sum((max(abs(v), (8 * unit + 16 * n * EPS) * m) * m for v, m in zip(w, largest, strict=True)), ZERO)
        spread = sum((m * m * (8 * unit + 16 * n * EPS) for m in largest), ZERO)
        out.append(("intercept against the bisector's", abs(b - bisector), (d + 8) * 4 * unit * room + 2 * spread))
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
