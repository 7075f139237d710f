"""On which side of a hyperplane each row is, in rational arithmetic; and how few errors any hyperplane makes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from soundness import exact
from soundness.data import Table, kernel_matrix
from soundness.decimals import ONE, dot, exactly, matrix, norm, vector
from soundness.parts import NEAR, frozen


def _fraction(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(value.item() if isinstance(value, np.generic) else value)


def _scores(table: Table, coef: Any, intercept: Any) -> list[list[Fraction]]:
    """(k, n) scores, exactly."""
    rows = table.remembered("fractions", lambda: exact.fractions(table.dense))
    out = []
    for w, b in zip(np.asarray(coef, dtype=object), np.asarray(intercept, dtype=object).ravel(), strict=True):
        w = [_fraction(value) for value in w.tolist()]
        out.append([sum((p * q for p, q in zip(row, w, strict=True) if p and q), _fraction(b)) for row in rows])
    return out


def separator(claim: Any, table: Table) -> list[str]:
    codes, scores = table.codes(claim.classes), _scores(table, claim.coef, claim.intercept)
    W = [[_fraction(v) for v in row] for row in np.asarray(claim.coef, dtype=object).tolist()]
    leads = []
    if claim.positive is not None:
        length = norm([exactly(v) for v in W[0]])
        leads = [(s if code == claim.positive else -s, length) for s, code in zip(scores[0], codes, strict=True)]
    else:
        for i, own in enumerate(codes):
            for a in range(len(W)):
                if a != own:
                    apart = norm([exactly(p - q) for p, q in zip(W[own], W[a], strict=True)])
                    leads.append((scores[own][i] - scores[a][i], apart))
    if any(lead <= 0 for lead, _ in leads):
        return [f"{sum(lead <= 0 for lead, _ in leads)} rows are not strictly on their side"]
    true = min(exactly(lead) / (length or ONE) for lead, length in leads)
    stated = exactly(claim.margin)
    off = abs(stated - true) > NEAR * true
    return [f"margin {claim.margin!r}, but it is {float(true):.17g}"] if off and stated > true else []


def kernel_separator(claim: Any, table: Table) -> list[str]:
    codes = table.codes(claim.classes)
    support, c = np.asarray(claim.support).tolist(), vector(claim.dual_coef)
    if claim.kernel["kernel"] == "precomputed":
        K = matrix(np.asarray(table.dense)[:, table.kept])
    else:
        K = table.remembered(("gram", repr(claim.kernel)), lambda: kernel_matrix(claim.kernel, table.rows))
    smallest = min(
        (1 if code == claim.positive else -1) * (dot(c, [row[j] for j in support]) + exactly(claim.intercept))
        for row, code in zip(K, codes, strict=True)
    )
    if smallest <= 0 or exactly(claim.smallest) <= 0:
        return [f"y f(x) > 0, but the smallest is {float(smallest):.3g}"]
    off = exactly(claim.smallest) > smallest * (1 + NEAR)
    return [f"y f(x) >= {claim.smallest!r}, but it is {float(smallest):.17g}"] if off else []


def error_bound(claim: Any, table: Table) -> list[str]:
    codes = table.codes(claim.classes)
    c = [Fraction(v) for v in table.weights(claim.classes, claim.class_weight)]
    positive = [code == claim.positive for code in codes]
    scores = _scores(table, claim.coef, claim.intercept)[0]
    errors = sum((w for s, p, w in zip(scores, positive, c, strict=True) if (s >= 0) != p), Fraction(0))
    out, near = [], Fraction(1, 10**9) * sum(c)
    if abs(Fraction(claim.errors) - errors) > near:
        out.append(f"{claim.errors!r} errors, but there are {float(errors):.17g}")
    free = bool(claim.fit_intercept)
    below = Fraction(claim.lower_bound) - near
    if below > 0:
        z = exact.whole(exact.points(table.dense, free))
        key = ("beats", tuple(positive), free, frozen(claim.class_weight), below)
        if table.remembered(key, lambda: exact.beats(z, positive, c, below)):
            out.append(f"at least {claim.lower_bound!r} errors, but some hyperplane makes fewer")
    return out
