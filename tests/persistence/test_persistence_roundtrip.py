"""Every classifier comes back from its file as it went in."""

import warnings

import numpy as np
import pytest
from contract import estimator_classes, suited
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

import separatrix
from separatrix import (
    SVC,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    LogisticRegressionCV,
    ModelFileError,
    NaiveBayes,
    NearestCentroid,
    Perceptron,
    load,
    save,
)
from separatrix.data import Encoder, embedded
from separatrix.formulas.families import ExponentialFamily, Poisson
from separatrix.kernels import Graph, Linear, Rbf, Spectrum, WeisfeilerLehman
from separatrix.persistence import load_bundle

METHODS = ("decision_function", "predict", "predict_proba", "predict_log_proba", "signed_distance")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.separatrix"


def same(one, other, where=""):
    """Whether two values are equal in every bit that can be seen."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        np.testing.assert_array_equal(one, other, err_msg=where)
        assert one.flags.f_contiguous == other.flags.f_contiguous, where
    elif sparse.issparse(one):
        assert one.shape == other.shape
        assert (one != other).nnz == 0, where
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), where
        for first, second in zip(one, other, strict=True):
            same(first, second, where)
    elif hasattr(one, "to_dict"):
        assert one.to_dict() == other.to_dict(), where
    elif isinstance(one, ExponentialFamily):
        assert vars(one) == vars(other) == {}, where  # of one type, and without anything of its own
    elif not where.startswith("_"):
        assert one == other or one != one, where


def check(model, path, X, y, *, again=None):
    save(model, path)
    loaded = load(path)
    assert type(loaded) is type(model)
    for name, value in model.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else value  # numbers become those of Python
        same(value, getattr(loaded, name), name)
    assert set(vars(loaded)) == set(vars(model)) - {"trace_"}
    for name in set(vars(loaded)) - set(model.get_params(deep=False)) - {"_published"}:
        same(getattr(model, name), getattr(loaded, name), name)
    for name in METHODS:
        if hasattr(model, name):
            same(getattr(model, name)(X), getattr(loaded, name)(X), name)
    if model.certificate_ is not None and again is None:
        assert str(model.certificate_.verify(X, y)) == str(loaded.certificate_.verify(X, y))
        assert bool(loaded.certificate_.verify(X, y)) == bool(model.certificate_.verify(X, y))
    return loaded


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("estimator", estimator_classes())
def test_every_classifier(estimator, k, path):
    model = estimator()
    X, y = suited(model, k)
    labels = np.array(["a", "b", "c"])[np.unique(y, return_inverse=True)[1]]
    check(model.fit(X, labels), path, X, labels)


@pytest.mark.parametrize("storage", [np.asfortranarray, np.float32, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("estimator", estimator_classes())
def test_every_storage(estimator, storage, path):
    model = estimator()
    X, y = suited(model, 3)
    check(model.fit(storage(X), y), path, storage(X), y)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1.0, 2.0],
        [False, True],
        ["no", "yes"],
        np.array(["no", "yes"], dtype=object),
        np.array([3, 9], np.int8),
    ],
)
def test_every_kind_of_label(labels, path):
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    y = np.asarray(labels)[[0, 0, 1, 1]]
    check(NearestCentroid().fit(X, y), path, X, y)


def test_settings_of_every_kind(path):
    X, y = suited(LogisticRegression(), 2)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    for model in (
        LogisticRegression(C=np.inf, bias_reduction="firth"),
        LogisticRegression(np.float64(0.5), class_weight={0: 1.0, 1: 2.5}, init=np.zeros(4)),
        LogisticRegression(loss="squared_error", threshold=0.3),
        LogisticRegression(solver="gradient", trace=True, max_iter=5),
        LogisticRegressionCV(Cs=[0.1, 1.0], cv=3, scoring="neg_log_loss"),
        Perceptron(init=[0.0, 0, 0, 1], shuffle=True, random_state=3, average=True, trace=True),
        SVC(kernel=Linear(), C=2),
        SVC(kernel=Rbf(0.5), class_weight="balanced"),
        KernelPerceptron("poly", degree=2, coef0=1.0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(model.fit(frame, y), path, frame, y)
    overlapping = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    loaded = check(LogisticRegression(C=np.inf).fit(*overlapping), path, *overlapping)
    assert "std err" in loaded.summary()


def test_several_labels_a_row(path):
    X = np.array([[0.0, 1], [1, 0], [2, 5], [3, 1], [4, 2]])
    Y = np.array([[0, 1], [0, 1], [1, 0], [1, 1], [1, 0]])
    for model in (LeastSquaresClassifier(), LogisticRegression()):
        check(model.fit(X, Y), path, X, Y)


def test_strings_graphs_and_kernel_matrices(path):
    strings = ["gattaca", "tacaga", "ccggcc", "ggcgcg", "gat", "ggg"] * 20
    y = np.array([1, 1, 0, 0, 1, 0] * 20)
    check(KernelPerceptron(Spectrum(2)).fit(strings, y), path, strings, y)
    check(SVC(kernel=Spectrum(2, normalize=True), C=np.inf).fit(strings[:6], y[:6]), path, strings[:6], y[:6])
    graphs = [Graph([(0, 1), (1, 2)], [letter, "b", ("t", 1)]) for letter in ("C", "O", "C", "N")]
    check(SVC(kernel=WeisfeilerLehman(1)).fit(graphs, [1, 0, 1, 0]), path, graphs, np.array([1, 0, 1, 0]))
    X, y = suited(SVC(), 3)
    K = X @ X.T
    for model in (SVC(kernel="precomputed"), KernelPerceptron("precomputed")):
        check(model.fit(K, y), path, K, y)


@pytest.mark.parametrize(
    "family", ["gaussian", "poisson", "bernoulli", ["gaussian", "poisson"], [Poisson(), "gaussian"]]
)
@pytest.mark.parametrize("shared", [True, False])
def test_naive_bayes_goes_on_learning(family, shared, path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 2)).astype(float)
    y = rng.integers(0, 3, 60)
    model = NaiveBayes(family, shared_variance=shared, priors=[0.2, 0.3, 0.5])
    loaded = check(model.partial_fit(X[:40], y[:40], classes=[0, 1, 2]), path, X[:40], y[:40])
    same(model.partial_fit(X[40:], y[40:]).predict_proba(X), loaded.partial_fit(X[40:], y[40:]).predict_proba(X))


def test_a_family_that_was_given_something_of_its_own_is_not_the_one_of_its_name(path):
    X, y = np.arange(8.0).reshape(8, 1), np.arange(8) % 2
    own = Poisson()
    own.log_partition = lambda theta: 2 * np.exp(theta)
    model = NaiveBayes(own).fit(X, y)
    assert not model.status_.certified
    with pytest.raises(ModelFileError, match="is a Poisson, which cannot be saved"):
        save(model, path)


@pytest.mark.parametrize("average", [True, False])
def test_perceptrons_go_on_learning(average, path):
    X, y = suited(Perceptron(), 3)
    model = Perceptron(average=average).partial_fit(X, y, classes=np.unique(y))
    save(model, path)
    loaded = load(path)
    for _ in range(3):
        model.partial_fit(X, y)
        loaded.partial_fit(X, y)
        same(model.coef_, loaded.coef_)
        assert model.n_iter_ == loaded.n_iter_
    same(model.set_params(warm_start=True).fit(X, y).coef_, loaded.set_params(warm_start=True).fit(X, y).coef_)


def test_a_loaded_model_can_be_fitted_anew(path):
    X, y = suited(Perceptron(), 2)
    save(Perceptron(trace=True).fit(X, y), path)
    loaded = load(path)
    assert not hasattr(loaded, "trace_")
    loaded.fit(X, y)
    assert loaded.trace_.n_steps > 0
    loaded.coef_ *= 2  # arrays can be written to


def test_long_certificates_are_tensors(path):
    from safetensors import safe_open

    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = (X[:, 0] + rng.normal(size=500) > 0).astype(int)
    model = separatrix.LinearSVC().fit(X, y)
    check(model, path, X, y)
    with safe_open(path, "np") as file:  # the format's own library reads it
        names, text = set(file.keys()), file.metadata()["separatrix"]
        np.testing.assert_array_equal(file.get_tensor("coef_"), model.coef_)
    assert "certificate_.alpha.array" in names
    assert len(text) < 5000


def test_the_file_is_the_same_every_time(path):
    X, y = suited(NearestCentroid(), 2)
    model = NearestCentroid().fit(X, y)
    save(model, path)
    first = path.read_bytes()
    save(load(path), path)
    assert path.read_bytes() == first


def test_encoder_and_fingerprint_travel_along(path):
    table = embedded()
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    model = NearestCentroid().fit(X, table.y)
    save(model, path, encoder=encoder, fingerprint=table.fingerprint)
    bundle = load_bundle(path)
    assert bundle.encoder.to_dict() == encoder.to_dict()
    assert bundle.encoder.names == names
    assert bundle.encoder.target == "diagnosis"
    assert bundle.fingerprint == table.fingerprint
    assert set(bundle.versions) == {"separatrix", "numpy", "scikit-learn", "python"}
    assert (bundle.model.predict(bundle.encoder.transform(table)[0]) == model.predict(X)).all()
    save(model, path)
    assert (load_bundle(path).encoder, load_bundle(path).fingerprint) == (None, None)


class Own(ExponentialFamily):
    name = "own"

    def natural(self, mean):
        return -1 / mean

    def log_partition(self, theta):
        return -np.log(-theta)


X4, Y4 = np.array([[1.0], [3.0], [6.0], [10.0]]), np.array([0, 0, 1, 1])
REFUSED = {
    "kernel": (SVC(kernel=lambda A, B: A @ B.T), r"parameters.kernel is a function, .*executed.*set_params\(kernel"),
    "kernel_": (KernelPerceptron(lambda A, B: A @ B.T), "parameters.kernel is a function"),
    "family": (NaiveBayes(Own()), "parameters.family is a Own, which cannot be saved"),
    "cv": (LogisticRegressionCV(cv=StratifiedKFold(2)), "parameters.cv is a StratifiedKFold"),
    "random_state": (Perceptron(random_state=np.random.RandomState(0)), "parameters.random_state is a RandomState"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_plain_data_is_refused(name, path):
    model, message = REFUSED[name]
    with pytest.raises(ModelFileError, match=message):
        save(model.fit(X4, Y4), path)
    assert not path.exists()


def test_other_things_are_refused(path):
    from sklearn.linear_model import LogisticRegression as Foreign

    class Mine(NearestCentroid):
        pass

    model = NearestCentroid().fit(X4, Y4)
    for other in (Foreign().fit(X4, Y4), Mine().fit(X4, Y4), "text", None):
        with pytest.raises(ModelFileError, match="is not a classifier of separatrix"):
            save(other, path)
    with pytest.raises(NotFittedError):
        save(NearestCentroid(), path)
    with pytest.raises(ModelFileError, match="not a SHA-256"):
        save(model, path, fingerprint="abc")
    model.note_ = "mine"
    with pytest.raises(ModelFileError, match="attribute 'note_' that model files do not know"):
        save(model, path)
    del model.note_
    model.coef_ = model.coef_ * np.nan
    with pytest.raises(ModelFileError, match="cannot be saved: its coef_ is malformed"):
        save(model, path)
    assert not path.exists()
