"""Is what a certificate claims true? Decided in exact or 60-digit arithmetic, by code that shares nothing with ours.

`falsehoods(certificate, table)` lists what is false beyond the allowance; `check(model, table)` adds what else a fitted
classifier promises: that its certificate verifies, is about its own weights, and fits its status.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from soundness.data import Table, UnknownLabelError, not_finite
from soundness.decimals import more_digits, precisely
from soundness.gaps import SHARE, hinge_gap, logistic_gap
from soundness.margins import inseparable, kernel_inseparable, margin_bracket, mistake_bound
from soundness.signs import error_bound, kernel_separator, separator
from soundness.sparse import elastic_net_gap
from soundness.stationary import figures


@precisely
def falsehoods(certificate: Any, table: Table) -> list[str]:
    """What the certificate states that is not so."""
    kind = type(certificate).__name__
    if kind == "All":
        return [line for part in certificate.parts for line in falsehoods(part, table)]
    for field in fields(certificate):
        if field.name not in ("C", "bound") and not_finite(getattr(certificate, field.name)):
            return [f"{field.name} is not finite"]
    try:
        lines = _JUDGES[kind](certificate, table)
        if lines and getattr(certificate, "kernel", None) is not None:  # points that all but coincide in feature space
            with more_digits():
                lines = _JUDGES[kind](certificate, replace(table, cache={}))
        return lines
    except UnknownLabelError as error:
        return [str(error)]


def stationarity(claim: Any, table: Table) -> list[str]:
    return [
        f"{claim.problem}: {name} is {float(figure):.3g}, above {float(allowed):.3g}"
        for name, figure, allowed in figures(claim, table)
        if not figure <= allowed
    ]


_JUDGES = {
    "MistakeBound": mistake_bound,
    "LogisticGap": logistic_gap,
    "HingeGap": hinge_gap,
    "ElasticNetGap": elastic_net_gap,
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
        if type(part).__name__ in ("LogisticGap", "HingeGap", "ElasticNetGap"):
            numbers = (part.primal, part.dual, part.tol)
            if not all(np.isfinite(float(v)) for v in numbers):
                return [*out, f"a gap of {numbers}"]
            if status == "CERTIFIED" and part.relative_gap > model.tol:
                out.append(f"CERTIFIED with the relative gap {part.relative_gap:.2e} for tol={model.tol}")
            if part.gap < -float(SHARE) * part.tol * abs(part.primal):
                out.append(f"dual {part.dual!r} above primal {part.primal!r}")
    out += [f"FALSE: {line}" for line in falsehoods(certificate, table)]
    try:
        verification = verified(certificate, table)
        if not verification:
            failed = [str(c) for c in verification.checks if not c]
            out.append(f"verify refuses: {failed[0] if failed else 'no checks'}")
    except ValueError as error:
        out.append(f"verify raises: {error}")
    out += _own_weights(model, certificate)
    return out


def verified(certificate: Any, table: Table) -> Any:
    """`verify` on the table; a bound on mistakes knows no weights."""
    if type(certificate).__name__ == "MistakeBound":
        return certificate.verify(table.X[table.kept], np.asarray(table.y)[table.kept])
    return certificate.verify(table.X, table.y, table.sample_weight)


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
