"""NearestCentroid: the bisector of the class means, against scikit-learn's and by hand."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from problems import four_corners, noisy, xor
from scipy import sparse
from scipy.special import softmax
from scipy.stats import laplace
from sklearn.neighbors import NearestCentroid as Reference

from separatrix import InvalidInputError, NearestCentroid, NoDirectionError, Status


def test_by_hand():
    problem = four_corners()
    model = NearestCentroid().fit(problem.X, problem.y)
    assert model.coef_[0].tolist() == problem.w.tolist()
    assert model.intercept_[0] == problem.b
    assert model.centroids_.tolist() == [[0.0, 1.0], [4.0, 1.0]]
    assert model.hyperplane_.distance_to_origin == 2.0
    assert model.predict([[1.9, 5.0], [2.0, -5.0], [2.1, 0.0]]).tolist() == [0, 1, 1]
    assert model.status_ is Status.FORMULA
    assert model.n_iter_ == 1


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_centroids_and_predictions_are_scikit_learns(k, make):
    X, y = noisy(200, 5, k)
    reference, model = Reference().fit(X, y), NearestCentroid().fit(make(X), y)
    np.testing.assert_allclose(model.centroids_, reference.centroids_, rtol=0, atol=1e-14)
    assert (model.predict(make(X)) == reference.predict(X)).all()
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_scores_are_differences_of_squared_distances(k):
    X, y = noisy(200, 5, k)
    model = NearestCentroid().fit(X, y)
    squared = ((X[:, None] - model.centroids_) ** 2).sum(axis=2)
    scores = model.decision_function(X)
    if k == 2:
        np.testing.assert_allclose(scores, (squared[:, 0] - squared[:, 1]) / 2, atol=1e-10)
    else:
        np.testing.assert_allclose(scores - scores[:, :1], (squared[:, :1] - squared) / 2, atol=1e-10)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-14)


@pytest.mark.parametrize("k", [2, 4])
def test_weighted_means(k):
    X, y = noisy(100, 3, k)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, size=100)
    model = NearestCentroid().fit(X, y, weight)
    expected = [np.average(X[y == c], axis=0, weights=weight[y == c]) for c in range(k)]
    np.testing.assert_allclose(model.centroids_, expected, rtol=0, atol=1e-14)
    assert model.certificate_.verify(X, y, weight)
    assert not model.certificate_.verify(X, y)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("shift", [1e9, -1e9, 2.0**40])
def test_a_shift_changes_nothing(k, make, shift):
    # scikit-learn's accuracy falls from 0.80 to 0.40 at 1e9, in silence
    X, y = noisy(60, 3, k)
    X = np.round(X * 1024) / 1024  # so that adding the shift is exact
    here, there = NearestCentroid().fit(X, y), NearestCentroid().fit(make(X + shift), y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-12)
    assert there.score(X + shift, y) == here.score(X, y)
    assert (there.predict(X + shift) == here.predict(X)).all()
    assert there.certificate_.verify(X + shift, y)


def test_the_example_of_the_peers_keeps_its_accuracy():
    X, y = noisy(60, 3)
    assert NearestCentroid().fit(X + 1e9, y).score(X + 1e9, y) == NearestCentroid().fit(X, y).score(X, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-70, 1e70, 1e140])
def test_units_do_not_matter(scale):
    X, y = noisy(60, 3, 3)
    here, there = NearestCentroid().fit(X, y), NearestCentroid().fit(X * scale, y)
    np.testing.assert_allclose(there.coef_ / scale, here.coef_, rtol=1e-10)
    assert (there.predict(X * scale) == here.predict(X)).all()
    assert there.certificate_.verify(X * scale, y)


def test_means_too_near_to_square_their_distance_are_an_error():
    X, y = noisy()
    with pytest.raises(InvalidInputError, match="multiply"):
        NearestCentroid().fit(X * 1e-200, y)


@pytest.mark.parametrize("scale", [1e20, 1e-25])
def test_single_precision_out_of_its_range_is_an_error(scale):
    X, y = noisy()
    rows = (X * scale).astype(np.float32)
    with pytest.raises(InvalidInputError, match="float64"):
        NearestCentroid().fit(rows, y)
    NearestCentroid().fit(rows.astype(float), y)


def test_equal_means_have_no_direction():
    problem = xor()
    model = NearestCentroid().fit(problem.X, problem.y)
    assert model.coef_.tolist() == [[0.0, 0.0]]
    assert model.intercept_.tolist() == [0.0]
    assert (model.predict(problem.X) == 1).all()  # a score of 0 is positive
    with pytest.raises(NoDirectionError):
        model.signed_distance(problem.X)
    assert model.certificate_.verify(problem.X, problem.y)


def test_one_row_a_class():
    model = NearestCentroid().fit([[0.0], [1.0], [10.0]], ["a", "b", "c"])
    assert model.predict([[-9.0], [0.4], [0.6], [5.4], [5.6]]).tolist() == ["a", "a", "b", "b", "c"]


# ---------------------------------------------------------------------- medians
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("n", [61, 80])
def test_medians_and_predictions_are_scikit_learns(k, make, n):
    X, y = noisy(n, 4, k)
    X[X < 0.2] = 0.0
    reference, model = Reference("manhattan").fit(X, y), NearestCentroid("manhattan").fit(make(X), y)
    np.testing.assert_array_equal(model.centroids_, reference.centroids_)
    assert (model.predict(make(X)) == reference.predict(X)).all()
    distances = np.abs(X[:, None] - model.centroids_).sum(axis=2)
    scores = model.decision_function(X)
    expected = distances[:, 0] - distances[:, 1] if k == 2 else -distances
    np.testing.assert_allclose(scores, expected, rtol=1e-13, atol=1e-13)
    assert model.certificate_.verify(make(X), y)
    for name in ("coef_", "hyperplane_", "predict_proba"):
        assert not hasattr(model, name)


def test_weighted_medians_have_half_on_each_side():
    X, y = noisy(50, 3, 2)
    weight = np.random.default_rng(0).integers(0, 4, size=50)
    repeated = NearestCentroid("manhattan").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    model = NearestCentroid("manhattan").fit(X, y, weight)
    np.testing.assert_array_equal(model.centroids_, repeated.centroids_)
    tenths = NearestCentroid("manhattan").fit(X, y, 0.1 * weight)  # which do not add up exactly
    np.testing.assert_array_equal(tenths.centroids_, repeated.centroids_)
    certificate = model.certificate_
    assert certificate.verify(X, y, weight)
    values = np.sort(X[(y == 0) & (weight > 0), 1])
    for wrong in (values[0], values[-1], values[len(values) // 2 + 4]):
        moved = certificate.witness["centroids"].copy()
        moved[0, 1] = wrong
        assert not replace(certificate, witness={"centroids": moved}).verify(X, y, weight)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("threshold", [0.3, 1.5, 100.0])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_shrunken_medians_minimise_the_pulled_sum(k, threshold, make):
    X, y = noisy(60, 4, k)
    X[X < 0.2] = 0.0
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=60)
    model = NearestCentroid("manhattan", shrink_threshold=threshold).fit(make(X), y, weight)
    n, centre = weight.sum(), model.certificate_.witness["centre"]
    for j in range(4):
        at = lambda m, j=j: weight @ np.abs(X[:, j] - m)  # noqa: E731
        assert at(centre[j]) <= min(at(m) for m in X[:, j]) * (1 + 1e-12)  # a sum of absolute values is least at a row
        for c in range(k):
            own = y == c
            pull = threshold * np.sqrt(weight[own].sum() * (1 - weight[own].sum() / n))
            cost = lambda m, j=j, own=own, pull=pull: (  # noqa: E731
                weight[own] @ np.abs(X[own, j] - m) + pull * abs(m - centre[j])
            )
            best = min(cost(m) for m in [*X[own, j], centre[j]])
            assert cost(model.centroids_[c, j]) <= best * (1 + 1e-12) + 1e-12
    if threshold == 100.0:
        np.testing.assert_array_equal(model.centroids_, np.tile(centre, (k, 1)))
    certificate = model.certificate_
    assert certificate.verify(make(X), y, weight)
    assert "sqrt(n_c (1 - n_c / n))" in certificate.claim
    for name in ("centroids", "centre"):  # to the farthest row: all weight is on one side
        moved = {**certificate.witness, name: certificate.witness[name].copy()}
        moved[name].flat[0] = X[:, 0].max() + 1.0
        assert not replace(certificate, witness=moved).verify(X, y, weight)
    weaker = {**certificate.witness, "threshold": 1e-3 * threshold}  # which does not pull as far
    assert threshold < 1 or not replace(certificate, witness=weaker).verify(X, y, weight)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("shrink", [None, 1.0])
def test_medians_with_priors_are_laplace_distributions(k, shrink):
    X, y = noisy(90, 4, k)
    X = X * [1.0, 10.0, 0.1, 0.0]  # the last column says nothing
    keep = (y > 0) | (np.arange(90) % 3 == 0)
    X, y = X[keep], y[keep]
    for priors in ("empirical", (np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()).tolist()):
        model = NearestCentroid("manhattan", shrink_threshold=shrink, priors=priors).fit(X, y)
        b = np.abs(X - model.centroids_[y]).mean(axis=0)
        np.testing.assert_allclose(model.within_class_abs_dev_, b, rtol=1e-12)
        P = (
            np.log(model.class_prior_)
            + np.array([laplace.logpdf(X[:, :3], m[:3], b[:3]).sum(axis=1) for m in model.centroids_]).T
        )
        np.testing.assert_allclose(model.predict_proba(X), softmax(P, axis=1), rtol=1e-9)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), softmax(P, axis=1), rtol=1e-9)
        assert (model.predict(X) == P.argmax(axis=1)).all()
        certificate = model.certificate_
        assert certificate.verify(X, y)
        for name in ("prior", "absolute"):
            moved = {**certificate.witness, name: certificate.witness[name] * 1.001}
            assert not replace(certificate, witness=moved).verify(X, y)


# ---------------------------------------------------------------------- shrunken centroids, and priors
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("threshold", [0.1, 1.5, 100.0])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_shrunken_centroids_are_scikit_learns(k, threshold, make):
    X, y = noisy(90, 5, k)
    model = NearestCentroid(shrink_threshold=threshold).fit(make(X), y)
    reference = Reference(shrink_threshold=threshold).fit(X, y)
    np.testing.assert_allclose(model.centroids_, reference.centroids_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.within_class_std_dev_, reference.within_class_std_dev_, rtol=1e-12)
    np.testing.assert_allclose(model.deviations_, reference.deviations_, rtol=1e-9, atol=1e-12)
    if threshold < 100:
        assert (model.predict(make(X)) == reference.predict(X)).all()
    else:  # nothing is left: every point is as near to all
        assert not model.coef_.any() or np.abs(model.coef_).max() < 1e-14
    assert model.certificate_.verify(make(X), y)
    assert "t sum_c" in model.certificate_.claim


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("shrink", [None, 0.5])
def test_priors_are_scikit_learns_where_theirs_are_those_of_normal_distributions(k, shrink):
    X, y = noisy(90, 4, k)
    X = X * [1.0, 10.0, 0.1, 3.0]
    keep = (y > 0) | (np.arange(90) % 3 == 0)
    X, y = X[keep], y[keep]
    for priors in ("empirical", (np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()).tolist()):
        model = NearestCentroid(shrink_threshold=shrink, priors=priors).fit(X, y)
        reference = Reference(shrink_threshold=shrink, priors=priors).fit(X, y)
        assert (model.predict(X) == reference.predict(X)).all()
        np.testing.assert_allclose(model.class_prior_, reference.class_prior_, rtol=1e-12)
        # their scores are twice the log-odds of normal distributions, and they take them for log-odds
        squares = ((X[:, None] - model.centroids_) ** 2 / model.within_class_std_dev_**2).sum(axis=2)
        joint = np.log(model.class_prior_) - 0.5 * squares
        P = softmax(joint, axis=1)
        np.testing.assert_allclose(model.predict_proba(X), P, rtol=1e-9)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P, rtol=1e-9)
        theirs = reference.decision_function(X)
        ours = model.decision_function(X)
        if k == 2:
            np.testing.assert_allclose(ours, 0.5 * theirs, rtol=1e-8, atol=1e-9)
        else:
            np.testing.assert_allclose(ours - ours[:, :1], 0.5 * (theirs - theirs[:, :1]), rtol=1e-8, atol=1e-9)
        assert model.certificate_.verify(X, y)


def test_equal_priors_have_probabilities_and_the_bisector_has_none():
    X, y = noisy(60, 3, 3)
    X = X * [1.0, 5.0, 0.2]
    plain = NearestCentroid().fit(X, y)
    assert not hasattr(plain, "predict_proba")
    assert plain.class_prior_.tolist() == [1 / 3] * 3
    model = NearestCentroid(priors=[1 / 3] * 3).fit(X, y)
    squares = ((X[:, None] - model.centroids_) ** 2 / model.within_class_std_dev_**2).sum(axis=2)
    np.testing.assert_allclose(model.predict_proba(X), softmax(-0.5 * squares, axis=1), rtol=1e-9)
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("priors", [["a", "b"], {0: 0.5, 1: 0.5}, None, [[0.5], [0.5, 1]], [0.0, 1.0], [1.0], "equal"])
def test_what_are_no_priors_is_refused(priors):
    X, y = noisy(20, 2)
    with pytest.raises(InvalidInputError, match="priors must be"):
        NearestCentroid(priors=priors).fit(X, y)


@pytest.mark.parametrize("field", ["centroids", "coef", "intercept", "deviation", "prior", "threshold"])
def test_numbers_of_a_shrunken_centroid_a_little_off_are_refused(field):
    X, y = noisy(60, 3, 2)
    certificate = NearestCentroid(shrink_threshold=0.3, priors=[0.3, 0.7]).fit(X, y).certificate_
    value = np.asarray(certificate.witness[field], dtype=float)
    for index in np.ndindex(value.shape):
        for factor in (1e-6, -1e-6, 0.1):
            wrong = value.copy()
            wrong[index] += factor * (abs(wrong[index]) or 1.0)
            forged = {**certificate.witness, field: float(wrong) if field == "threshold" else wrong}
            assert not replace(certificate, witness=forged).verify(X, y), (index, factor)


def test_a_column_that_never_varies_within_the_classes_keeps_its_unit():
    X, y = noisy(40, 2)
    wide = np.column_stack([X, y])
    model, reference = (kind(priors=[0.3, 0.7]).fit(wide, y) for kind in (NearestCentroid, _quiet))
    assert model.within_class_std_dev_[2] == 0.0
    assert (model.predict(wide) == reference.predict(wide)).all()
    assert model.certificate_.verify(wide, y)


def _quiet(**options):
    """scikit-learn's, without its warning of a column without variance."""

    class Quiet(Reference):
        def fit(self, X, y):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return super().fit(X, y)

    return Quiet(**options)


def test_what_priors_cannot_be_is_refused():
    X, y = noisy(20, 2)
    for wrong in ([0.5], [0.0, 1.0], "balanced", [np.nan, 1.0]):
        with pytest.raises(InvalidInputError, match="priors"):
            NearestCentroid(priors=wrong).fit(X, y)
    with pytest.raises(InvalidInputError, match="metric"):
        NearestCentroid("cosine").fit(X, y)
    with pytest.raises(InvalidInputError, match="more weight"):
        NearestCentroid(shrink_threshold=1.0).fit(X, y, np.full(20, 0.05))
