"""Certificates: they survive JSON, hold for the data they are about and for no other, and stand on their own."""

import ast
import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contract import all_estimators, suited
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from problems import bits, counts, noisy
from scipy import sparse

import separatrix.certificates
from separatrix import CategoricalNB, ComplementNB, LeastSquaresClassifier, NaiveBayes, NearestCentroid, RidgeClassifier
from separatrix.certificates import Certificate, Check, Stationarity, Verification
from separatrix.certificates._plain import from_plain, to_plain

SOURCES = sorted(Path(separatrix.certificates.__file__).parent.rglob("*.py"))


def mixed(k):
    """A column of each family."""
    X = np.column_stack([bits(d=1, k=k)[0], counts(d=1, k=k)[0], noisy(80, 2, k)[0], counts(d=2, k=k, seed=1)[0]])
    return X, np.arange(80) % k


def labels_matrix():
    X, _ = noisy(80, 3)
    return X, np.column_stack([X @ [1, 1, -1] > 0.2, X @ [-1, 1, 1] > 0.3]).astype(int)


CASES = {
    "centroids of 2": (NearestCentroid(), *noisy()),
    "centroids of 3": (NearestCentroid(), *noisy(k=3)),
    "shrunken centroids of 3": (NearestCentroid(shrink_threshold=0.3), *noisy(k=3)),
    "centroids with priors": (NearestCentroid(priors=[0.2, 0.8]), *noisy()),
    "ridge of 2": (RidgeClassifier(2.0), *noisy(seed=1)),
    "least squares of 2": (LeastSquaresClassifier(), *noisy(seed=1)),
    "least squares of 3": (LeastSquaresClassifier(), *noisy(k=3)),
    "least squares, balanced": (LeastSquaresClassifier(class_weight="balanced"), *noisy(seed=1)),
    "least squares, no intercept": (LeastSquaresClassifier(fit_intercept=False), *noisy()),
    "least squares of a 0/1 matrix": (LeastSquaresClassifier(), *labels_matrix()),
    "gaussian of 2": (NaiveBayes(), *noisy(seed=1)),
    "gaussian of 3": (NaiveBayes(), *noisy(k=3)),
    "gaussian, own variances": (NaiveBayes(shared_variance=False), *noisy(k=3)),
    "bernoulli": (NaiveBayes("bernoulli"), *bits()),
    "bernoulli of 3": (NaiveBayes("bernoulli", alpha=0.5), *bits(k=3)),
    "poisson": (NaiveBayes("poisson"), *counts()),
    "complement of 2": (ComplementNB(), *counts()),
    "complement of 3, norm": (ComplementNB(norm=True, alpha=0.5), *counts(k=3)),
    "categories of 2": (CategoricalNB(), *counts()),
    "categories of 3": (CategoricalNB(alpha=0.5, class_prior=[0.2, 0.3, 0.5]), *counts(k=3)),
    "multinomial of 3": (NaiveBayes("multinomial"), *counts(k=3)),
    "given priors": (NaiveBayes("poisson", priors=[0.3, 0.7]), *counts()),
    "mixed of 2": (NaiveBayes(["bernoulli", "poisson", "gaussian", "gaussian", *["multinomial"] * 2]), *mixed(2)),
    "mixed of 3": (NaiveBayes(["bernoulli", "poisson", "gaussian", "gaussian", *["multinomial"] * 2]), *mixed(3)),
}


def weights(n, seed=0):
    return np.random.default_rng(seed).integers(1, 4, size=n).astype(float)


@pytest.fixture(params=CASES)
def case(request):
    """Certificate, rows, labels and weights of a model with a formula."""
    model, X, y = CASES[request.param]
    weight = weights(len(X))
    return model.fit(X, y, weight).certificate_, X, y, weight


def with_witness(certificate, name, value):
    """The certificate with one witness replaced."""
    altered = copy.copy(certificate)
    object.__setattr__(altered, "witness", {**certificate.witness, name: value})
    return altered


# ---------------------------------------------------------------------- it holds when it should
def test_holds_for_its_data(case):
    certificate, X, y, weight = case
    verification = certificate.verify(X, y, weight)
    assert verification
    assert verification.checks
    for check in verification.checks:
        assert check
        assert str(check) in str(verification)
        assert str(check).startswith("holds")


def test_holds_whatever_the_order_of_the_rows(case):
    certificate, X, y, weight = case
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        assert certificate.verify(X[order], y[order], weight[order])


def test_holds_for_other_containers_of_the_same_numbers(case):
    certificate, X, y, weight = case
    for rows in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X), X.tolist(), np.asfortranarray(X)):
        assert certificate.verify(rows, y, weight)
    assert certificate.verify(X, y.tolist(), weight.tolist())


