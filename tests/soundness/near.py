"""Claims that are false by a few allowances only: each figure moved just beyond what rounding explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from soundness import claims
from soundness.data import Table
from soundness.decimals import ZERO, D, exactly, precisely
from soundness.forging import Forgery, Rng
from soundness.margins import best_margin
from soundness.parts import features, sides
from soundness.stationary import figures

ALLOWED = 0.1  # of tol: the largest share that rounding in a check may take


def near(certificate: Any, table: Table, rng: Rng) -> list[Forgery]:
    """Claims that are false by two to ten allowances."""
    forge = _NEAR.get(type(certificate).__name__)
    made = forge(certificate, table, rng) if forge else []
    return [Forgery(forged, table, what, near=True) for forged, what in made]


def _times(rng: Rng) -> float:
    return float(rng.uniform(2.3, 10.0))


def near_gap(gap: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    """Primal, dual or both off by k allowances of ALLOWED tol F; or weights moved so that F is that much higher."""
    step = ALLOWED * gap.tol * max(abs(gap.primal), 1e-300)
    k, m = _times(rng), _times(rng)
    out = [
        (replace(gap, primal=gap.primal - k * step), f"primal lower by {k:.1f} allowances"),
        (replace(gap, primal=gap.primal + k * step), f"primal higher by {k:.1f} allowances"),
        (replace(gap, dual=gap.primal + k * step), f"dual higher by {k:.1f} allowances"),
        (
            replace(gap, primal=gap.primal + m * step, dual=gap.primal + m * step),
            f"both higher by {m:.1f} allowances",
        ),
    ]
    moved = _moved(gap, table, k * step, rng)
    if moved is not None:
        out.append((moved, f"weights moved, the objective {k:.1f} allowances higher than stated"))
        raised = replace(moved, primal=gap.primal + k * step, dual=(gap.primal + k * step) * (1 - 1e-3 * gap.tol))
        out.append((raised, f"weights moved, and called optimal, though {k:.1f} allowances too high"))
    return out


def _moved(gap: Any, table: Table, rise: float, rng: Rng) -> Any:
    """The weights moved until the objective is higher by `rise`."""
    name = "expansion" if gap.coef is None else "coef"
    start = np.asarray(getattr(gap, name), dtype=np.float64)
    if not start.size or not start.any():
        return None
    direction = rng.normal(size=start.shape) * np.abs(start).max()
    if getattr(gap, "reference", False) and len(start) > 1:
        direction[-1] = 0.0
    low, high = -15.0, 3.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        forged = replace(gap, **{name: start + 10.0**middle * direction})
        value = objective_at(forged, table)
        if value is None:
            return None
        if value - gap.primal > rise:
            high = middle
        else:
            low = middle
        if 0.95 * rise < value - gap.primal < 1.05 * rise:
            return forged
    return None


@precisely
def objective_at(gap: Any, table: Table) -> float | None:
    """F at the weights of a gap certificate, read off the oracle's complaint about a primal that cannot be."""
    lines = claims.falsehoods(replace(gap, primal=-1e300, dual=-1e300, tol=1e-4), table)
    found = [line.rsplit(" ", 1)[1] for line in lines if "the objective is" in line]
    return float(found[0]) if found else None


def _allowance(certificate: Any, table: Table, word: str) -> float:
    """What the check of that name allows for rounding, as `verify` derives it for the honest certificate."""
    for check in claims.verified(certificate, table).checks:
        if word in check.name:
            return float(check.tolerance + check.rounding)
    return 0.0


