"""Dense rows that factor: some passes of coordinate descent come before the interior-point method."""

import numpy as np
import pytest

from separatrix import LinearSVC
from separatrix.svm.linear import soft
from separatrix.svm.linear.choose import Shape, method
from separatrix.svm.linear.soft import BRIEF, brief


def table(n, d, alike=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if alike:
        X = 0.3 * X + rng.normal(size=(n, 5)) @ rng.normal(size=(5, d))
    return X, np.where(X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) * np.sqrt(d) > 0, 1, 0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_columns_not_alike_need_no_factor(loss, C, monkeypatch):
    X, y = table(450, 500)
    assert method(Shape(450, 500, 501, False), loss == "squared_hinge") == "interior"

    def begun(*args):
        raise AssertionError("the interior-point method began")

    monkeypatch.setattr(soft, "_interior", begun)
    model = LinearSVC(C=C, loss=loss).fit(X, y)
    assert model.status_.certified
    assert model.n_iter_ <= brief(Shape(450, 500, 501, False))
    assert model.certificate_.verify(X, y)


def test_columns_alike_get_some_passes_and_no_more(monkeypatch):
    X, y = table(450, 500, alike=True)
    passes = []
    inner = soft.descent
    monkeypatch.setattr(soft, "descent", lambda *args: passes.append(inner(*args).n_iter) or inner(*args))
    model = LinearSVC(C=100.0).fit(X, y)
    assert model.status_.certified
    assert passes == [brief(Shape(450, 500, 501, False))]


@pytest.mark.parametrize(
    ("n", "d", "sparse", "passes"),
    [
        (2500, 1990, False, 1584),
        (1990, 2500, False, 1584),
        (8000, 1990, False, 495),
        (300, 9000, False, BRIEF),
        (20_000, 1500, True, 750),
        (20_000, 40, True, BRIEF),
    ],
)
def test_passes_are_counted_by_the_shape(n, d, sparse, passes):
    assert brief(Shape(n, d, d + 1, sparse)) == passes
