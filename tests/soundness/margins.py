"""Bounds on the best margin, and proofs that there is none: verdicts in whole numbers, distances by Wolfe's method."""

from __future__ import annotations

from typing import Any

import numpy as np
from soundness import exact, objectives
from soundness.data import Table
from soundness.decimals import ONE, ZERO, D, dot, exactly, norm, vector
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
    best, positive = best_margin(table, bracket, inside, signs, rows, homogeneous, free)
    out = []
    if positive is False:
        if lower > 0:
            out.append(f"lower bound {bracket.lower!r}, but the classes are not separable")
        elif lower < 0 and kernel is None and not _attains(bracket, rows, signs, free, homogeneous, lower):
            out.append(f"lower bound {bracket.lower!r}, which its direction does not attain")
        if upper < 0:
            out.append(f"upper bound {bracket.upper!r} of a margin that is 0 or less, below 0")
        return out
    if lower > best * (1 + NEAR):
        out.append(f"lower bound {bracket.lower!r}, but the best margin is {float(best):.17g}")
    if upper < best * (1 - NEAR):
        out.append(f"upper bound {bracket.upper!r}, but the best margin is {float(best):.17g}")
    return out


def best_margin(
    table: Table, certificate: Any, inside: list[int], signs: list[int], rows: Any, homogeneous: bool, free: bool
) -> tuple[D, bool]:
    """The best margin, and whether it is above 0: exactly so for rows that are given, by its size for a kernel's."""
    kernel = getattr(certificate, "kernel", None)
    key = ("margin", certificate.positive, getattr(certificate, "negative", None), homogeneous, free, repr(kernel))

    def make() -> tuple[D, bool]:
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
        return best, best > (D("1e-22") if kernel is not None else ZERO) * size

    return table.remembered(key, make)


def _attains(bracket: Any, rows: Any, signs: Any, free: bool, homogeneous: bool, lower: D) -> bool:
    v = vector(bracket.direction)
    w, b = (v[:-1], v[-1]) if free else (v, ZERO)
    length = norm(v) if homogeneous else norm(w)
    worst = min(y * (dot(row, w) + b) for row, y in zip(rows, signs, strict=True))
    return not length or worst >= lower * length * (1 + NEAR)


def kernel_inseparable(claim: Any, table: Table) -> list[str]:
    inside, signs = sides(claim, table)
    rows, lowest = features(claim.kernel, table, inside)
    if lowest < -D("1e-9"):
        return ["a kernel matrix that is not positive semidefinite"]
    best, _ = best_margin(table, claim, inside, signs, rows, False, bool(getattr(claim, "fit_intercept", True)))
    if exactly(claim.margin_bound) < best * (1 - NEAR):
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