def near_bracket(bracket: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    inside, signs = sides(bracket, table)
    kernel = getattr(bracket, "kernel", None)
    rows = [table.rows[i] for i in inside] if kernel is None else features(kernel, table, inside)[0]
    homogeneous = kernel is None and bracket.space == "homogeneous"
    margin = precisely(best_margin)
    best, positive = margin(table, bracket, inside, signs, rows, homogeneous, bool(bracket.fit_intercept))
    out, k = [], _times(rng)
    if positive:
        room = max(_allowance(bracket, table, "lower bound above"), 1e-15 * float(best))
        out.append((replace(bracket, lower=float(best) + k * room), f"lower bound too high by {k:.1f} allowances"))
        room = max(_allowance(bracket, table, "upper bound below"), 1e-15 * float(best))
        out.append((replace(bracket, upper=float(best) - k * room), f"upper bound too low by {k:.1f} allowances"))
    return out


def near_separator(claim: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    k = _times(rng)
    lines = claims.falsehoods(replace(claim, margin=1e300), table)
    true = float(lines[0].rsplit(" ", 1)[1])
    room = max(_allowance(claim, table, "margin"), 1e-15 * true)
    return [(replace(claim, margin=true + k * room), f"margin too large by {k:.1f} allowances")]


def near_kernel_separator(claim: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    k = _times(rng)
    lines = claims.falsehoods(replace(claim, smallest=1e300), table)
    true = float(lines[0].rsplit(" ", 1)[1]) if lines and "but it is" in lines[0] else None
    if true is None:
        return []
    room = max(_allowance(claim, table, "below what is stated"), 1e-15 * true)
    return [(replace(claim, smallest=true + k * room), f"smallest too large by {k:.1f} allowances")]


def near_errors(claim: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    k, room = _times(rng), max(_allowance(claim, table, "errors as stated"), 4e-16 * float(claim.errors), 1e-300)
    sign = float(rng.choice([-1.0, 1.0]))
    out = [(replace(claim, errors=float(claim.errors) + sign * k * room), f"errors off by {k:.1f} allowances")]
    if claim.lower_bound == claim.errors and claim.proof != "search":
        higher = replace(claim, lower_bound=float(claim.lower_bound) + k * room)
        out.append((higher, f"lower bound too high by {k:.1f} allowances"))
    return out


def near_stationary(claim: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    """One number of the estimate moved until an equation is off by two to ten allowances."""
    names = [n for n in ("coef", "intercept", "centroids", "parameters", "variances", "prior") if _numbers(claim, n)]
    out = []
    for name in names:
        start = np.array(claim.witness[name], dtype=np.float64)
        at = tuple(int(rng.integers(0, n)) for n in start.shape)
        size = abs(start[at]) or 1.0
        low, high = -17.0, 2.0
        for _ in range(30):
            middle = 0.5 * (low + high)
            values = start.copy()
            values[at] += size * 10.0**middle
            forged = replace(claim, witness={**claim.witness, name: values})
            ratio = _excess(forged, table)
            if 2.5 < ratio < 10:
                out.append((forged, f"{name} moved: an equation is off by {ratio:.1f} allowances"))
                break
            low, high = (low, middle) if ratio >= 10 else (middle, high)
    return out


def _numbers(claim: Any, name: str) -> bool:
    return claim.witness.get(name) is not None and (name != "prior" or not claim.witness.get("priors_given"))


@precisely
def _excess(claim: Any, table: Table) -> float:
    """By how many allowances an equation is off: the oracle's, or those of the checks where they are larger.

    A hundred times the oracle's is as much as a check may allow.
    """
    try:
        off = figures(claim, table)
        checks = claims.verified(claim, table).checks
    except (ArithmeticError, ValueError):
        return float("inf")
    ratios = [ZERO]
    for name, figure, allowed in off:
        own = [check.tolerance + check.rounding for check in checks if name.split()[0] in check.name]
        room = max([allowed, *(min(exactly(value), 100 * allowed) for value in own if np.isfinite(value))])
        ratios.append(figure / room if room else D(0 if not figure else 10**9))
    return float(min(max(ratios), D(10**9)))


def near_mistakes(claim: Any, table: Table, rng: Rng) -> list[tuple[Any, str]]:
    k, out = _times(rng), []
    room = max(_allowance(claim, table, "radius as stated") / float(claim.radius or 1.0), 1e-15)
    out.append((replace(claim, radius=float(claim.radius) * (1 + k * room)), f"radius off by {k:.1f} allowances"))
    if np.isfinite(claim.bound):
        room = max(_allowance(claim, table, "bound as stated"), 1e-15)
        out.append((replace(claim, bound=float(claim.bound) * (1 - k * room)), f"bound off by {k:.1f} allowances"))
    return out


_NEAR: dict[str, Callable[[Any, Table, Rng], list[tuple[Any, str]]]] = {
    "LogisticGap": near_gap,
    "HingeGap": near_gap,
    "ElasticNetGap": near_gap,
    "MarginBracket": near_bracket,
    "KernelMarginBracket": near_bracket,
    "Separator": near_separator,
    "KernelSeparator": near_kernel_separator,
    "ErrorBound": near_errors,
    "Stationarity": near_stationary,
    "MistakeBound": near_mistakes,
}
