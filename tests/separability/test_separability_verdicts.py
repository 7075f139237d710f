"""separability: the right verdict on data of every kind, with one certificate that verifies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from separability.separability_oracles import homogeneous, parity, verdict
from sklearn.datasets import load_breast_cancer

import separatrix
from separatrix import Hyperplane, Inseparable, Separator, separability


def assert_proved(result, X, y):
    assert isinstance(result.certificate, Separator if result.verdict == "separable" else Inseparable)
    check = result.verify(X, y)
    assert check, str(check)


@settings(max_examples=150, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.integers(-2, 2)),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.booleans(),
)
def test_small_lattices_agree_with_linear_programs(X, random, exact, fit_intercept):
    y = np.array([random.randrange(2) for _ in X])
    y[:2] = 0, 1
    result = separability(X, y, exact=exact, fit_intercept=fit_intercept)
    assert result.verdict == verdict(homogeneous(X, y, fit_intercept))
    assert_proved(result, X, y)
    assert result.exact or not exact


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("row", [[1.0, 1.0, 1.0], [0.0], [1e9, -3.0]])
@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 1, 1], [0, 1, 2]])
def test_rows_that_are_all_the_same_overlap(row, labels, exact):
    X = np.array([row] * len(labels))
    result = separability(X, labels, exact=exact)
    assert result.verdict == "overlapping"
    assert_proved(result, X, labels)


def kinds():
    r = np.random.default_rng(7)
    n, d = 40, 4
    X = r.normal(size=(n, d))
    w = r.normal(size=d) / 2
    y = (X @ w > 0.1).astype(int)
    unit = w / np.linalg.norm(w)
    on_plane = X - np.outer(X @ unit, unit)
    yield "clear", X, y, "separable"
    yield "random labels", X, r.integers(0, 2, n), "overlapping"
    yield "margin 1e-12", on_plane + np.outer(np.where(y, 1, -1) * 1e-12 * (1 + r.random(n)), unit), y, "separable"
    yield "duplicates with opposite labels", np.vstack([X, X[:1]]), np.append(y, 1 - y[0]), "quasi-separable"
    yield "all rows twice", np.vstack([X, X]), np.append(y, 1 - y), "overlapping"
    yield "touching hulls", [[0.0, 0], [1, 0], [1, 0], [2, 0], [1, 5], [1, -5]], [0, 0, 1, 1, 1, 0], "quasi-separable"
    yield "collinear columns", np.column_stack([X, X @ r.normal(size=(d, 3))]), y, "separable"
    yield "collinear, overlapping", np.column_stack([X, 2 * X]), r.integers(0, 2, n), "overlapping"
    yield "constant column", np.column_stack([X, np.full(n, 3.0)]), r.integers(0, 2, n), "overlapping"
    yield "fewer rows than columns", r.normal(size=(10, 30)), r.permutation([0, 1] * 5), "separable"
    yield "one class far away", X + 1e9 * y[:, None], y, "separable"
    yield "all far away", X + 1e6, r.integers(0, 2, n), "overlapping"
    for scales in ([1e-12, 1e12, 1, 1e6], [1e-100, 1e100, 1, 1e3]):
        yield f"scales {scales[0]:g}", X * scales, y, "separable"
        yield f"scales {scales[0]:g}, overlapping", X * scales, r.integers(0, 2, n), "overlapping"
    yield "subnormal column", X * [5e-310, 1, 1, 1e140], y, "separable"
    yield "two rows", [[0.0], [5e-324]], [0, 1], "separable"


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("name", "X", "y", "expected"), list(kinds()), ids=[kind[0] for kind in kinds()])
def test_every_kind_of_data(name, X, y, expected, exact):
    X, y = np.asarray(X, float), np.asarray(y)
    before = X.copy()
    result = separability(X, y, exact=exact)
    assert result.verdict == expected
    assert_proved(result, X, y)
    assert result.exact or not exact
    assert (before == X).all()


def test_breast_cancer_is_separable_in_30_columns_and_not_in_10():
    X, y = load_breast_cancer(return_X_y=True)
    for columns, expected in ((30, "separable"), (10, "overlapping")):
        result = separability(X[:, :columns], y, exact=True)
        assert result.verdict == expected
        assert result.exact
        assert_proved(result, X[:, :columns], y)


@pytest.mark.parametrize("d", range(2, 9))
def test_parity_is_proved_inseparable(d):
    X, y = parity(d)
    for values in (X, 2 * X - 1):
        result = separability(values, y, exact=True)
        assert result.verdict == "overlapping"
        assert result.exact
        assert_proved(result, values, y)


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("d", range(1, 7))
def test_at_least_m_of_d_on_every_corner(d, values):
    low, high = values
    corners = low + (high - low) * parity(d)[0]
    for m in range(d + 2):
        expected = (corners == high).sum(axis=1) >= m
        assert ((Hyperplane.at_least(m, d, values).score(corners) >= 0) == expected).all()
        if expected.any() and not expected.all():
            assert separability(corners, expected, exact=True).verdict == "separable"


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_is_the_same(container):
    r = np.random.default_rng(0)
    X = r.normal(size=(60, 5)) * (r.random((60, 5)) < 0.4)
    for y in ((X @ r.normal(size=5) > 0.1).astype(int), r.integers(0, 2, 60)):
        for exact in (False, True):
            dense, result = separability(X, y, exact=exact), separability(container(X), y, exact=exact)
            assert result.verdict == dense.verdict
            assert_proved(result, container(X), y)
            assert result.verify(X, y)


def test_number_types_and_labels():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    for dtype in (np.int8, np.uint8, np.float32, bool, np.float64):
        assert separability(X.astype(dtype), ["a", "b", "b", "a"], exact=True).verdict == "overlapping"
        assert separability(X.astype(dtype), ["a", "b", "b", "b"], exact=True).verdict == "separable"


def test_what_a_result_holds():
    separable = separability([[0.0, 1], [2, 1]], ["no", "yes"])
    assert separable.hyperplane.side([[0.0, 1], [2, 1]]).tolist() == [-1, 1]
    assert 0 < separable.margin <= 1
    assert separable.weights is None
    assert "separable" in repr(separable)
    xor = separability(*parity(2), exact=True)
    assert xor.hyperplane is None
    assert xor.margin == 0
    assert [int(weight) for weight in xor.weights] == [int(xor.weights[0])] * 4
    touching = separability([[0.0], [1], [1], [2]], [0, 0, 1, 1], exact=True)
    assert touching.hyperplane.signed_distance([[0.0], [1], [2]]).tolist() == [-1, 0, 1]


def test_one_class_and_bad_data_are_refused():
    with pytest.raises(ValueError, match="separability needs rows of at least 2 classes"):
        separability([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        separability([[0.0], [np.nan]], [0, 1])


def test_float_proof_says_what_it_proves():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(500, 3)), r.integers(0, 2, 500)
    result = separability(X, y)
    assert not result.exact
    assert 0 < result.certificate.margin_bound < 1e-11
    assert f"{result.certificate.margin_bound:.3g}" in result.certificate.claim


def test_large_and_undecidable_in_floats_raises_unless_exact(monkeypatch):
    X = np.array([[0.0, 0], [2, -1], [-1, 2], [1, 0], [0, 1], [2, 2]])  # x_1 + x_2 <= 1 and >= 1: no single column
    y = [0, 0, 0, 1, 1, 1]
    from separatrix.separation import search

    monkeypatch.setattr(search, "SMALL_ORDER", 0)
    with pytest.raises(separatrix.UndecidedError, match="exact=True"):
        separability(X, y)
    assert separability(X, y, exact=True).verdict == "quasi-separable"


def test_many_rows_in_little_memory():
    import tracemalloc

    r = np.random.default_rng(0)
    X = r.normal(size=(60_000, 40))
    y = (X @ r.normal(size=40) + 3 * r.logistic(size=len(X)) > 0).astype(int)
    separability(X[:1000], y[:1000])
    for exact in (False, True):
        tracemalloc.start()
        result = separability(X, y, exact=exact)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert result.verdict == "overlapping"
        assert result.exact == exact
        assert peak < 40e6  # blocks of a fixed size, and some numbers a row


def test_module_and_function_do_not_collide():
    from separatrix import Separability

    assert isinstance(separatrix.separability([[0.0], [1.0]], [0, 1]), Separability)
