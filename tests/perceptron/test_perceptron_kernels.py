"""The kernel perceptron: vectors, strings, graphs, matrices and functions; its certificate; DNA."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from folder import DATA, needs_data
from perceptron.perceptron_reference import separable
from scipy import sparse

from separatrix import ConvergenceWarning, InvalidInputError, KernelPerceptron
from separatrix.certificates import All, Certificate, KernelSeparator
from separatrix.kernels import Graph, Kernel, Linear, Rbf, Spectrum, WeisfeilerLehman
from separatrix.outcome import Status

RINGS = np.random.default_rng(0).normal(size=(80, 2))
INSIDE = np.where(np.linalg.norm(RINGS, axis=1) < 1.1, "inside", "outside")


def dual(K, y, passes=1000, one=1):
    """The dual perceptron on a kernel matrix, plus ``one`` for the bias: alpha, and the points used."""
    alpha, used = np.zeros(len(y)), []
    for _ in range(passes):
        clean = True
        for i in range(len(y)):
            if y[i] * ((alpha * y) @ (K[:, i] + one)) <= 0:
                alpha[i] += 1
                used.append(i)
                clean = False
        if clean:
            break
    return alpha, used


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_it_is_the_reference(kernel):
    y = np.where(INSIDE == "outside", 1, -1)
    model = KernelPerceptron(kernel, gamma=1.0, degree=2, trace=True).fit(RINGS, INSIDE)
    gaps = RINGS[:, None] - RINGS
    K = {
        "rbf": lambda: np.exp(-(gaps**2).sum(axis=2)),
        "laplacian": lambda: np.exp(-np.abs(gaps).sum(axis=2)),
        "poly": lambda: (RINGS @ RINGS.T) ** 2,
    }[kernel]()
    alpha, used = dual(K, y)
    np.testing.assert_array_equal(model.trace_["point"][1:], used)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(alpha))
    np.testing.assert_array_equal(model.dual_coef_[0], (alpha * y)[alpha > 0])
    np.testing.assert_array_equal(model.support_vectors_, RINGS[alpha > 0])
    np.testing.assert_allclose(model.decision_function(RINGS), (alpha * y) @ (K + 1), atol=1e-9)
    assert model.n_updates_ == alpha.sum()
    assert model.status_ is Status.SEPARATED
    assert model.certificate_.verify(RINGS, INSIDE)
    assert model.score(RINGS, INSIDE) == 1
    assert model.trace_["margin"][-1] > 0


@pytest.mark.parametrize(
    "kernel", ["linear", "rbf", "poly", "laplacian", "sigmoid", Linear(), Rbf(0.5), lambda A, B: np.asarray(A @ B.T)]
)
def test_every_kernel_on_vectors_has_a_certificate_where_it_separates(kernel):
    X, y = separable(np.random.default_rng(1), n=30, d=3, gap=0.3)
    model = KernelPerceptron(kernel, gamma=0.1, degree=3, coef0=1.0, max_iter=10_000)
    if kernel == "sigmoid":  # not positive semidefinite: no theorem
        model.set_params(gamma=0.01, coef0=0.0, max_iter=100_000)
    model.fit(X, y)
    assert isinstance(model.certificate_, KernelSeparator)
    assert model.certificate_.verify(X, y)
    assert not model.certificate_.verify(X, -y)
    with pytest.raises(AttributeError):
        model.hyperplane_  # noqa: B018


def test_a_precomputed_kernel_and_weights_of_zero():
    X, y = separable(np.random.default_rng(2), n=30, d=3)
    weight = np.where(np.arange(30) % 4 == 0, 0.0, 1.0)
    rows = KernelPerceptron("linear", max_iter=10_000).fit(X, y, weight)
    matrix = KernelPerceptron("precomputed", max_iter=10_000).fit(X @ X.T, y, weight)
    np.testing.assert_array_equal(matrix.support_, rows.support_)
    np.testing.assert_allclose(matrix.decision_function(X @ X.T), rows.decision_function(X))
    assert matrix.certificate_.verify(X @ X.T, y, weight)
    assert rows.certificate_.verify(X, y, weight)
    assert weight[rows.support_].all()
    assert matrix.__sklearn_tags__().input_tags.pairwise


def test_sparse_is_dense_and_float32_is_taken():
    X, y = separable(np.random.default_rng(3), n=40, d=4, whole=True)
    dense = KernelPerceptron("poly", gamma=1.0, coef0=1.0).fit(X, y)
    rare = KernelPerceptron("poly", gamma=1.0, coef0=1.0).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.dual_coef_, rare.dual_coef_)
    assert rare.certificate_.verify(sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.decision_function(X), rare.decision_function(X.astype(np.float32)))


def test_rows_of_the_matrix_are_kept_in_bounded_memory(monkeypatch):
    monkeypatch.setattr("separatrix.perceptron.kernel_perceptron.CACHE_BYTES", 8 * 80 * 3)
    small = KernelPerceptron().fit(RINGS, INSIDE)
    monkeypatch.undo()
    np.testing.assert_array_equal(small.dual_coef_, KernelPerceptron().fit(RINGS, INSIDE).dual_coef_)


def test_strings_and_graphs():
    words, y = ["gattaca", "tacaga", "ccggcc", "ggcgcg"], ["at", "at", "cg", "cg"]
    for kernel in (Spectrum(2), Spectrum(3, normalize=True)):
        model = KernelPerceptron(kernel).fit(words, y)
        assert model.certificate_.verify(words, y)
        assert model.predict(["attac", "cgcgg"]).tolist() == ["at", "cg"]
        assert set(model.support_vectors_) <= set(words)
        tags = model.__sklearn_tags__().input_tags
        assert tags.string
        assert not tags.two_d_array
    graphs = [
        Graph([(0, 1), (1, 2)], "abc"),
        Graph([(0, 1)], "ab"),
        Graph([(0, 1), (1, 2), (0, 2)], "ccc"),
        Graph([], "c"),
    ]
    model = KernelPerceptron(WeisfeilerLehman(2)).fit(graphs, y)
    assert model.certificate_.verify(graphs, y)
    assert model.predict(graphs).tolist() == y
    with pytest.raises(TypeError, match="strings"):
        KernelPerceptron(Spectrum(2)).fit([[1.0], [2.0]], [0, 1])


def test_several_classes():
    X = np.array([[0.0, 5], [0, 6], [5, -3], [6, -3], [-5, -3], [-6, -4]])
    y = np.repeat(["n", "e", "w"], 2)
    model = KernelPerceptron().fit(X, y)
    assert isinstance(model.certificate_, All)
    assert model.certificate_.verify(X, y)
    assert (model.predict(X) == y).all()
    assert model.dual_coef_.shape == (3, len(model.support_))


def test_passes_that_run_out_and_kernels_the_checker_does_not_know():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    with pytest.warns(ConvergenceWarning, match=r"max_iter=20 passes with \d mistakes"):
        model = KernelPerceptron("linear", max_iter=20).fit(X, y)
    assert model.certificate_ is None
    assert model.status_ is Status.UNCERTIFIED

    class Mine(Linear):
        """A kernel of the user's own."""

    with pytest.warns(ConvergenceWarning, match="does not know"):
        assert KernelPerceptron(Mine()).fit(X[:2], y[:2]).certificate_ is None
    assert issubclass(Mine, Kernel)
    with pytest.raises(InvalidInputError, match="NaN"):
        KernelPerceptron().fit([[np.nan], [1.0]], [0, 1])


