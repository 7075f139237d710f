"""separability on tables that mislead floats, against a simplex method in fractions: never a false verdict."""

import json
import warnings

import numpy as np
import pytest
from scipy import sparse
from separability.separability_tables import KINDS, exact_rows, exact_verdict, table
from sklearn.preprocessing import PolynomialFeatures

from separatrix import LinearSVC, NotSeparableError, UndecidedError, separability
from separatrix.certificates import Certificate


def truth(X, y, fit_intercept=True):
    return exact_verdict(exact_rows(np.asarray(X, float).tolist(), np.asarray(y).tolist(), fit_intercept))


@pytest.mark.parametrize("kind", KINDS)
def test_no_verdict_is_false(kind):
    for seed in range(25):
        random = np.random.default_rng([seed, KINDS.index(kind)])
        X, y, fit_intercept = table(kind, random)
        expected = truth(X, y, fit_intercept)
        for exact in (False, True):
            result = separability(X, y, exact=exact, fit_intercept=fit_intercept)
            assert result.verdict == expected, (kind, seed, exact)
            assert result.verify(X, y), (kind, seed, exact, str(result.verify(X, y)))
            assert result.exact or not exact
            again = Certificate.from_dict(json.loads(json.dumps(result.certificate.to_dict())))
            assert again.verify(sparse.csr_array(X), y)
            assert str(result)
            assert (result.margin > 0) <= (expected == "separable")
            assert (result.weights is None) == (expected == "separable")


@pytest.mark.parametrize("gap", [1e-7, 3e-8, 1e-8, 1e-10, 1e-12, 1e-15])
@pytest.mark.parametrize("n", [20, 400])
def test_two_columns_that_are_nearly_equal(gap, n):
    random = np.random.default_rng(n)
    t, y = random.normal(size=n), random.integers(0, 2, n)
    X = np.column_stack([t, t + gap * (2 * y - 1)])
    difference = X[:, 1] - X[:, 0]  # exact, as the two are within a factor of 2
    separable = difference[y == 1].min() > difference[y == 0].max()
    for exact in (False, True):
        result = separability(X, y, exact=exact)
        assert (result.verdict == "separable") == separable
        assert result.verify(X, y)


def test_polynomials_of_columns_in_different_units():
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = PolynomialFeatures(4).fit_transform(random.normal(size=(60, 3)) * 10.0 ** random.integers(-3, 4, size=3))
        y = random.integers(0, 2, 60)
        result = separability(X, y)
        assert result.verify(X, y)
        if result.verdict != "separable":
            with pytest.raises(NotSeparableError) as caught:
                LinearSVC(C=np.inf).fit(X, y)
            assert caught.value.certificate.verify(X, y)


@pytest.mark.parametrize("size", [1e16, 1e30, 1e50, 1e100, 1e149])
@pytest.mark.parametrize("exact", [False, True])
def test_one_entry_far_away(size, exact):
    random = np.random.default_rng(0)
    for _ in range(8):
        X, y = random.integers(-2, 3, size=(9, 2)).astype(float), random.permutation([0, 1] * 5)[:9]
        X[3, 0] = size
        result = separability(X, y, exact=exact)
        assert result.verdict == truth(X, y)
        assert result.verify(X, y)


@pytest.mark.parametrize("unit", [5e-324, 1e-320, 1e-310])
def test_denormal_columns(unit):
    random = np.random.default_rng(1)
    for _ in range(8):
        X, y = random.integers(-2, 3, size=(8, 2)) * [unit, random.choice([unit, 1.0])], np.arange(8) % 2
        result = separability(X, y)
        assert result.verdict == truth(X, y)
        assert result.verify(X, y)


