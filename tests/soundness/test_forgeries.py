"""A certificate with anything in it changed is refused whenever its claim is false beyond the allowance."""

from dataclasses import replace

import numpy as np
import pytest
from soundness.data import Table
from soundness.forging import Forgery
from soundness.judging import accepted, campaign, is_false, malformed

from separatrix import (
    SVC,
    KernelPerceptron,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    MinimumErrorClassifier,
    NaiveBayes,
    NotSeparableError,
    Perceptron,
    mistake_bound,
    separability,
)

TABLES = 17  # one of each family; long.py has as many as one likes
PATIENCE = 2.0  # seconds for a claim: nearly all take hundredths, and long.py waits longer for the others


@pytest.mark.parametrize("first", range(TABLES))
def test_false_claims_are_refused(first):
    counts, through = campaign(first, 1, seconds=PATIENCE)
    assert counts["false"] > 0
    assert not through, "\n".join(": ".join(parts) for parts in through)


XOR = Table("xor", np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1]))
AND = Table("and", np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 0, 0]))
LINE = Table("line", np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1]))


def _of(estimator, table):
    return estimator.fit(table.X, table.y).certificate_


FORGED = {
    "a kernel separator of NaN": lambda: (
        replace(_of(KernelPerceptron(gamma=1.0), XOR), dual_coef=np.array([np.nan, 1, 1, 1])),
        XOR,
    ),
    "a separator of no class": lambda: (replace(_of(Perceptron(), AND), positive=7), AND),
    "a separator whose scores overflow": lambda: (
        replace(_of(Perceptron(), AND), coef=np.array([[1.2e308, 1.2e308]])),
        AND,
    ),
    "errors that weigh nothing": lambda: (
        replace(_of(MinimumErrorClassifier(), XOR), class_weight=np.zeros(2), errors=0.0, lower_bound=0.0),
        XOR,
    ),
    "huge weights against separable classes": lambda: (
        replace(separability(XOR.X, XOR.y).certificate, weights=np.full(4, 1e305), exact=False, margin_bound=1e-300),
        AND,
    ),
    "a gap within 1e10": lambda: (
        replace(_of(LogisticRegression(), LINE), tol=1e10, dual=-1e9, coef=np.array([[50.0]])),
        LINE,
    ),
    "a saturated maximum of likelihood": lambda: (
        replace(_of(LogisticRegression(C=np.inf), LINE), coef=np.array([[-1e6]]), primal=1.6e7, dual=1.6e7),
        LINE,
    ),
    "a dual above the primal": lambda: _raised_dual(_of(LogisticRegression(), LINE)),
    "an intercept of 1e200": lambda: (replace(_of(LinearSVC(), LINE), intercept=1e200), LINE),
    "an intercept of 1e15": lambda: (replace(_of(LinearSVC(), LINE), intercept=1e15), LINE),
    "an intercept that is not free": lambda: (
        replace(_of(LinearSVC(), LINE), fit_intercept=False, intercept=3.0),
        LINE,
    ),
    "one class against itself": lambda: (replace(_of(LinearSVC(), LINE), positive=1, negative=1), LINE),
    "a laplacian that grows": lambda: _growing(_of(SVC(kernel="laplacian", gamma=1.0), LINE)),
    "a mistake bound of any margin": lambda: (replace(mistake_bound(AND.X, AND.y), margin=(5.0, 6.0), bound=0.1), AND),
    "naive Bayes of no family": lambda: _witness(_of(NaiveBayes(), LINE), LINE, families=["nonsense"]),
    "least squares of huge weights that cancel": lambda: _cancelling(),
    "quasi-separable classes called separable by a hard margin's proof": lambda: _not_separable(),
}


def _raised_dual(gap):
    return replace(gap, dual=gap.primal * 1.5), LINE


def _growing(gap):
    return replace(gap, kernel={**gap.kernel, "gamma": -1.0}), LINE


def _witness(claim, table, **new):
    return replace(claim, witness={**claim.witness, **new}), table


def _cancelling():
    table = Table("twice", np.column_stack([LINE.X, LINE.X]), LINE.y)
    return _witness(_of(LeastSquaresClassifier(), table), table, coef=np.array([[1e20, -1e20]]))


def _not_separable():
    with pytest.raises(NotSeparableError) as caught:
        LinearSVC(C=np.inf).fit(XOR.X, XOR.y)
    return caught.value.certificate, AND


@pytest.mark.parametrize("what", FORGED)
def test_known_forgeries_are_refused(what):
    certificate, table = FORGED[what]()
    forgery = Forgery(certificate, table, what)
    assert malformed(certificate, table) or is_false(forgery)
    assert accepted(forgery) is None
