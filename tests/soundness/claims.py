"""Is what a certificate claims true? Decided in exact or 60-digit arithmetic, by code that shares nothing with the package.

`falsehoods(certificate, table)` lists what is false beyond the allowance; `check(model, table)` adds what else a fitted
classifier promises: that its certificate verifies, is about its own weights, and fits its status.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from soundness import exact, objectives
from soundness.data import Table, UnknownLabelError, kernel_matrix
from soundness.decimals import ONE, ZERO, D, dot, exactly, factor, matrix, norm, precisely, vector
from soundness.stationary import figures

SHARE = D("0.2")  # of tol: twice what a check may allow for rounding
NEAR = D("1e-9")  # of a margin: what its bounds may be off
TINY = exactly(float(np.finfo(np.float64).tiny))


@precisely
def falsehoods(certificate: Any, table: Table) -> list[str]:
    """What the certificate states that is not so."""
    kind = type(certificate).__name__
    if kind == "All":
        return [line for part in certificate.parts for line in falsehoods(part, table)]
    try:
        return _JUDGES[kind](certificate, table)
    except UnknownLabelError as error:
        return [str(error)]


# ---------------------------------------------------------------------- gaps
def logistic_gap(gap: Any, table: Table) -> list[str]:
    k, task = len(gap.coef), gap.task
    free, C = bool(gap.fit_intercept), None if np.isinf(gap.C) else exactly(gap.C)
    labelled = task is None
    c = table.weights(gap.classes, gap.class_weight if labelled else None)
    targets = table.codes(gap.classes) if labelled else [int(v) for v in table.labels()[:, task]]
    z, origin = table.remembered(("about", free), lambda: table.about(table.rows, free))
    objective = objectives.logistic(z, targets, c, C, k, free, bool(gap.reference))
    W, b = matrix(gap.coef), vector(gap.intercept)
    if not free and any(b):
        return ["an intercept, though there is none"]
    V = [[*w, bias + dot(w, origin)] if free else w for w, bias in zip(W, b, strict=True)]
    true = objective.value(V)
    if gap.reference and k > 1 and (any(W[-1]) or b[-1]):
        return ["weights of the reference class"]
    room = SHARE * exactly(gap.tol) * max(abs(true), TINY)
    out = _primal(gap, true, room)
    below = exactly(gap.dual) - room
    if below <= 0:
        return out  # losses are never negative
    found, converged = _polish(objective, V, below, exactly(gap.tol))
    if found >= below and not converged:
        key = ("logistic", str(gap.C), k, free, bool(gap.reference), task, _key(gap.class_weight))
        found = table.remembered(key, lambda: _lowest_logistic(objective, table, targets, c, C, k, free, z))
    if found < below:
        out.append(f"dual {gap.dual!r} above the minimum, which is at most {float(found):.17g}")
    return out


def _polish(objective: Any, V: Any, below: D, tol: D) -> tuple[D, bool]:
    """Newton's method from the weights: the lowest value, and whether it came to rest, seeing every direction."""
    last = None
    for _ in range(8):
        F, step, decrement = objective.newton(V)
        moved = max(abs(value) for row in objective.scores(step) for value in row)
        if F < below:
            return F, True
        if last is not None and moved < D("1e-2") and (decrement <= D("1e-3") * last or decrement < D("1e-30") * F):
            return F, objective.seen and decrement <= D("1e-3") * tol * F
        if moved > 4:
            return F, False
        last = decrement
        V = [[a + b for a, b in zip(v, s, strict=True)] for v, s in zip(V, step, strict=True)]
    return F, False


def _lowest_logistic(objective: Any, table: Table, targets: Any, c: Any, C: D | None, k: int, free: bool, z: Any) -> D:
    if C is not None:
        return objective.descend(objectives.zeros(objective), D("1e-10"))[0]
    if k == 1:
        vectors = exact.signed(table.dense, [1 if t else -1 for t in targets], free)
    else:
        vectors, _ = exact.softmax_rows(table.dense, targets, k, free)
    return objectives.likelihood_infimum(z, targets, c, k, free, vectors, D("1e-10"))