def test_holds_for_rows_in_place_of_weights(case):
    certificate, X, y, weight = case
    repeats = weight.astype(int)
    assert certificate.verify(np.repeat(X, repeats, axis=0), np.repeat(y, repeats, axis=0))


def test_rows_of_weight_0_do_not_count(case):
    certificate, X, y, weight = case
    more = np.vstack([X, np.full((2, X.shape[1]), 1e6)])
    assert certificate.verify(more, np.concatenate([y, y[:2]]), np.append(weight, [0.0, 0.0]))
    if y.ndim == 1:  # not even if their label is unknown
        assert certificate.verify(more, np.append(y, [77, 77]), np.append(weight, [0.0, 0.0]))


# ---------------------------------------------------------------------- and fails when it should
PERTURBED = ("centroids", "coef", "intercept", "parameters", "variances", "prior")


def test_fails_if_any_number_of_a_witness_is_off_by_a_millionth(case):
    certificate, X, y, weight = case
    for name in PERTURBED:
        value = certificate.witness.get(name)
        if value is None:
            continue
        for index in np.ndindex(value.shape):
            if value[index] == 0:  # a variance in a column that is not Gaussian, an intercept that is not free
                continue
            for factor in (1 + 1e-6, 1 - 1e-6, -1.0, 2.0):
                wrong = value.copy()
                wrong[index] *= factor
                assert not with_witness(certificate, name, wrong).verify(X, y, weight), (name, index, factor)


def test_fails_if_a_witness_is_not_a_number(case):
    certificate, X, y, weight = case
    for name in PERTURBED:
        value = certificate.witness.get(name)
        if value is None:
            continue
        for bad in (np.nan, np.inf):
            wrong = value.copy()
            wrong.flat[0] = bad
            with pytest.raises(ValueError, match=name):
                with_witness(certificate, name, wrong).verify(X, y, weight)


def test_fails_if_a_label_is_changed(case):
    certificate, X, y, weight = case
    for row in (0, 17, len(y) - 1):
        changed = y.copy()
        if y.ndim == 2:
            changed[row, 0] = 1 - y[row, 0]
        else:
            changed[row] = (y[row] + 1) % len(certificate.classes)
        assert not certificate.verify(X, changed, weight)


def test_fails_if_a_weight_is_changed(case):
    certificate, X, y, weight = case
    for row in (0, 17, len(y) - 1):
        changed = weight.copy()
        changed[row] *= 1.01
        assert not certificate.verify(X, y, changed)
    assert not certificate.verify(X, y)
    assert not certificate.verify(X[:-1], y[:-1], weight[:-1])


def test_fails_if_an_entry_is_changed(case):
    certificate, X, y, weight = case
    for row, column in ((0, 0), (31, X.shape[1] - 1)):
        changed = X.copy()
        changed[row, column] += 1e-3
        assert not certificate.verify(changed, y, weight)


def test_data_that_are_not_numbers_are_a_value_error(case):
    certificate, X, y, weight = case
    for bad in (np.nan, np.inf, -np.inf):
        changed = X.astype(float)
        changed[3, 1] = bad
        for rows in (changed, sparse.csr_array(changed), changed.astype(np.float32)):
            with pytest.raises(ValueError, match="NaN or infinity"):
                certificate.verify(rows, y, weight)


def test_fails_if_a_class_weight_is_changed():
    model, X, y = CASES["least squares, balanced"]
    certificate = model.fit(X, y).certificate_
    assert certificate.verify(X, y)
    altered = copy.copy(certificate)
    object.__setattr__(altered, "class_weight", certificate.class_weight * [1.0, 1.01])
    assert not altered.verify(X, y)


def test_fails_if_an_intercept_that_is_not_free_is_not_0():
    model, X, y = CASES["least squares, no intercept"]
    certificate = model.fit(X, y).certificate_
    assert not with_witness(certificate, "intercept", np.array([1e-12])).verify(X, y)
    # nor can a fit with intercept pass for one without
    free = LeastSquaresClassifier().fit(X, y).certificate_
    assert not with_witness(free, "fit_intercept", False).verify(X, y)


def test_the_allowance_for_rounding_is_not_the_certificates_to_choose(case):
    certificate, X, y, weight = case
    for unit in (1.0, 0.0, -1.0, float("nan"), 1e-3):
        altered = copy.copy(certificate)
        object.__setattr__(altered, "unit", unit)
        with pytest.raises(ValueError, match="unit"):
            altered.verify(X, y, weight)


