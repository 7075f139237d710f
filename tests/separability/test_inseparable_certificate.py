"""Inseparable: the checker accepts proofs and nothing else."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from separability.separability_oracles import parity

from separatrix import Inseparable, separability
from separatrix.certificates import Certificate
from separatrix.certificates._exact import BASE, exact_signs, exact_sums

X, y = parity(2)


def refused(certificate, X, y):
    """Whether the checker says that the claim fails, or that the certificate is malformed."""
    try:
        return not certificate.verify(X, y)
    except ValueError:
        return True


def xor(**changes):
    good = Inseparable(
        classes=np.array([0, 1]),
        positive=1,
        fit_intercept=True,
        verdict="overlapping",
        exact=True,
        weights=np.ones(4),
        exact_at=np.zeros(0, dtype=int),
        exact_weights=[],
        coef=None,
        intercept=None,
        margin_bound=0.0,
    )
    return replace(good, **changes)


def test_the_weights_of_xor():
    assert xor().verify(X, y)
    assert xor(exact_at=np.array([2]), exact_weights=[Fraction(1)], weights=np.array([1, 1, 99.0, 1])).verify(X, y)
    assert "exactly" in xor().claim


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": np.array([1.0, 1, 1, 1 + 1e-15])},
        {"weights": np.zeros(4)},
        {"weights": -np.ones(4)},
        {"weights": np.array([np.nan] * 4)},
        {"weights": np.array([np.inf] * 4)},
        {"weights": np.ones(3)},
        {"exact_at": np.array([0]), "exact_weights": [Fraction(1, 3)]},
        {"exact_at": np.array([0]), "exact_weights": [Fraction(-1)]},
        {"verdict": "quasi-separable", "coef": np.array([[1.0, 0]]), "intercept": np.zeros(1)},
        {"verdict": "quasi-separable", "coef": np.array([[0.0, 0]]), "intercept": np.zeros(1)},
        {"verdict": "separable"},
        {"positive": None},
    ],
)
def test_what_does_not_prove_it_is_refused(changes):
    assert refused(xor(**changes), X, y)


def test_other_data_are_refused():
    assert not xor().verify(X, 1 - y ** np.arange(4))
    assert not xor().verify(X + np.array([[0.0, 0], [0, 0], [0, 0], [0, 1e-15]]), y)


def test_zero_weights_do_not_prove_overlap():
    X, y = [[0.0], [1], [1], [2]], [0, 0, 1, 1]
    result = separability(X, y, exact=True)
    assert result.certificate.verify(X, y)
    assert not replace(result.certificate, verdict="overlapping", coef=None, intercept=None).verify(X, y)


def test_float_weights_have_a_tolerance_near_rounding():
    assert xor(exact=False, weights=np.array([1, 1, 1, 1 + 1e-15]), margin_bound=1e-12).verify(X, y)
    assert not xor(exact=False, weights=np.array([1, 1, 1, 1 + 1e-12]), margin_bound=1e-9).verify(X, y)
    assert not xor(exact=False, weights=np.array([1, 1, 1, 1 + 1e-15]), margin_bound=1e-18).verify(X, y)


@pytest.mark.parametrize("k", [2, 3])
def test_round_trip_through_json(k):
    r = np.random.default_rng(0)
    X, y = r.normal(size=(40, 2)), r.integers(0, k, 40)
    for exact in (False, True):
        certificate = separability(X, y, exact=exact).certificate
        again = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict())))
        assert isinstance(again, Inseparable)
        assert again.verify(X, y)
        assert again.claim == certificate.claim


def test_rows_of_weight_zero_are_no_part_of_the_claim():
    more = np.vstack([X, [[5.0, 5]]])
    assert xor().verify(more, np.append(y, 1), sample_weight=[1, 1, 1, 1, 0])


def test_exact_sums_against_fractions():
    r = np.random.default_rng(0)
    w = r.normal(size=(50, 2)) * 10.0 ** r.integers(-200, 200, size=(50, 2))
    x = r.normal(size=(50, 3)) * 10.0 ** r.integers(-120, 100, size=(50, 3))
    x[0, 0], x[1, 1], w[2, 0] = 5e-324, 0.0, 5e-324
    sums = exact_sums(w, x)
    for c in range(2):
        for j in range(3):
            expected = sum(Fraction(a) * Fraction(b) for a, b in zip(w[:, c].tolist(), x[:, j].tolist(), strict=True))
            assert Fraction(int(sums[c, j]), 1 << BASE) == expected


def test_exact_signs_against_fractions():
    r = np.random.default_rng(1)
    x = r.integers(-3, 4, size=(200, 3)) * 1.0 + r.choice([0, 1e-16, 1e-300], size=(200, 3))
    for w, b in (([0.1, 0.2, -0.3], 0.0), ([Fraction(1, 3), Fraction(-2, 3), Fraction(1, 3)], Fraction(0))):
        exact = [
            sum(Fraction(a) * Fraction(c) for a, c in zip(row, w, strict=True)) + Fraction(b) for row in x.tolist()
        ]
        assert exact_signs(x, w, b).tolist() == [(value > 0) - (value < 0) for value in exact]