def hinge_gap(gap: Any, table: Table) -> list[str]:
    squared, free = gap.loss == "squared_hinge", bool(gap.fit_intercept)
    inside, signs = _sides(gap, table)
    c = table.weights(gap.classes, gap.class_weight)
    bound = [exactly(gap.C) * c[i] for i in inside]
    place = {int(row): i for i, row in enumerate(table.kept)}  # points are counted in the data as given
    at = {i: n for n, i in enumerate(inside)}
    alpha, expansion = [ZERO] * len(inside), [ZERO] * len(inside)
    for j, (point, value) in enumerate(zip(np.asarray(gap.points).tolist(), vector(gap.alpha), strict=True)):
        n = at.get(place.get(int(point), -1))
        if n is None:
            if value:
                return ["a multiplier of a row that plays no part"]
            continue
        alpha[n] = value
        if gap.expansion is not None:
            expansion[n] = exactly(np.asarray(gap.expansion)[j])
    if not free and gap.intercept:
        return ["an intercept, though there is none"]
    b = exactly(gap.intercept)
    if gap.kernel is None:
        rows, w = [table.rows[i] for i in inside], vector(gap.coef)
    else:
        rows, lowest = _features(gap.kernel, table, inside)
        if lowest < -D("1e-9"):
            return ["a kernel matrix that is not positive semidefinite"]
        w = [dot(expansion, column) for column in zip(*rows, strict=True)] if rows[0] else []
        if not rows[0]:
            rows, w = [[ZERO] for _ in inside], [ZERO]
    scores = [dot(row, w) + b for row in rows]
    true = dot(w, w) / 2 + objectives.hinge_value(scores, signs, bound, squared)
    room = SHARE * exactly(gap.tol) * max(abs(true), TINY)
    out = _primal(gap, true, room)
    below = exactly(gap.dual) - room
    origin = rows[0] if free else [ZERO] * len(w)
    about = [[p - q for p, q in zip(row, origin, strict=True)] for row in rows]
    if below <= 0 or objectives.hinge_dual(about, signs, bound, alpha, free, squared) >= below:
        return out  # proved
    start = [*w, b + dot(w, origin)] if free else w
    found = min(
        objectives.lowest_hinge(about, signs, bound, free, squared, v, below) for v in (start, [ZERO] * len(start))
    )
    if found < below:
        out.append(f"dual {gap.dual!r} above the minimum, which is at most {float(found):.17g}")
    return out


def _primal(gap: Any, true: D, room: D) -> list[str]:
    stated = exactly(gap.primal)
    return [f"primal {gap.primal!r}, but the objective is {float(true):.17g}"] if abs(stated - true) > room else []


def _key(values: Any) -> Any:
    return None if values is None else tuple(np.asarray(values, dtype=float).tolist())


def _sides(certificate: Any, table: Table) -> tuple[list[int], list[int]]:
    """Positions (among the rows with a weight) that the certificate is about, and their signs."""
    codes = table.codes(certificate.classes)
    negative = getattr(certificate, "negative", None)
    inside = [i for i, code in enumerate(codes) if negative is None or code in (certificate.positive, negative)]
    return inside, [1 if codes[i] == certificate.positive else -1 for i in inside]


def _features(kernel: Any, table: Table, inside: list[int]) -> tuple[list[list[D]], D]:
    """Rows whose inner products are the kernel's values, and the matrix's smallest pivot relative to its largest."""

    def make() -> tuple[list[list[D]], D]:
        if kernel["kernel"] == "precomputed":
            all_rows = matrix(np.asarray(table.dense)[:, table.kept])
            K = [[all_rows[i][j] for j in inside] for i in inside]
            K = [[(K[i][j] + K[j][i]) / 2 for j in range(len(K))] for i in range(len(K))]
            L, lowest = factor(K, D("1e-13"))
        else:
            K = kernel_matrix(kernel, [table.rows[i] for i in inside])
            L, lowest = factor(K)
        return L, lowest / (max(abs(K[i][i]) for i in range(len(K))) or ONE)

    return table.remembered(("features", repr(sorted(kernel.items())), tuple(inside)), make)


# ---------------------------------------------------------------------- margins
def margin_bracket(bracket: Any, table: Table) -> list[str]:
    inside, signs = _sides(bracket, table)
    free = bool(bracket.fit_intercept)
    kernel = getattr(bracket, "kernel", None)
    if kernel is None:
        rows = [table.rows[i] for i in inside]
        homogeneous = bracket.space == "homogeneous"
    else:
        rows, lowest = _features(kernel, table, inside)
        homogeneous = False
        if lowest < -D("1e-9"):
            return ["a kernel matrix that is not positive semidefinite"]
    lower, upper = exactly(bracket.lower), exactly(bracket.upper)
    best, positive = _best_margin(table, bracket, inside, signs, rows, homogeneous, free)
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


