"""Separator and Inseparable with a field changed, a little or a lot: what is false is refused."""

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from separability.separability_tables import KINDS, exact_rows, exact_verdict, table
from separability.test_inseparable_certificate import refused

from separatrix import Inseparable, Separator, separability

X2 = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [4.0, 4.0]])
y2 = np.array([0, 0, 1, 1])
X3 = np.array([[0.0, 0.0], [0.1, 0.2], [3.0, 0.0], [3.0, 0.3], [0.0, 3.0], [0.2, 3.0]])
y3 = np.array([0, 0, 1, 1, 2, 2])
LINE, LINE_LABELS = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])


def overlapping(k, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(40, 2)), np.arange(40) % k


PROOFS = {
    "separator": (X2, y2, False),
    "separator of 3": (X3, y3, False),
    "touching": (LINE, LINE_LABELS, True),
    "overlap, exact": (*overlapping(2), True),
    "overlap of 3, exact": (*overlapping(3), True),
    "overlap": (*overlapping(2), False),
    "overlap of 3": (*overlapping(3), False),
}


def proof(name):
    X, y, exact = PROOFS[name]
    return separability(X, y, exact=exact).certificate, X, y


NAN, INF = float("nan"), float("inf")
WRONG = {  # of each field, what it must never be, whatever the proof
    "classes": [
        np.array([1, 0]),
        np.array([0, 0]),
        np.array([0]),
        np.array([0, 1, 1]),
        np.array([[0, 1]]),
        np.array([0.0, NAN]),
        np.array([5, 6, 7]),
        None,
        np.zeros(0),
    ],
    "coef": [
        np.zeros((1, 2)),
        np.zeros((3, 2)),
        np.array([[NAN, 1.0]]),
        np.array([[INF, 1.0]]),
        np.array([[1.2e308, -1.2e308]]),
        np.ones((2, 2)),
        np.ones(2),
        np.ones((1, 3)),
        np.array([["a", "b"]]),
        np.array([[True, False]]),
        np.array([[1j, 0]]),
        [[None, 1.0]],
        "w",
    ],
    "intercept": [
        np.array([NAN]),
        np.array([-INF]),
        np.array([1e300]),
        np.array([-1e300]),
        np.zeros(2),
        np.zeros((1, 1)),
        3.0,
        ["b"],
    ],
    "positive": [7, -1, -2, 2, 3, 1.0, True, "1", np.array([1]), 10**30],
    "margin": [NAN, INF, -1.0, -INF, 1e9, None, "far", [0.1], 1j],
    "verdict": ["separable", "", None, 3, "Overlapping", ["overlapping"]],
    "exact": [1, 0, None, "yes", np.array([True])],
    "fit_intercept": [1, 0, None, "no"],
    "weights": [None, "1", np.zeros(0), np.full(40, NAN), np.full(40, INF), np.full(40, -1.0), np.zeros(40), 1.0],
    "exact_at": [
        np.array([0, 0]),
        np.array([-1]),
        np.array([10**6]),
        np.array([0.5]),
        np.array([True]),
        np.array([[0, 1]]),
        ["a"],
        None,
    ],
    "exact_weights": [[Fraction(1)] * 99, [NAN], [INF], ["1"], None, [None], [Fraction(-1)]],
    "margin_bound": [NAN, INF, -1.0, -1e-300, None, "0", [0.0], 1j],
}
FORGERIES = [
    (name, field.name, at)
    for name in PROOFS
    for field in fields(Separator if "separator" in name else Inseparable)
    for at in range(len(WRONG[field.name]))
]


@pytest.mark.parametrize("name", PROOFS)
def test_the_proofs_hold_before_they_are_changed(name):
    certificate, X, y = proof(name)
    assert certificate.verify(X, y)


@pytest.mark.parametrize(("name", "field", "at"), FORGERIES, ids=lambda value: str(value).replace(" ", "_"))
def test_a_field_that_cannot_be_is_refused(name, field, at):
    certificate, X, y = proof(name)
    forged = replace(certificate, **{field: WRONG[field][at]})
    assert refused(forged, X, y)


