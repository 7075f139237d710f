"""Certificates of sparse models: forged ones are refused. And what else a fit promises: weights, units, bits."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from files.tables import Batches
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression as Theirs
from sparse_models.sparse_oracle import objective

from separatrix import LinearSVC, LogisticRegression, logistic_path, set_threads
from separatrix.certificates import Certificate
from separatrix.design import as_design
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.geometry import Hyperplanes
from separatrix.sparse_models import models
from separatrix.sparse_models.fit import Settings, certify, sparse_model
from separatrix.targets import Targets

X, Y = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def claim():
    return LogisticRegression(C=0.1, l1_ratio=0.8).fit(X, Y).certificate_


def strongest(X, y, weight):
    """The largest C for which all weights are 0, for l1_ratio=1: see `LogisticRegression`."""
    p0 = weight @ y / weight.sum()
    return 1.0 / np.abs((weight * (p0 - y)) @ X).max()


def test_the_claim_holds_and_survives_a_file(claim):
    assert claim.verify(X, Y)
    again = Certificate.from_dict(claim.to_dict())
    assert again.verify(X, Y)
    np.testing.assert_array_equal(again.zeros, claim.zeros)


@pytest.mark.parametrize(
    "change",
    [
        {"primal": 0.999},
        {"primal": 1.001},
        {"dual": 1.01},
        {"C": 1.01},
        {"l1_ratio": 0.99},
        {"tol": 1e-13},
    ],
)
def test_a_changed_number_is_refused(claim, change):
    ((name, factor),) = change.items()
    forged = replace(claim, **{name: getattr(claim, name) * factor if name != "tol" else factor})
    assert not forged.verify(X, Y)


def test_a_bound_above_the_true_minimum_is_refused(claim):
    middle = 0.5 * (claim.primal + claim.dual) + 1e-6 * claim.primal
    assert not replace(claim, dual=middle).verify(X, Y)


def test_other_weights_are_refused(claim):
    coef = claim.coef.copy()
    coef[0, np.abs(coef[0]).argmax()] *= 1.01
    assert not replace(claim, coef=coef).verify(X, Y)
    assert not replace(claim, intercept=claim.intercept + 0.1).verify(X, Y)


def test_a_weight_that_is_not_0_is_not_proved_0(claim):
    used = claim.coef != 0
    zeros = claim.zeros.copy()
    zeros[0, np.flatnonzero(used[0])[0]] = True
    assert claim.zeros.any()
    assert not (claim.zeros & used).any()
    assert not replace(claim, zeros=zeros).verify(X, Y)
    with pytest.raises(ValueError, match="zeros"):
        replace(claim, zeros=claim.zeros.astype(float)).verify(X, Y)


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "hinge"},
        {"l1_ratio": -0.1},
        {"l1_ratio": 1.5},
        {"positive": None},
        {"task": 0},
        {"multipliers": np.ones(len(Y))},
        {"fit_intercept": False},
        {"C": np.inf},
    ],
)
def test_fields_without_meaning_are_named(claim, change):
    with pytest.raises(ValueError):
        replace(claim, **change).verify(X, Y)


def test_other_data_are_refused(claim):
    assert not claim.verify(X * 1.01, Y)
    assert not claim.verify(X, 1 - Y)
    assert not claim.verify(X, Y, np.linspace(0.5, 1.5, len(Y)))


@pytest.mark.parametrize("weight", [np.ones(len(Y)), np.linspace(0.1, 3.0, len(Y))])
def test_up_to_the_strongest_C_all_weights_are_0(weight):
    C = strongest(X, Y, weight)
    for factor in (1e-3, 0.5, 1.0 - 1e-9):
        model = LogisticRegression(C=factor * C, l1_ratio=1).fit(X, Y, weight)
        assert not model.coef_.any()
        assert model.n_nonzero_ == 0
        assert model.certificate_.relative_gap <= 1e-8
    assert LogisticRegression(C=1.01 * C, l1_ratio=1).fit(X, Y, weight).n_nonzero_ > 0


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X * (np.median(X, axis=0) < X))])
def test_whole_weights_are_repeated_rows(rows):
    weight = np.arange(len(Y)) % 4
    repeated = np.repeat(np.arange(len(Y)), weight)
    once = LogisticRegression(l1_ratio=1).fit(rows, Y, weight)
    often = LogisticRegression(l1_ratio=1).fit(rows[repeated], Y[repeated])
    np.testing.assert_allclose(once.coef_, often.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(once.coef_ == 0, often.coef_ == 0)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_dense_and_sparse_rows_give_the_same_model(ratio):
    dense = LogisticRegression(l1_ratio=ratio).fit(X, Y)
    rows = LogisticRegression(l1_ratio=ratio).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(dense.coef_, rows.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(dense.coef_ == 0, rows.coef_ == 0)


@pytest.mark.parametrize(
    "fit",
    [
        LogisticRegression(l1_ratio=1.0, C=0.3).fit,
        LogisticRegression(l1_ratio=0.9, C=3, fit_intercept=False).fit,
        LinearSVC(penalty="l1", C=0.1).fit,
        LinearSVC(penalty="l1", loss="squared_hinge", C=0.1).fit,
        partial(logistic_path, C_max=1.0),
        partial(logistic_path, l1_ratio=0.5, C_max=1.0),
    ],
    ids=["logistic", "homogeneous", "hinge", "squared hinge", "path", "path of an elastic net"],
)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_a_claim_holds_however_the_rows_are_stored(fit, offset):
    """Each storage has its own bounds on the rounding of the moments, which the dual point is made feasible by."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    y = (rows[:, 0] + rng.normal(size=60) * 0.7 > 0).astype(int)
    rows = rows + offset
    found = fit(rows, y)
    claim = found.certificate if hasattr(found, "certificate") else found.certificate_
    for stored in (
        rows,
        np.asfortranarray(rows),
        sparse.csr_array(rows),
        Batches(sparse.csr_array(rows), None, step=7),
    ):
        assert claim.verify(stored, y)
    higher = 1.0 + 1e-3 * claim.tol
    assert not replace(claim, dual=claim.dual * higher).verify(rows, y)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_claim_far_from_the_origin_holds_in_another_order(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(400, 10))
    codes = np.digitize(rows[:, 1] + rng.normal(size=400) * 0.5, [-0.5, 0.5])
    rows += 1e6
    claim = LogisticRegression(l1_ratio=1.0, C=0.3).fit(rows, codes).certificate_
    assert claim.verify(rows, codes)
    assert claim.verify(np.asfortranarray(rows), codes)


