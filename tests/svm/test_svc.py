"""SVC against a QP solver, against scikit-learn, and against its own promises."""

import json
from itertools import combinations

import numpy as np
import pytest
from problems import noisy, xor
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.svm import SVC as Theirs
from svm.svm_oracle import dual_optimum, objective

from separatrix import SVC, Status
from separatrix.certificates import All, Certificate, HingeGap
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.estimators.support_vectors import votes
from separatrix.kernels import Graph, KernelRows, Laplacian, Linear, Poly, Rbf, Spectrum, WeisfeilerLehman
from separatrix.svm.pair_matrices import PairMatrices


def random_problem(seed):
    """A small problem of one of many kinds, with the kernel matrix by the definition and weights."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if seed % 4 == 1:
        X = np.round(X)  # equal points, some of opposite labels
    y = (rng.random(n) < 0.5).astype(int)
    y[0], y[-1] = 1, 0
    if seed % 7 == 0:
        X[:] = X[0]
    weight = rng.integers(1, 4, n) * rng.choice([0.5, 1.0, 7.0], n) if seed % 3 == 0 else np.ones(n)
    C = 10.0 ** rng.integers(-8, 5)
    return X, y, weight, C


KERNELS = [Rbf(0.5), Linear(), Poly(2, 1.0, 1.0), Laplacian(0.3), "precomputed"]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(60))
def test_the_objective_is_that_of_a_qp_solver(seed, kernel):
    X, y, weight, C = random_problem(seed)
    K = (Rbf(0.7) if kernel == "precomputed" else kernel)(X, X)
    data = K if kernel == "precomputed" else X
    model = SVC(C=C, kernel=kernel).fit(data, y, sample_weight=weight)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(data, y, weight)
    signs, U = np.where(y == 1, 1.0, -1.0), C * weight
    expected, solved = dual_optimum(K, signs, U)
    found = model.certificate_.primal
    # weak duality needs no oracle
    assert model.certificate_.dual <= found * (1 + 1e-12)
    if solved:
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    if kernel != Linear():
        value = objective(model, K, signs, U)
        assert value <= found * (1 + 1e-12)  # which is rounded up
        np.testing.assert_allclose(value, found, rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_karush_kuhn_tucker(seed):
    X, y = noisy(50, 3, seed=seed)
    model = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    signs, alpha = np.where(y == 1, 1.0, -1.0), np.zeros(50)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    margins = signs * model.decision_function(X)
    assert (margins[alpha == 0] >= 1 - 1e-7).all()
    assert (margins[alpha >= 2.0 - 1e-9] <= 1 + 1e-7).all()
    free = (alpha > 1e-9) & (alpha < 2.0 - 1e-9)
    np.testing.assert_allclose(margins[free], 1.0, atol=1e-7)
    np.testing.assert_allclose(alpha @ signs, 0.0, atol=1e-10)
    np.testing.assert_allclose(model.slack_, np.maximum(0, 1 - margins), atol=1e-12)
    K = Rbf(0.5)(X, X)
    np.testing.assert_allclose(model.margin_, 1 / np.sqrt((alpha * signs) @ K @ (alpha * signs)), rtol=1e-9)


@pytest.mark.parametrize("kernel", [Rbf(0.3), Poly(3, 0.5, 1.0), Linear()], ids=str)
def test_without_the_other_points_the_solution_is_the_same(kernel):
    X, y = noisy(60, 3)
    model = SVC(C=1.0, kernel=kernel).fit(X, y)
    some = np.sort(model.support_)
    again = SVC(C=1.0, kernel=kernel).fit(X[some], y[some])
    np.testing.assert_allclose(again.certificate_.primal, model.certificate_.primal, rtol=1e-8)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-6)


def test_weights_are_repetition_and_multiply_with_class_weights():
    X, y = noisy(40, 3)
    weight = np.random.default_rng(0).integers(0, 4, 40)
    repeated = SVC(class_weight={0: 2.0, 1: 0.5}).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = SVC(class_weight={0: 2.0, 1: 0.5}).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    assert weighted.kernel_ == repeated.kernel_ or abs(weighted.kernel_.gamma - repeated.kernel_.gamma) < 1e-12
    assert weighted.certificate_.verify(X, y, weight)
    assert not weighted.certificate_.verify(X, y, weight + 1)
    assert (weight[weighted.support_] > 0).all()


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "precomputed"])
def test_attributes_and_scores_are_those_of_scikit_learn(k, kernel):
    X, y = make_classification(90, 4, n_informative=4, n_redundant=0, n_classes=k, random_state=1)
    X = X @ X.T if kernel == "precomputed" else X
    ours = SVC(kernel=kernel, decision_function_shape="ovo").fit(X, y)
    theirs = Theirs(kernel=kernel, decision_function_shape="ovo", tol=1e-6, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    for name in ("support_", "dual_coef_", "intercept_", "n_support_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.ndim == other.ndim
        assert mine.dtype.kind == other.dtype.kind
        assert mine.shape[0] == other.shape[0] or name == "support_"
    if kernel != "linear":  # there an interior point may have a few more support vectors, with tiny multipliers
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
        assert ours.support_vectors_.shape == theirs.support_vectors_.shape
    else:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        distances = ours.decision_function(X) / np.linalg.norm(ours.coef_, axis=1)
        np.testing.assert_allclose(ours.signed_distance(X), distances, rtol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    ours.set_params(decision_function_shape="ovr")
    theirs.set_params(decision_function_shape="ovr", break_ties=k > 2)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert isinstance(ours.certificate_, HingeGap if k == 2 else All)
    assert ours.certificate_.verify(X, y)
    assert ours.slack_.shape == ((90,) if k == 2 else (90, 6))


def test_sparse_rows_give_the_same_model():
    X, y = noisy(60, 5)
    X[np.abs(X) < 0.8] = 0.0
    for kernel in ("rbf", "linear", "poly", "laplacian"):
        dense, rows = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(rows.decision_function(X), dense.decision_function(X), atol=1e-8)
        assert sparse.issparse(rows.support_vectors_)
        assert rows.certificate_.verify(sparse.coo_array(X), y)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_single_precision_in_single_precision_out(kernel):
    X, y = noisy(60, 3)
    X = X.astype(np.float32)
    model = SVC(kernel=kernel).fit(X, y)
    assert {model.dual_coef_.dtype, model.intercept_.dtype, model.support_vectors_.dtype} == {np.dtype(np.float32)}
    assert model.certificate_.verify(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), SVC(kernel=kernel).fit(X.astype(float), y).decision_function(X), atol=1e-4
    )


def test_the_intercept_is_the_midpoint_of_the_best():
    # one point per class, C so small that both multipliers are at the bound: any b in [-1 + c, 1 - c] is optimal
    model = SVC(kernel="linear", C=0.01).fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_allclose(model.coef_, [[0.01]])
    np.testing.assert_allclose(model.intercept_, [-0.005], atol=1e-9)
    model = SVC(kernel="rbf", C=0.01, gamma=1.0).fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-12)


def test_strings_graphs_and_functions():
    words, y = ["gattaca", "tacaga", "ccggcc", "ggcgcg", "attaca", "gcgcgc"], [1, 1, 0, 0, 1, 0]
    model = SVC(kernel=Spectrum(2)).fit(words, y)
    assert model.predict(["attac", "cgcgg"]).tolist() == [1, 0]
    assert model.certificate_.verify(words, y)
    assert model.support_vectors_ == [words[i] for i in model.support_]
    rings = [Graph([(i, (i + 1) % n) for i in range(n)], "C" * n) for n in (4, 5, 6)]
    paths = [Graph([(i, i + 1) for i in range(n - 1)], "C" * n) for n in (4, 5, 6)]
    model = SVC(kernel=WeisfeilerLehman(2, normalize=True), C=10.0).fit(rings + paths, [1] * 3 + [0] * 3)
    assert model.predict(rings + paths).tolist() == [1] * 3 + [0] * 3
    assert model.certificate_.verify(rings + paths, [1] * 3 + [0] * 3)
    X, y = noisy(40, 3)
    model = SVC(kernel=_square).fit(X, y)
    assert model.certificate_.verify(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y).decision_function(X)
    )


def _square(A, B):
    return (A @ B.T + 1.0) ** 2


def test_a_kernel_that_is_not_positive_semidefinite_ends_in_a_local_solution():
    X, y = noisy(60, 3)
    for kernel in ("sigmoid", lambda A, B: -(((A[:, None] - B) ** 2).sum(-1) ** 2)):
        with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
            model = SVC(kernel=kernel, gamma=1.0, coef0=-2.0).fit(X, y)
        assert model.status_ is Status.LOCAL
        assert model.certificate_ is None
        assert np.isfinite(model.decision_function(X)).all()


def test_the_certificate_survives_json_and_notices_changes():
    X, y = noisy(50, 3)
    for kernel in ("rbf", "linear", "precomputed"):
        data = X @ X.T if kernel == "precomputed" else X
        certificate = SVC(kernel=kernel).fit(data, y).certificate_
        plain = json.loads(json.dumps(certificate.to_dict()))
        assert Certificate.from_dict(plain).verify(data, y)
        for name, change in (("intercept", 0.05), ("dual", 0.1), ("primal", 0.1)):
            plain = certificate.to_dict()
            plain[name] += change
            assert not Certificate.from_dict(plain).verify(data, y)
        plain = certificate.to_dict()
        plain["alpha"]["array"][0] *= 1.01
        assert not Certificate.from_dict(plain).verify(data, y)
        assert not certificate.verify(data + 0.05 * np.eye(*data.shape), y)
        assert not certificate.verify(data, 1 - y)
    checks = str(certificate.verify(data, y))
    for condition in ("dual feasibility", "stationarity", "complementary slackness", "primal", "relative gap"):
        assert condition in checks


def test_parameters_are_checked():
    X, y = noisy()
    for bad in ({"C": 0.0}, {"C": -1}, {"C": "1"}, {"tol": 0}, {"cache_size": 0}, {"max_iter": 0}, {"kernel": "rbv"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            SVC(**bad).fit(X, y)
    with pytest.raises(InvalidInputError, match="decision_function_shape"):
        SVC(decision_function_shape="ova").fit(X, y)


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    assert model.score(X, y) == Theirs().fit(X, y).score(X, y)
    assert model.certificate_.verify(X, y)


def test_gamma_scale_separates_xor():
    problem = xor()
    assert SVC(C=100.0).fit(problem.X, problem.y).score(problem.X, problem.y) == 1.0


def test_votes_count_the_pairs_won_and_break_ties_by_the_scores():
    scores = np.random.default_rng(0).normal(size=(50, 6))
    scores[0, 2] = 0.0  # a score of 0 is for the first
    won, total = np.zeros((50, 4)), np.zeros((50, 4))
    for column, (a, c) in zip(scores.T, combinations(range(4), 2), strict=True):
        won[:, a] += column >= 0
        won[:, c] += column < 0
        total[:, a] += column
        total[:, c] -= column
    np.testing.assert_allclose(votes(scores, 4), won + total / (3 * (np.abs(total) + 1)), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
def test_a_row_alone_is_scored_as_in_a_crowd_and_checked_as_well(kernel, monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel=kernel, gamma=0.01, C=0.1).fit(X, y)
    alone = np.vstack([model.decision_function(X[i : i + 1]) for i in range(0, 150, 10)])
    monkeypatch.setattr("separatrix.kernels.blocks.BLOCK_BYTES", 1)
    np.testing.assert_allclose(alone, model.decision_function(X)[::10], rtol=1e-12, atol=1e-12)
    monkeypatch.undo()
    for value, message in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), (1e152, "overflows")):
        for dtype in (np.float64, np.float32):
            with np.errstate(over="ignore"):
                row = X[:1].astype(dtype)
                row[0, 2] = value
            with pytest.raises(InvalidInputError, match=message if dtype == np.float64 else "NaN|infinity"):
                model.predict(row)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X[:1, :3])
    with pytest.raises(ValueError, match="1D"):
        model.predict(X[0])


@pytest.mark.parametrize("room", [0.0, 1e9])
def test_blocks_of_the_kernel_matrix_are_computed_once_for_all_pairs(room, monkeypatch):
    X, y = load_iris(return_X_y=True)
    kernel = Poly(2, 0.1, 1.0)
    K, computed, gram = kernel(X, X), [], Poly.gram

    def counted(self, P, Q):
        computed.append(len(P) * len(Q))
        return gram(self, P, Q)

    monkeypatch.setattr(Poly, "gram", counted)
    monkeypatch.setattr("separatrix.kernels.rows.STRIP", 0)
    monkeypatch.setattr("separatrix.kernels.rows.LEAST", 20)
    of = [np.flatnonzero(y == a) for a in range(3)]
    matrices = PairMatrices(KernelRows(kernel, X), of, room)
    for a, c in combinations(range(3), 2):
        index = np.concatenate([of[a], of[c]])
        found = matrices(a, c)
        np.testing.assert_allclose(found, K[np.ix_(index, index)], rtol=1e-13)
        np.testing.assert_array_equal(found, found.T)
        found[:] = np.nan  # which must not reach what is kept
    within = 20 * 50 + 20 * 30 + 10 * 10  # the strips above the diagonal
    assert sum(computed) == 3 * 50 * 50 + (3 if room else 6) * within


def test_easy_pairs_are_solved_without_working_sets(monkeypatch):
    monkeypatch.setattr("separatrix.svm.kernel_svm.Smo", None)
    X, y = load_digits(return_X_y=True)
    model = SVC().fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert max(part.relative_gap for part in model.certificate_.parts) < 1e-10
    assert model.certificate_.verify(X, y)
    theirs = Theirs(tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(model.support_, theirs.support_)
    np.testing.assert_allclose(model.dual_coef_, theirs.dual_coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-6)


def test_points_that_an_interior_point_method_leaves_near_0_are_no_support_vectors():
    """A kernel matrix of 100 points and rank 20: nothing but rounding tells which of them have alpha = 0."""
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X, y = X[order], y[order]
    dense, stored = (SVC(kernel="poly", gamma=1).fit(rows, y) for rows in (X, sparse.csr_array(X)))
    assert dense.n_support_.sum() <= 3 * 20
    np.testing.assert_array_equal(dense.support_, stored.support_)