@pytest.mark.parametrize("name", ["centroids", "coef", "intercept", "parameters", "variances", "prior", "families"])
def test_witnesses_are_not_stretched_to_the_shape_they_should_have(case, name):
    certificate, X, y, weight = case
    value = certificate.witness.get(name)
    if value is None:
        pytest.skip("this certificate has no such witness")
    value = np.asarray(value)
    for wrong in (value[None], value[:1] if len(value) > 1 else value[:0], np.concatenate([value, value])):
        with pytest.raises(ValueError):
            with_witness(certificate, name, wrong).verify(X, y, weight)


def test_data_that_do_not_fit_are_a_value_error(case):
    certificate, X, y, weight = case
    wrong = [
        (X[:-1], y, weight),
        (X, y[:-1], weight),
        (X, y, weight[:-1]),
        (X[:, :-1], y, weight),
        (np.hstack([X, X]), y, weight),
        (X[0], y, weight),
        (None, y, weight),
        (X, None, weight),
        (X, 3, weight),
        ("rows", y, weight),
        (X, y, -weight),
        (X, y, weight * np.nan),
        (X, y, "heavy"),
        (X, y, weight * 0),
        (X[:0], y[:0], weight[:0]),
        (np.full(X.shape, "a"), y, weight),
    ]
    if y.ndim == 1:
        wrong += [(X, np.where(y == 0, 9, y), weight), (X, y.astype(str), weight), (X, [None] * len(y), weight)]
    for rows, labels, w in wrong:
        with pytest.raises(ValueError):
            certificate.verify(rows, labels, w)


# ---------------------------------------------------------------------- on paper
def round_trip(certificate):
    return Certificate.from_dict(json.loads(json.dumps(certificate.to_dict(), allow_nan=False)))


def test_survives_json(case):
    certificate, X, y, weight = case
    again = round_trip(certificate)
    assert type(again) is type(certificate)
    assert again.to_dict() == certificate.to_dict()
    assert again.claim == certificate.claim
    assert again.verify(X, y, weight)
    assert not again.verify(X, y)


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("k", [2, 3])
def test_the_certificate_of_every_estimator_survives_json(estimator, k):
    X, y = suited(estimator, k)
    certificate = estimator.fit(X, y).certificate_
    again = round_trip(certificate)
    assert again.to_dict() == certificate.to_dict()
    assert again.claim == certificate.claim
    assert isinstance(again.verify(X, y), Verification)
    assert again.verify(X, y)


@pytest.mark.parametrize(
    "labels",
    [
        ["ham", "spam"],
        [False, True],
        [-1, 1],
        np.array([3, 250], dtype=np.uint8),
        [0.0, 1.0],
        ["", "é𝄞"],
        [2**62, -(2**62)],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, object])
def test_labels_survive_json(labels, dtype):
    X, codes = noisy()
    y = np.asarray(labels)[codes]
    if dtype is object:
        if y.dtype.kind != "U":
            pytest.skip("scikit-learn takes text only as objects")
        y = y.astype(object)
    certificate = NearestCentroid().fit(X, y).certificate_
    again = round_trip(certificate)
    assert np.asarray(again.classes).tolist() == sorted(np.asarray(labels).tolist())
    assert again.verify(X, y)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -(2**70),
        0.1,
        5e-324,
        float("inf"),
        "text",
        Fraction(1, 3),
        [1, [2.5, "a"]],
        {"a": [1.0], "b": {"c": None}},
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.str_("x"),
    ],
    ids=repr,
)
def test_plain_values_come_back_as_they_were(value):
    back = from_plain(json.loads(json.dumps(to_plain(value), allow_nan=False)), Certificate.from_dict)
    assert back == value
    assert type(back) in (type(value), bool, int, float, str)


def test_nan_comes_back():
    back = from_plain(json.loads(json.dumps(to_plain(float("nan")), allow_nan=False)), Certificate.from_dict)
    assert np.isnan(back)


@given(st.lists(st.floats(width=64), max_size=5), st.sampled_from([np.float64, np.float32]))
def test_arrays_come_back_to_the_bit(values, dtype):
    with np.errstate(over="ignore"):
        array = np.array(values, dtype=np.float64).astype(dtype).reshape(-1, 1)
    back = from_plain(json.loads(json.dumps(to_plain(array), allow_nan=False)), Certificate.from_dict)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)
    assert (np.signbit(back) == np.signbit(array)).all() or np.isnan(array).any()


@pytest.mark.parametrize("value", [object(), 1j, {1, 2}, b"x", np.array([1j]), np.zeros(2, dtype="V4")], ids=type)
def test_what_json_has_no_word_for_is_refused(value):
    with pytest.raises(TypeError, match="cannot be written"):
        to_plain(value)