def _best_margin(
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
    inside, signs = _sides(claim, table)
    rows, lowest = _features(claim.kernel, table, inside)
    if lowest < -D("1e-9"):
        return ["a kernel matrix that is not positive semidefinite"]
    best, _ = _best_margin(table, claim, inside, signs, rows, False, bool(getattr(claim, "fit_intercept", True)))
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
            best = _best_margin(table, claim, list(range(len(codes))), signs, table.rows, False, free)[0]
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


# ---------------------------------------------------------------------- signs
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
        key = ("beats", tuple(positive), free, _key(claim.class_weight), below)
        if table.remembered(key, lambda: exact.beats(z, positive, c, below)):
            out.append(f"at least {claim.lower_bound!r} errors, but some hyperplane makes fewer")
    return out


def stationarity(claim: Any, table: Table) -> list[str]:
    return [
        f"{claim.problem}: {name} is {float(figure):.3g}, above {float(allowed):.3g}"
        for name, figure, allowed in figures(claim, table)
        if not figure <= allowed
    ]


_JUDGES = {
    "LogisticGap": logistic_gap,
    "HingeGap": hinge_gap,
    "MarginBracket": margin_bracket,
    "KernelMarginBracket": margin_bracket,
    "KernelInseparable": kernel_inseparable,
    "KernelSeparator": kernel_separator,
    "Inseparable": inseparable,
    "Separator": separator,
    "ErrorBound": error_bound,
    "Stationarity": stationarity,
}


# ---------------------------------------------------------------------- a fitted classifier
def check(model: Any, table: Table) -> list[str]:
    """What a fitted classifier claims falsely, or promises and does not keep."""
    out = []
    for name in ("coef_", "intercept_"):
        if hasattr(model, name) and not np.isfinite(np.asarray(getattr(model, name), dtype=float)).all():
            out.append(f"{name} is not finite")
    certificate, status = model.certificate_, model.status_.name
    if certificate is None:
        if status in ("CERTIFIED", "FORMULA", "SEPARATED", "FEWEST_ERRORS", "BRACKETED", "STATIONARY"):
            out.append(f"status {status} without a certificate")
        return out
    for part in _parts(certificate):
        if type(part).__name__ in ("LogisticGap", "HingeGap"):
            numbers = (part.primal, part.dual, part.tol)
            if not all(np.isfinite(float(v)) for v in numbers):
                return [*out, f"a gap of {numbers}"]
            if status == "CERTIFIED" and part.relative_gap > model.tol:
                out.append(f"CERTIFIED with the relative gap {part.relative_gap:.2e} for tol={model.tol}")
            if part.gap < -float(SHARE) * part.tol * abs(part.primal):
                out.append(f"dual {part.dual!r} above primal {part.primal!r}")
    out += [f"FALSE: {line}" for line in falsehoods(certificate, table)]
    try:
        verification = certificate.verify(table.X, table.y, table.sample_weight)
        if not verification:
            failed = [str(c) for c in verification.checks if not c]
            out.append(f"verify refuses: {failed[0] if failed else 'no checks'}")
    except ValueError as error:
        out.append(f"verify raises: {error}")
    out += _own_weights(model, certificate)
    return out


def _parts(certificate: Any) -> list[Any]:
    return list(certificate.parts) if type(certificate).__name__ == "All" else [certificate]


def _own_weights(model: Any, certificate: Any) -> list[str]:
    """The certificate is about the very weights of the model (a proof that there is no optimum is about none)."""
    if not hasattr(model, "coef_") or model.status_.name in ("NO_MAXIMUM",):
        return []
    stated, biases = [], []
    for part in _parts(certificate):
        of = part.witness if type(part).__name__ == "Stationarity" else part.__dict__
        if of.get("coef") is None or type(part).__name__ == "Inseparable":
            return []
        stated.append(np.atleast_2d(np.asarray(of["coef"], dtype=np.float64)))
        biases.append(np.atleast_1d(np.asarray(of["intercept"], dtype=np.float64)))
    same = np.array_equal(np.vstack(stated), np.asarray(model.coef_, dtype=np.float64)) and np.array_equal(
        np.concatenate(biases), np.asarray(model.intercept_, dtype=np.float64)
    )
    return [] if same else ["the certificate is about other weights than the model's"]
