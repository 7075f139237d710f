"""Which classifiers suit a table, how each chooses its parameters, and what is left out and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import separatrix
from separatrix._typing import Array
from separatrix.compare.encoding import kernel_width
from separatrix.compare.logistic_path import choose_balanced, choose_logistic, choose_sparse, path_rows
from separatrix.compare.reference import GradientBoosting
from separatrix.compare.tuning import choose_C

INNER_ROWS = 10_000  # that cuts and calibrations are learned from within a fold; a few numbers need no more
INNER_KERNEL_ROWS = 1_500  # that C is chosen from, where the cost grows faster than the rows
WIDE = 1_000  # columns
LONG = 10_000  # rows
SVM_ROWS = 2_000
HARD_COLUMNS = 500  # the cost grows with their cube
KERNEL_WORK = 45_000_000_000  # rows² times columns: what an rbf machine may take, about 4 s a fit on two cores
SCORING = 0.25  # a kernel entry for a row that is scored, of what one costs in a fit
KERNEL_ROWS = 1_500  # of a kernel perceptron, which is no rival of the machine
REFERENCE_WORK = 2_000_000  # rows times columns times trees a round: what gradient boosting may take
PASSES = 25_000_000  # rows times columns times passes: what a perceptron may take
SEARCH_ENTRIES = 40_000  # rows times columns that the search for the fewest errors takes
REFERENCE = "gradient boosting"
SPARSE = "logistic, L1"
SPARSE_WEIGHTS = 1_500  # of all classes, if there are more than two: up to here their Hessian is held as a matrix
SVM_CS = (1e-3, 1e-2, 0.1, 1.0)  # in standard deviations, a larger one fits noise and takes longest
LOPSIDED = 1.1  # rows of the most frequent class for each of the rarest, from which on balancing them is tried
RARE = 2.0  # the same of two classes, from which on margin machines balance them: see `_margin_weights`
KERNEL_CS = (0.3, 3.0, 30.0)
BALANCED = {"class_weight": "balanced"}

Params = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """What decides whether a classifier suits."""

    n: int
    d: int
    k: int
    sparse: bool
    verdict: str
    counts: tuple[int, ...]
    binary_columns: bool  # all entries 0 or 1
    count_columns: bool  # all entries whole and not negative
    kernel: dict[str, float]  # parameters of an rbf kernel, see `kernel_width`
    path_rows: int  # that C of logistic regression is chosen on


@dataclass(frozen=True)
class Candidate:
    """One classifier of the comparison.

    Parameters
    ----------
    key : str
        Its name for ``separatrix fit --model``; "" for the baseline.
    title : str
        Its name in tables.
    build : callable
        params → an estimator to fit.
    choose : callable or None
        (X, y, seed) → params, from training rows alone.
    fixed : mapping
        Parameters that are not chosen.
    most_rows : int or None
        It learns from at most so many rows; None for all.
    note : str
        What a reader should know of how it is used here.
    inner_rows : int
        Calibration and cut are learned from at most so many training rows, in folds of their own; 0 for neither.
    folded_rows : int
        Of more inner rows, only the first fold is held out: a third of them tells enough, and fits are dear.
    reference : bool
        Not one of ours: shown for comparison, and never saved.
    """

    key: str
    title: str
    build: Callable[[Params], Any]
    choose: Callable[[Any, Array, int], Params] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    most_rows: int | None = None
    note: str = ""
    inner_rows: int = INNER_ROWS
    folded_rows: int = INNER_ROWS
    reference: bool = False

    @property
    def level(self) -> bool:
        """Whether it takes all classes for equally frequent."""
        return self.fixed.get("class_weight") == "balanced"


@dataclass(frozen=True)
class Left:
    """A classifier left out, and why; if for want of time, `had` is what seconds a fit had."""

    title: str
    why: str
    had: float | None = None

    @property
    def late(self) -> bool:
        """Whether for want of time."""
        return self.had is not None


def facts_of(X: Any, codes: Array, verdict: str) -> Facts:
    """Look at the rows once."""
    entries = X.data if hasattr(X, "tocsr") else np.asarray(X)
    whole = bool(entries.size) and bool((entries == np.floor(entries)).all()) and bool((entries >= 0).all())
    return Facts(
        n=int(X.shape[0]),
        d=int(X.shape[1]),
        k=int(codes.max()) + 1,
        sparse=hasattr(X, "tocsr"),
        verdict=verdict,
        counts=tuple(np.bincount(codes).tolist()),
        binary_columns=whole and bool((entries <= 1).all()),
        count_columns=whole,
        kernel=kernel_width(X),
        path_rows=path_rows(X, int(codes.max()) + 1),
    )


def first_candidates(facts: Facts, seed: int) -> list[Candidate]:
    """The cheap ones, which need no verdict on separability: baseline, formulas, logistic, linear machines."""
    return [_baseline(), *_formulas(facts), *_logistic(facts), _linear_svm(facts), _perceptron(facts, seed)]


def later_candidates(facts: Facts, seed: int) -> tuple[list[Candidate], list[Left]]:
    """Those that depend on the verdict or cost more, fast ones first, and those left out."""
    chosen, left = [], list[Left]()
    if not _few_weights(facts):
        why = f"slow for more than {SPARSE_WEIGHTS:,} weights of several classes; `separatrix fit --model logistic"
        left.append(Left(SPARSE, f"{why} --l1-ratio 1` has no such limit"))
    if facts.verdict == "overlapping" and facts.d * (facts.k - 1) <= facts.n // 5 and facts.d <= 2000:
        chosen.append(_ours("logistic", "logistic, max. likelihood", "LogisticRegression", fixed={"C": np.inf}))
    if facts.verdict == "separable":
        chosen.append(_ours("kozinec", "Kozinec", "Kozinec", fixed={"max_iter": 2000}))
        if facts.d <= HARD_COLUMNS:
            chosen.append(_ours("hard-margin", "hard-margin SVM", "HardMarginSVC"))
        else:
            why = f"slow beyond {HARD_COLUMNS} columns; `separatrix fit --model hard-margin` has no such limit"
            left.append(Left("hard-margin SVM", why))
    else:
        known = facts.verdict != "undecided"
        why = f"for separable classes only; {f'these are {facts.verdict}' if known else 'it is open whether these are'}"
        left += [Left("Kozinec", why), Left("hard-margin SVM", why)]
    if facts.sparse and facts.d > WIDE:
        left.append(Left(REFERENCE, "trees do not take rows this wide and sparse"))
        why = "rows this wide and sparse are nearly orthogonal: linear models do as well"
        left += [Left("SVM, rbf kernel", why), Left("kernel perceptron", why)]
    else:
        chosen += [_reference(facts, seed), _kernel_svm(facts), _kernel_perceptron(facts, seed)]
    chosen.append(_pocket(seed))
    if facts.d <= 200 and facts.k == 2:
        chosen.append(_minimum_error(facts))
    else:
        left.append(Left("fewest errors", "a search for two classes and at most 200 columns"))
    return chosen, left


def _make(estimator: str, params: Params) -> Any:
    return getattr(separatrix, estimator)(**params)


def _ours(key: str, title: str, estimator: str, **how: Any) -> Candidate:
    return Candidate(key, title, partial(_make, estimator), **how)


def _baseline() -> Candidate:
    from sklearn.dummy import DummyClassifier

    return Candidate("", "majority (baseline)", lambda params: DummyClassifier(strategy="prior"), inner_rows=0)


def _reference(facts: Facts, seed: int) -> Candidate:
    """Gradient boosting as scikit-learn has it: what a model that is not linear would make of the table."""
    most = max(2_000, REFERENCE_WORK // (facts.d * (facts.k if facts.k > 2 else 1)))
    return Candidate(
        "",
        REFERENCE,
        lambda params: GradientBoosting(seed),
        most_rows=most if most < facts.n else None,
        note="reference, not linear; scikit-learn's, without certificate, never saved",
        inner_rows=0,
        reference=True,
    )


def _formulas(facts: Facts) -> list[Candidate]:
    family = "gaussian"
    if facts.sparse and facts.count_columns:
        family = "bernoulli" if facts.binary_columns else "multinomial"
    return [
        _ours("centroid", "nearest centroid", "NearestCentroid"),
        _ours("least-squares", "least squares", "LeastSquaresClassifier"),
        _ours("naive-bayes", f"naive Bayes, {family}", "NaiveBayes", fixed={"family": family}),
    ]


def _logistic(facts: Facts) -> list[Candidate]:
    """With C chosen for its probabilities; with balanced classes; and with an L1 penalty, which leaves out columns."""
    note = f"C chosen along a path, on some {facts.path_rows:,} rows" if facts.n > facts.path_rows else ""
    variants: list[tuple[str, Any, Params]] = [("logistic regression", choose_logistic, {})]
    if max(facts.counts) > LOPSIDED * min(facts.counts):
        variants.append(("logistic, balanced", choose_balanced, BALANCED))
    if _few_weights(facts):
        variants.append((SPARSE, choose_sparse, {"l1_ratio": 1.0}))
    return [
        _ours("logistic", title, "LogisticRegression", choose=choose, fixed=fixed, note=note)
        for title, choose, fixed in variants
    ]


def _few_weights(facts: Facts) -> bool:
    return facts.k == 2 or facts.d * facts.k <= SPARSE_WEIGHTS


def _linear_svm(facts: Facts) -> Candidate:
    """With the hinge; on large tables with its square, which is smooth and several times faster to minimise."""
    make = partial(_make, "LinearSVC")
    fixed = _margin_weights(facts) | ({"loss": "squared_hinge"} if facts.d > WIDE or facts.n > LONG else {})

    def choose(X: Any, y: Array, seed: int) -> Params:
        return {"C": choose_C(lambda C: make({**fixed, "C": C}), X, y, SVM_CS, most_rows=SVM_ROWS, seed=seed)}

    return Candidate("linear-svm", "linear SVM", make, choose=choose, fixed=fixed)


def _margin_weights(facts: Facts) -> Params:
    """Balanced classes where one of two is rare: the hinge knows on which side of 1/2 a probability is, and no more.

    Of two classes of 3 and 97 rows in a hundred it is the same side for nearly all rows, and w is nearly 0.
    """
    return BALANCED if facts.k == 2 and max(facts.counts) > RARE * min(facts.counts) else {}


def kernel_rows(n: int, d: int, k: int) -> int:
    """How many of n rows an rbf machine takes: the largest m with d m (m + SCORING n) within KERNEL_WORK.

    Of more than two classes each row is in k - 1 pairs of 2 n / k rows: about twice the work, whatever k is.
    """
    half = SCORING * n / 2
    return max(1_500, int(np.sqrt(half**2 + KERNEL_WORK / (d * min(2, k - 1))) - half))


def _kernel_svm(facts: Facts) -> Candidate:
    make = partial(_make, "SVC")
    most = kernel_rows(facts.n, facts.d, facts.k)
    fixed = _margin_weights(facts) | facts.kernel

    def choose(X: Any, y: Array, seed: int) -> Params:
        rows = INNER_KERNEL_ROWS
        return {"C": choose_C(lambda C: make({**fixed, "C": C}), X, y, KERNEL_CS, most_rows=rows, seed=seed)}

    return Candidate(
        "svm",
        "SVM, rbf kernel",
        make,
        choose=choose,
        fixed=fixed,
        most_rows=most if most < facts.n else None,
        inner_rows=most,  # scores of a machine of fewer rows have another scale
        folded_rows=INNER_KERNEL_ROWS,
    )


def _perceptron(facts: Facts, seed: int) -> Candidate:
    passes = int(np.clip(PASSES // (facts.n * facts.d), 5, 20))
    fixed = {"average": True, "shuffle": True, "max_iter": passes, "random_state": seed}
    return _ours("perceptron", "averaged perceptron", "Perceptron", fixed=fixed)


def _pocket(seed: int) -> Candidate:
    fixed = {"max_iter": 10, "random_state": seed}
    return _ours("pocket", "pocket", "PocketPerceptron", fixed=fixed, most_rows=5_000, inner_rows=INNER_KERNEL_ROWS)


def _kernel_perceptron(facts: Facts, seed: int) -> Candidate:
    fixed = {"max_iter": 20, "shuffle": True, "random_state": seed, **facts.kernel}
    return _ours("kernel-perceptron", "kernel perceptron", "KernelPerceptron", fixed=fixed, most_rows=KERNEL_ROWS)


def _minimum_error(facts: Facts) -> Candidate:
    most = int(np.clip(SEARCH_ENTRIES // facts.d, 200, 1_000))
    how = {"fixed": {"max_nodes": 30}, "most_rows": most, "inner_rows": 500}
    return _ours("minimum-error", "fewest errors", "MinimumErrorClassifier", **how)