# ---------------------------------------------------------------------- malformed
def plain_example():
    model, X, y = CASES["mixed of 2"]
    return model.fit(X, y).certificate_.to_dict()


def example_data():
    _, X, y = CASES["mixed of 2"]
    return X, y


@pytest.mark.parametrize("plain", [None, [], "Stationarity", 5, {}, {"kind": "Stationarity"}], ids=repr)
def test_what_is_no_certificate_is_a_value_error(plain):
    with pytest.raises(ValueError):
        Certificate.from_dict(plain)


@pytest.mark.parametrize("field", ["kind", "schema", "problem", "classes", "class_weight", "unit", "witness"])
def test_a_missing_field_is_a_value_error(field):
    plain = plain_example()
    del plain[field]
    with pytest.raises(ValueError, match=field):
        Certificate.from_dict(plain)


@pytest.mark.parametrize("extra", ["more", "verify", "objective", "claim", 5])
def test_an_extra_field_is_a_value_error(extra):
    with pytest.raises(ValueError, match=str(extra)):
        Certificate.from_dict({**plain_example(), extra: 1})


@pytest.mark.parametrize("schema", [0, 2, None, "1", -1, [1], 1.5])
def test_another_schema_is_a_value_error(schema):
    with pytest.raises(ValueError, match="schema"):
        Certificate.from_dict({**plain_example(), "schema": schema})


@pytest.mark.parametrize("kind", ["Certificate", "Nothing", None, 3, "stationarity", ["Stationarity"]])
def test_another_kind_is_a_value_error(kind):
    with pytest.raises(ValueError, match="kind"):
        Certificate.from_dict({**plain_example(), "kind": kind})


def test_a_certificate_of_another_kind_is_a_value_error():
    class Other(Certificate):
        @property
        def claim(self):
            return "Nothing."

        def verify(self, X, y, sample_weight=None):
            return Verification(())

    try:
        assert isinstance(Certificate.from_dict({"kind": "Other", "schema": 1}), Other)
        with pytest.raises(ValueError, match="Not a Stationarity"):
            Stationarity.from_dict({"kind": "Other", "schema": 1})
        with pytest.raises(ValueError, match="Not a Other"):
            Other.from_dict(plain_example())
    finally:
        del Certificate._kinds["Other"]


def test_an_unknown_problem_is_a_value_error():
    certificate = Certificate.from_dict({**plain_example(), "problem": "none"})
    with pytest.raises(ValueError, match="problem"):
        certificate.verify(*example_data())
    with pytest.raises(ValueError, match="problem"):
        _ = certificate.claim


GOOD = {"array": [1.0, 2.0], "shape": [2], "dtype": "<f8"}


@pytest.mark.parametrize(
    "array",
    [
        {**GOOD, "shape": [3]},
        {**GOOD, "shape": [-1]},
        {**GOOD, "shape": [10**30]},
        {**GOOD, "shape": "2"},
        {**GOOD, "shape": None},
        {**GOOD, "shape": [1.5]},
        {**GOOD, "dtype": "<c16"},
        {**GOOD, "dtype": "f8,f8"},
        {**GOOD, "dtype": "nothing"},
        {**GOOD, "dtype": None},
        {**GOOD, "dtype": 8},
        {**GOOD, "dtype": "f999"},
        {**GOOD, "dtype": "<U5"},
        {**GOOD, "dtype": "|V8"},
        {**GOOD, "dtype": "M8[s]"},
        {**GOOD, "array": ["a", "b"]},
        {**GOOD, "array": [[1.0], [2.0]]},
        {**GOOD, "array": None},
        {**GOOD, "array": 5},
        {**GOOD, "array": [10**400, 0]},
        {"array": [1.0, 2.0], "shape": [2]},
        {**GOOD, "more": 1},
        {"fraction": "1/0"},
        {"fraction": "x"},
        {"fraction": None},
        {"float": "x"},
        {"float": None},
        {"dict": [1]},
        {"dict": None},
        {"certificate": None},
        {"certificate": {"kind": "Stationarity"}},
        {"unknown": 1},
        {},
        {1, 2},
    ],
    ids=lambda array: repr(array)[:60],
)
def test_a_malformed_value_is_a_value_error(array):
    for place in ("classes", "witness", "unit"):
        with pytest.raises(ValueError):
            Certificate.from_dict({**plain_example(), place: array}).verify(*example_data())


