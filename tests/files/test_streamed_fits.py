"""A fit to rows in a file is the fit to the same rows in memory, bit for bit; its certificate is checked in blocks."""

import json
import os
import signal

import numpy as np
import pytest
from files.blocks import stored
from files.tables import TABLES, csr, dense, fitted, plain
from scipy import sparse

import separatrix
from separatrix import (
    SVC,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    HardMarginSVC,
    InvalidInputError,
    KernelPerceptron,
    Kozinec,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumErrorClassifier,
    NaiveBayes,
    NearestCentroid,
    Perceptron,
    PocketPerceptron,
    PoissonNB,
    RidgeClassifier,
    StorageError,
    mistake_bound,
    separability,
)
from separatrix.files.layout import block_rows

MODELS = [
    LogisticRegression(),
    LogisticRegression(C=np.inf, fit_intercept=False),
    LogisticRegression(solver="lbfgs", class_weight="balanced"),
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
    NaiveBayes(),
    NaiveBayes(shared_variance=False),
    GaussianNB(),
    NearestCentroid(),
    NearestCentroid(shrink_threshold=0.5, priors="empirical"),
    LeastSquaresClassifier(),
    RidgeClassifier(),
    Perceptron(max_iter=3),
    Perceptron(max_iter=3, average=True, tol=1e-3),
    Perceptron(max_iter=3, update="batch"),
    Perceptron(max_iter=3, update="worst", init="ones", eta0=0.3),
]


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch):
    """Several blocks of few rows; passes have chunks of their own."""
    monkeypatch.setattr("separatrix.files.layout.TARGET_BYTES", 1 << 20)
    monkeypatch.setattr("separatrix.files.writer.TARGET_BYTES", 1 << 20)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_fit_is_that_in_memory_bit_for_bit(model, table):
    X, y = TABLES[table]
    if table == "csr" and (model.get_params().get("C") == np.inf or str(model) == "LinearSVC()"):
        pytest.skip("the first takes seconds; the second goes by coordinate descent in memory")
    expected = fitted(model, X, y)
    with stored(X) as rows:
        assert rows.sparse == (table == "csr")
        assert len(rows.block_rows) > 1
        separatrix.set_threads(2)
        try:
            found = fitted(model, rows, y)
        finally:
            separatrix.set_threads(None)
        assert plain(found) == plain(expected)
        assert np.array_equal(found.predict(rows), expected.predict(X))
        if found.certificate_ is not None:
            here, there = found.certificate_.verify(rows, y), expected.certificate_.verify(X, y)
            assert here
            assert str(here) == str(there)
            y_wrong = y.copy()
            y_wrong[: len(y) // 3] = y[::-1][: len(y) // 3]
            assert not found.certificate_.verify(rows, y_wrong)


def test_weights_and_float32_are_as_in_memory():
    given, y = dense()
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    for X in (given, given.astype(np.float32)):
        expected = fitted(LogisticRegression(), X, y, weight)
        with stored(X) as rows:
            found = fitted(LogisticRegression(), rows, y, weight)
            assert plain(found) == plain(expected)
            assert found.coef_.dtype == X.dtype
            assert found.certificate_.verify(rows, y, weight)
            weight[7] = 0.0
            with pytest.raises(InvalidInputError, match="1 rows have a weight of 0"):
                fitted(LogisticRegression(), rows, y, weight)
            weight[7] = 1.0


def test_sparse_rows_of_a_hinge_go_without_coordinate_descent():
    X, y = csr()
    expected = fitted(LinearSVC(tol=1e-6), X, y)
    with stored(X) as rows:
        found = fitted(LinearSVC(tol=1e-6), rows, y)
        assert found.certificate_.verify(rows, y)
        assert found.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=2e-6)


@pytest.mark.parametrize("model", [LogisticRegression(tol=1e-6), LinearSVC(tol=1e-6)], ids=str)
def test_rows_sorted_by_class_do_no_harm(model):
    X, y = dense()
    order = np.argsort(y, kind="stable")
    with stored(X[order]) as rows:
        found = fitted(model, rows, y[order])
        assert found.certificate_.verify(rows, y[order])
        assert found.n_iter_ <= 2 * fitted(model, X, y).n_iter_ + 2


def test_separability_has_the_same_proof():
    for name in ("dense", "csr"):
        X, y = TABLES[name]
        with stored(X) as rows:
            found, expected = separability(rows, y), separability(X, y)
            assert found.verdict == expected.verdict == "overlapping"
            assert json.dumps(found.certificate.to_dict(), default=str) == json.dumps(
                expected.certificate.to_dict(), default=str
            )
            assert found.verify(rows, y)
    X, y = dense()
    y = (X[:, 0] > X[:, 1]).astype(int)
    X[:, 0] += np.where(y, 0.1, -0.1)
    with stored(X) as rows:
        assert separability(rows, y).verdict == "separable"
        assert fitted(Kozinec(), rows, y).certificate_.verify(rows, y)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_small_tables_are_decided_as_in_memory(kind):
    """Rows that touch, repeat or leave the plane undetermined are looked at one by one: few are simply read."""
    rng = np.random.default_rng(0)
    for seed in range(12):
        X = rng.integers(-2, 3, size=(12, 2)).astype(float)
        X = np.vstack([X, X[:3]])
        y = (X[:, 0] + (seed % 3) * X[:, 1] >= 0).astype(int)
        y[-1] ^= seed % 4 == 3
        if len(set(y.tolist())) < 2:
            continue
        X = sparse.csr_matrix(X) if kind == "csr" else X
        with stored(X, sparse=kind == "csr") as rows:
            for exact in (False, True):
                found, expected = separability(rows, y, exact=exact), separability(X, y, exact=exact)
                assert json.dumps(found.certificate.to_dict(), default=str) == json.dumps(
                    expected.certificate.to_dict(), default=str
                )
                assert found.verify(rows, y)
            for model in (LogisticRegression(), LogisticRegression(C=np.inf), LinearSVC(), LinearSVC(C=np.inf)):
                outcomes = []
                for given in (X, rows):
                    try:
                        outcomes.append(plain(fitted(model, given, y)))
                    except separatrix.NotSeparableError as error:
                        outcomes.append(str(error))
                assert outcomes[0] == outcomes[1]


