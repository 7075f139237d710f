"""Support vector machines for every pair of classes, and what they publish together.

Two classes are one pair, with classes[1] positive. More are k (k - 1) / 2 pairs (a, c), a < c, with class a positive,
in the order (0, 1), (0, 2), ..., (1, 2), ...: the layout of LIBSVM and scikit-learn. There a support vector of class a
has k - 1 coefficients, one for each other class, so ``dual_coef_`` is (k - 1, support vectors).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates import All, Certificate
from separatrix.errors import InvalidInputError
from separatrix.outcome import Fit, Status
from separatrix.targets import Targets


@dataclass(frozen=True)
class Pair:
    """Two classes, the positive first, their rows among those learned from, and the signs of these."""

    positive: int
    negative: int
    rows: Integers
    y: Floats


@dataclass(frozen=True)
class Member:
    """The machine of one pair of classes, whose rows are m."""

    coef: Floats  # alpha_i y_i of the pair's rows, as the model has them
    support: Array  # which of them are support vectors
    intercept: float
    slack: Floats
    margin: float  # 1 / ‖w‖
    weights: Floats | None  # w (d,), of a linear machine
    certificate: Certificate | None  # None if nothing is proved
    status: Status
    warning: Warning | None
    n_iter: int
    sure: bool = False  # whether the certificate need not be checked: see `Fit`

    @classmethod
    def of_expansion(
        cls, machine: Any, y: Floats, margin: float, certificate: Certificate | None, status: Status,
        warning: Warning | None = None, weights: Floats | None = None, sure: bool = False,
    ) -> Member:  # fmt: skip
        """Of a machine with coefficients ``expansion``, an intercept b and the scores of its points."""
        slack = np.maximum(0.0, 1.0 - y * machine.scores)
        coef, n_iter = machine.expansion, machine.n_iter
        return cls(coef, coef != 0, machine.b, slack, margin, weights, certificate, status, warning, n_iter, sure)


def pairs(targets: Targets, by_class: bool) -> list[Pair]:
    """The pairs of classes in order; of more than two classes, if ``by_class``, rows of the positive class first."""
    codes = targets.values
    if targets.binary:
        return [Pair(1, 0, np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0))]
    of = [np.flatnonzero(codes == a) for a in range(targets.n_classes)]
    signs = [np.ones(len(rows)) for rows in of]
    both = combinations(range(targets.n_classes), 2)
    found = [Pair(a, c, np.concatenate([of[a], of[c]]), np.concatenate([signs[a], -signs[c]])) for a, c in both]
    return found if by_class else [_in_order(pair) for pair in found]


def _in_order(pair: Pair) -> Pair:
    order = np.argsort(pair.rows)
    return replace(pair, rows=pair.rows[order], y=pair.y[order])


def assembled(targets: Targets, tasks: list[Pair], members: list[Member], single: bool) -> tuple[Fit, Floats]:
    """All pairs as one fit without a model, and (pairs, support vectors) coefficients to make one of.

    ``support_`` counts rows among those learned from.
    """
    n, codes = len(targets.values), targets.values
    rows = np.concatenate([pair.rows for pair in tasks])  # of all pairs, one after the other, as what follows
    number = np.repeat(np.arange(len(tasks)), [len(pair.rows) for pair in tasks])
    in_use = np.concatenate([member.support for member in members])
    support = np.unique(rows[in_use])
    support = support[np.argsort(codes[support], kind="stable")]  # class by class
    place = np.full(n, -1)
    place[support] = np.arange(len(support))
    coef = np.zeros((len(tasks), len(support)))
    dual_coef = np.zeros((1 if targets.binary else targets.n_classes - 1, len(support)))
    slack = np.zeros((len(tasks), n)).T
    slack[rows, number] = np.concatenate([member.slack for member in members])
    values, chosen, number = np.concatenate([member.coef for member in members])[in_use], rows[in_use], number[in_use]
    columns, own = place[chosen], codes[chosen]
    coef[number, columns] = values
    both = np.array([pair.positive + pair.negative for pair in tasks])[number]
    other = both - own
    dual_coef[0 if targets.binary else np.where(other < own, other, other - 1), columns] = values
    dtype = np.float32 if single else np.float64
    margins = np.array([member.margin for member in members])
    attributes: dict[str, Any] = {
        "support_": support,
        "dual_coef_": dual_coef.astype(dtype),
        "intercept_": np.array([member.intercept for member in members]).astype(dtype),
        "n_support_": np.bincount(codes[support], minlength=targets.n_classes).astype(np.int32),
        "slack_": slack[:, 0] if targets.binary else slack,
        "margin_": float(margins[0]) if targets.binary else margins,
    }
    if not np.isfinite(attributes["intercept_"]).all():
        raise InvalidInputError(
            f"An intercept is beyond the range of {np.dtype(dtype)}: scale the columns of X, lower C, or pass X as "
            "float64."
        )
    if all(member.weights is not None for member in members):
        attributes["coef_"] = np.array([member.weights for member in members]).astype(dtype)
    return _fit(members, attributes), coef


def _fit(members: list[Member], attributes: Mapping[str, Any]) -> Fit:
    """The worst status of all, one warning of a kind, and a certificate if every pair has one."""
    certificates = [member.certificate for member in members]
    proved = [certificate for certificate in certificates if certificate is not None]
    certificate = None
    if len(proved) == len(certificates):
        certificate = proved[0] if len(proved) == 1 else All(tuple(proved))
    failed = [member for member in members if member.warning is not None]
    return Fit(
        model=None,
        certificate=certificate,
        status=failed[0].status if failed else members[0].status,
        n_iter=max(member.n_iter for member in members),
        attributes={**attributes, "n_iter_": np.array([member.n_iter for member in members])},
        warnings=tuple({type(m.warning): m.warning for m in reversed(failed) if m.warning is not None}.values()),
        sure=all(member.sure for member in members),
    )
