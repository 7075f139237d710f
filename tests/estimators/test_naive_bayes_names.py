"""The names over NaiveBayes, p(x, c) itself, and statistics that are vectors: against scikit-learn and scipy.stats."""

from fractions import Fraction

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from problems import bits, counts, noisy
from scipy import sparse, stats
from scipy.special import digamma, gammaln, log_softmax, polygamma

import separatrix as ours
from separatrix import (
    ExponentialFamily,
    InvalidInputError,
    LikelihoodWarning,
    NaiveBayes,
    PoissonNB,
    Status,
    load,
    save,
)

WEIGHT = np.random.default_rng(0).integers(1, 4, size=80).astype(float)
SAME = {  # name: settings, and rows
    "GaussianNB": ({"var_smoothing": 0.0}, noisy),  # theirs smooths by a variance without weights
    "BernoulliNB": ({"alpha": 0.3}, bits),
    "MultinomialNB": ({"alpha": 0.3}, counts),
    "ComplementNB": ({"alpha": 0.3}, counts),
    "ComplementNB of shares": ({"norm": True}, counts),
    "CategoricalNB": ({"alpha": 0.3}, counts),
    "CategoricalNB with room": ({"min_categories": 20, "fit_prior": False}, counts),
}


def both(name, k):
    settings, make = SAME[name]
    X, y = make(80, 4, k)
    kind = name.split()[0]
    model, other = getattr(ours, kind)(**settings), getattr(theirs, kind)(**settings)
    return model.fit(X, y, WEIGHT), other.fit(X, y, sample_weight=WEIGHT), X, y


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", SAME)
def test_the_joint_distribution_is_scikit_learns(name, k):
    model, other, X, y = both(name, k)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), other.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-9)
    highest = np.sort(other.predict_joint_log_proba(X), axis=1)
    clear = highest[:, -1] - highest[:, -2] > 1e-9  # of equal columns, shares tell nothing
    assert clear.mean() > 0.9
    assert (model.predict(X) == other.predict(X))[clear].all()
    assert model.certificate_.verify(X, y, WEIGHT)
    # the probabilities are those of the joint distribution
    np.testing.assert_allclose(
        model.predict_log_proba(X), log_softmax(model.predict_joint_log_proba(X), axis=1), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("k", [2, 3])
def test_attributes_of_scikit_learn(k):
    model, other, _, _ = both("ComplementNB of shares", k)
    for name in ("feature_count_", "feature_all_", "feature_log_prob_", "class_count_", "class_log_prior_"):
        np.testing.assert_allclose(getattr(model, name), getattr(other, name), rtol=1e-12)
    model, other, _, _ = both("CategoricalNB", k)
    for name in ("category_count_", "feature_log_prob_"):
        for one, two in zip(getattr(model, name), getattr(other, name), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)
    assert model.n_categories_.tolist() == other.n_categories_.tolist()


def test_the_joint_density_is_that_of_scipy():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.column_stack([rng.normal(y, 1.5), rng.poisson(2.0 + y), rng.integers(0, 2, 80)])
    for shared in (True, False):
        model = NaiveBayes(["gaussian", "poisson", "bernoulli"], shared_variance=shared).fit(X, y)
        for c in range(2):
            own = X[y == c]
            spread = np.concatenate([X[y == a, 0] - X[y == a, 0].mean() for a in range(2)]).std()
            expected = (
                np.log(0.5)
                + stats.norm(own[:, 0].mean(), spread if shared else own[:, 0].std()).logpdf(X[:, 0])
                + stats.poisson(own[:, 1].mean()).logpmf(X[:, 1])
                + stats.bernoulli((own[:, 2].sum() + 1) / (len(own) + 2)).logpmf(X[:, 2])
            )
            np.testing.assert_allclose(model.predict_joint_log_proba(X)[:, c], expected, rtol=1e-12)


def test_a_constant_column_adds_nothing_to_the_joint_density():
    X, y = noisy(40, 2)
    wide = np.column_stack([X, np.full(40, 3.0)])
    expected = NaiveBayes().fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_allclose(NaiveBayes().fit(wide, y).predict_joint_log_proba(wide), expected, rtol=1e-12)


def test_a_class_without_weight_has_no_joint_density():
    X, y = counts(60, 3, 3)
    for model in (NaiveBayes("poisson"), ours.ComplementNB(), ours.CategoricalNB(min_categories=30)):
        joint = model.fit(X, y, (y != 1).astype(float)).predict_joint_log_proba(X)
        others = model.fit(X[y != 1], y[y != 1]).predict_joint_log_proba(X)
        assert np.isneginf(joint[:, 1]).all()
        np.testing.assert_array_equal(joint[:, [0, 2]], others)


# ---------------------------------------------------------------------- smoothed variances
@pytest.mark.parametrize("shared", [True, False])
def test_smoothing_adds_a_share_of_the_largest_variance(shared):
    X, y = noisy(60, 3, 3)
    X = X * [1.0, 5.0, 0.2]
    plain = NaiveBayes(shared_variance=shared).fit(X, y)
    model = NaiveBayes(shared_variance=shared, var_smoothing=0.01).fit(X, y)
    np.testing.assert_allclose(model.variances_, plain.variances_ + 0.01 * X.var(axis=0).max(), rtol=1e-12)
    assert model.certificate_.verify(X, y)
    with pytest.raises(InvalidInputError, match="var_smoothing"):
        NaiveBayes(var_smoothing=-1.0).fit(X, y)


# ---------------------------------------------------------------------- PoissonNB
@pytest.mark.parametrize("k", [2, 3])
def test_poisson_is_the_density_of_scipy(k):
    X, y = counts(80, 4, k)
    model = PoissonNB().fit(X, y, WEIGHT)
    prior = np.bincount(y, WEIGHT) / WEIGHT.sum()
    joint = np.empty((80, k))
    for c in range(k):
        rate = np.average(X[y == c], axis=0, weights=WEIGHT[y == c])
        np.testing.assert_allclose(model.rate_[c], rate, rtol=1e-13)
        joint[:, c] = np.log(prior[c]) + stats.poisson(rate).logpmf(X).sum(axis=1)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(joint, axis=1), rtol=1e-10, atol=1e-12)
    reference = NaiveBayes("poisson").fit(X, y, WEIGHT)
    assert np.array_equal(model.coef_, reference.coef_)
    chunks = PoissonNB()
    for part in (slice(0, 30), slice(30, 80)):
        chunks.partial_fit(X[part], y[part], classes=range(k), sample_weight=WEIGHT[part])
    np.testing.assert_allclose(chunks.coef_, model.coef_, rtol=1e-12)


