"""Bounds on the best margin, and proofs that there is none: verdicts in whole numbers, distances by Wolfe's method."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from soundness import exact, objectives
from soundness.data import Table
from soundness.decimals import ONE, ZERO, D, dot, exactly, norm, tiny, vector
from soundness.parts import NEAR, features, sides


def margin_bracket(bracket: Any, table: Table) -> list[str]:
    inside, signs = sides(bracket, table)
    free = bool(bracket.fit_intercept)
    kernel = getattr(bracket, "kernel", None)
    if kernel is None:
        rows = [table.rows[i] for i in inside]
        homogeneous = bracket.space == "homogeneous"
    else:
        rows, lowest = features(kernel, table, inside)
        homogeneous = False
        if lowest < -D("1e-9"):
            return ["a kernel matrix that is not positive semidefinite"]
    lower, upper = exactly(bracket.lower), exactly(bracket.upper)
    attained = _attained(bracket, rows, signs, free, homogeneous)
    reached = attained is not None and lower <= attained + NEAR * abs(attained)
    capped = upper >= _cap(bracket.points, bracket.alpha, rows, signs, free, homogeneous) * (1 - NEAR)
    if reached and capped:
        return []  # proved
    best, positive = best_margin(table, bracket, inside, signs, rows, homogeneous, free)
    if positive is None:
        return []  # 60 digits do not tell
    out = []
    if positive is False:
        if lower > 0:
            out.append(f"lower bound {bracket.lower!r}, but the classes are not separable")
        elif not reached and lower > _negative_cap(rows, signs, free, homogeneous):
            out.append(f"lower bound {bracket.lower!r}, but every direction errs by more")
        if upper < 0:
            out.append(f"upper bound {bracket.upper!r} of a margin that is 0 or less, below 0")
        return out
    if lower > best * (1 + NEAR):
        out.append(f"lower bound {bracket.lower!r}, but the best margin is {float(best):.17g}")
    if upper < best * (1 - NEAR):
        out.append(f"upper bound {bracket.upper!r}, but the best margin is {float(best):.17g}")
    return out


def _negative_cap(rows: Any, signs: Any, free: bool, homogeneous: bool) -> D:
    """A bound on a best margin below 0: half of what HiGHS finds for max min_i v.z_i over max_j |v_j| = 1, / sqrt(p).

    b outside the norm, or a bound too near 0 for float64 to be sure of, gives none.
    """
    if free and not homogeneous:
        return D("Infinity")
    z = [[y * v for v in ([*row, ONE] if free else row)] for row, y in zip(rows, signs, strict=True)]
    size = max(abs(v) for row in z for v in row) or ONE
    Z = np.array([[float(v / size) for v in row] for row in z])
    n, p = Z.shape
    best = -np.inf
    for j in range(p):
        for side in (-1.0, 1.0):
            limits = [(-1.0, 1.0)] * p + [(None, None)]
            limits[j] = (side, side)
            found = linprog(np.r_[np.zeros(p), -1.0], np.column_stack([-Z, np.ones(n)]), np.zeros(n), bounds=limits)
            best = max(best, -found.fun)
    return exactly(0.5 * best / np.sqrt(p)) * size if best < -1e-6 else D("Infinity")


def _attained(bracket: Any, rows: Any, signs: Any, free: bool, homogeneous: bool) -> D | None:
    """The margin of the bracket's own direction; None for w = 0."""
    if getattr(bracket, "kernel", None) is None:
        v = vector(bracket.direction)
        w, b = (v[:-1], v[-1]) if free else (v, ZERO)
    else:
        points, expansion = np.asarray(bracket.points).tolist(), vector(bracket.expansion)
        w = [sum((e * rows[i][j] for i, e in zip(points, expansion, strict=True)), ZERO) for j in range(len(rows[0]))]
        b = exactly(bracket.intercept) if free else ZERO
    length = norm([*w, b]) if homogeneous else norm(w)
    if not length:
        return None
    return min(y * (dot(row, w) + b) for row, y in zip(rows, signs, strict=True)) / length


def _cap(points: Any, alpha: Any, rows: Any, signs: Any, free: bool, homogeneous: bool) -> D:
    """The upper bound that the combination of points proves once it is balanced; infinite if it proves none."""
    points, alpha = np.asarray(points).tolist(), vector(alpha)
    if any(a < 0 for a in alpha) or any(not 0 <= i < len(rows) for i in points):
        return D("Infinity")
    balanced = free and not homogeneous
    totals = {s: sum((a for a, i in zip(alpha, points, strict=True) if signs[i] == s), ZERO) for s in (1, -1)}
    if not sum(totals.values()) or (balanced and not all(totals.values())):
        return D("Infinity")
    share = {s: 1 / (2 * totals[s]) if balanced else 1 / sum(totals.values()) for s in (1, -1)}
    ends = [[*rows[i], ONE] if free and homogeneous else rows[i] for i in points]
    weights = [a * share[signs[i]] * signs[i] for a, i in zip(alpha, points, strict=True)]
    return norm([dot(weights, column) for column in zip(*ends, strict=True)])


