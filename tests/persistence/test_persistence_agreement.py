"""A model file is tied to its certificate: with other weights, labels, kernels or settings it does not pass."""

import warnings

import numpy as np
import pytest
from contract import estimator_classes, suited
from persistence.modelfiles import join, split

import separatrix
from separatrix import (
    SVC,
    CategoricalNB,
    ComplementNB,
    HardMarginSVC,
    KernelPerceptron,
    Kozinec,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    MinimumErrorClassifier,
    ModelFileError,
    NaiveBayes,
    NearestCentroid,
    Perceptron,
    PocketPerceptron,
    RidgeClassifier,
    load,
    save,
)
from separatrix.persistence import load_bundle
from separatrix.persistence.files import dump

KINDS = {
    "logistic": LogisticRegression(C=2.0),
    "maximum likelihood": LogisticRegression(C=np.inf),
    "balanced": LogisticRegression(class_weight="balanced"),
    "weighted": LogisticRegression(class_weight={0: 2.0}, fit_intercept=False),
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "linear": LinearSVC(),
    "widest": LinearSVC(C=np.inf),
    "svc": SVC(),
    "svc poly": SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0),
    "svc linear": SVC(kernel="linear"),
    "hard svc": SVC(C=np.inf),
    "hard margin": HardMarginSVC(),
    "hard margin rbf": HardMarginSVC("rbf"),
    "kernel perceptron": KernelPerceptron(),
    "perceptron": Perceptron(),
    "average": Perceptron(average=True, fit_intercept=False),
    "pocket": PocketPerceptron(),
    "kozinec": Kozinec(),
    "kozinec origin": Kozinec(fit_intercept=False),
    "centroids": NearestCentroid(),
    "medians": NearestCentroid("manhattan"),
    "shrunken medians": NearestCentroid("manhattan", shrink_threshold=0.2, priors="empirical"),
    "shrunken": NearestCentroid(shrink_threshold=0.2, priors="empirical"),
    "ridge": RidgeClassifier(),
    "least squares": LeastSquaresClassifier(),
    "bayes": NaiveBayes(),
    "complement": ComplementNB(),
    "complement of shares": ComplementNB(norm=True),
    "categories": CategoricalNB(),
    "own variances": NaiveBayes(shared_variance=False),
    "fewest errors": MinimumErrorClassifier(),
    "squared error": LogisticRegression(loss="squared_error"),
    "firth": LogisticRegression(C=np.inf, bias_reduction="firth"),
}
TWO_ONLY = {"squared error", "firth"}
CASES = [(name, k) for name in KINDS for k in (2, 3) if k == 2 or name not in TWO_ONLY]
OVERLAPPING = {"maximum likelihood", "balanced", "pocket", "svc"}


def fitted(name, k):
    model = KINDS[name]
    X, y = suited(model, k)
    if name in OVERLAPPING:
        X = np.random.default_rng(0).normal(size=X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y), X, y


def verified(blob, path, X, y):
    """As the command does it: read, compare, check the claim. The reasons why not, if any."""
    path.write_bytes(blob)
    try:
        bundle = load_bundle(path)
    except ModelFileError as error:
        return [str(error)]
    certificate = bundle.model.certificate_
    if certificate is None:
        return ["no certificate"]
    found = bundle.differences(X, y)
    try:
        return found + ([] if certificate.verify(X, y) else ["the claim does not hold"])
    except ValueError as error:
        return [*found, str(error)]


def tampered(blob, name, change):
    """The file with the numbers of a tensor changed, and a checksum that fits; None if they are as they were."""
    header, document, data = split(blob)
    entry = header[name]
    first, last = entry["data_offsets"]
    dtype = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"}[entry["dtype"]]
    values = np.frombuffer(data[first:last], dtype).reshape(entry["shape"])
    changed = change(values).astype(dtype)
    if np.array_equal(changed, values):
        return None
    return join(header, document, data[:first] + changed.tobytes() + data[last:])


def tensors(blob):
    return {name: entry for name, entry in split(blob)[0].items() if name != "__metadata__"}


@pytest.mark.parametrize("estimator", estimator_classes())
@pytest.mark.parametrize("k", [2, 3])
def test_every_classifier_agrees_with_its_certificate(estimator, k, tmp_path):
    model = estimator()
    X, y = suited(model, k)
    save(model.fit(X, y), tmp_path / "m")
    assert model.certificate_ is not None
    assert load_bundle(tmp_path / "m").differences(X, y) == []


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_weights_are_tied_to_the_certificate(name, k, tmp_path):
    model, X, y = fitted(name, k)
    blob = dump(model)
    assert verified(blob, tmp_path / "m", X, y) == []
    about = [
        attribute
        for attribute in tensors(blob)
        if attribute
        in ("coef_", "intercept_", "dual_coef_", "support_vectors_", "centroids_", "parameters_", "variances_")
        or attribute in ("errors_", "lower_bound_", "class_prior_")
        or attribute.startswith(("scorer.expansion", "scorer.additive"))
    ]
    if isinstance(model, Perceptron):  # its counts of updates are no part of the claim
        about.remove("dual_coef_")
    assert about
    changes = {
        "times -7": lambda values: values * -7,
        "one more": lambda values: values + 1e-9 * (1 + np.abs(values)),
        "turned round": lambda values: values[::-1],
    }
    for attribute in about:
        for how, change in changes.items():
            other = tampered(blob, attribute, change)
            assert other is None or verified(other, tmp_path / "m", X, y), (attribute, how)


