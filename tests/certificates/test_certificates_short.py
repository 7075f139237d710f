"""Certificates in a few words, on one line however many witnesses they have, and by columns of y."""

from dataclasses import replace

import numpy as np
import pytest
from contract import all_estimators, suited

from separatrix import (
    HardMarginSVC,
    Kozinec,
    LogisticRegression,
    MinimumErrorClassifier,
    NotSeparableError,
    SeparationWarning,
    separability,
)
from separatrix.certificates import All, Certificate, DualityGap, Separator
from separatrix.compare.wording import certificate_words, status_words
from separatrix.outcome import Status

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X @ [[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] + [0.2, -0.1] + 0.5 * X[:, [2, 0]] ** 2 > 0).astype(int)


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("k", [2, 3])
def test_every_certificate_is_one_short_line(estimator, k):
    points, y = suited(estimator, k)
    certificate = estimator.fit(points, y).certificate_
    assert repr(certificate) == f"{type(certificate).__name__}({certificate.short})"
    assert len(repr(certificate).splitlines()) == 1
    assert len(repr(certificate)) < 120
    assert certificate.short != certificate.claim
    assert certificate_words(certificate, estimator.status_) == certificate.short


def test_every_kind_has_words_of_its_own():
    ours = [kind for kind in Certificate._kinds.values() if kind.__module__.startswith("separatrix.")]
    assert len(ours) >= 11
    for kind in ours:
        assert kind.__repr__ is Certificate.__repr__
        assert kind is DualityGap or kind.short is not Certificate.short


def test_a_kernel_that_cannot_separate_is_said_to():
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC(kernel="rbf").fit([[0.0], [1.0], [1.0]], [0, 0, 1])
    assert repr(caught.value.certificate) == (
        "KernelInseparable(proof that nothing in the feature space separates the classes)"
    )
    bracket = HardMarginSVC(kernel="rbf").fit([[0.0], [1.0], [2.0]], [0, 1, 0]).certificate_
    assert "best margin in [" in repr(bracket)


def test_a_matrix_with_a_column_without_certificate_has_none():
    apart = np.column_stack([Y[:, 0], X[:, 0] > 0])  # separable: no maximum, and so no gap
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(X, apart)
    assert model.certificate_ is None


def test_the_gap_of_several_parts_is_the_largest():
    certificate = LogisticRegression().fit(X, Y).certificate_
    first, second = certificate.parts
    wide = replace(second, dual=second.primal * (1 - 3e-3))
    assert All((first, wide)).short == "gap 3e-03 of the optimum or less (2 parts)"
    assert wide.short == "gap 3e-03 of the optimum"
    assert replace(first, dual=first.primal).short == "gap 0: the optimum"


def test_errors_are_told_part_by_part():
    bound = MinimumErrorClassifier().fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]).certificate_
    assert (bound.errors, bound.lower_bound) == (1, 1)
    open_ = replace(bound, errors=4.0, lower_bound=2.0)
    assert bound.short == "1 error, the fewest possible"
    assert open_.short == "4 errors, 2 or more needed"
    assert All((bound, open_)).short == "1 error, 1+ needed; 4 errors, 2+ needed"
    assert All((bound, open_, open_, open_, open_)).short.endswith("; 2 more")


def test_parts_of_several_kinds_are_told_by_the_first():
    separator = Separator(np.array([0, 1]), np.array([[1.0]]), np.array([0.0]), 1, 0.5)
    bracket = Kozinec().fit([[-1.0], [1.0]], [0, 1]).certificate_
    assert separator.short == "separates every row, margin 0.5"
    assert All((separator, separator)).short == separator.short
    assert (
        All((separator, replace(separator, margin=0.25))).short == "separates every row, margin 0.5; and 1 more parts"
    )
    assert All((bracket, separator)).short == f"{bracket.short}; and 1 more parts"


def test_a_margin_without_lower_bound_is_told_from_above():
    bracket = Kozinec().fit([[-1.0], [1.0]], [0, 1]).certificate_
    assert replace(bracket, lower=0.25, upper=0.75).short == "best margin in [0.25, 0.75]"
    assert replace(bracket, lower=-1.0, upper=0.75).short == "best margin at most 0.75"


def test_what_has_no_certificate_is_told_by_its_status():
    assert certificate_words(None, Status.UNCERTIFIED) == "none: the iterations ran out"
    quasi = separability([[0.0], [1], [1], [2]], [0, 0, 1, 1], exact=True).certificate
    assert quasi.short == "proof that the classes are quasi-separable"
    assert "quasi-separable" in status_words(quasi, Status.NO_MAXIMUM)
    assert status_words(quasi, Status.CERTIFIED) == str(Status.CERTIFIED)


@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_each_column_of_a_matrix_has_its_part(loss):
    certificate = LogisticRegression(loss=loss).fit(X, Y).certificate_
    for j in range(2):
        part = certificate.for_column(j)
        alone = LogisticRegression(loss=loss).fit(X, Y[:, j])
        assert part.column == j
        assert part.verify(X, Y)
        assert not part.verify(X, Y[:, ::-1])
        assert part.for_column(j) is part
        coef = part.coef if loss == "log" else part.witness["coef"]
        np.testing.assert_allclose(coef, alone.coef_, atol=1e-6)
        with pytest.raises(LookupError, match=f"column {1 - j} of y"):
            part.for_column(1 - j)
    with pytest.raises(LookupError, match="column 2 of y"):
        certificate.for_column(2)
    assert alone.certificate_.column is None
    with pytest.raises(LookupError, match="column 0 of y"):
        alone.certificate_.for_column(0)


def test_parts_are_counted_alike_with_and_without_several():
    several = LogisticRegression().fit(X, Y).certificate_
    assert tuple(several.all_parts) == tuple(several.parts)
    assert several.parts[0].all_parts == (several.parts[0],)