@pytest.mark.parametrize("kernel", ["rbf", Spectrum(2)])
def test_certificates_survive_writing_and_notice_changes(kernel):
    words, y = ["gattaca", "tacaga", "ccggcc", "ggcgcg"], [1, 1, 0, 0]
    X = words if isinstance(kernel, Spectrum) else [[0.0], [1.0], [3.0], [4.0]]
    certificate = KernelPerceptron(kernel).fit(X, y).certificate_
    plain = certificate.to_dict()
    assert Certificate.from_dict(plain).verify(X, y)
    assert "smallest" in plain
    for change in ({"smallest": plain["smallest"] * 1.1}, {"smallest": -1.0}, {"intercept": plain["intercept"] + 50}):
        assert not Certificate.from_dict(plain | change).verify(X, y)


@needs_data
def test_promoters_are_told_from_other_dna():
    """Held-out accuracy of the spectrum kernel, by ten-fold cross-validation."""
    from sklearn.model_selection import StratifiedKFold

    file = DATA / "promoters_seq" / "promoters.tsv"
    lines = [line.split("\t") for line in file.read_text().splitlines()]
    y, sequences = np.array([line[0] for line in lines]), np.array([line[1] for line in lines])
    assert len(y) == 106
    correct = 0
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(sequences, y):
        model = KernelPerceptron(Spectrum(4)).fit(sequences[train], y[train])
        assert model.certificate_.verify(sequences[train], y[train])
        correct += (model.predict(sequences[test]) == y[test]).sum()
    print(f"held-out accuracy {correct / 106:.3f}")
    assert correct / 106 > 0.7


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_every_step_is_that_of_the_dual_form_with_and_without_the_constant(kernel, intercept):
    """Whole numbers, so that no sum is rounded (but for rbf): the same points in the same order, and the same alpha."""
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, size=(40, 3)).astype(float)
    X = X[X @ [1, -2, 1] != 0]
    y = np.where(X @ [1, -2, 1] > 0, 1, -1)
    model = KernelPerceptron(kernel, gamma=1.0, degree=2, coef0=1.0, fit_intercept=intercept, trace=True, max_iter=5000)
    model.fit(X, y)
    K = {
        "linear": lambda: X @ X.T,
        "rbf": lambda: np.exp(-((X[:, None] - X) ** 2).sum(axis=2)),
        "poly": lambda: (X @ X.T + 1) ** 2,
    }[kernel]()
    alpha, used = dual(K, y, 5000, int(intercept))
    np.testing.assert_array_equal(model.trace_["point"][1:], used)
    np.testing.assert_array_equal(model.dual_coef_[0], (alpha * y)[alpha > 0])
    assert model.intercept_ == (alpha @ y if intercept else 0)
    assert model.status_ is Status.SEPARATED
    assert model.certificate_.verify(X, y)
    assert model.certificate_.intercept == model.intercept_
    f = (alpha * y) @ (K + intercept)
    assert model.certificate_.smallest == pytest.approx((y * f).min(), rel=1e-6)
    assert model.certificate_.smallest <= (y * f).min() * (1 + 1e-12)


