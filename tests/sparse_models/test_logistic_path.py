"""logistic_path: every C between the ends is within tol, by an oracle that shares nothing with it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sparse_models.sparse_oracle import objective, optimum

from separatrix import LogisticPath, LogisticRegression, logistic_path
from separatrix.certificates import Certificate
from separatrix.design import as_design
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.sparse_models.path import AT_A_NODE, Task, Walk, own_gap, strongest
from separatrix.targets import Targets

X, Y = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def path():
    return logistic_path(X, Y)


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.0])
def test_a_thousand_C_between_the_ends(ratio):
    """Each gap recomputed: the objective in 80-bit floats against the bound of a fit of its own to 1e-9."""
    ends = {} if ratio else {"C_min": 1e-6, "C_max": 1e-3}
    path = logistic_path(X, Y, l1_ratio=ratio, **ends)
    rng = np.random.default_rng(0)
    assert path.verify(X, Y)
    for C in np.exp(rng.uniform(np.log(path.C[0]), np.log(path.C[-1]), 1000)):
        coef, intercept = path.at(C)
        reached = float(objective(X, Y, coef, intercept, C, ratio))
        assert path.gap(C) <= 1e-4
        if rng.random() < 0.1:
            own = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-9).fit(X, Y).certificate_
            assert reached - own.primal <= path.gap(C) * reached * (1 + 1e-6)
            assert reached >= own.dual * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_gap_is_above_that_of_an_interior_point_method(seed):
    rng = np.random.default_rng(seed)
    n, d, K = 40, 6, 2 + seed % 2
    rows = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, d)
    codes = np.digitize(rows[:, 0] / rows[:, 0].std() + rng.normal(size=n), [0.0] if K == 2 else [-0.5, 0.5])
    weight = rng.choice([0.5, 1.0, 3.0], n)
    path = logistic_path(rows, codes, l1_ratio=0.9, tol=1e-3, sample_weight=weight)
    assert path.verify(rows, codes, weight)
    for C in np.exp(rng.uniform(np.log(path.C[0]), np.log(path.C[-1]), 5)):
        best, _, _ = optimum(rows, codes, C, 0.9, weight)
        reached = objective(rows, codes, *path.at(C), C, 0.9, weight)
        assert float(reached - best) <= (path.gap(C) + 1e-7) * float(reached)
        assert path.gap(C) <= 1e-3


@pytest.mark.long
def test_a_thousand_C_against_an_interior_point_method():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 6)) * 10.0 ** rng.uniform(-2, 2, 6)
    codes = (rows[:, 0] / rows[:, 0].std() + rng.normal(size=40) > 0).astype(int)
    path = logistic_path(rows, codes)
    for C in np.exp(rng.uniform(np.log(path.C[0]), np.log(path.C[-1]), 1000)):
        best, _, _ = optimum(rows, codes, C, 1.0)
        reached = objective(rows, codes, *path.at(C), C, 1.0)
        assert float(reached - best) <= (path.gap(C) + 1e-8) * float(reached)
        assert path.gap(C) <= 1e-4


def test_ends_and_order(path):
    assert isinstance(path, LogisticPath)
    p0 = Y.mean()
    np.testing.assert_allclose(path.C[0], 1.0 / np.abs((p0 - Y) @ X).max(), rtol=1e-9)
    np.testing.assert_allclose(path.C[-1], 100 * path.C[0])
    assert (np.diff(path.C) > 0).all()
    assert path.coef.shape == (len(path.C), X.shape[1])
    assert path.intercept.shape == path.C.shape
    assert path.n_nonzero[0] == 0
    assert path.n_nonzero[-1] == np.count_nonzero(path.coef[-1])
    assert len(path.entered) == (path.coef != 0).any(axis=0).sum()
    first = np.flatnonzero(path.n_nonzero)[0]
    assert path.coef[first, path.entered[0]] != 0


def test_at_a_fitted_C_the_weights_are_those_of_the_fit(path):
    k = len(path.C) // 2
    coef, intercept = path.at(path.C[k])
    np.testing.assert_array_equal(coef[0], path.coef[k])
    assert intercept[0] == path.intercept[k]
    for C in (0.5 * path.C[0], 2 * path.C[-1]):
        with pytest.raises(InvalidInputError, match="ends of the path"):
            path.at(C)


def test_a_forged_path_is_refused(path):
    claim = path.certificate
    assert claim.verify(X, Y)
    assert Certificate.from_dict(claim.to_dict()).verify(X, Y)
    keep, parts = np.arange(0, len(path.C), 4), (len(claim.primal) - 1) // (len(path.C) - 1)
    thin = {name: getattr(claim, name)[keep] for name in ("C", "coef", "intercept")}
    thin |= {name: getattr(claim, name)[keep * parts] for name in ("primal", "dual", "losses")}
    assert not replace(claim, **thin).verify(X, Y)  # fewer values of C do not prove as much,
    whole = {name: getattr(claim, name)[::parts] for name in ("primal", "dual", "losses")}
    assert not replace(claim, **whole).verify(X, Y)  # nor do the ends of a step without what is between
    for change in (
        {"primal": claim.primal * 0.999},
        {"dual": claim.dual * 1.001},
        {"losses": claim.losses * 1.001},
        {"coef": claim.coef * 1.05},
        {"C": claim.C * 1.02},
        {"l1_ratio": 0.9},
        {"tol": 1e-6},
    ):
        assert not replace(claim, **change).verify(X, Y)
    assert not claim.verify(X, 1 - Y)
    for change in ({"C": claim.C[::-1]}, {"coef": claim.coef[1:]}, {"C": claim.C[1:]}, {"tol": 2.0}):
        with pytest.raises(ValueError):
            replace(claim, **change).verify(X, Y)


def test_sparse_rows_and_several_classes():
    path = logistic_path(IRIS, KINDS, tol=1e-3)
    assert path.coef.shape == (len(path.C), 3, 4)
    assert path.verify(IRIS, KINDS)
    rows = sparse.csr_array(X * (X.mean(axis=0) < X))
    assert logistic_path(rows, Y, tol=1e-3).verify(rows, Y)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_what_is_stated_between_two_fits(ratio):
    """The objective of the mixed weights in 80-bit floats, and a bound that no fit of its own gets below."""
    path = logistic_path(X, Y, l1_ratio=ratio, tol=1e-3)
    claim, m = path.certificate, len(path.C)
    parts = (len(claim.primal) - 1) // (m - 1)
    assert parts > 1
    for k in range(0, m - 1, 3):
        for part in range(1, parts):
            t, place = part / parts, k * parts + part
            C = (1 - t) * path.C[k] + t * path.C[k + 1]
            reached = float(objective(X, Y, *path.at(C), C, ratio))
            assert 0 <= claim.primal[place] - reached <= 1e-7 * reached
            best = LogisticRegression(C=C, l1_ratio=ratio).fit(X, Y).certificate_.primal
            assert best - 1e-3 * best <= claim.dual[place] <= best


def test_of_columns_that_come_in_together_the_largest_is_first():
    path = logistic_path((X - X.mean(axis=0)) / X.std(axis=0), Y, C_min=0.1, C_max=1.0)  # some are in at its beginning
    order = path.entered
    first = (path.coef[:, order] != 0).argmax(axis=0)
    size = np.abs(path.coef[first, order])
    together = np.flatnonzero(np.diff(first) == 0)
    assert (np.diff(first) >= 0).all()
    assert len(together)
    assert (size[together] >= size[together + 1]).all()


def test_too_few_steps_are_told():
    with pytest.warns(ConvergenceWarning, match="above tol=0.0001"):
        path = logistic_path(X, Y, C_min=1e-3, C_max=1.0, max_iter=6)
    assert path.certificate.worst > 1e-4
    assert path.verify(X, Y)


def test_input_is_checked():
    for change in ({"C_min": 0.0}, {"C_min": 2.0, "C_max": 1.0}, {"tol": 0.0}, {"l1_ratio": 2}):
        with pytest.raises(InvalidInputError):
            logistic_path(X, Y, **change)
    with pytest.raises(InvalidInputError, match="C_min"):
        logistic_path(np.ones((6, 2)), [0, 1] * 3)


def test_the_picture_names_the_columns_that_came_in_first(path):
    ax = path.plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[0] == f"x{path.entered[0]}"
    assert len(ax.lines) == len(path.entered) + 1


def test_a_fit_far_from_the_last_one_finds_the_columns_that_its_start_does_not_show():
    rng = np.random.default_rng(0)
    rows = sparse.random_array((400, 6000), density=0.02, format="csr", rng=rng)
    scores = rows[:, :300].sum(axis=1) + 0.3 * rng.normal(size=400)
    targets = Targets(np.array([0, 1]), (scores > np.median(scores)).astype(int))
    task = Task(as_design(rows), targets, np.ones(400), 1.0, 1e-4, 10_000)
    walk = Walk(task)
    first = walk.node(1.01 / strongest(task), None)
    assert own_gap(walk.node(80 * first.C, first)) <= AT_A_NODE * task.tol