def test_units_do_not_matter_but_for_the_penalty():
    """Of columns in other units, the objective is that of the user's weights: as the formula says."""
    units = 10.0 ** np.linspace(-6, 6, X.shape[1])
    model = LogisticRegression(l1_ratio=1).fit(X * units, Y)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.verify(X * units, Y)
    reached = objective(X * units, Y, model.coef_, model.intercept_, 1.0, 1.0)
    assert abs(float(reached) - model.certificate_.primal) <= 1e-8 * model.certificate_.primal


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize("problem", ["tall", "wide", "text", "classes"])
def test_threads_change_no_bit(problem):
    rng = np.random.default_rng(0)
    shape = {"tall": (6000, 60), "wide": (60, 6000), "text": (3000, 4000), "classes": (2000, 30)}[problem]
    rows = rng.normal(size=shape)
    codes = (rows[:, :5].sum(axis=1) > 0).astype(int) + (problem == "classes") * (rows[:, 5] > 0)
    if problem == "text":
        rows = sparse.random_array(shape, density=0.01, format="csr", rng=rng)
    models = []
    try:
        for threads in (1, 2, 5):
            set_threads(threads)
            models.append(LogisticRegression(C=0.1 if problem != "text" else 10.0, l1_ratio=0.9).fit(rows, codes))
    finally:
        set_threads(None)
    for other in models[1:]:
        assert other.coef_.tobytes() == models[0].coef_.tobytes()
        assert other.certificate_.dual == models[0].certificate_.dual
    assert 0 < models[0].n_nonzero_ < models[0].coef_.size


def test_agrees_with_scikit_learn():
    for rows, codes, C, ratio in ((IRIS, KINDS, 1.0, 0.5), (IRIS, KINDS, 1.0, 1.0), (IRIS, KINDS > 0, 0.3, 0.7)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = Theirs(C=C, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=100_000).fit(rows, codes)
        ours = LogisticRegression(C=C, l1_ratio=ratio).fit(rows, codes)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-4)


