"""MinimumErrorClassifier: the fewest errors, and proven so."""

import contextlib
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from contract import estimator_classes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from separability.separability_oracles import fewest_errors, fewest_errors_through_the_origin, parity
from sklearn.datasets import load_breast_cancer

from separatrix import All, ConvergenceWarning, ErrorBound, MinimumErrorClassifier, SeparatrixError, Status
from separatrix.fewest_errors import conflicts
from separatrix.separation.work import Work


def assert_optimal(model, X, y, expected=None, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    assert model.errors_ == model.lower_bound_ or np.isclose(model.errors_, model.lower_bound_, rtol=1e-9)
    assert weight[model.predict(X) != y].sum() == pytest.approx(model.errors_)
    assert model.status_ is Status.FEWEST_ERRORS
    check = model.certificate_.verify(X, y, weight)
    assert check, str(check)
    if expected is not None:
        assert model.errors_ == pytest.approx(expected)


@pytest.mark.parametrize("block", range(10))
def test_equals_brute_force_on_random_problems(block):
    for seed in range(25 * block, 25 * block + 25):
        r = np.random.default_rng(seed)
        n, d = int(r.integers(3, 9)), int(r.integers(1, 6))
        X = r.normal(size=(n, d)) if seed % 2 else r.integers(-1, 2, size=(n, d)).astype(float)
        y = r.integers(0, 2, n)
        y[:2] = 0, 1
        weight = np.ones(n) if seed % 3 else r.integers(1, 4, n) / 2
        model = MinimumErrorClassifier().fit(X, y, sample_weight=weight)
        assert_optimal(model, X, y, fewest_errors(X, y, weight), weight)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(3, 8), st.integers(1, 3)), elements=st.integers(-2, 2)),
    st.randoms(use_true_random=False),
)
def test_equals_brute_force_on_lattices(X, random):
    y = np.array([random.randrange(2) for _ in X])
    y[:2] = 0, 1
    assert_optimal(MinimumErrorClassifier().fit(X, y), X, y, fewest_errors(X, y))


@pytest.mark.parametrize("seed", range(15))
def test_through_the_origin(seed):
    r = np.random.default_rng(seed)
    X, y = r.normal(size=(8, int(r.integers(2, 4)))), r.integers(0, 2, 8)
    y[:2] = 0, 1
    model = MinimumErrorClassifier(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0
    assert_optimal(model, X, y, fewest_errors(X, y, fit_intercept=False))


@pytest.mark.parametrize(("d", "errors"), [(2, 1), (3, 2), (4, 5)])
def test_parity(d, errors):
    X, y = parity(d)
    assert_optimal(MinimumErrorClassifier().fit(X, y), X, y, errors)


def test_100_rows_of_2_columns_with_random_labels_with_few_nodes():
    r = np.random.default_rng(1)
    X, y = r.normal(size=(100, 2)), r.integers(0, 2, 100)
    model = MinimumErrorClassifier().fit(X, y)
    assert_optimal(model, X, y)
    assert model.n_nodes_ < 200


def test_never_more_errors_than_another_linear_classifier():
    for seed in range(3):
        r = np.random.default_rng(seed)
        X = r.normal(size=(40, 2))
        y = (X[:, 0] + r.normal(size=40) > 0).astype(int)
        best = MinimumErrorClassifier().fit(X, y).errors_
        for other in estimator_classes():
            with warnings.catch_warnings(), contextlib.suppress(SeparatrixError):  # there is no hard margin here
                warnings.simplefilter("ignore")
                model = other().fit(X, y)
                if "coef_" in vars(model):
                    assert best <= (model.predict(X) != y).sum(), other


def test_separable_data_have_no_errors():
    X, y = load_breast_cancer(return_X_y=True)
    model = MinimumErrorClassifier().fit(X, y)
    assert_optimal(model, X, y, 0)
    assert model.certificate_.proof == "nothing"
    assert model.certificate_.trusted == ()


def test_identical_rows_are_an_immediate_bound():
    X, y = np.array([[0.0], [0], [0], [1]]), np.array([0, 1, 1, 1])
    model = MinimumErrorClassifier().fit(X, y)
    assert_optimal(model, X, y, 1)
    assert model.certificate_.proof == "identical rows"
    everywhere = MinimumErrorClassifier().fit([[2.0]] * 3, [0, 1, 1])
    assert everywhere.errors_ == everywhere.lower_bound_ == 1
    balanced = MinimumErrorClassifier().fit([[2.0]] * 2, [0, 1])
    assert balanced.errors_ == balanced.lower_bound_ == 1


def test_small_bounds_are_checked_and_large_ones_marked():
    X, y = parity(2)
    certificate = MinimumErrorClassifier().fit(X, y).certificate_
    assert certificate.proof == "enumeration"
    assert certificate.trusted == ()
    assert not replace(certificate, errors=2.0, lower_bound=2.0).verify(X, y)
    assert not replace(certificate, lower_bound=1.5).verify(X, y)
    r = np.random.default_rng(0)
    X, y = r.normal(size=(60, 2)), r.integers(0, 2, 60)
    certificate = MinimumErrorClassifier().fit(X, y).certificate_
    assert certificate.proof == "search"
    assert certificate.trusted == ("lower_bound",)


def test_when_the_nodes_are_spent_there_are_bounds_and_a_warning():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(80, 12)), r.integers(0, 2, 80)
    with pytest.warns(ConvergenceWarning, match="max_nodes=90 nodes are spent: raise max_nodes"):
        model = MinimumErrorClassifier(max_nodes=90).fit(X, y)
    assert model.status_ is Status.BETWEEN_BOUNDS
    assert 0 < model.lower_bound_ < model.errors_
    assert model.errors_ == (model.predict(X) != y).sum()
    assert isinstance(model.certificate_, ErrorBound)
    assert model.certificate_.verify(X, y)
    assert 90 <= model.n_nodes_ < 100  # what was begun is finished