# ---------------------------------------------------------------------- complements
def test_complement_by_hand():
    # outside of a: columns (0 + 1, 1 + 1) = (1, 2), smoothed (2, 3); of b: (3, 1), (4, 2); of c: (2, 1), (3, 2)
    X, y = [[2, 0], [0, 1], [1, 1]], ["a", "b", "c"]
    model = ours.ComplementNB().fit(X, y)
    shares = [[Fraction(2, 5), Fraction(3, 5)], [Fraction(4, 6), Fraction(2, 6)], [Fraction(3, 5), Fraction(2, 5)]]
    np.testing.assert_allclose(model.parameters_, np.array(shares, dtype=float), rtol=1e-15)
    logs = -np.log(np.array(shares, dtype=float))
    np.testing.assert_allclose(model.coef_, logs - logs.mean(axis=0), rtol=1e-13, atol=1e-15)
    assert not model.intercept_.any()


def test_complement_refuses_weights_without_limit():
    X, y = [[2, 0], [0, 1]], [0, 1]
    with pytest.raises(InvalidInputError, match="class 0, column 0 counts nothing"):
        ours.ComplementNB(alpha=0).fit(X, y)
    with pytest.raises(InvalidInputError, match="one column"):
        ours.ComplementNB(norm=True).fit([[1], [2]], y)
    with pytest.raises(InvalidInputError, match="Negative values in data"):
        ours.ComplementNB().fit([[1, -1], [2, 1]], y)