def test_a_warm_start_is_where_the_last_fit_ended():
    cold = LogisticRegression(C=1.0, l1_ratio=1, warm_start=True).fit(X, Y)
    steps = int(cold.n_iter_[0])
    cold.fit(X, Y)
    assert int(cold.n_iter_[0]) < steps
    assert cold.certificate_.verify(X, Y)


@pytest.mark.parametrize("start", [np.nan, np.inf, 1e200, -1e3])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_a_start_that_is_worse_than_none_is_not_used(ratio, start):
    cold = LogisticRegression(l1_ratio=ratio).fit(X, Y)
    warm = LogisticRegression(l1_ratio=ratio, warm_start=True).fit(X, Y)
    warm.coef_ = np.full_like(warm.coef_, start)
    warm.fit(X, Y)
    assert warm.n_iter_ == cold.n_iter_
    np.testing.assert_array_equal(warm.coef_, cold.coef_)


def test_what_penalty_stands_for():
    l1 = LogisticRegression(penalty="l1").fit(X, Y)
    np.testing.assert_array_equal(l1.coef_, LogisticRegression(l1_ratio=1).fit(X, Y).coef_)
    net = LogisticRegression(penalty="elasticnet", l1_ratio=0.3).fit(X, Y)
    np.testing.assert_array_equal(net.coef_, LogisticRegression(l1_ratio=0.3).fit(X, Y).coef_)
    np.testing.assert_array_equal(
        LogisticRegression(penalty="l2").fit(X, Y).coef_, LogisticRegression(l1_ratio=0).fit(X, Y).coef_
    )
    with pytest.warns(UserWarning, match="Inconsistent values: penalty=l2 with l1_ratio=0.5"):
        LogisticRegression(penalty="l2", l1_ratio=0.5).fit(X, Y)
    with pytest.raises(InvalidInputError, match="l1_ratio must be specified"):
        LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(X, Y)
    for ratio in (-0.1, 1.1, "1", True):
        with pytest.raises(InvalidInputError, match="l1_ratio"):
            LogisticRegression(l1_ratio=ratio).fit(X, Y)


def test_without_a_penalty_the_ratio_has_no_effect():
    overlapping = np.arange(len(Y)) % 2
    rows = X[:, :3]
    model = LogisticRegression(C=np.inf, l1_ratio=1).fit(rows, overlapping)
    np.testing.assert_array_equal(model.coef_, LogisticRegression(C=np.inf).fit(rows, overlapping).coef_)
    assert model.n_nonzero_ == 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "newton"},
        {"loss": "squared_error"},
        {"trace": True},
        {"solver": "sgd"},
    ],
)
def test_what_an_l1_penalty_does_not_go_with_is_named(parameters):
    with pytest.raises(InvalidInputError, match=next(iter(parameters))):
        LogisticRegression(l1_ratio=1, **parameters).fit(X, Y)
    with pytest.raises(InvalidInputError, match="identifiability"):
        LogisticRegression(l1_ratio=1, identifiability="reference").fit(IRIS, KINDS)


def test_too_few_iterations_are_told_with_the_gap_reached():
    digits, kinds = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"Stopped after 2 iterations at a relative gap of \d"):
        model = LogisticRegression(C=1.0, l1_ratio=1, max_iter=2).fit(digits, kinds)
    claim = model.certificate_
    assert claim.relative_gap > 1e-4
    assert claim.verify(digits, kinds)