def test_hyperplanes_settled_in_whole_numbers_count_and_none_is_settled_twice(monkeypatch):
    """Rows that share their first two columns, 0 or 1, lie on common planes: floats leave thousands of sets open."""
    from separatrix.fewest_errors import enumeration

    settled = []
    exact = enumeration.whole_normal
    monkeypatch.setattr(enumeration, "whole_normal", lambda rows: settled.append(len(rows)) or exact(rows))
    r = np.random.default_rng(0)
    X = np.column_stack([r.integers(0, 2, (40, 2)), r.normal(size=40)])
    y = r.integers(0, 2, 40)
    with pytest.warns(ConvergenceWarning, match="max_nodes=30 nodes are spent"):
        model = MinimumErrorClassifier(max_nodes=30).fit(X, y)
    assert 30 <= model.n_nodes_ < 33
    assert 0 < len(settled) <= 300
    settled.clear()
    assert_optimal(MinimumErrorClassifier().fit(X, y), X, y)
    assert len(settled) < 3000  # of 9,880 sets of three rows, twice


def test_more_nodes_never_prove_less():
    r = np.random.default_rng(1)
    X, y = r.normal(size=(40, 7)), r.integers(0, 2, 40)
    before = (0.0, np.inf)
    for nodes in (10, 40, 160):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = MinimumErrorClassifier(max_nodes=nodes).fit(X, y)
        assert before[0] <= model.lower_bound_ <= model.errors_ <= before[1]
        before = model.lower_bound_, model.errors_


def test_equal_calls_give_equal_bits_whatever_ran_before():
    r = np.random.default_rng(2)
    X, y = r.normal(size=(50, 8)), r.integers(0, 2, 50)
    fits = []
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits.append(MinimumErrorClassifier(max_nodes=80).fit(X, y))
            MinimumErrorClassifier(max_nodes=30).fit(X[::-1, :3], y)
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)
        np.testing.assert_array_equal(fit.intercept_, fits[0].intercept_)
        assert (fit.errors_, fit.lower_bound_, fit.n_nodes_) == (
            fits[0].errors_,
            fits[0].lower_bound_,
            fits[0].n_nodes_,
        )


def test_a_time_limit_only_cuts():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(80, 12)), r.integers(0, 2, 80)
    with pytest.warns(ConvergenceWarning, match="time ran out after .* nodes: raise time_limit"):
        cut = MinimumErrorClassifier(time_limit=1e-3).fit(X, y)
    assert cut.status_ is Status.BETWEEN_BOUNDS
    assert cut.n_nodes_ < 1500
    assert cut.certificate_.verify(X, y)
    small, labels = X[:12, :2], y[:12]
    within, without = (MinimumErrorClassifier(time_limit=limit).fit(small, labels) for limit in (600.0, None))
    np.testing.assert_array_equal(within.coef_, without.coef_)
    assert within.n_nodes_ == without.n_nodes_