@pytest.mark.parametrize("name", ["ComplementNB", "CategoricalNB"])
def test_chunks_are_all_rows_together(name, tmp_path):
    X, y = counts(80, 4, 3)
    kind = getattr(ours, name)
    whole, chunks = kind().fit(X, y, WEIGHT), kind()
    for part in (slice(0, 20), slice(20, 35), slice(35, 80)):
        chunks.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=WEIGHT[part])
        save(chunks, tmp_path / "model")
        chunks = load(tmp_path / "model")  # and a file holds what is needed to go on
    np.testing.assert_allclose(chunks.parameters_, whole.parameters_, rtol=1e-13)
    np.testing.assert_allclose(chunks.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["ComplementNB", "CategoricalNB"])
def test_a_class_that_has_not_come_yet(name):
    X, y = counts(40, 3, 2)
    kind = getattr(ours, name)
    model = kind().partial_fit(X, y, classes=[0, 1, 2])
    assert model.certificate_ is None
    assert model.status_ is Status.UNCHECKED
    assert np.isfinite(model.predict_joint_log_proba(X)).all()
    if name == "CategoricalNB":
        assert (model.predict(X) < 2).all()


# ---------------------------------------------------------------------- categories
def test_categories_by_hand():
    X, y = [[0], [0], [1], [2]], ["a", "a", "b", "b"]
    model = ours.CategoricalNB().fit(X, y)
    np.testing.assert_allclose(model.parameters_, [[3 / 5, 1 / 5, 1 / 5], [1 / 5, 2 / 5, 2 / 5]], rtol=1e-15)
    np.testing.assert_allclose(model.decision_function([[0], [1]]), [-np.log(3.0), np.log(2.0)], rtol=1e-14)


def test_what_is_no_category_is_refused_with_its_place():
    X, y = np.array([[0, 1], [1, 0], [2, 1], [0, 0]]), [0, 1, 1, 0]
    model = ours.CategoricalNB().fit(X, y)
    with pytest.raises(InvalidInputError, match="Row 1 has 3 in column 0, whose categories are 0 to 2"):
        model.predict([[0, 0], [3, 0]])
    assert model.set_params(min_categories=[4, 2]).fit(X, y).n_categories_.tolist() == [4, 2]
    assert model.predict([[3, 0]]).shape == (1,)
    for bad, place in ((0.5, "row 2 of column 1 holds 0.5"), (1e7, "row 2 of column 1 holds 1e"), (-1, "Negative")):
        Z = X.astype(float)
        Z[2, 1] = bad
        for rows in (Z, sparse.csr_array(Z)):
            with pytest.raises(InvalidInputError, match=place):
                ours.CategoricalNB().fit(rows, y)
    for wrong in ([2], "two", [2.0, 2.0], 0):
        with pytest.raises(InvalidInputError, match="min_categories"):
            ours.CategoricalNB(min_categories=wrong).fit(X, y)
    with pytest.raises(InvalidInputError, match="class 0, category 1 of column 0 never occurs"):
        ours.CategoricalNB(alpha=0).fit(X, [0, 1, 1, 0])


# ---------------------------------------------------------------------- statistics that are vectors
class NormalPair(ExponentialFamily):
    """t(x) = (x, x²), theta = (mu / v, -1 / (2 v)), a = mu² / (2 v) + log(v) / 2: a normal with its own variance."""

    name = "normal pair"
    size = 2

    def statistic(self, x):
        return np.stack([x, x**2], axis=-1)

    def natural(self, mean):
        mu = mean[..., 0]
        v = mean[..., 1] - mu**2
        return np.stack([mu / v, -0.5 / v], axis=-1)

    def log_partition(self, theta):
        v = -0.5 / theta[..., 1]
        return 0.5 * (theta[..., 0] ** 2 * v + np.log(v))

    def base(self, x):
        return np.full(x.shape, -0.5 * np.log(2 * np.pi))