def other_settings():
    X, y = dense(n=9000)
    counts = np.random.default_rng(0).poisson(2.0, size=(9000, 12)).astype(float)
    some = sparse.csr_matrix(counts)
    yield LogisticRegression(bias_reduction="firth", C=np.inf), X[:3000], y[:3000]
    yield LogisticRegression(), X, np.column_stack([y, 1 - y, y])
    yield LogisticRegression(loss="squared_error", solver="gauss-newton"), X, y
    yield LogisticRegression(solver="gradient", max_iter=5), X, y
    yield Perceptron(max_iter=5, trace=True), X[:500], y[:500]
    yield NaiveBayes(family=["gaussian"] * 6 + ["poisson"] * 6), counts, y
    yield from (
        (NaiveBayes(family=family), table, y) for family in ("poisson", "multinomial") for table in (counts, some)
    )
    yield from (
        (model, table, y)
        for model in (PoissonNB(), ComplementNB(norm=True), CategoricalNB())
        for table in (counts, some)
    )
    yield LogisticRegression(solver="newton", damping=False), X, y
    yield NaiveBayes(family="bernoulli"), sparse.csr_matrix(counts > 2).astype(float), y


@pytest.mark.parametrize("case", range(len(list(other_settings()))))
def test_other_settings_are_as_in_memory(case):
    model, X, y = list(other_settings())[case]
    expected = fitted(model, X, y)
    with stored(X, sparse=sparse.issparse(X)) as rows:
        found = fitted(model, rows, y)
        assert plain(found) == plain(expected)
        assert found.certificate_ is None or found.certificate_.verify(rows, y)
        assert np.array_equal(found.predict(rows), expected.predict(X))


# Python itself swallows what is raised while it collects garbage, and reports it: then the fit goes on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="interrupts come by a timer")
def test_an_interruption_at_any_moment_does_no_harm():
    X, y = dense()
    expected = plain(fitted(LogisticRegression(), X, y))

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with stored(X) as rows:
            interrupted = 0
            for k in range(1, 12):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.002 * k)
                    fitted(LogisticRegression(), rows, y)
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except KeyboardInterrupt:
                    interrupted += 1
                assert plain(fitted(LogisticRegression(), rows, y)) == expected
            assert interrupted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


REFUSED = [
    SVC(),
    HardMarginSVC(),
    KernelPerceptron(),
    MinimumErrorClassifier(),
    PocketPerceptron(),
    LogisticRegressionCV(),
]


@pytest.mark.parametrize("model", REFUSED, ids=str)
def test_the_others_say_why_not_and_what_to_use(model):
    with stored(np.random.default_rng(0).normal(size=(50, 2))) as rows:
        y = np.arange(50) % 2
        with pytest.raises(InvalidInputError, match=r"does not learn from rows in a file: .* Use "):
            model.fit(rows, y)
        assert not hasattr(model, "classes_")
        for wrong in (Perceptron(shuffle=True), LogisticRegression(solver="sgd")):
            with pytest.raises(InvalidInputError, match="use "):
                wrong.fit(rows, y)
        with pytest.raises(InvalidInputError, match="mistake_bound does not learn"):
            mistake_bound(rows, y)
        with pytest.raises(InvalidInputError, match="expecting 2 features"), stored(np.eye(3)) as wide:
            LogisticRegression().fit(rows, y).predict(wide)


def test_wide_rows_say_what_to_use():
    X = sparse.random(3000, 2500, density=0.01, format="csr", random_state=0)
    y = np.arange(3000) % 2
    with stored(X) as rows:
        with pytest.raises(InvalidInputError, match="loss='squared_hinge'"):
            LinearSVC().fit(rows, y)
        for model in (LinearSVC(loss="squared_hinge"), LogisticRegression()):
            assert fitted(model, rows, y).certificate_.verify(rows, y)


def test_a_file_that_is_cut_off_ends_the_fit_and_leaves_the_model_as_it_was(tmp_path):
    X, y = dense()
    with stored(X, path=tmp_path / "rows") as rows:
        model = fitted(LogisticRegression(), rows, y)
        before = plain(model)
        os.truncate(tmp_path / "rows", 20 * 8 * block_rows(20) + 1000)
        with pytest.raises(StorageError, match="block 2 of 5 is cut off"):
            model.set_params(C=0.5).fit(rows, y)
        assert plain(model) == before
