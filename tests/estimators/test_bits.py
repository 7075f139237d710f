"""The same call gives the same bits: whatever ran before, on any number of threads, however the rows are stored.

Every classifier is fitted to data of every shape, each of which takes its own route through the solvers.
"""

import importlib
import pkgutil
import warnings
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import cycle, islice, product

import numpy as np
import pytest
from contract import estimator_classes
from scipy import sparse
from shapes import EVERY_SHAPE, dense, problem
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

import separatrix
import separatrix.loops
from separatrix.loops import binding, library

FITS = 20  # equal fits of each classifier to each of the data
THREADS = (1, 2, 5, 16)


# ---------------------------------------------------------------------- what a fit leaves
def written(value, seen=()):
    """Everything a fitted object holds, number by number, as {where: bytes or text}."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {"": (value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())}
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        return written([rows.indptr.astype(int), rows.indices.astype(int), rows.data], seen)
    if isinstance(value, (float, np.floating)):
        return {"": float(value).hex()}
    if isinstance(value, Enum) or not (hasattr(value, "__dict__") or isinstance(value, (dict, list, tuple))):
        return {"": repr(value) if isinstance(value, (str, int, bool, bytes, Enum, np.generic, type(None))) else ""}
    if id(value) in seen or callable(value):
        return {}
    if isinstance(value, dict):
        parts = value
    elif isinstance(value, (list, tuple)):
        parts = dict(enumerate(value))
    else:
        plain = is_dataclass(value) and not isinstance(value, BaseEstimator)  # an estimator is more than its parameters
        parts = {field.name: getattr(value, field.name) for field in fields(value)} if plain else vars(value)
    inside = {name: written(part, (*seen, id(value))) for name, part in parts.items() if "second" not in str(name)}
    return {f".{name}{where}": bits for name, found in inside.items() for where, bits in found.items()}


def others():
    """Fits of other things between: what a process did before must not matter."""
    X, y = dense(60, 3, 2, 1.5)
    while True:
        yield separatrix.LogisticRegression().fit(X, y)
        yield separatrix.SVC().fit(X, y)
        yield separatrix.LinearSVC().fit(X, y)
        yield separatrix.Perceptron(max_iter=2).fit(X, y)


@pytest.fixture(autouse=True)
def threads_as_before():
    yield
    separatrix.set_threads(None)


@pytest.fixture(autouse=True)
def compiled_only(monkeypatch):
    """Where loops are compiled, their Python references are for reading and for tests: nothing else calls them."""
    for module in pkgutil.iter_modules(separatrix.loops.__path__):
        importlib.import_module(f"separatrix.loops.{module.name}")
    if library.library() is not None:
        for loop in binding.loops():
            monkeypatch.setattr(loop, "reference", _not_called)


def _not_called(*arguments):
    raise AssertionError("the Python reference of a loop was called in a native build")


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize("shape", EVERY_SHAPE)
@pytest.mark.parametrize("name", [estimator.__name__ for estimator in estimator_classes()])
def test_equal_fits_have_equal_bits(name, shape):
    estimator, X, y = problem(name, shape)
    stored = {"C": X, "Fortran": sparse.csc_array(X) if sparse.issparse(X) else np.asfortranarray(X)}
    between, first, differ = others(), {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations that run out
        for fit, (number, order) in enumerate(islice(cycle(product(THREADS, stored)), FITS)):
            separatrix.set_threads(number)
            with threadpool_limits(limits=1 + fit % 2, user_api="blas"):
                found = written(estimator.fit(stored[order], y))
            next(between)
            first = first or found
            wrong = [where for where in {**first, **found} if first.get(where) != found.get(where)]
            if wrong:
                differ.setdefault((order, number), []).append((fit, *wrong[:3]))
    assert any("_model" in where for where in first)
    assert not differ
    assert estimator.certificate_ is None or estimator.certificate_.verify(X, y)


def unaligned(X):
    """The same numbers, each of which begins one byte after where it should."""
    found = np.empty(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(X.shape)
    found[:] = X
    return found


LYING = {
    "Fortran": np.asfortranarray,
    "other columns between": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "other rows between": lambda X: np.repeat(X, 2, axis=0)[::2],
    "rows backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "unaligned": unaligned,
}
VARIANTS = [
    separatrix.LogisticRegression(C=np.inf),
    separatrix.LogisticRegression(l1_ratio=0.5),
    separatrix.LogisticRegression(C=0.01, l1_ratio=1.0),
    separatrix.LinearSVC(loss="squared_hinge"),
    separatrix.LinearSVC(penalty="l1"),
]


@pytest.mark.parametrize("shape", ["tiny", "wide", pytest.param("tall", marks=pytest.mark.long), "long rows"])
@pytest.mark.parametrize("model", [*(estimator.__name__ for estimator in estimator_classes()), *VARIANTS], ids=str)
def test_rows_that_lie_otherwise_have_equal_bits(model, shape):
    name = model if isinstance(model, str) else type(model).__name__
    if shape == "long rows":
        if name not in ("LinearSVC", "LogisticRegression", "NearestCentroid", "LeastSquaresClassifier"):
            pytest.skip("too long")
        estimator, (X, y) = getattr(separatrix, name)(), dense(200, 1_500, 2, 1.5)  # more than is checked after the fit
    else:
        estimator, X, y = problem(name, shape)
    if not isinstance(model, str):
        estimator = model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = written(estimator.fit(X, y))
        scores = estimator.decision_function(X).tobytes()
        for how, lay in LYING.items():
            rows = lay(X)
            assert (rows == X).all()
            found = written(estimator.fit(rows, y))
            assert [where for where in {**first, **found} if first.get(where) != found.get(where)] == [], how
            assert estimator.decision_function(rows).tobytes() == scores, how


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize(
    ("model", "n", "d", "k"),
    [
        (separatrix.SVC(C=3.0), 690, 49, 2),
        (separatrix.SVC(probability=True), 300, 20, 3),
        (separatrix.KernelPerceptron(kernel="poly", max_iter=3), 300, 20, 2),
        (separatrix.LogisticRegression(tol=0.1), 3_000, 300, 20),
        (separatrix.LeastSquaresClassifier(), 20_001, 301, 2),
        (separatrix.NearestCentroid(), 3_000, 300, 20),
        (separatrix.NaiveBayes(shared_variance=False), 3_000, 300, 20),
        (separatrix.NaiveBayes(family="multinomial"), 3_000, 300, 20),
        (separatrix.Cascade(max_iter=2), 3_000, 300, 20),
    ],
    ids=repr,
)
def test_equal_scores_have_equal_bits(model, n, d, k):
    """Products of this size are cut where the threads of BLAS meet, unless it is held to one."""
    random = np.random.default_rng(0)
    X = np.abs(random.normal(size=(n, d)))
    y = (X[:, :k] + random.normal(size=(n, k))).argmax(axis=1) if k > 2 else X[:, 0] + random.normal(size=n) > 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    found = set()
    for blas, ours in product((1, 2), THREADS):
        separatrix.set_threads(ours)
        with threadpool_limits(limits=blas, user_api="blas"):
            said = [model.decision_function(X) if hasattr(model, "decision_function") else np.zeros(0)]
            said += [model.predict_proba(X)] if hasattr(model, "predict_proba") else []
            found.add(b"".join(part.tobytes() for part in said))
    assert len(found) == 1
    assert np.isfinite(np.frombuffer(found.pop())).all()