def test_standard_output_is_left_alone():
    """Another thread writes to file descriptor 1 all the while: its lines arrive, and nothing else does."""
    code = """
import os, threading, warnings
import numpy as np
from separatrix import MinimumErrorClassifier
warnings.simplefilter("ignore")
stop, written = threading.Event(), [0]
def write():
    while not stop.is_set():
        os.write(1, b"line %d\\n" % written[0])
        written[0] += 1
        stop.wait(0.001)
thread = threading.Thread(target=write)
thread.start()
r = np.random.default_rng(0)
for n, d in ((30, 6), (20, 2), (25, 30)):
    MinimumErrorClassifier(max_nodes=60).fit(r.normal(size=(n, d)), r.integers(0, 2, n))
stop.set()
thread.join()
os.write(2, b"%d" % written[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stderr) > 20
    assert done.stdout.splitlines() == [f"line {i}" for i in range(int(done.stderr))]


# ---------------------------------------------------------------------- through the origin
@pytest.mark.parametrize("block", range(8))
def test_through_the_origin_w_is_never_0_and_ties_are_positive(block):
    for seed in range(12 * block, 12 * block + 12):
        r = np.random.default_rng(seed)
        n, d = int(r.integers(3, 8)), int(r.integers(1, 4))
        X = r.integers(-2, 3, size=(n, d)).astype(float)
        y = r.integers(0, 2, n)
        y[:2] = 0, 1
        weight = np.ones(n) if seed % 2 else r.integers(1, 4, n) / 2
        model = MinimumErrorClassifier(fit_intercept=False).fit(X, y, sample_weight=weight)
        assert model.coef_.any()
        assert model.intercept_ == 0
        assert_optimal(model, X, y, fewest_errors_through_the_origin(X, y, weight), weight)
        if model.errors_ > 0:
            higher = replace(model.certificate_, lower_bound=model.errors_ + 0.5, errors=model.errors_ + 0.5)
            assert not higher.verify(X, y, weight)


def test_where_w_0_would_make_fewer_errors_than_any_line():
    angles = 2 * np.pi * np.arange(7) / 7
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    y = np.array([0, 1, 1, 1, 1, 1, 1])  # around the origin: + everywhere errs once, but a line has 3 or 4 on each side
    model = MinimumErrorClassifier(fit_intercept=False).fit(X, y)
    assert model.coef_.any()
    assert_optimal(model, X, y, fewest_errors_through_the_origin(X, y))
    assert model.errors_ > 1
    # in a plane of the three-dimensional space, its normal does what w = 0 would do
    flat = np.column_stack([X, np.zeros(7)])
    other = MinimumErrorClassifier(fit_intercept=False).fit(flat, y)
    assert other.coef_.any()
    assert_optimal(other, flat, y, 1)
    # and positive rows on both sides of the origin may lie on the line
    line = MinimumErrorClassifier(fit_intercept=False).fit([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]], [1, 1, 0])
    assert line.errors_ == line.lower_bound_ == 0


@pytest.mark.parametrize("seed", range(12))
def test_the_cover_through_the_origin(seed, monkeypatch):
    """The search without enumeration, on rows that lie around the origin, with many ties."""
    monkeypatch.setattr("separatrix.fewest_errors.learner.LARGEST", 0)
    r = np.random.default_rng(seed)
    X, y = r.integers(-1, 2, size=(6, 3)).astype(float), r.integers(0, 2, 6)
    X = np.vstack([X, [[1.0, 1, 0], [-2, -2, 0]]])
    y = np.append(y, [1, 1])  # right together only on the hyperplane
    model = MinimumErrorClassifier(fit_intercept=False).fit(X, y)
    assert model.coef_.any()
    assert_optimal(model, X, y, fewest_errors_through_the_origin(X, y))


@pytest.mark.parametrize("seed", range(6))
def test_the_cover_alone(seed, monkeypatch):
    monkeypatch.setattr("separatrix.fewest_errors.learner.LARGEST", 0)
    r = np.random.default_rng(seed)
    X, y = r.integers(-1, 2, size=(9, 3)).astype(float), r.integers(0, 2, 9)
    y[:2] = 0, 1
    weight = r.integers(1, 5, 9) / 4
    assert_optimal(MinimumErrorClassifier().fit(X, y, sample_weight=weight), X, y, fewest_errors(X, y, weight), weight)


def test_tiny_weights_are_not_taken_for_rounding():
    X, y = parity(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MinimumErrorClassifier().fit(X, y, sample_weight=np.full(4, 1e-12))
    assert model.errors_ == model.lower_bound_ == 1e-12 or model.lower_bound_ == pytest.approx(1e-12, rel=1e-9, abs=0)
    assert model.certificate_.verify(X, y, np.full(4, 1e-12))


# ---------------------------------------------------------------------- forged certificates
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("class_weight", np.array([0.0, 1.0])), ("class_weight", np.array([1.0, np.nan])),
        ("class_weight", np.array([1.0])), ("class_weight", np.array([-1.0, 1.0])), ("errors", -1.0),
        ("errors", np.nan), ("errors", np.inf), ("errors", True), ("lower_bound", -1.0), ("lower_bound", np.nan),
        ("positive", 7), ("positive", -1), ("positive", True), ("positive", None), ("proof", "trust me"),
        ("proof", None), ("fit_intercept", "no"), ("coef", np.zeros((1, 3))), ("coef", np.array([[np.nan, 0.0]])),
        ("coef", np.array([1.0, 0.0])), ("intercept", np.array([np.inf])), ("intercept", np.zeros(2)),
        ("classes", np.array([0, 0])), ("classes", np.array([0])),
    ],
)  # fmt: skip
def test_malformed_certificates_are_refused(field, value):
    X, y = parity(2)
    certificate = MinimumErrorClassifier().fit(X, y).certificate_
    with pytest.raises(ValueError, match=field):
        replace(certificate, **{field: value}).verify(X, y)


def test_a_bound_through_the_origin_has_no_intercept():
    X, y = [[1.0, 2.0], [-1.0, 1.0], [3.0, 1.0]], [1, 1, 0]
    certificate = MinimumErrorClassifier(fit_intercept=False).fit(X, y).certificate_
    with pytest.raises(ValueError, match="intercept"):
        replace(certificate, intercept=np.array([1.0])).verify(X, y)


@pytest.mark.parametrize("proof", ["nothing", "identical rows", "enumeration", "search"])
def test_false_bounds_are_found_whatever_they_are_said_to_rest_on(proof):
    X, y = parity(2)
    certificate = replace(MinimumErrorClassifier().fit(X, y).certificate_, proof=proof)
    worse = replace(certificate, coef=np.array([[1.0, 1.0]]), intercept=np.array([-5.0]), errors=2.0)  # - everywhere
    assert not replace(worse, lower_bound=2.0).verify(X, y)
    assert not replace(worse, lower_bound=1.0 + 1e-9).verify(X, y)
    assert bool(replace(worse, lower_bound=1.0).verify(X, y)) == (proof in ("enumeration", "search"))
    assert replace(worse, lower_bound=0.0).verify(X, y)
    assert not replace(worse, lower_bound=0.0, errors=1.0).verify(X, y)


def test_what_is_taken_on_trust_is_said():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(60, 2)), r.integers(0, 2, 60)
    certificate = MinimumErrorClassifier().fit(X, y).certificate_
    assert certificate.trusted == ("lower_bound",)
    assert "on the word of a search" in certificate.claim
    assert "on the word" not in MinimumErrorClassifier().fit(*parity(2)).certificate_.claim


def test_a_check_never_tries_more_hyperplanes_than_it_can():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(40, 39)), r.integers(0, 2, 40)  # few hyperplanes, of 39! products each
    certificate = replace(MinimumErrorClassifier().fit(X, y).certificate_, proof="enumeration", lower_bound=1e-9)
    assert not certificate.verify(X, y)


def test_several_classes_are_one_against_the_rest():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 2)), r.integers(0, 3, 30)
    model = MinimumErrorClassifier().fit(X, y)
    assert isinstance(model.certificate_, All)
    assert model.certificate_.verify(X, y)
    for c in range(3):
        assert model.errors_[c] == MinimumErrorClassifier().fit(X, y == c).errors_


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32, lambda X: X * [1e-12, 1e12], lambda X: X + 1e6])
def test_storage_scale_and_shift(convert):
    r = np.random.default_rng(0)
    X, y = np.round(r.normal(size=(40, 2)), 3), r.integers(0, 2, 40)
    expected = MinimumErrorClassifier().fit(X, y).errors_
    Y = convert(X)
    model = MinimumErrorClassifier().fit(Y, y)
    assert_optimal(model, Y, y, expected)


def test_bad_parameters():
    for limit in (0, -1, np.inf, "x"):
        with pytest.raises(ValueError, match="time_limit"):
            MinimumErrorClassifier(time_limit=limit).fit([[0.0], [1.0]], [0, 1])
    for nodes in (0, 1.5, None, True):
        with pytest.raises(ValueError, match="max_nodes"):
            MinimumErrorClassifier(max_nodes=nodes).fit([[0.0], [1.0]], [0, 1])


def test_exact_proofs_of_conflicts_count(monkeypatch):
    """400 x 25 normal numbers: each proof takes as long as many linear programs, which max_nodes is told in."""
    done = []

    class Counted(Work):
        def __init__(self, most=np.inf):
            super().__init__(most)
            done.append(self)

    monkeypatch.setattr(conflicts, "Work", Counted)
    r = np.random.default_rng(0)
    X = r.normal(size=(400, 25))
    y = X[:, 0] + r.normal(size=400) > 0
    with pytest.warns(ConvergenceWarning, match="max_nodes=60 nodes are spent: raise max_nodes"):
        model = MinimumErrorClassifier(max_nodes=60).fit(X, y)
    products = sum(work.most - max(work.left, 0) for work in done if np.isfinite(work.most))
    assert 0 < products <= 60 * conflicts.PRODUCTS
    assert 60 <= model.n_nodes_ <= 63
    assert model.certificate_.verify(X, y)