@pytest.mark.parametrize("name", ["logistic", "squared error", "firth", "least squares"])
def test_of_a_matrix_of_labels(name, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = (X @ rng.normal(size=(3, 3)) + rng.normal(size=(60, 3)) > 0).astype(int)
    model = KINDS[name].fit(X, Y)
    blob = dump(model)
    assert verified(blob, tmp_path / "m", X, Y) == []
    assert "coef_ is not that" in verified(tampered(blob, "coef_", lambda c: c[::-1]), tmp_path / "m", X, Y)[0]


def test_the_reproduction(tmp_path):
    X, y = suited(LogisticRegression(), 2)
    blob = tampered(dump(LogisticRegression().fit(X, y)), "coef_", lambda coef: -7 * coef)
    (tmp_path / "m").write_bytes(blob)
    with pytest.raises(ModelFileError, match="its coef_ is not that of its certificate: one of them was changed"):
        load(tmp_path / "m")


def test_the_certificate_of_another_model(tmp_path):
    for one, other in (("logistic", "linear"), ("svc", "svc poly"), ("perceptron", "kernel perceptron")):
        first, second = fitted(one, 3)[0], fitted(other, 3)[0]
        first.certificate_ = second.certificate_
        with pytest.raises(ModelFileError, match=r"cannot be saved: its .* its certificate"):
            dump(first)


def test_weights_changed_by_hand_are_saved_without_a_certificate(tmp_path):
    model = fitted("logistic", 2)[0]
    model.coef_ = 2 * model.coef_
    with pytest.raises(ModelFileError, match="its coef_ is not that of its certificate"):
        save(model, tmp_path / "m")
    model.certificate_ = None
    save(model, tmp_path / "m")
    assert (load(tmp_path / "m").coef_ == model.coef_).all()


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("logistic", "C", 3.0),
        ("logistic", "fit_intercept", False),
        ("logistic", "loss", "squared_error"),
        ("logistic", "tol", 1e-9),
        ("logistic", "class_weight", {1: 3.0}),
        ("logistic", "class_weight", "balanced"),
        ("balanced", "class_weight", None),
        ("weighted", "class_weight", {0: 2.5}),
        ("squared error", "loss", "log"),
        ("firth", "bias_reduction", None),
        ("linear", "loss", "squared_hinge"),
        ("svc poly", "degree", 3),
        ("svc poly", "gamma", 0.75),
        ("svc poly", "coef0", 2.0),
        ("svc poly", "kernel", "rbf"),
        ("own variances", "shared_variance", True),
        ("bayes", "alpha", 2.0),
    ],
)
def test_the_parameters_are_those_of_the_certificate(name, parameter, value, tmp_path):
    model, X, y = fitted(name, 2)
    if parameter == "class_weight":  # classes of different sizes, so that "balanced" means something
        X, y = np.vstack([X, X[y == 1]]), np.append(y, y[y == 1])
        model.fit(X, y)
    assert verified(dump(model), tmp_path / "m", X, y) == []
    before = model.get_params()
    try:
        blob = dump(model.set_params(**{parameter: value}))
        assert any(f"parameter {parameter}" in reason for reason in verified(blob, tmp_path / "m", X, y))
        load(tmp_path / "m")  # the model itself is as good as it was
    finally:
        model.set_params(**before)


def test_a_claim_about_the_data_is_not_about_the_weights(tmp_path):
    X, y = suited(LogisticRegression(), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert separatrix.persistence.agreement.about_the_data_only(model)
    blob = dump(model)
    assert verified(blob, tmp_path / "m", X, y) == []
    header, document, data = split(blob)
    document["fitted"]["status_"] = {"$status": "CERTIFIED"}
    (reason, *_) = verified(join(header, document, data), tmp_path / "m", X, y)
    assert "is not that of its certificate" in reason


def test_part_of_the_certificate_is_missing_or_out_of_order(tmp_path):
    model, X, y = fitted("linear", 3)
    header, document, data = split(dump(model))
    parts = document["fitted"]["certificate_"]["$certificate"]["parts"]
    parts[0], parts[1] = parts[1], parts[0]
    (reason, *_) = verified(join(header, document, data), tmp_path / "m", X, y)
    assert "its certificate is not about each of its hyperplanes" in reason


def test_machines_of_few_rows_are_saved():
    """Rows of a pair, and rows with a weight, are counted by themselves: small numbers mean other rows there."""
    saved = 0
    for seed in range(40):
        r = np.random.default_rng(seed)
        X, y = r.normal(size=(12, 4)), np.arange(12) % 3
        weight = (np.arange(12) % 4 > 0).astype(float)
        for model in (HardMarginSVC(), LinearSVC(), SVC(kernel="linear")):
            try:
                model.fit(X, y, weight if isinstance(model, LinearSVC) else None)
            except separatrix.NotSeparableError:
                continue
            assert dump(model)
            saved += 1
    assert saved > 80


def test_multipliers_in_another_order_are_not_those_of_the_certificate():
    r = np.random.default_rng(0)
    model = LinearSVC().fit(r.normal(size=(30, 4)), np.arange(30) % 2, np.arange(30) % 4 > 0)
    alpha = np.array(model.dual_coef_)
    some = np.argsort(np.abs(alpha[0]))[[0, -1]]
    assert abs(alpha[0, some[0]]) != abs(alpha[0, some[1]])
    alpha[0, some] = alpha[0, some[::-1]]
    model.dual_coef_ = alpha
    with pytest.raises(ModelFileError, match="dual_coef_ is not that of its certificate"):
        dump(model)
