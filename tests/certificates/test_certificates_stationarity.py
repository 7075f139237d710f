"""Forged certificates of stationary points: whatever the field, and however little, a false claim is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from files.tables import Batches
from problems import bits, counts, noisy
from scipy import sparse
from stationarity_oracle import firth_score, least_squares_cosine, squared_error_gradient

from separatrix import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    LeastSquaresClassifier,
    LogisticRegression,
    NaiveBayes,
    NearestCentroid,
)

_RNG = np.random.default_rng(2)
X = _RNG.normal(size=(24, 2))
Y = (_RNG.random(24) < 1 / (1 + np.exp(-X @ [0.8, -0.5]))).astype(int)  # so noisy that every objective has an optimum
WEIGHT = np.random.default_rng(0).integers(1, 4, size=24).astype(float)
SINGLE = float(np.finfo(np.float32).eps)


def refused(certificate, X=X, y=Y, weight=WEIGHT):
    """False, or malformed."""
    try:
        return not certificate.verify(X, y, weight)
    except ValueError:
        return True


def forged(certificate, **witness):
    return replace(certificate, witness={**certificate.witness, **witness})


def true_figure(certificate, X=X, y=Y, weight=WEIGHT):
    """What the claim says is at most tol, in 60 digits."""
    w = certificate.witness
    coef, b, free = np.asarray(w["coef"], float), np.asarray(w["intercept"], float), w["fit_intercept"]
    if certificate.problem == "squared_error":
        return squared_error_gradient(X, y, coef[0], b[0], w["C"], weight, free)
    if certificate.problem == "firth":
        return firth_score(X, y, coef[0], b[0], weight, free)
    return least_squares_cosine(X, (2.0 * y - 1.0)[:, None], coef, b, weight, free)


MODELS = {
    "squared error": LogisticRegression(1.0, loss="squared_error"),
    "squared error, C=inf": LogisticRegression(np.inf, loss="squared_error"),
    "squared error, no intercept": LogisticRegression(3.0, loss="squared_error", fit_intercept=False),
    "firth": LogisticRegression(np.inf, bias_reduction="firth"),
    "least squares": LeastSquaresClassifier(),
    "least squares, no intercept": LeastSquaresClassifier(fit_intercept=False),
}


@pytest.fixture(params=MODELS)
def honest(request):
    return MODELS[request.param].fit(X, Y, WEIGHT).certificate_


def test_weights_a_little_and_far_off(honest):
    rng = np.random.default_rng(1)
    tol, wrong = honest.witness["tol"], 0
    for size in 10.0 ** np.arange(-12, 21, 1.0):
        coef = honest.witness["coef"] + size * rng.normal(size=(1, 2))
        certificate = forged(honest, coef=coef)
        if true_figure(certificate) > 1.2 * tol:
            wrong += 1
            assert refused(certificate), size
            # a larger unit, or numbers that float32 holds, buy nothing
            assert refused(replace(certificate, unit=SINGLE))
            single = forged(honest, coef=coef.astype(np.float32), intercept=honest.witness["intercept"].astype("f4"))
            if true_figure(single) > 1.2 * tol:
                assert refused(replace(single, unit=SINGLE))
    assert wrong >= 27


def test_by_a_few_allowances_only(honest):
    """Along a direction, the distance at which the claim turns false: just beyond it verify says so."""
    direction, tol = np.array([[1.0, -0.5]]), honest.witness["tol"]
    per_unit = true_figure(forged(honest, coef=honest.witness["coef"] + 1e-5 * direction)) / 1e-5
    for factor in (1.2, 2.0, 5.0, 10.0):
        certificate = forged(honest, coef=honest.witness["coef"] + factor * tol / per_unit * direction)
        assert true_figure(certificate) > 1.1 * tol
        assert refused(certificate)
    assert not refused(forged(honest, coef=honest.witness["coef"] + 0.5 * tol / per_unit * direction))


def test_other_data(honest):
    other, labels = noisy(24, 2, seed=9)
    for data in ((other, Y, WEIGHT), (X, labels, WEIGHT), (X, 1 - Y, WEIGHT), (X, Y, None), (X * 1.001, Y, WEIGHT)):
        assert true_figure(honest, *data) > 2 * honest.witness["tol"]
        assert refused(honest, *data)


@pytest.mark.parametrize(
    "field, value",
    [
        ("tol", 0.0), ("tol", 1.0), ("tol", -1.0), ("tol", np.nan), ("tol", np.inf), ("tol", 1e10), ("tol", "1"),
        ("tol", True), ("tol", None),
        ("fit_intercept", 1), ("fit_intercept", "yes"), ("fit_intercept", None),
        ("coef", np.full((1, 2), np.nan)), ("coef", np.full((1, 2), 1e308)), ("coef", np.zeros((1, 3))), ("coef", None),
        ("coef", np.full((1, 2), np.inf)), ("intercept", np.array([np.nan])), ("intercept", np.array([1e308])),
        ("intercept", 0.0), ("kind", "summit"), ("more", 1), ("task", 1), ("task", -1), ("task", True),
        ("C", 0.0), ("C", -1.0), ("C", np.nan), ("C", -np.inf), ("C", "1"), ("multilabel", True), ("multilabel", 0),
    ],
)  # fmt: skip
def test_fields_without_a_meaning(honest, field, value):
    assert refused(forged(honest, **{field: value}))


def test_missing_fields_and_other_units(honest):
    for field in honest.witness:
        rest = {name: value for name, value in honest.witness.items() if name != field}
        assert refused(replace(honest, witness=rest))
    for unit in (1.0, 1e-3, 0.0, -1.0, np.nan, SINGLE):  # the weights are no float32 numbers
        assert refused(replace(honest, unit=unit))
    assert refused(replace(honest, problem="centroids"))


def test_large_weights_that_cancel_between_equal_columns():
    twice = np.hstack([X, X[:, :1]])
    for model in (LeastSquaresClassifier(), LogisticRegression(np.inf, loss="squared_error")):
        certificate = model.fit(twice, Y, WEIGHT).certificate_
        for size in (1e8, 1e12, 1e20, 1e100, 1e300):
            coef = certificate.witness["coef"] + size * np.array([[1.0, 0.0, -1.0]])
            certificate_true = true_figure(forged(certificate, coef=coef), twice) <= certificate.witness["tol"]
            assert certificate_true or refused(forged(certificate, coef=coef), twice)
        assert refused(forged(certificate, coef=size * np.array([[1.0, 0.0, -1.0]])), twice)


@pytest.mark.parametrize("kind", ["local minimum", "saddle", "flat", "unsettled"])
def test_of_the_kinds_only_the_true_one_holds(kind):
    certificate = LogisticRegression(1.0, loss="squared_error").fit(X, Y, WEIGHT).certificate_
    assert refused(forged(certificate, kind=kind)) == (kind != "local minimum")
    twice = np.hstack([X, X[:, :1]])
    certificate = LogisticRegression(np.inf, loss="squared_error").fit(twice, Y, WEIGHT).certificate_
    assert refused(forged(certificate, kind=kind), twice) == (kind != "flat")


# ---------------------------------------------------------------------- formulas: every number against fractions
def exact_means(X, y, weight, k):
    """The weighted means of the classes, without rounding."""
    out = []
    for c in range(k):
        rows = [i for i in range(len(y)) if y[i] == c]
        total = sum(Fraction(float(weight[i])) for i in rows)
        out.append(
            [
                sum(Fraction(float(weight[i])) * Fraction(float(X[i, j])) for i in rows) / total
                for j in range(X.shape[1])
            ]
        )
    return out


FORMULAS = {
    "centroids": (NearestCentroid(), *noisy(24, 2, seed=4)),
    "centroids of 3": (NearestCentroid(), *noisy(30, 2, 3)),
    "gaussian": (NaiveBayes(), *noisy(24, 2, seed=4)),
    "own variances": (NaiveBayes(shared_variance=False), *noisy(24, 2, seed=4)),
    "poisson": (NaiveBayes("poisson"), *counts(24, 3)),
    "multinomial": (NaiveBayes("multinomial"), *counts(24, 3)),
    "bernoulli": (NaiveBayes("bernoulli"), *bits(24, 3)),
    "complement": (ComplementNB(), *counts(24, 3)),
    "complement of 3": (ComplementNB(norm=True), *counts(30, 3, 3)),
    "categories": (CategoricalNB(), *counts(24, 3)),
    "mixed": (NaiveBayes(["gaussian", "poisson"]), *counts(24, 2)),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_numbers_of_a_formula_a_little_and_far_off(name, shift):
    model, X, y = FORMULAS[name]
    if shift and name not in ("centroids", "centroids of 3", "gaussian", "own variances"):
        pytest.skip("counts have no shift")
    X = X + shift
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    certificate = model.fit(X, y, weight).certificate_
    assert certificate.verify(X, y, weight)
    for field in ("centroids", "parameters", "variances", "prior", "coef", "intercept"):
        value = certificate.witness.get(field)
        if value is None:
            continue
        value = np.asarray(value, dtype=float)
        for index in np.ndindex(value.shape):
            for factor in (1e-9, -1e-9, 1e-3, -2.0, 1e20, 1e300):
                wrong = value.copy()
                wrong[index] += factor * (abs(wrong[index]) or 1.0)
                assert refused(forged(certificate, **{field: wrong}), X, y, weight), (field, index, factor)


@pytest.mark.parametrize("name", ["centroids", "centroids of 3", "gaussian", "poisson"])
def test_the_means_are_those_of_exact_arithmetic(name):
    model, X, y = FORMULAS[name]
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(y))
    certificate = model.fit(X, y, weight).certificate_
    stated = certificate.witness["centroids" if "centroids" in certificate.witness else "parameters"]
    exact = exact_means(X, y, weight, len(certificate.classes))
    np.testing.assert_allclose(stated, np.array(exact, dtype=float), rtol=1e-13)
    # the model of other weights is refused, by however little these differ
    other = weight.copy()
    other[0] *= 1 + 1e-9
    assert refused(certificate, X, y, other)


def test_families_that_no_check_knows():
    certificate = NaiveBayes().fit(X, Y, WEIGHT).certificate_
    for families in (["unknown"] * 2, ["own: gaussian"] * 2, ["gaussian", ""], ["gaussian"], "gaussian", None, [1, 2]):
        assert refused(forged(certificate, families=families))
    for families in (["poisson"] * 2, ["gaussian", "bernoulli"], ["multinomial"] * 2):
        assert refused(forged(certificate, families=families))


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_a_constant_column_carries_no_weight(value):
    constant = np.column_stack([X, np.full(24, value)])
    certificate = NaiveBayes().fit(constant, Y, WEIGHT).certificate_
    assert certificate.verify(constant, Y, WEIGHT)
    for coef in (1e-12, 1.0, 1e20):
        wrong = certificate.witness["coef"].copy()
        wrong[0, 2] = coef
        assert refused(forged(certificate, coef=wrong), constant)
        for variance in (1e-300, 1e-20, 1.0):
            variances = certificate.witness["variances"].copy()
            variances[2] = variance
            assert refused(forged(certificate, coef=wrong, variances=variances), constant)
            assert refused(forged(certificate, variances=variances), constant)
    silent = np.column_stack([counts(24, 2)[0], np.zeros(24)])
    y = counts(24, 2)[1]
    certificate = NaiveBayes("poisson").fit(silent, y).certificate_
    wrong = certificate.witness["coef"].copy()
    wrong[0, 2] = 5.0
    assert refused(forged(certificate, coef=wrong), silent, y, None)


@pytest.mark.parametrize(
    "change",
    [
        {"alpha": -1.0}, {"alpha": np.nan}, {"alpha": np.inf}, {"alpha": 2.0}, {"alpha": "1"},
        {"prior": np.array([0.0, 1.0])}, {"prior": np.array([-0.5, 1.5])}, {"prior": np.array([0.3, 0.3])},
        {"prior": np.array([0.5, 0.5]), "priors_given": False}, {"priors_given": 1}, {"variances": np.ones(3)},
        {"coef": None}, {"coef": None, "intercept": None}, {"shared_variance": False}, {"tol": 0.5}, {"kind": "flat"},
    ],
    ids=repr,
)  # fmt: skip
def test_settings_of_naive_bayes(change):
    X, y = bits(24, 3)
    weight = np.random.default_rng(1).integers(1, 4, size=24).astype(float)
    y = np.where(np.arange(24) < 5, 0, y)
    certificate = NaiveBayes("bernoulli").fit(X, y, weight).certificate_
    assert certificate.verify(X, y, weight)
    if change == {"shared_variance": False}:  # it says nothing of columns that are not gaussian
        assert not refused(forged(certificate, **change), X, y, weight)
    else:
        assert refused(forged(certificate, **change), X, y, weight)


def test_a_rare_class_has_its_own_prior():
    """1e-20 of all weight is no rounding error of the frequency 1: a prior of 1e-14 is wrong by a factor."""
    weight = np.where(Y == 1, 1e-20, 1.0)
    certificate = NaiveBayes().fit(X, Y, weight).certificate_
    assert certificate.verify(X, Y, weight)
    prior = certificate.witness["prior"]
    b = certificate.witness["intercept"] + np.log(1e-14 / prior[1])
    assert refused(forged(certificate, prior=np.array([1 - 1e-14, 1e-14]), intercept=b), X, Y, weight)


def test_given_priors_are_part_of_the_claim():
    certificate = NaiveBayes(priors=[0.2, 0.8]).fit(X, Y).certificate_
    assert "given priors" in certificate.claim
    assert "given priors" not in NaiveBayes().fit(X, Y).certificate_.claim


def test_a_class_without_rows_is_refused():
    for model in (NaiveBayes(), NearestCentroid()):
        certificate = model.fit(X, Y).certificate_
        assert refused(certificate, X, np.zeros(24, dtype=int), None)


def test_what_exceeds_a_threshold_is_told_of_rows_in_blocks():
    certificate = BernoulliNB(binarize=0.5).fit(X, Y, WEIGHT).certificate_
    for rows in (X, sparse.csr_array(X)):
        assert certificate.verify(Batches(rows, None, step=7), Y, WEIGHT)
        assert not certificate.verify(Batches(rows + rows, None, step=7), Y, WEIGHT)
    below = forged(certificate, binarize=-0.5)
    assert refused(below, Batches(sparse.csr_array(X), None, step=7))
