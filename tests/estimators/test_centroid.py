"""NearestCentroid: the bisector of the class means, against scikit-learn's and by hand."""

import numpy as np
import pytest
from problems import four_corners, noisy, xor
from scipy import sparse
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