def test_through_the_origin_some_classes_are_not_separable():
    X, y = [[1.0], [2.0]], [0, 1]
    assert KernelPerceptron("linear").fit(X, y).status_ is Status.SEPARATED
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert KernelPerceptron("linear", fit_intercept=False, max_iter=50).fit(X, y).certificate_ is None


def test_forged_separators_are_refused():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    for alpha in ([np.nan] * 4, [1.0, 1, 1, np.nan], [np.inf, 1, 1, 1], [0.0] * 4, [1.0, 2, 2, 1]):
        for intercept in (0.0, np.nan, np.inf, 1e300):
            for smallest in (1e-9, 1.0, np.nan, 0.0, -np.inf):
                forged = KernelSeparator(
                    np.array([0, 1]), 1, {"kernel": "linear"}, np.arange(4), np.array(alpha), intercept, smallest
                )
                assert refused(forged, X, y)
    honest = KernelPerceptron(gamma=1.0).fit(X, y).certificate_
    assert honest.verify(X, y)
    plain = {name: getattr(honest, name) for name in ("support", "dual_coef", "smallest")}
    for change in (
        {"positive": 7},
        {"positive": 0},
        {"positive": True},
        {"classes": np.array([1, 0])},
        {"classes": np.array([0, 0])},
        {"support": plain["support"] - 4},
        {"support": plain["support"] + 1},
        {"support": plain["support"] * 0},
        {"support": plain["support"].astype(float)},
        {"dual_coef": plain["dual_coef"][:-1]},
        {"dual_coef": -plain["dual_coef"]},
        {"smallest": plain["smallest"] * (1 + 1e-9)},
        {"kernel": {"kernel": "unknown"}},
        {"kernel": None},
        {"intercept": None},
    ):
        assert refused(replace(honest, **change), X, y), change
    with pytest.raises(ValueError, match=r"finite|NaN"):
        honest.verify(np.array([[0.0, 0], [0, 1], [1, np.nan], [1, 1]]), y)


def refused(certificate, X, y):
    """Whether verify says False, or names what is malformed."""
    try:
        return not certificate.verify(X, y)
    except ValueError:
        return True


def test_what_rounding_makes_of_a_sum_that_cancels_is_no_proof():
    """Coefficients of 1e17 on nearly equal points: floats say more of y f than fractions do."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        X, c = rng.uniform(0.5, 1.0, size=(3, 1)), rng.uniform(-1e17, 1e17, size=3)
        c[2] = -(c[0] * X[0, 0] + c[1] * X[1, 0]) / X[2, 0]
        f = (X @ X.T) @ c
        if not (f > 0).all():
            continue
        exact = [sum(Fraction(a) * Fraction(x) * Fraction(z) for a, x in zip(c, X[:, 0], strict=True)) for z in X[:, 0]]
        claim = KernelSeparator(np.array([0, 1]), 1, {"kernel": "linear"}, np.arange(3), c, 0.0, float(f.min()))
        wrong += min(exact) < 0.9 * claim.smallest
        assert min(exact) >= Fraction(claim.smallest) * (1 - Fraction(1, 10**11)) or not claim.verify(X, [1, 1, 1])
    assert wrong > 5