def test_text_takes_the_memory_it_needs_and_not_what_is_said():
    plain = {"array": ["a", "bcd"], "shape": [2], "dtype": "<U100000000"}
    assert from_plain(plain, Certificate.from_dict).tolist() == ["a", "bcd"]


def test_endless_nesting_is_a_value_error():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError):
        Certificate.from_dict({**plain_example(), "witness": deep})


FUZZED = {
    name: (CASES[name][0].fit(*CASES[name][1:]).certificate_.to_dict(), *CASES[name][1:])
    for name in ("centroids of 3", "least squares of 2", "least squares of a 0/1 matrix", "mixed of 2", "mixed of 3")
}
for _estimator in all_estimators():  # those of later estimators as well
    _X, _y = suited(_estimator, 2)
    FUZZED[type(_estimator).__name__] = (_estimator.fit(_X, _y).certificate_.to_dict(), _X, _y)

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([{"float": "nan"}, {"float": "inf"}, {"fraction": "1/3"}, GOOD, {"dict": {}}, "gaussian", "<f4"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def places(plain, path=()):
    """The path to every value inside, except the single numbers of long lists."""
    yield path
    items = plain.items() if isinstance(plain, dict) else enumerate(plain[:4]) if isinstance(plain, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(FUZZED)), st.data())
def test_altered_certificates_raise_nothing_but_value_errors(name, data):
    plain, X, y = FUZZED[name]
    plain = copy.deepcopy(plain)
    for _ in range(data.draw(st.integers(1, 2))):
        paths = [path for path in places(plain) if path]
        assume(paths)
        *above, last = data.draw(st.sampled_from(paths))
        parent = plain
        for key in above:
            parent = parent[key]
        if data.draw(st.booleans()) and isinstance(parent, dict):
            del parent[last]
        else:
            parent[last] = copy.deepcopy(data.draw(junk))
    try:
        verification = Certificate.from_dict(plain).verify(X, y)
    except ValueError:
        return
    assert bool(verification) in (True, False)
    assert str(verification)


# ---------------------------------------------------------------------- the parts
@pytest.mark.parametrize(
    "figure, tolerance, rounding, holds",
    [
        (0.0, 0.0, 0.0, True),
        (1e-9, 0.0, 0.0, False),
        (1e-9, 1e-8, 0.0, True),
        (1e-9, 0.0, 1e-8, True),
        (float("nan"), 1.0, 1.0, False),
        (float("inf"), 1.0, 1.0, False),
        (0.0, float("nan"), 0.0, False),
    ],
)
def test_a_check_holds_up_to_tolerance_and_rounding(figure, tolerance, rounding, holds):
    check = Check("figure", figure, tolerance, rounding)
    assert bool(check) is holds
    assert str(check).startswith("holds" if holds else "FAILS")
    assert "figure" in str(check)


def test_a_verification_needs_every_check_and_at_least_one():
    good, bad = Check("good", 0.0), Check("bad", 1.0)
    assert Verification((good, good))
    assert not Verification((good, bad))
    assert not Verification(())
    assert str(Verification((good, bad))).splitlines() == [str(good), str(bad)]


def test_a_certificate_is_frozen(case):
    certificate, *_ = case
    with pytest.raises(AttributeError):
        certificate.unit = 1.0


def test_the_claim_states_the_objective(case):
    certificate, *_ = case
    assert certificate.objective in certificate.claim
    assert certificate.claim.endswith(".")


# ---------------------------------------------------------------------- on its own
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_checker_imports_nothing_of_the_checked(source):
    for node in ast.walk(ast.parse(source.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide what is imported"
            names = [node.module]
        for name in names:
            root = name.split(".")[0]
            assert root in sys.stdlib_module_names or root == "numpy" or name.startswith("separatrix.certificates"), (
                name
            )


def test_a_fresh_interpreter_verifies_without_the_rest_of_the_package(tmp_path):
    model, X, y = CASES["mixed of 3"]
    (tmp_path / "proof.json").write_text(json.dumps(model.fit(X, y).certificate_.to_dict(), allow_nan=False))
    np.savez(tmp_path / "data.npz", X=X, y=y)
    code = f"""
import json, sys
import numpy as np
from separatrix.certificates import Certificate
with open({str(tmp_path / "proof.json")!r}) as file:
    certificate = Certificate.from_dict(json.load(file))
data = np.load({str(tmp_path / "data.npz")!r})
assert certificate.verify(data["X"], data["y"])
assert not certificate.verify(data["X"], 2 - data["y"])
ours = [name for name in sys.modules if name.startswith("separatrix.") and ".certificates" not in name]
assert not ours, ours
others = {{"sklearn", "scipy", "pandas"}} & set(sys.modules)
assert not others, others
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