@pytest.mark.parametrize("method", ["statistic", "natural", "log_partition"])
def test_a_method_of_the_wrong_shape_is_named(method):
    def first_only(self, x):
        return getattr(NormalPair, method)(self, x)[:1]

    family = type("Cut", (NormalPair,), {method: first_only})()
    X, y = noisy(20, 3)
    with pytest.raises(InvalidInputError, match=f"{method} of the normal pair family returned the shape"):
        NaiveBayes(family=family).fit(X, y)


class Gamma(ExponentialFamily):
    """t(x) = (log x, x), theta = (shape - 1, -rate), a = log Gamma(shape) - shape log rate."""

    name = "gamma"
    support = "positive numbers"
    size = 2

    def supports(self, x):
        return x > 0

    def statistic(self, x):
        return np.stack([np.log(x), x], axis=-1)

    def natural(self, mean):
        gap = np.log(mean[..., 1]) - mean[..., 0]  # log shape - digamma(shape)
        shape = 0.5 / gap
        for _ in range(50):
            shape = shape - (np.log(shape) - digamma(shape) - gap) / (1 / shape - polygamma(1, shape))
        return np.stack([shape - 1, -shape / mean[..., 1]], axis=-1)

    def log_partition(self, theta):
        shape = theta[..., 0] + 1
        return gammaln(shape) - shape * np.log(-theta[..., 1])


@pytest.mark.parametrize("k", [2, 3])
def test_a_normal_distribution_of_two_statistics_is_the_gaussian_one(k):
    X, y = noisy(80, 3, k)
    model = NaiveBayes(NormalPair()).fit(X, y, WEIGHT)
    reference = NaiveBayes(shared_variance=False).fit(X, y, WEIGHT)
    assert model.parameters_.shape == (k, 6)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), reference.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
    )
    assert not hasattr(model, "coef_")
    assert model.certificate_ is None
    assert model.status_ is Status.UNCHECKED


def test_gamma_distributions_are_those_of_scipy():
    rng = np.random.default_rng(3)
    y = np.arange(400) % 2
    X = np.column_stack([rng.gamma(2.0 + 3 * y, 1.5), rng.normal(y, 1.0), rng.gamma(1.0 + y, 0.5 + y)])
    model = NaiveBayes([Gamma(), "gaussian", Gamma()], shared_variance=False).fit(X, y)
    expected = np.empty((400, 2))
    for c in range(2):
        own = X[y == c]
        expected[:, c] = np.log(0.5) + stats.norm(own[:, 1].mean(), own[:, 1].std()).logpdf(X[:, 1])
        for j in (0, 2):
            shape, _, scale = stats.gamma.fit(own[:, j], floc=0)
            expected[:, c] += stats.gamma(shape, scale=scale).logpdf(X[:, j])
    np.testing.assert_allclose(model.decision_function(X), expected[:, 1] - expected[:, 0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-5, atol=1e-5)
    chunks = NaiveBayes([Gamma(), "gaussian", Gamma()], shared_variance=False)
    for part in (slice(0, 150), slice(150, 400)):
        chunks.partial_fit(X[part], y[part], classes=[0, 1])
    np.testing.assert_allclose(chunks.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9)


def test_columns_beside_vectors_are_named_as_they_are():
    X, y = np.abs(noisy(40, 3)[0]) + 0.1, np.arange(40) % 2
    with pytest.raises(InvalidInputError, match="row 7 of column 2 holds 0"):
        NaiveBayes([Gamma(), "gaussian", Gamma()]).fit(np.where(np.arange(120).reshape(40, 3) == 23, 0.0, X), y)
    still = X.copy()
    still[:, 1] = y
    with pytest.warns(LikelihoodWarning, match="in column 1:"):
        NaiveBayes([Gamma(), "gaussian", Gamma()]).fit(still, y)
