"""NaiveBayes: the posterior log-odds, against scikit-learn and against the densities of scipy.stats."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import bits, counts, noisy
from scipy import sparse, stats
from scipy.special import log_softmax
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

from separatrix import ExponentialFamily, InvalidInputError, LikelihoodWarning, NaiveBayes, Status

FAMILIES = {"bernoulli": bits, "poisson": counts, "multinomial": counts, "gaussian": noisy}


class Exponential(ExponentialFamily):
    """rate exp(-rate x): theta = -rate, a = -log(rate)."""

    name = "exponential"
    support = "positive numbers"

    def supports(self, x):
        return x > 0

    def natural(self, mean):
        return -1.0 / mean

    def log_partition(self, theta):
        return -np.log(-theta)


class Geometric(ExponentialFamily):
    """p (1 - p)^(x - 1) on 1, 2, ...: theta = log(1 - p), a = log((1 - p) / p), E[x] = 1/p."""

    name = "geometric"
    support = "whole numbers from 1 up"

    def supports(self, x):
        return (x >= 1) & (x == np.floor(x))

    def natural(self, mean):
        return np.log1p(-1.0 / mean)

    def log_partition(self, theta):
        return theta - np.log(-np.expm1(theta))


class LogNormal(ExponentialFamily):
    """log x normal with variance 1: t(x) = log x, theta = E[log x], a = theta²/2."""

    name = "log-normal"
    support = "positive numbers"

    def supports(self, x):
        return x > 0

    def statistic(self, x):
        return np.log(x)

    def natural(self, mean):
        return mean

    def log_partition(self, theta):
        return theta**2 / 2


class Shrunken(Exponential):
    """An estimate of its own: means pulled towards 1."""

    name = "shrunken"

    def estimate(self, counts, means, alpha):
        return (counts[:, None] * means + 1.0) / (counts[:, None] + 1.0)


# ---------------------------------------------------------------------- the posterior, from densities
def class_means(X, y, weight, k):
    return np.array([np.average(X[y == c], axis=0, weights=weight[y == c]) for c in range(k)])


def pooled_variance(X, y, weight, k):
    """Divides by n, the total weight."""
    mu = class_means(X, y, weight, k)
    return weight @ (X - mu[y]) ** 2 / weight.sum()


def log_likelihood(family, X, y, weight, k, points, alpha=1.0):
    """(points, k): the sum over the columns of log p(x | c), with parameters estimated as the family says."""
    n = np.bincount(y, weights=weight, minlength=k)
    totals = np.array([weight[y == c] @ X[y == c] for c in range(k)])
    if family == "bernoulli":
        p = (totals + alpha) / (n[:, None] + 2 * alpha)
        parts = stats.bernoulli.logpmf(points[:, None], p)
    elif family == "poisson":
        parts = stats.poisson.logpmf(points[:, None], totals / n[:, None])
    elif family == "multinomial":
        p = (totals + alpha) / (totals + alpha).sum(axis=1, keepdims=True)
        parts = points[:, None] * np.log(p)
    elif family == "gaussian":
        mu, sigma = class_means(X, y, weight, k), np.sqrt(pooled_variance(X, y, weight, k))
        parts = stats.norm.logpdf(points[:, None], mu, sigma)
    elif family == "own variances":
        mu = class_means(X, y, weight, k)
        variance = np.array([np.average((X[y == c] - mu[c]) ** 2, axis=0, weights=weight[y == c]) for c in range(k)])
        parts = stats.norm.logpdf(points[:, None], mu, np.sqrt(variance))
    elif family == "exponential":
        parts = stats.expon.logpdf(points[:, None], scale=totals / n[:, None])
    elif family == "geometric":
        parts = stats.geom.logpmf(points[:, None], n[:, None] / totals)
    else:
        logs = np.array([np.average(np.log(X[y == c]), axis=0, weights=weight[y == c]) for c in range(k)])
        parts = stats.lognorm.logpdf(points[:, None], s=1.0, scale=np.exp(logs))
    return parts.sum(axis=2)


def posterior(likelihood, prior):
    return log_softmax(likelihood + np.log(prior), axis=1)


def assert_posterior(model, X, expected, linear=True):
    """log P(c | x), the log-odds, and that the weights give them."""
    k = expected.shape[1]
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(expected), rtol=1e-10, atol=1e-12)
    ranked = np.sort(expected, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-9  # the others are ties
    assert (model.predict(X) == model.classes_[expected.argmax(axis=1)])[clear].all()
    scores = model.decision_function(X)
    if k == 2:
        odds = expected[:, 1] - expected[:, 0]
        np.testing.assert_allclose(scores, odds, rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_allclose(scores - scores[:, :1], expected - expected[:, :1], rtol=1e-10, atol=1e-10)
    assert hasattr(model, "coef_") is linear
    if linear:
        by_hand = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(by_hand[:, 0] if k == 2 else by_hand, scores, rtol=1e-10, atol=1e-10)
        if k > 2:
            np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12 * np.abs(model.coef_).max())


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_posterior_is_that_of_the_densities(family, k, weighted):
    X, y = FAMILIES[family](n=80, d=4, k=k)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=80) if weighted else np.ones(80)
    prior = np.bincount(y, weights=weight) / weight.sum()
    expected = posterior(log_likelihood(family, X, y, weight, k, X), prior)
    model = NaiveBayes(family).fit(X, y, weight if weighted else None)
    assert_posterior(model, X, expected)
    np.testing.assert_allclose(model.class_prior_, prior, rtol=1e-13)
    np.testing.assert_allclose(model.class_count_, prior * weight.sum(), rtol=1e-13)
    assert model.status_ is Status.FORMULA
    assert model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("k", [2, 3])
def test_own_variances_are_quadratic(k):
    X, y = noisy(80, 4, k)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=80)
    expected = posterior(
        log_likelihood("own variances", X, y, weight, k, X), np.bincount(y, weights=weight) / weight.sum()
    )
    model = NaiveBayes(shared_variance=False).fit(X, y, weight)
    assert_posterior(model, X, expected, linear=False)
    assert model.variances_.shape == (k, 4)
    for name in ("coef_", "intercept_", "hyperplane_", "signed_distance"):
        assert not hasattr(model, name)
    assert model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("alpha", [1.0, 0.3, 10.0])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    "ours, theirs, make", [("bernoulli", BernoulliNB, bits), ("multinomial", MultinomialNB, counts)]
)
def test_smoothed_counts_are_scikit_learns(ours, theirs, make, k, alpha):
    X, y = make(k=k)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    model = NaiveBayes(ours, alpha=alpha).fit(X, y, weight)
    reference = theirs(alpha=alpha).fit(X, y, sample_weight=weight)
    assert_posterior(model, X, reference.predict_log_proba(X))
    np.testing.assert_allclose(np.log(model.parameters_), reference.feature_log_prob_, rtol=1e-12)
    np.testing.assert_allclose(model.class_count_, reference.class_count_)


@pytest.mark.parametrize("k", [2, 3])
def test_own_variances_are_scikit_learns(k):
    X, y = noisy(80, 4, k)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    model = NaiveBayes(shared_variance=False).fit(X, y, weight)
    reference = GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=weight)
    assert_posterior(model, X, reference.predict_log_proba(X), linear=False)
    np.testing.assert_allclose(model.parameters_, reference.theta_, rtol=1e-12)
    np.testing.assert_allclose(model.variances_, reference.var_, rtol=1e-12)


def test_by_hand():
    # columns: 1s in 2 of 2 and 0 of 2 rows, smoothed to 3/4 and 1/4; the second says nothing
    X, y = [[1, 1], [1, 0], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"]
    model = NaiveBayes("bernoulli").fit(X, y)
    np.testing.assert_allclose(model.coef_, [[np.log(9.0), 0.0]], atol=1e-15)
    np.testing.assert_allclose(model.intercept_, [-np.log(3.0)], atol=1e-15)
    # means 1 and 5, pooled variance 1: score 4 (x - 3)
    model = NaiveBayes().fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(model.coef_, [[4.0]])
    np.testing.assert_allclose(model.intercept_, [-12.0])
    assert model.variances_.tolist() == [1.0]
    # rates 1 and 4: score x log 4 - 3
    model = NaiveBayes("poisson").fit([[0.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(model.coef_, [[np.log(4.0)]])
    np.testing.assert_allclose(model.intercept_, [-3.0])


# ---------------------------------------------------------------------- priors
@pytest.mark.parametrize("family", [*FAMILIES, "own variances"])
def test_given_priors_replace_the_frequencies(family):
    X, y = FAMILIES.get(family, noisy)(n=80, d=3, k=3)
    prior = np.array([0.5, 0.2, 0.3])
    parameters = {"shared_variance": False} if family == "own variances" else {"family": family}
    expected = posterior(log_likelihood(family, X, y, np.ones(80), 3, X), prior)
    model = NaiveBayes(priors=prior.tolist(), **parameters).fit(X, y)
    assert_posterior(model, X, expected, linear=family != "own variances")
    np.testing.assert_allclose(model.class_prior_, prior, rtol=1e-15)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize(
    "priors, words",
    [
        ([0.5, 0.6], ["sum to 1"]),
        ([1.0, 0.0], ["above 0"]),
        ([1.5, -0.5], ["above 0"]),
        ([0.5, np.nan], ["priors"]),
        ([0.2, 0.3, 0.5], ["shape", "2 classes"]),
        ([1.0], ["shape", "2 classes"]),
        (0.5, ["shape"]),
        ("even", ["numbers"]),
        ({0: 0.5, 1: 0.5}, ["numbers"]),
    ],
    ids=repr,
)
def test_bad_priors(priors, words):
    with pytest.raises(InvalidInputError) as caught:
        NaiveBayes(priors=priors).fit(*noisy())
    for word in ["priors", *words]:
        assert word in str(caught.value)


# ---------------------------------------------------------------------- families
@pytest.mark.parametrize("k", [2, 3])
def test_a_list_gives_each_column_its_own_family(k):
    y = np.arange(80) % k
    columns = {
        "bernoulli": bits(d=1, k=k)[0],
        "poisson": counts(d=1, k=k)[0],
        "gaussian": noisy(80, 1, k)[0] + y[:, None],
        "multinomial": counts(d=3, k=k, seed=5)[0],
    }
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=80)
    likelihood = sum(log_likelihood(family, X, y, weight, k, X) for family, X in columns.items())
    expected = posterior(likelihood, np.bincount(y, weights=weight) / weight.sum())
    families = [family for family, X in columns.items() for _ in range(X.shape[1])]
    X = np.hstack(list(columns.values()))
    for order in (np.arange(6), np.array([5, 2, 0, 3, 1, 4])):  # the multinomial columns need not be neighbours
        model = NaiveBayes([families[j] for j in order]).fit(X[:, order], y, weight)
        assert_posterior(model, X[:, order], expected)
        assert model.certificate_.verify(X[:, order], y, weight)
        dense, thin = model, NaiveBayes([families[j] for j in order]).fit(sparse.csr_array(X[:, order]), y, weight)
        np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-10, atol=1e-12)


def positive_rows(k, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(90) % k
    return rng.exponential(1.0 + y[:, None], size=(90, 2)) + 1e-3, y


def whole_rows(k):
    rng = np.random.default_rng(1)
    y = np.arange(90) % k
    return rng.geometric(0.5 / (1.0 + y[:, None]), size=(90, 2)).astype(float), y


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "family, make, linear",
    [(Exponential(), positive_rows, True), (Geometric(), whole_rows, True), (LogNormal(), positive_rows, False)],
    ids=["exponential", "geometric", "log-normal"],
)
def test_families_of_ones_own(family, make, linear, k):
    X, y = make(k)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, size=90)
    prior = np.bincount(y, weights=weight) / weight.sum()
    expected = posterior(log_likelihood(family.name, X, y, weight, k, X), prior)
    model = NaiveBayes(family).fit(X, y, weight)
    assert_posterior(model, X, expected, linear)
    # the check cannot repeat a density it does not know
    assert model.certificate_ is None
    assert model.status_ is Status.UNCHECKED
    if not linear:
        with pytest.raises(InvalidInputError, match="dense"):
            NaiveBayes(family).fit(sparse.csr_array(X), y)


def test_a_family_of_ones_own_beside_the_others():
    X, y = positive_rows(2)
    Z = np.hstack([X, noisy(90, 1)[0]])
    model = NaiveBayes([Exponential(), LogNormal(), "gaussian"]).fit(Z, y)
    parts = [("exponential", Z[:, :1]), ("log-normal", Z[:, 1:2]), ("gaussian", Z[:, 2:])]
    likelihood = sum(log_likelihood(name, x, y, np.ones(90), 2, x) for name, x in parts)
    assert_posterior(model, Z, posterior(likelihood, [0.5, 0.5]), linear=False)


@pytest.mark.parametrize("n", [10, 4000])
def test_probabilities_at_the_edge_of_rounding_are_not_certified(n):
    X, y = np.ones((n, 2)), np.arange(n) % 2
    X[::3, 1] = 0.0
    with pytest.warns(LikelihoodWarning, match="column 0 .*Raise alpha"):
        model = NaiveBayes("bernoulli", alpha=1e-9).fit(X, y)
    assert model.certificate_ is None
    assert model.status_ is Status.UNCERTIFIED
    assert NaiveBayes("bernoulli", alpha=1e-3).fit(X, y).certificate_.verify(X, y)


def test_an_estimate_of_ones_own_is_used_and_not_certified():
    X, y = positive_rows(2)
    model = NaiveBayes(Shrunken()).fit(X, y)
    means = np.array([(X[y == c].sum(axis=0) + 1.0) / ((y == c).sum() + 1.0) for c in range(2)])
    np.testing.assert_allclose(model.parameters_, means, rtol=1e-12)
    np.testing.assert_allclose(model.coef_, [-1 / means[1] + 1 / means[0]], rtol=1e-12)
    assert model.certificate_ is None
    assert model.status_ is Status.UNCHECKED


@pytest.mark.parametrize(
    "family, value, column, words",
    [
        ("bernoulli", 2.0, 1, ["bernoulli", "0 and 1", "row 7", "column 1", "2"]),
        ("bernoulli", 0.5, 0, ["bernoulli", "row 7", "column 0", "0.5", "inaris"]),
        ("poisson", -1.0, 1, ["poisson", "row 7", "column 1", "-1", "negative", "gaussian"]),
        ("multinomial", -0.5, 2, ["multinomial", "row 7", "column 2", "-0.5", "negative"]),
    ],
)
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_numbers_without_probability_are_named(family, value, column, words, make):
    X, y = bits(d=3)
    X[7, column] = value
    with pytest.raises(InvalidInputError) as caught:
        NaiveBayes(family).fit(make(X), y)
    for word in words:
        assert word in str(caught.value)


def test_unsupported_numbers_are_sought_in_their_own_columns_only():
    X, y = noisy(80, 2)
    Z = np.hstack([X, bits(d=1)[0]])
    NaiveBayes(["gaussian", "gaussian", "bernoulli"]).fit(Z, y)
    with pytest.raises(InvalidInputError, match="column 1"):
        NaiveBayes(["gaussian", "bernoulli", "bernoulli"]).fit(Z, y)


def test_zeros_that_are_not_stored_count():
    X, y = positive_rows(2)
    X[4, 1] = 0.0
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(InvalidInputError, match="row 4 of column 1"):
            NaiveBayes(Exponential()).fit(rows, y)


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"family": "binomial"}, ["family", "'bernoulli'", "'binomial'"]),
        ({"family": ["gaussian"] * 2}, ["family", "2 families", "3 columns"]),
        ({"family": ["gaussian", "gaussian", 3]}, ["family", "3"]),
        ({"family": None}, ["family"]),
        ({"family": 7}, ["family"]),
        ({"family": Exponential}, ["family"]),
        ({"alpha": -1.0}, ["alpha", "-1"]),
        ({"alpha": np.nan}, ["alpha"]),
        ({"alpha": np.inf}, ["alpha"]),
        ({"alpha": "1"}, ["alpha"]),
        ({"alpha": None}, ["alpha"]),
        ({"alpha": [1.0, 1.0]}, ["alpha"]),
        ({"shared_variance": "no"}, ["shared_variance", "True or False"]),
    ],
    ids=repr,
)
def test_bad_parameters(parameters, words):
    with pytest.raises(InvalidInputError) as caught:
        NaiveBayes(**parameters).fit(*noisy())
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("family", ["bernoulli", "multinomial"])
def test_without_smoothing_a_count_of_zero_is_an_error(family):
    X, y = bits(d=3)
    X[y == 1, 2] = 0.0
    with pytest.raises(InvalidInputError) as caught:
        NaiveBayes(family, alpha=0.0).fit(X, y)
    for word in (family, "column 2", "1", "alpha > 0"):
        assert word in str(caught.value)
    model = NaiveBayes(family, alpha=1e-3).fit(X, y)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("family", ["bernoulli", "multinomial"])
def test_without_smoothing_and_zeros_the_estimate_is_the_frequency(family):
    X, y = bits(d=3)
    model = NaiveBayes(family, alpha=0.0).fit(X, y)
    expected = posterior(log_likelihood(family, X, y, np.ones(80), 2, X, alpha=0.0), [0.5, 0.5])
    assert_posterior(model, X, expected)
    assert model.certificate_.verify(X, y)


# ---------------------------------------------------------------------- degenerate columns
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("parameters", [{}, {"shared_variance": False}, {"family": "poisson"}], ids=repr)
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_constant_columns_leave_the_prior(parameters, value, make):
    X, y = np.full((9, 2), value), np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    model = NaiveBayes(**parameters).fit(make(X), y)
    np.testing.assert_allclose(model.predict_proba(X), [[1 / 3, 2 / 3]] * 9, rtol=1e-10)
    assert (model.predict(X) == 1).all()
    assert model.certificate_.verify(X, y)
    # elsewhere as well: it says nothing
    np.testing.assert_allclose(model.predict_proba([[7.0, 0.0]]), [[1 / 3, 2 / 3]], rtol=1e-10)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_a_constant_column_changes_nothing(k, shared):
    X, y = noisy(60, 3, k)
    plain = NaiveBayes(shared_variance=shared).fit(X, y)
    with_constant = NaiveBayes(shared_variance=shared).fit(np.column_stack([X[:, :1], np.full(60, 0.3), X[:, 1:]]), y)
    Z = np.column_stack([X[:, :1], np.full(60, 0.3), X[:, 1:]])
    np.testing.assert_allclose(with_constant.predict_log_proba(Z), plain.predict_log_proba(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_columns_that_never_vary_within_a_class_are_held_at_a_bound(shared):
    X, y = noisy(60, 3)
    X[:, 1] = y if shared else np.where(y == 1, 0.5, X[:, 1])
    with pytest.warns(LikelihoodWarning, match="column 1") as caught:
        model = NaiveBayes(shared_variance=shared).fit(X, y)
    assert "column 0" not in str(caught[0].message)
    assert "column 2" not in str(caught[0].message)
    assert model.status_ is Status.BOUNDED
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert np.isfinite(model.decision_function(X)).all()
    verification = model.certificate_.verify(X, y)
    assert verification, str(verification)
    if shared:
        assert (model.predict(X) == y).all()


def test_a_poisson_class_that_never_counts_is_held_at_a_bound():
    X, y = counts(d=3)
    X[y == 0, 1] = 0.0
    X[:, 2] = 0.0  # nobody counts here: that says nothing
    with pytest.warns(LikelihoodWarning, match="column 1") as caught:
        model = NaiveBayes("poisson").fit(X, y)
    assert "column 2" not in str(caught[0].message)
    assert model.status_ is Status.BOUNDED
    assert np.isfinite(model.coef_).all()
    assert model.coef_[0, 2] == 0.0
    assert model.coef_[0, 1] > 10.0
    assert (model.predict(X[X[:, 1] > 0]) == 1).all()
    assert model.certificate_.verify(X, y)


def test_the_warning_names_columns_as_the_user_does():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "group": [0.0, 0.0, 1.0, 1.0]})
    with pytest.warns(LikelihoodWarning, match="'group'"):
        NaiveBayes().fit(frame, [0, 0, 1, 1])


# ---------------------------------------------------------------------- far from the origin, large and small
def dyadic(k=2, n=60, d=3, seed=0):
    """Multiples of 1/1024, so that adding 1e9 is exact."""
    X, y = noisy(n, d, k, seed)
    return np.round(X * 1024) / 1024, y


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("shift", [1e6, 1e9, -1e9])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_a_shift_changes_nothing(k, shift, make):
    X, y = dyadic(k)
    here, there = NaiveBayes().fit(X, y), NaiveBayes().fit(make(X + shift), y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6)
    np.testing.assert_allclose(there.variances_, here.variances_, rtol=1e-6)
    assert (there.predict(X + shift) == here.predict(X)).all()
    np.testing.assert_allclose(there.predict_proba(X + shift), here.predict_proba(X), atol=1e-5)
    verification = there.certificate_.verify(X + shift, y)
    assert verification, str(verification)


@pytest.mark.parametrize("k", [2, 3])
def test_a_shift_changes_nothing_for_own_variances(k):
    X, y = dyadic(k)
    here, there = (NaiveBayes(shared_variance=False).fit(rows, y) for rows in (X, X + 1e9))
    np.testing.assert_allclose(there.variances_, here.variances_, rtol=1e-6)
    assert (there.predict(X + 1e9) == here.predict(X)).all()
    assert there.certificate_.verify(X + 1e9, y)


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e20, 1e140])
def test_units_do_not_matter(scale):
    X, y = noisy(k=3)
    here, there = NaiveBayes().fit(X, y), NaiveBayes().fit(X * scale, y)
    np.testing.assert_allclose(there.predict_log_proba(X * scale), here.predict_log_proba(X), rtol=1e-9)
    assert there.certificate_.verify(X * scale, y)


@pytest.mark.parametrize("scale", [1e-148, 1e-155, 1e-160, 1e-200, 1e-300])
def test_a_variance_that_underflows_is_an_error_and_not_a_nan(scale):
    X, y = noisy()
    X[:, 1] *= scale
    with pytest.raises(InvalidInputError, match="column 1"):
        NaiveBayes().fit(X, y)


# ---------------------------------------------------------------------- chunk by chunk
def assert_same_model(model, reference, X, rtol=1e-10):
    for name in ("coef_", "intercept_", "class_count_", "class_prior_", "parameters_", "variances_"):
        if getattr(reference, name, None) is not None:
            np.testing.assert_allclose(getattr(model, name), getattr(reference, name), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(model.predict_log_proba(X), reference.predict_log_proba(X), rtol=rtol, atol=rtol)


@settings(max_examples=60)
@given(st.data())
def test_chunks_give_the_model_of_all_rows(data):
    family = data.draw(st.sampled_from([*FAMILIES, "own variances"]))
    k = data.draw(st.integers(2, 4))
    X, y = FAMILIES.get(family, noisy)(n=40, d=2, k=k, seed=data.draw(st.integers(0, 5)))
    order = np.random.default_rng(data.draw(st.integers(0, 100))).permutation(40)
    X, y = X[order], y[order]
    shift = data.draw(st.sampled_from([0.0, 1e6])) if family in ("gaussian", "own variances") else 0.0
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    cuts = sorted(data.draw(st.sets(st.integers(1, 39), max_size=5)))
    parameters = {"shared_variance": False} if family == "own variances" else {"family": family}
    model = NaiveBayes(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelihoodWarning)  # a chunk of one row never varies
        for chunk in np.split(np.arange(40), cuts):
            model.partial_fit(X[chunk] + shift, y[chunk], classes=range(k), sample_weight=weight[chunk])
        reference = NaiveBayes(**parameters).fit(X + shift, y, weight)
    # a shift of 1e6 leaves 10 digits of the data
    assert_same_model(model, reference, X + shift, rtol=1e-10 if not shift else 1e-6)
    assert model.status_ is reference.status_
    assert model.certificate_.verify(X + shift, y, weight)


@pytest.mark.parametrize("family", FAMILIES)
def test_classes_that_come_later(family):
    X, y = FAMILIES[family](n=60, d=3, k=3)
    order = np.argsort(y, kind="stable")  # the third class comes last
    X, y = X[order], y[order]
    model = NaiveBayes(family)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelihoodWarning)
        model.partial_fit(X[:10], y[:10], classes=[0, 1, 2])
        assert model.classes_.tolist() == [0, 1, 2]
        assert np.isfinite(model.predict_log_proba(X)).all()
        assert (model.predict(X) == 0).all()  # the only one with a prior to speak of
        assert model.certificate_ is None
        assert model.status_ is not Status.FORMULA
        for chunk in (slice(10, 30), slice(30, 60)):
            model.partial_fit(X[chunk], y[chunk])
    assert_same_model(model, NaiveBayes(family).fit(X, y), X)
    assert model.status_ is Status.FORMULA
    assert model.certificate_.verify(X, y)


def test_partial_fit_goes_on_from_fit():
    X, y = noisy(60, 3)
    model = NaiveBayes().fit(X[:30], y[:30])
    model.partial_fit(X[30:], y[30:])
    assert_same_model(model, NaiveBayes().fit(X, y), X)


def test_fit_forgets_earlier_chunks():
    X, y = noisy(60, 3)
    model = NaiveBayes().partial_fit(X[:30] + 5.0, y[:30], classes=[0, 1])
    assert_same_model(model.fit(X, y), NaiveBayes().fit(X, y), X, rtol=1e-15)


@pytest.mark.parametrize(
    "calls, words",
    [
        ([{}], ["first call", "classes"]),
        ([{"classes": [0]}], ["classes"]),
        ([{"classes": [0, 5]}], ["1", "classes"]),
        ([{"classes": [0, 1]}, {"classes": [0, 1, 2]}], ["classes", "last call"]),
    ],
    ids=repr,
)
def test_bad_classes(calls, words):
    X, y = noisy()
    model = NaiveBayes()
    for call in calls[:-1]:
        model.partial_fit(X, y, **call)
    before = dict(vars(model))
    with pytest.raises(InvalidInputError) as caught:
        model.partial_fit(X, y, **calls[-1])
    for word in words:
        assert word in str(caught.value)
    assert vars(model) == before


@pytest.mark.parametrize("spoil", [{0: np.nan}, "too few columns", "unknown label"], ids=str)
def test_a_chunk_that_fails_is_not_learned_from(spoil):
    X, y = noisy()
    model = NaiveBayes().partial_fit(X, y, classes=[0, 1])
    before = dict(vars(model))
    chunk, labels = X.copy(), y.copy()
    if spoil == "too few columns":
        chunk = chunk[:, :2]
    elif spoil == "unknown label":
        labels[0] = 9
    else:
        chunk[3, 0] = np.nan
    with pytest.raises(ValueError):
        model.partial_fit(chunk, labels)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    "first, then", [("poisson", "gaussian"), ("gaussian", "poisson"), ("bernoulli", "multinomial")]
)
def test_the_family_cannot_change_between_chunks(first, then):
    X, y = bits()
    model = NaiveBayes(first).partial_fit(X, y, classes=[0, 1])
    model.set_params(family=then)
    with pytest.raises(InvalidInputError, match="family"):
        model.partial_fit(X, y)
    model.fit(X, y)  # that starts anew


def test_priors_and_smoothing_may_change_between_chunks():
    X, y = bits()
    model = NaiveBayes("bernoulli", alpha=1.0).partial_fit(X[:40], y[:40], classes=[0, 1])
    model.set_params(alpha=0.5, priors=[0.1, 0.9]).partial_fit(X[40:], y[40:])
    assert_same_model(model, NaiveBayes("bernoulli", alpha=0.5, priors=[0.1, 0.9]).fit(X, y), X)


def test_families_that_are_equal_need_not_be_the_same_object():
    X, y = noisy(60, 3)
    named = NaiveBayes(["gaussian"] * 3, var_smoothing=0.1).fit(X, y)
    objects = NaiveBayes([type(family)() for family in named._families], var_smoothing=0.1).fit(X, y)
    np.testing.assert_array_equal(objects.variances_, named.variances_)
    np.testing.assert_array_equal(objects.coef_, named.coef_)
    assert objects.certificate_.verify(X, y)
