"""LinearSVC.partial_fit: a step of stochastic gradient descent for each row, against a plain loop."""

import numpy as np
import pytest
from problems import noisy
from scipy import sparse

from separatrix import InvalidInputError, LinearSVC, Status


def walked(X, signs, weight, parts, C, loss):
    """w <- w - eta d/dw [C c_i xi_i + 1/(2n) ‖w‖²], row by row, in chunks."""
    v, d = np.zeros(X.shape[1] + 1), X.shape[1]
    for m, part in enumerate(parts, 1):
        Z, n = np.column_stack([X[part], np.ones(part.stop - part.start)]), part.stop - part.start
        steepest = 1.0 if loss == "hinge" else 2.0
        eta = 10 / (9 + m) / (steepest * (C * weight[part] * (Z**2).sum(axis=1)).max() + 1 / n)
        for z, y, c in zip(Z, signs[part], weight[part], strict=True):
            short = max(0.0, 1 - y * (z @ v))
            pull = float(short > 0) if loss == "hinge" else 2 * short
            v = v * np.append(np.full(d, 1 - eta / n), 1.0) + eta * C * c * pull * y * z
    return v


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("k", [2, 3])
def test_a_stream_is_a_step_for_each_row(loss, make, k):
    X, y = noisy(60, 3, k)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=60)
    parts = (slice(0, 10), slice(10, 35), slice(35, 60))
    model = LinearSVC(3.0, loss=loss)
    for part in parts:
        model.partial_fit(make(X[part]), y[part], classes=range(k), sample_weight=weight[part])
    got = np.column_stack([model.coef_, model.intercept_])
    for task in range(1 if k == 2 else k):
        signs = np.where(y == (1 if k == 2 else task), 1.0, -1.0)
        expected = walked(X, signs, weight, parts, 3.0, loss)
        np.testing.assert_allclose(got[task], expected, rtol=1e-9, atol=1e-12)
    assert model.status_ is Status.STREAM
    assert model.certificate_ is None
    assert not hasattr(model, "dual_coef_")


def test_many_passes_come_near_the_optimum():
    X, y = noisy(80, 3)
    best = LinearSVC().fit(X, y)

    def objective(model):
        slack = np.maximum(0.0, 1 - (2 * y - 1) * model.decision_function(X))
        return 0.5 * (model.coef_**2).sum() + slack.sum()

    model = LinearSVC()
    for _ in range(500):
        model.partial_fit(X, y, classes=[0, 1])
    assert objective(best) < objective(model) < 1.02 * objective(best)


def test_after_a_fit_nothing_of_its_proof_is_left():
    X, y = noisy(60, 3)
    model = LinearSVC().fit(X, y)
    model.partial_fit(X[:20], y[:20])
    for name in ("dual_coef_", "support_", "slack_", "margin_"):
        assert not hasattr(model, name)
    with pytest.raises(InvalidInputError, match="penalty"):
        LinearSVC(penalty="l1").partial_fit(X, y, classes=[0, 1])