def best_margin(
    table: Table, certificate: Any, inside: list[int], signs: list[int], rows: Any, homogeneous: bool, free: bool
) -> tuple[D, bool | None]:
    """The best margin, and whether it is above 0: exactly so for given rows; None for a kernel's if it is too small."""
    kernel = getattr(certificate, "kernel", None)
    key = ("margin", certificate.positive, getattr(certificate, "negative", None), homogeneous, free, repr(kernel))

    def make() -> tuple[D, bool | None]:
        if kernel is None:
            vectors = exact.signed(table.dense[inside], signs, free)
            if not all(exact.strict_rows(vectors)):
                return ZERO, False
        if free and not homogeneous:
            plus = [row for row, y in zip(rows, signs, strict=True) if y > 0]
            minus = [row for row, y in zip(rows, signs, strict=True) if y < 0]
            apart = [[p - q for p, q in zip(a, b, strict=True)] for a in plus for b in minus]
            best = objectives.nearest_to_origin(apart) / 2
        else:
            z = [[y * v for v in ([*row, ONE] if free else row)] for row, y in zip(rows, signs, strict=True)]
            best = objectives.nearest_to_origin(z)
        size = max((norm(row) for row in rows), default=ONE)
        if kernel is not None and best <= tiny(0.4) * size:
            return best, False if best <= tiny(0.7) * size and _balanced(rows) else None
        return best, True

    return table.remembered(key, make)


def _balanced(rows: Any) -> bool:
    """Whether the rows are of about one length, so that 60 digits tell what is 0."""
    lengths = [norm(row) for row in rows]
    return min(lengths) > D("1e-8") * max(lengths)


def kernel_inseparable(claim: Any, table: Table) -> list[str]:
    inside, signs = sides(claim, table)
    rows, lowest = features(claim.kernel, table, inside)
    if lowest < -D("1e-9"):
        return ["a kernel matrix that is not positive semidefinite"]
    free, stated = bool(getattr(claim, "fit_intercept", True)), exactly(claim.margin_bound)
    if stated >= _cap(claim.points, claim.weights, rows, signs, free, False) * (1 - NEAR):
        return []  # proved
    best, positive = best_margin(table, claim, inside, signs, rows, False, free)
    if positive and stated < best * (1 - NEAR):
        return [f"no margin above {claim.margin_bound!r}, but {float(best):.17g} is one"]
    return []


def inseparable(claim: Any, table: Table) -> list[str]:
    codes, free = table.codes(claim.classes), bool(claim.fit_intercept)
    k = len(claim.classes)
    if claim.positive is not None:
        signs = [1 if code == claim.positive else -1 for code in codes]
        vectors = exact.signed(table.dense, signs, free)
    else:
        vectors, _ = exact.softmax_rows(table.dense, codes, k, free)
    true = table.remembered(("verdict", claim.positive, free), lambda: exact.verdict(vectors))
    out = []
    if claim.exact and claim.verdict != true:
        return [f"{claim.verdict!r}, but the classes are {true!r}"]
    if claim.verdict == "quasi-separable" and true == "overlapping":
        out.append("'quasi-separable', but the classes are 'overlapping'")
    if not claim.exact and true == "separable":
        z, _ = table.about(table.rows, free)
        if claim.positive is not None:
            best = best_margin(table, claim, list(range(len(codes))), signs, table.rows, False, free)[0]
        else:
            leads = [
                [(int(own == a) - int(c == a)) * v for a in range(k) for v in row]
                for row, own in zip(z, codes, strict=True)
                for c in range(k)
                if c != own
            ]
            best = objectives.nearest_to_origin([[exactly(v) for v in lead] for lead in leads])
        if exactly(claim.margin_bound) < best * (1 - NEAR):
            out.append(f"no margin above {claim.margin_bound!r}, but {float(best):.17g} is one")
    return out


def mistake_bound(claim: Any, table: Table) -> list[str]:
    """R and gamma as stated, and R² / gamma² no more than the bound: it is attained by no more mistakes than that."""
    bracket = claim.certificate
    out = margin_bracket(bracket, table)
    inside, signs = sides(bracket, table)
    free = bool(bracket.fit_intercept)
    radius = max((dot(row, row) + (1 if free else 0)).sqrt() for row in table.rows)
    best, positive = best_margin(table, bracket, inside, signs, table.rows, True, free)
    lower, upper = (exactly(value) for value in claim.margin)
    if positive and (lower > best * (1 + NEAR) or upper < best * (1 - NEAR)):
        out.append(f"a margin within {claim.margin}, but it is {float(best):.17g}")
    if not positive and (lower > 0 or upper < 0):
        out.append(f"a margin within {claim.margin}, but the classes are not separable")
    if abs(exactly(claim.radius) - radius) > NEAR * radius:
        out.append(f"radius {claim.radius!r}, but it is {float(radius):.17g}")
    if np.isfinite(claim.bound):
        if not positive:
            out.append(f"at most {claim.bound!r} mistakes, but the classes are not separable")
        elif exactly(claim.bound) < (radius / best) ** 2 * (1 - 4 * NEAR):
            out.append(f"at most {claim.bound!r} mistakes, but R² / gamma² is {float((radius / best) ** 2):.17g}")
    return out