def test_the_message_names_the_field():
    certificate, X, y = proof("separator")
    for field, value in (("positive", 7), ("coef", np.array([[NAN, 1.0]])), ("margin", NAN), ("classes", [1, 0])):
        with pytest.raises(ValueError, match=field):
            replace(certificate, **{field: value}).verify(X, y)
    certificate, X, y = proof("overlap, exact")
    for field in ("exact", "fit_intercept", "verdict", "margin_bound", "weights", "exact_at", "exact_weights"):
        with pytest.raises(ValueError, match=field):
            replace(certificate, **{field: WRONG[field][1]}).verify(X, y)


# ---------------------------------------------------------------------- a little
def leads(certificate, X, y):
    """(lead, ‖w_y - w_c‖²) of every row and rival, in fractions."""
    coef = [[Fraction(entry) for entry in row] for row in np.asarray(certificate.coef).tolist()]
    intercept = [Fraction(entry) for entry in np.asarray(certificate.intercept).tolist()]
    if certificate.positive is not None:
        zero = [Fraction(0)] * len(coef[0])
        coef, intercept = [zero, coef[0]], [Fraction(0), intercept[0]]
    for x, own in zip(np.asarray(X, float).tolist(), y, strict=True):
        for c in range(len(coef)):
            if c != own:
                w = [p - q for p, q in zip(coef[own], coef[c], strict=True)]
                lead = sum(Fraction(a) * b for a, b in zip(x, w, strict=True)) + intercept[own] - intercept[c]
                yield lead, sum(entry * entry for entry in w)


def margin_holds(certificate, X, y):
    margin = Fraction(certificate.margin)
    return all(lead > 0 and lead**2 >= margin**2 * square for lead, square in leads(certificate, X, y))


def separators():
    for seed in range(40):
        random = np.random.default_rng(seed)
        kind = KINDS[seed % len(KINDS)]
        X, y, fit_intercept = table(kind, random)
        certificate = separability(X, y, fit_intercept=fit_intercept).certificate
        if isinstance(certificate, Separator):
            yield certificate, X, y
    yield from (proof(name) for name in ("separator", "separator of 3"))


def test_the_margin_is_true_and_the_next_float_is_refused_where_it_is_not():
    count = 0
    for certificate, X, y in separators():
        assert margin_holds(certificate, X, y)
        for factor in (1.0, 1 + 1e-15, 1 + 1e-9, 1.5):
            margin = float(np.nextafter(certificate.margin * factor, np.inf))
            forged = replace(certificate, margin=margin)
            assert bool(forged.verify(X, y)) == margin_holds(forged, X, y)
            count += not margin_holds(forged, X, y)
    assert count > 40


def test_weights_moved_across_the_nearest_row_are_refused():
    count = 0
    for certificate, X, y in separators():
        for step in (1e-16, 1e-12, 1e-6, 1.0):
            for sign in (-1, 1):
                shift = [entry + sign * Fraction(step) for entry in map(Fraction, certificate.intercept.tolist())]
                moved = np.array([*certificate.intercept[:-1], shift[-1]], dtype=object)
                forged = replace(certificate, intercept=moved, margin=0.0)
                holds = margin_holds(forged, X, y)
                assert bool(forged.verify(X, y)) == holds
                count += not holds
    assert count > 40


@pytest.mark.parametrize("name", ["touching", "overlap, exact", "overlap of 3, exact"])
def test_exact_weights_off_by_the_last_bit_are_refused(name):
    certificate, X, y = proof(name)
    whole = certificate.weights.ravel()
    fractions = dict(zip(certificate.exact_at.tolist(), certificate.exact_weights, strict=True))
    for at in np.flatnonzero(whole):
        if at in fractions:
            values = [f + Fraction(1, 10**30) if i == at else f for i, f in fractions.items()]
            forged = replace(certificate, exact_weights=values)
        else:
            weights = whole.copy()
            weights[at] = np.nextafter(weights[at], np.inf)
            forged = replace(certificate, weights=weights.reshape(certificate.weights.shape))
        assert refused(forged, X, y)