def test_a_matrix_has_a_sparse_model_for_each_column():
    labels = np.column_stack([k == KINDS for k in range(3)]).astype(int)
    model = LogisticRegression(l1_ratio=1).fit(IRIS, labels)
    for k in range(3):
        alone = LogisticRegression(l1_ratio=1).fit(IRIS, labels[:, k])
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
    assert model.certificate_.verify(IRIS, labels)
    assert model.certificate_.zeros.shape == (3, 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_rows_make_a_float32_model(dtype):
    model = LogisticRegression(l1_ratio=1).fit(X.astype(dtype), Y)
    assert model.coef_.dtype == dtype
    assert model.certificate_.verify(X.astype(dtype), Y)


def test_class_weights_are_in_the_certificate():
    model = LogisticRegression(l1_ratio=1, class_weight="balanced").fit(X, Y)
    weight = np.where(Y == 1, len(Y) / (2 * Y.sum()), len(Y) / (2 * (1 - Y).sum()))
    by_hand = LogisticRegression(l1_ratio=1).fit(X, Y, weight)
    np.testing.assert_allclose(model.coef_, by_hand.coef_, rtol=1e-6, atol=1e-9)
    assert model.certificate_.verify(X, Y)


def test_a_tol_below_rounding_is_told():
    with pytest.warns(ConvergenceWarning, match="rounding allows no better"):
        model = LogisticRegression(C=1e-6, l1_ratio=1, tol=1e-17).fit(X, Y)
    assert not model.coef_.any()
    assert model.certificate_.verify(X, Y)


@pytest.mark.parametrize("loss", ["log", "squared_hinge"])
@pytest.mark.parametrize("seed", range(25))
def test_weights_far_from_the_best_prove_no_wrong_zero(seed, loss):
    """The ball about a rough dual point has the best one in it: what it proves 0 is 0 in the optimum."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 15))
    codes = (rows[:, :4].sum(axis=1) + 0.5 * rng.normal(size=60) > 0).astype(int)
    design, targets = as_design(rows), Targets(np.array([0, 1]), codes)
    settings = Settings(float(10.0 ** rng.uniform(-1.5, 0.0)), 1.0, 1e-4, 1000, loss)
    best = sparse_model(design, targets, np.ones(60), settings)
    for distance in (1e-3, 0.01, 0.03, 0.1, 0.3):
        coef = best.model.coef * (1 + distance * rng.normal(size=15)) + 0.03 * distance * rng.normal(size=15)
        claim, _ = certify(design, targets, np.ones(60), Hyperplanes(coef, best.model.intercept), settings, 1)
        if claim is None:
            continue
        assert claim.verify(rows, codes)
        assert claim.dual <= best.certificate.primal
        assert not best.model.coef[claim.zeros].any()


def test_entries_of_one_place_prove_no_wrong_zero():
    """64 entries that add up to one number are that number: the sum of their squares says nothing of its square."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 15))
    codes = (rows[:, :4].sum(axis=1) + 0.5 * rng.normal(size=60) > 0).astype(int)
    many = (np.repeat(rows.ravel() / 64, 64), np.tile(np.repeat(np.arange(15), 64), 60), np.arange(61) * 15 * 64)
    apart = sparse.csr_array(many, shape=rows.shape)
    best = LogisticRegression(C=0.3, l1_ratio=1).fit(rows, codes)
    coef = best.coef_ * (1 + 0.1 * rng.normal(size=15))
    settings, targets = Settings(0.3, 1.0, 1e-4, 1000), Targets(np.array([0, 1]), codes)
    claim, _ = certify(as_design(rows), targets, np.ones(60), Hyperplanes(coef, best.intercept_), settings, 1)
    assert claim.verify(apart, codes)
    assert not apart.has_canonical_format  # what is given stays as it is
    for j in np.flatnonzero(best.coef_[0]):
        wrong = np.zeros((1, 15), dtype=bool)
        wrong[0, j] = True
        assert not replace(claim, zeros=wrong).verify(apart, codes)


def test_long_sweeps_are_cut_into_pieces_and_end_at_the_same_optimum(monkeypatch):
    """Between two pieces Ctrl-C is heard."""
    rng = np.random.default_rng(0)
    rows = sparse.random(60, 900, density=0.05, random_state=0, format="csr")
    codes = (rng.random(60) < 0.5).astype(int)
    whole = LogisticRegression(C=5.0, l1_ratio=1, tol=1e-8).fit(rows, codes)
    calls = []
    loop = models.ColumnDescent.loop

    def counted(self, order, *rest):
        calls.append(len(order))
        return loop(self, order, *rest)

    monkeypatch.setattr(models.ColumnDescent, "loop", counted)
    monkeypatch.setattr(models, "BUDGET", 100)
    cut = LogisticRegression(C=5.0, l1_ratio=1, tol=1e-8).fit(rows, codes)
    assert calls
    assert max(calls) < 900 / 10
    np.testing.assert_allclose(cut.coef_, whole.coef_, atol=1e-5)
    assert cut.certificate_.verify(rows, codes)
