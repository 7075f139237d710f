"""The page's own checker of certificates says what `verify` says: of random ones, and of tampered ones."""

import copy
import json
import shutil
import subprocess
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import separatrix
from separatrix import separability
from separatrix.certificates import Certificate

HERE = Path(__file__).parent
PAGE = Path(separatrix.__file__).parent / "lab" / "page"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node on the path")

SEEDS = range(45)


def page_says(cases):
    """What checker.js says of each (certificate as a dict, X, y)."""
    sent = [{"certificate": c, "X": np.asarray(X, float).tolist(), "y": np.asarray(y).tolist()} for c, X, y in cases]
    text = json.dumps({"checker": (PAGE / "checker.js").as_uri(), "cases": sent})
    done = subprocess.run([NODE, str(HERE / "check.mjs")], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def library_says(plain, X, y):
    try:
        return bool(Certificate.from_dict(plain).verify(X, y))
    except ValueError:
        return False


def points(random):
    """A few points of two classes: apart, touching, overlapping, on a grid, far from the origin, tiny, or huge."""
    n = int(random.integers(4, 30))
    y = np.append([0, 1], random.integers(2, size=n - 2))
    gap = random.choice([0.0, 0.5, 2.0, 6.0])
    X = random.normal(size=(n, 2)) + gap * y[:, None]
    shape = random.integers(8)
    if shape == 0:
        X = np.round(X)
    elif shape == 1:
        X += np.array([300.0, -20.0])
    elif shape == 2:
        X = 1e-3 * X
    elif shape == 3:
        X = np.round(X, 2)
    elif shape == 4:
        X += np.array([1e6, -3e5])
    elif shape == 5:
        X = 1e8 * X
    elif shape == 6:
        X *= np.array([1e-3, 1e5])  # columns of a table, in units of their own
    return X, y


def classifiers(random):
    return [
        separatrix.Perceptron(max_iter=200),
        separatrix.PocketPerceptron(max_iter=5, random_state=0),
        separatrix.Kozinec(random.choice([None, 0.1, 1e-6]), max_iter=50, rule=random.choice(["plain", "wolfe"])),
        separatrix.KernelPerceptron(gamma=float(random.choice([0.2, 1.0, 5.0])), max_iter=50),
        separatrix.KernelPerceptron("poly", gamma=1.0, coef0=1.0, degree=2, max_iter=50),
        separatrix.SVC(kernel="poly", gamma=0.02, coef0=1.0, degree=int(random.integers(1, 6)), C=0.01),
        separatrix.SVC(C=float(random.choice([0.1, 1.0, 30.0])), gamma=float(random.choice([0.3, 2.0]))),
        separatrix.SVC(kernel="linear", C=float(random.choice([0.1, 1.0, 30.0]))),
        separatrix.LinearSVC(loss="squared_hinge"),
        separatrix.HardMarginSVC(),
        separatrix.LogisticRegression(C=float(random.choice([0.01, 1.0, 100.0]))),
        separatrix.LogisticRegression(solver="gradient", max_iter=20),
        separatrix.LogisticRegression(C=np.inf),
        separatrix.LogisticRegression(loss="squared_error"),
        separatrix.LeastSquaresClassifier(),
        separatrix.NearestCentroid(),
        separatrix.NaiveBayes(),
        separatrix.NaiveBayes(shared_variance=False),
        separatrix.MinimumErrorClassifier(max_nodes=100),
    ]


@cache
def certificates(seed):
    """(certificate, X, y) of one random data set."""
    random = np.random.default_rng(seed)
    X, y = points(random)
    found = [separability(X, y, exact=True).certificate]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in classifiers(random):
            try:
                found.append(model.fit(X, y).certificate_)
            except separatrix.NotSeparableError as refusal:
                found.append(refusal.certificate)
            except separatrix.SeparatrixError:
                continue
        three = np.arange(len(y)) % 3
        several = (
            separatrix.LogisticRegression(),
            separatrix.LogisticRegression(C=100.0),
            separatrix.NearestCentroid(),
            separatrix.NaiveBayes(),
        )
        for model in several:
            found.append((model.fit(X, three).certificate_, three))
    pairs = [entry if isinstance(entry, tuple) else (entry, y) for entry in found]
    return [(certificate.to_dict(), X, labels) for certificate, labels in pairs if certificate is not None]


def leaves(plain, path=()):
    """The places of all numbers and truth values in a certificate."""
    if isinstance(plain, dict):
        for key in plain:
            if key not in ("shape", "dtype", "schema", "kind"):
                yield from leaves(plain[key], (*path, key))
    elif isinstance(plain, list):
        for i, entry in enumerate(plain):
            yield from leaves(entry, (*path, i))
    elif isinstance(plain, (bool, int, float)):
        yield path


def tampered(plain, random):
    """The certificate with one number changed by much more than rounding."""
    plain = copy.deepcopy(plain)
    places = list(leaves(plain))
    path = places[random.integers(len(places))]
    inner = plain
    for key in path[:-1]:
        inner = inner[key]
    value = inner[path[-1]]
    if isinstance(value, bool):
        inner[path[-1]] = not value
    elif isinstance(value, int):
        inner[path[-1]] = value + int(random.choice([-1, 1, 5]))
    else:
        inner[path[-1]] = float(random.choice([value * 0.5, value * 2.0, -value, value + 1.0, value * 1.001, 0.0]))
    return plain


def by_rounding(plain, X, y):
    """Whether the library refuses by less than both checkers may be off: a tiny weight may change a sum by 1e-13."""
    try:
        checks = Certificate.from_dict(plain).verify(X, y).checks
    except ValueError:
        return False
    excess = [check.figure - check.tolerance - check.rounding for check in checks if not check]
    return bool(excess) and max(excess) < 1e-12 * abs(plain.get("primal", 0.0))


def compared(cases):
    """Where the two checkers differ, and how often the library says yes.

    Of points on the edge of being separable the page cannot invert the Hessian, and says that it takes the bound on
    trust: that must be rare.
    """
    says = page_says(cases)
    differ, yes, unsure = [], 0, 0
    for (plain, X, y), said in zip(cases, says, strict=True):
        library = library_says(plain, X, y)
        yes += library
        if said["holds"] == library or by_rounding(plain, X, y):
            continue
        if said["trusted"] == ["lower bound, by Newton's decrement"]:
            unsure += 1
        else:
            differ.append((plain["kind"], plain.get("problem"), library, said, plain))
    assert unsure <= len(cases) // 1000
    return differ, yes


def test_the_page_accepts_what_the_library_certifies():
    cases = [case for seed in SEEDS for case in certificates(seed)]
    kinds = {case[0]["kind"] for case in cases}
    assert kinds >= {
        "Separator", "Inseparable", "MarginBracket", "ErrorBound", "HingeGap", "LogisticGap", "Stationarity",
        "KernelSeparator",
    }  # fmt: skip
    differ, yes = compared(cases)
    assert len(cases) > 800
    assert yes == len(cases)
    assert not differ, differ[:3]


def test_the_page_agrees_about_certificates_that_were_tampered_with():
    cases = []
    for seed in SEEDS:
        random = np.random.default_rng(1000 + seed)
        for plain, X, y in certificates(seed):
            cases += [(tampered(plain, random), X, y) for _ in range(3)]
            moved = X.copy()
            moved[random.integers(len(X))] += random.normal(size=2) * np.abs(X).max()
            cases.append((plain, moved, y))
    differ, yes = compared(cases)
    assert len(cases) > 3000
    assert 0.02 * len(cases) < yes < 0.8 * len(cases)
    assert not differ, (len(differ), [d[:3] for d in differ][:40], differ[:2])


def test_points_in_one_place_are_one_for_whoever_tries_all_lines():
    """150 points at 25 places: few enough to try every line, which the library does, and the page must."""
    random = np.random.default_rng(3)
    X, y = random.integers(5, size=(150, 2)).astype(float), np.arange(150) % 2
    plain = separatrix.MinimumErrorClassifier(max_nodes=2000).fit(X, y).certificate_.to_dict()
    assert plain["proof"] == "enumeration"
    assert plain["lower_bound"] > 0
    more = {**plain, "errors": plain["errors"] + 1, "lower_bound": plain["lower_bound"] + 1}
    right, wrong = page_says([(plain, X, y), (more, X, y)])
    assert right["holds"]
    assert library_says(plain, X, y)
    assert not right["trusted"]
    assert not wrong["holds"]


def separator(coef, intercept, margin=0.0, classes=(0, 1)):
    made = separatrix.Separator(np.array(classes), np.array([coef]), np.array([intercept]), 1, margin)
    return made.to_dict()


@pytest.mark.parametrize(
    ("plain", "X", "holds"),
    [
        (separator([1.0, 0.0], -0.5), [[0.0, 0.0], [1.0, 0.0]], True),
        (separator([-1.0, 0.0], 0.5), [[0.0, 0.0], [1.0, 0.0]], False),
        (separator([1.0, 0.0], -1.0), [[0.0, 0.0], [1.0, 0.0]], False),  # a point on the line is on no side
        (separator([1.0, 0.0], -0.5, 0.5), [[0.0, 0.0], [1.0, 0.0]], True),  # a margin to the last bit
        (separator([1.0, 0.0], -0.5, np.nextafter(0.5, 1)), [[0.0, 0.0], [1.0, 0.0]], False),
        # 0.1 + 0.2 - 0.3 is not 0 but 2**-55 above it, without rounding 2**-54 or so: floats cannot tell the sign
        (separator([0.1, 0.2], -0.3), [[0.0, 0.0], [1.0, 1.0]], True),
        (separator([-0.1, -0.2], 0.3), [[1.0, 1.0], [0.0, 0.0]], True),
        (separator([0.1, 0.2], -0.30000000000000004), [[0.0, 0.0], [1.0, 1.0]], False),
        # where products vanish below the smallest float
        (separator([5e-324, 0.0], 0.0), [[-0.25, 0.0], [0.25, 0.0]], True),
        (separator([1e300, 1e300], -1e300), [[-1e10, 0.0], [1e10, 0.0]], True),
    ],
)
def test_signs_that_floats_cannot_tell(plain, X, holds):
    (said,) = page_says([(plain, X, [0, 1])])
    assert said["holds"] is holds
    assert library_says(plain, np.array(X), np.array([0, 1])) is holds


def test_a_proof_with_fractions_is_exact_to_the_last_digit():
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2
    plain = separability(X, y, exact=True).certificate.to_dict()
    assert plain["exact_weights"]["array"]
    off = copy.deepcopy(plain)
    numerator, denominator = off["exact_weights"]["array"][0]["fraction"].split("/")
    off["exact_weights"]["array"][0]["fraction"] = f"{int(numerator, 16) + 1:x}/{denominator}"
    right, wrong = page_says([(plain, X, y), (off, X, y)])
    assert right["holds"]
    assert not wrong["holds"]
    assert not library_says(off, X, y)


@pytest.mark.parametrize("plain", [{}, {"kind": "Nothing"}, {"kind": "Separator"}, {"kind": "All", "parts": []}])
def test_what_is_no_certificate_holds_nothing(plain):
    (said,) = page_says([(plain, [[0.0, 0.0], [1.0, 0.0]], [0, 1])])
    assert not said["holds"]