@pytest.mark.parametrize("scale", [1e305, 1e-305, 1e160, 1e-160])
@pytest.mark.parametrize("exact", [False, True])
def test_weights_whose_sums_overflow_or_vanish_prove_nothing(scale, exact):
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 2))
    y = (X @ [1.0, 1.0] > 0).astype(int)
    for X_scale in (1.0, scale):
        for weights in (np.full(20, scale), scale * random.random(20)):
            forged = Inseparable(
                classes=np.array([0, 1]),
                positive=1,
                fit_intercept=True,
                verdict="overlapping",
                exact=exact,
                weights=weights,
                exact_at=np.zeros(0, dtype=int),
                exact_weights=[],
                coef=None,
                intercept=None,
                margin_bound=0.0 if exact else 1e300,
            )
            assert refused(forged, X * X_scale, y)


@pytest.mark.parametrize("gap", [1e-13, 1e-14, 1e-15, 3e-16])
def test_sums_that_are_0_up_to_rounding_do_not_make_separable_rows_overlap(gap):
    """Two columns a gap apart: the weights that balance one balance the other up to rounding, and yet they separate."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        t = random.integers(-(2**20), 2**20, size=30) / 2.0**20
        t[:2] = 1.0, -1.0
        y = random.permutation([0, 1] * 15)
        X = np.column_stack([t, t + np.ldexp(2 * y - 1, int(np.log2(gap)))])
        weights, sums = 1 + random.random(30), np.column_stack([t, np.ones(30)]) * (2 * y - 1)[:, None]
        for _ in range(3):
            weights -= sums @ np.linalg.lstsq(sums.T @ sums, sums.T @ weights, rcond=None)[0]
        assert (weights > 0).all()
        assert exact_verdict(exact_rows(X.tolist(), y.tolist())) == "separable"
        forged = Inseparable(
            classes=np.array([0, 1]),
            positive=1,
            fit_intercept=True,
            verdict="overlapping",
            exact=False,
            weights=weights,
            exact_at=np.zeros(0, dtype=int),
            exact_weights=[],
            coef=None,
            intercept=None,
            margin_bound=1.0,
        )
        verification = forged.verify(X, y)
        assert not verification
        near = [check for check in verification.checks if "exactly 0" in check.name]
        assert not near[0]


def test_the_same_weights_do_not_prove_it_for_other_data():
    for name in PROOFS:
        certificate, X, y = proof(name)
        classes = np.unique(y)
        assert refused(certificate, X[::-1] + np.array(X)[:1] ** 2, y) or name == "separator"
        for i in range(0, len(y), 7):
            other = y.copy()
            other[i] = classes[(y[i] + 1) % len(classes)]
            assert refused(certificate, X, other) == (
                not isinstance(certificate, Separator) or not margin_holds(certificate, X, other)
            )


def test_a_direction_off_the_origin_is_refused_without_intercept():
    X, y = np.array([[-1.0], [1.0], [2.0], [-2.0]]), np.array([0, 0, 1, 1])
    result = separability(X, y, fit_intercept=False, exact=True)
    assert result.verdict == "overlapping"
    assert "through the origin" in result.certificate.claim
    X, y = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]]), np.array([1, 1, 1])
    forged = Inseparable(
        classes=np.array([0, 1]),
        positive=1,
        fit_intercept=False,
        verdict="quasi-separable",
        exact=True,
        weights=np.array([1.0, 1.0, 0.0]),
        exact_at=np.zeros(0, dtype=int),
        exact_weights=[],
        coef=np.array([[1.0, 0.0]]),
        intercept=np.array([0.0]),
        margin_bound=0.0,
    )
    assert forged.verify(X, y)
    with pytest.raises(ValueError, match="intercept"):
        replace(forged, intercept=np.array([1.0])).verify(X, y)