@pytest.mark.parametrize("separable", [False, True])
def test_columns_whose_spread_is_in_the_last_bits(separable):
    random = np.random.default_rng(2)
    k = random.integers(0, 100, size=(60, 2))
    y = (k @ [1, 2] > 150).astype(int) if separable else random.integers(0, 2, 60)
    far = (random.normal(size=(60, 3)) + 1e5).astype(np.float32)
    for X in (1e8 + k / 2**26, far):
        labels = y if X is not far or not separable else (far.astype(float) @ [1, 1, 1] > 3e5).astype(int)
        result = separability(X, labels)
        assert result.verdict == ("separable" if separable else "overlapping")
        assert result.verify(X, labels)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [2, 3])
def test_more_columns_than_rows_are_decided_on_as_many_columns(monkeypatch, storage, k):
    from separatrix.separation import search

    widths = []
    conditioned = search.conditioned
    monkeypatch.setattr(
        search, "conditioned", lambda design, *rest: widths.append(design.d) or conditioned(design, *rest)
    )
    random = np.random.default_rng(3)
    X, y = random.normal(size=(12, 1000)), np.arange(12) % k
    twice = X.copy()
    twice[1] = twice[0]
    none = np.vstack([X[:4], X[:4], X[:4]])
    for rows, expected in ((X, "separable"), (twice, "quasi-separable"), (none, "overlapping")):
        labels = y if rows is not none else np.repeat(np.arange(3) % k, 4)
        result = separability(storage(rows), labels)
        assert result.verdict == expected
        assert result.verify(rows, labels)
        assert result.certificate.coef is None or result.certificate.coef.shape[1] == 1000
    assert max(widths) <= 12


def test_columns_that_were_chosen_by_mistake_do_not_count():
    # only the third column tells the first two rows apart, and it is the first one but for rounding
    X = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0 + 1e-13, 0.0], [0.0, 1.0, 0.0, 0.0]])
    y = [0, 1, 1]
    assert separability(X[:, :2], y, fit_intercept=False).verdict == "quasi-separable"
    result = separability(X, y, fit_intercept=False)
    assert result.verdict == truth(X, y, False) == "separable"
    assert result.verify(X, y)


def test_what_floats_cannot_prove_is_no_verdict(monkeypatch):
    """On a table too large for exact arithmetic, a column that is the sum of two but for rounding may separate."""
    from separatrix.separation import search

    monkeypatch.setattr(search, "SMALL_ORDER", 0)
    random = np.random.default_rng(5)
    X = random.normal(size=(80, 2))
    X, y = np.column_stack([X, X.sum(axis=1)]), random.integers(0, 2, 80)
    with pytest.raises(UndecidedError, match="exact=True"):
        separability(X, y)
    assert separability(X, y, exact=True).verdict == "overlapping"


@pytest.mark.parametrize("k", [2, 3])
def test_columns_that_others_determine_do_not_hide_an_overlap(monkeypatch, k):
    from separatrix.separation import search

    monkeypatch.setattr(search, "SMALL_ORDER", 0)  # as if exact arithmetic were out of reach
    random = np.random.default_rng(6)
    X, y = random.normal(size=(90, 2)), np.arange(90) % k
    dummies = np.eye(3)[random.integers(0, 3, 90)]
    for rows in (
        np.column_stack([X, X[:, 0]]),
        np.column_stack([X, -X[:, 1], dummies]),
        np.column_stack([X, np.full(90, 0.1), np.zeros(90)]),
        np.column_stack([X, dummies, dummies @ [2, 3, 5], np.eye(2)[random.integers(0, 2, 90)]]),
        np.column_stack([X * 1e-9 + 1e3, dummies * 1024]),
    ):
        result = separability(rows, y)
        assert result.verdict == separability(rows, y, exact=True).verdict == "overlapping"
        assert not result.exact
        assert result.verify(rows, y)
        off = rows.copy()
        off[7, -1] += 2.0**-40 * max(1.0, abs(off[7, -1]))  # one row that no longer obeys
        assert not result.verify(off, y)


def test_no_warning_escapes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            X, y, fit_intercept = table(kind, np.random.default_rng(99))
            separability(X, y, fit_intercept=fit_intercept)
