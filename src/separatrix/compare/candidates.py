"""Which classifiers suit a table, how each chooses its parameters, and what is left out and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import separatrix
from separatrix._typing import Array
from separatrix.compare.quiet import quietly
from separatrix.compare.tuning import choose_C, sample_rows

LOGISTIC_ROWS = 10_000  # a path of C on more rows than these would choose the same C, later
WIDE = 1_000  # columns
LONG = 10_000  # rows
SVM_ROWS = 2_000
HARD_COLUMNS = 500  # the cost grows with their cube
KERNEL_ROWS = 1_500  # the cost grows with their square
LOGISTIC_CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)  # beyond, in standard deviations, a penalty hardly matters
SVM_CS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
KERNEL_CS = (0.3, 3.0, 30.0)

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
    """

    key: str
    title: str
    build: Callable[[Params], Any]
    choose: Callable[[Any, Array, int], Params] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    most_rows: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Left:
    """A classifier left out, and why."""

    title: str
    why: str


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
    )


def candidates(facts: Facts, seed: int) -> tuple[list[Candidate], list[Left]]:
    """The classifiers that suit, fast ones first, and those left out."""
    chosen = [_baseline(), *_formulas(facts), *_logistic(facts), _linear_svm(facts)]
    left: list[Left] = []
    chosen.append(_perceptron(seed))
    if facts.verdict == "separable":
        chosen.append(_kozinec())
        if facts.d <= HARD_COLUMNS:
            chosen.append(_hard_margin())
        else:
            why = f"slow beyond {HARD_COLUMNS} columns; `separatrix fit --model hard-margin` has no such limit"
            left.append(Left("hard-margin SVM", why))
    else:
        known = facts.verdict != "undecided"
        why = f"for separable classes only; {f'these are {facts.verdict}' if known else 'it is open whether these are'}"
        left += [Left("Kozinec", why), Left("hard-margin SVM", why)]
    chosen.append(_pocket(seed))
    if facts.d <= 200 and facts.k == 2:
        chosen.append(_minimum_error())
    else:
        left.append(Left("fewest errors", "a search for two classes and at most 200 columns"))
    if facts.sparse and facts.d > WIDE:
        left += [Left("SVM, rbf kernel", "rows this wide and sparse are nearly orthogonal: linear models do as well")]
        left += [Left("kernel perceptron", left[-1].why)]
    else:
        chosen += [_kernel_perceptron(seed), _kernel_svm()]
    return chosen, left


def _make(name: str, params: Params, **more: Any) -> Any:
    return getattr(separatrix, name)(**params, **more)


def _baseline() -> Candidate:
    from sklearn.dummy import DummyClassifier

    return Candidate("", "majority (baseline)", lambda params: DummyClassifier(strategy="prior"))


def _formulas(facts: Facts) -> list[Candidate]:
    family = "gaussian"
    if facts.sparse and facts.count_columns:
        family = "bernoulli" if facts.binary_columns else "multinomial"
    return [
        Candidate("centroid", "nearest centroid", partial(_make, "NearestCentroid")),
        Candidate("least-squares", "least squares", partial(_make, "LeastSquaresClassifier")),
        Candidate("naive-bayes", f"naive Bayes, {family}", partial(_make, "NaiveBayes"), fixed={"family": family}),
    ]


def _logistic(facts: Facts) -> list[Candidate]:
    """With C chosen for its probabilities; the same with balanced classes; and without penalty where that exists."""
    make = partial(_make, "LogisticRegression")
    most = path_rows(facts.k)
    note = f"C chosen along a path, on at most {most:,} rows" if facts.n > most else ""
    found = [Candidate("logistic", "logistic regression", make, choose=_choose_logistic, note=note)]
    if max(facts.counts) > 1.5 * min(facts.counts):
        balanced = {"class_weight": "balanced"}
        found.append(
            Candidate(
                "logistic", "logistic, balanced", make, choose=_choose_balanced_logistic, fixed=balanced, note=note
            )
        )
    if facts.verdict == "overlapping" and facts.d * (facts.k - 1) <= facts.n // 5 and facts.d <= 2000:
        found.append(Candidate("logistic", "logistic, max. likelihood", make, fixed={"C": np.inf}))
    return found


def path_rows(k: int) -> int:
    """How many rows a path of C takes: fewer of many classes, each of which has weights of its own."""
    return max(2_000, LOGISTIC_ROWS // max(1, k - 1))


def _choose_logistic(X: Any, y: Array, seed: int, scoring: str = "neg_log_loss", **params: Any) -> Params:
    rows = sample_rows(y, path_rows(len(np.unique(y))), seed)
    y = y[rows]
    folds = min(3, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return {"C": 1.0}
    cv = StratifiedKFold(folds, shuffle=True, random_state=seed)  # tables are often sorted by something that matters
    with quietly():
        path = separatrix.LogisticRegressionCV(Cs=LOGISTIC_CS, cv=cv, scoring=scoring, **params).fit(X[rows], y)
    return {"C": float(path.C_)}


def _choose_balanced_logistic(X: Any, y: Array, seed: int) -> Params:
    return _choose_logistic(X, y, seed, "balanced_accuracy", class_weight="balanced")


def _linear_svm(facts: Facts) -> Candidate:
    """With the hinge; on large tables with its square, which is smooth and several times faster to minimise."""
    make = partial(_make, "LinearSVC")
    fixed = {"loss": "squared_hinge"} if facts.d > WIDE or facts.n > LONG else {}

    def choose(X: Any, y: Array, seed: int) -> Params:
        return {"C": choose_C(lambda C: make({**fixed, "C": C}), X, y, SVM_CS, most_rows=SVM_ROWS, seed=seed)}

    return Candidate("linear-svm", "linear SVM", make, choose=choose, fixed=fixed)


def _kernel_svm() -> Candidate:
    make = partial(_make, "SVC")

    def choose(X: Any, y: Array, seed: int) -> Params:
        return {"C": choose_C(lambda C: make({"C": C}), X, y, KERNEL_CS, most_rows=500, seed=seed)}

    return Candidate("svm", "SVM, rbf kernel", make, choose=choose, most_rows=KERNEL_ROWS)


def _perceptron(seed: int) -> Candidate:
    make = partial(_make, "Perceptron", random_state=seed)
    return Candidate(
        "perceptron", "averaged perceptron", make, fixed={"average": True, "shuffle": True, "max_iter": 50}
    )


def _pocket(seed: int) -> Candidate:
    make = partial(_make, "PocketPerceptron", random_state=seed)
    return Candidate("pocket", "pocket", make, fixed={"max_iter": 10}, most_rows=5_000)


def _kernel_perceptron(seed: int) -> Candidate:
    make = partial(_make, "KernelPerceptron", random_state=seed)
    return Candidate(
        "kernel-perceptron", "kernel perceptron", make, fixed={"max_iter": 20, "shuffle": True}, most_rows=KERNEL_ROWS
    )


def _kozinec() -> Candidate:
    return Candidate("kozinec", "Kozinec", partial(_make, "Kozinec"), fixed={"max_iter": 2000})


def _hard_margin() -> Candidate:
    return Candidate("hard-margin", "hard-margin SVM", partial(_make, "HardMarginSVC"))


def _minimum_error() -> Candidate:
    make = partial(_make, "MinimumErrorClassifier")
    return Candidate("minimum-error", "fewest errors", make, fixed={"max_nodes": 150}, most_rows=1_000)
