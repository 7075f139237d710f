"""The search for C: fits of the folds along a path, their scores, and the final fit with the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.estimators.absent import seated
from separatrix.estimators.callbacks import Task
from separatrix.estimators.logistic import LogisticRegression
from separatrix.estimators.parameters import one_of, positive, whole
from separatrix.estimators.routing import at_rows, knowing
from separatrix.estimators.validation import Sample
from separatrix.geometry import Hyperplanes
from separatrix.logistic.path import path, risks, weights
from separatrix.outcome import Fit
from separatrix.targets import Targets

Fold: TypeAlias = tuple[Integers, Integers]  # the rows to learn from, and those to score

# scores that take P(class | x) of one row
OF_ONE_LABEL = ("neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score")


class Search:
    """The search for C and the final fit."""

    ratio = 0.0  # the share of ‖w‖₁ in the penalty whose path is walked

    def __init__(
        self, owner: Any, sample: Sample, folds: list[Fold], Cs: Floats, ratios: tuple[float, ...], weighted: bool,
        scoring: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.owner, self.sample, self.folds, self.Cs, self.ratios = owner, sample, folds, Cs, ratios
        one_of("identifiability", owner.identifiability, ("symmetric", "reference"))
        positive("tol", owner.tol)
        whole("max_iter", owner.max_iter, at_least=1)
        targets = sample.targets
        self.labels = targets.values if targets.multilabel else targets.classes[targets.values]
        factors = 1.0 if targets.class_weight is None else targets.class_weight[targets.values]
        self.weight = sample.weight / factors if weighted else None  # as callbacks see it
        if targets.multilabel and owner.scoring in OF_ONE_LABEL:
            raise InvalidInputError(
                f"scoring={owner.scoring!r} is for one label a row, and would reward large probabilities in a matrix "
                "y: leave scoring at None, or give a function that scores the columns.",
                "scoring",
            )
        self.score = _accuracy if owner.scoring is None else owner._get_scorer()
        if not targets.multilabel:
            self.score = knowing(self.score, targets.classes)
        given = np.arange(sample.n_given)[sample.kept]
        if np.asarray(scoring.get("sample_weight", ())).ndim == 0:  # one weight for all rows
            scoring = {**scoring, "sample_weight": np.full(sample.n_given, scoring["sample_weight"])}
        self.held_out = [
            (sample.design.given(test), self.labels[test], at_rows(scoring, given[test])) for _, test in folds
        ]

    def run(self, task: Task) -> Fit:
        """Walk along the path of each ratio, score as it goes, and fit all rows with the best C and ratio."""
        walked = []
        for ratio in self.ratios:
            self.ratio = ratio
            walked.append(self.walk(task))
            if len(walked[-1][1]) < len(self.Cs):  # a callback had enough
                break
        tried = np.array(sorted(set.intersection(*(set(coefs) for _, coefs, _ in walked))))
        scores = np.stack([found[:, tried] for found, _, _ in walked], axis=1)  # (folds, ratios, Cs)
        paths = np.stack([np.stack([coefs[i] for i in tried], axis=1) for _, coefs, _ in walked], axis=1)
        flat = scores.reshape(len(scores), -1)
        place = best_place(flat, np.tile(self.Cs[tried], len(walked)), self.owner.choice, len(tried))
        which, column = divmod(place, len(tried))
        self.ratio, C = self.ratios[which], float(self.Cs[tried[column]])
        fit = self.refitted(task, C, paths[:, which, column])
        one = len(walked) == 1
        attributes = {
            "n_iter_": np.array([max(fit.n_iter, 1)]),
            "C_": C,
            "Cs_": self.Cs[tried],
            "scores_": scores[:, 0] if one else scores,
            "coefs_paths_": paths[:, 0] if one else paths,
        }
        if self.ratios != (0.0,):
            chosen = {"l1_ratio_": self.ratio, "l1_ratios_": np.array(self.ratios[: len(walked)])}
            attributes = {**fit.attributes, **attributes, **chosen}
        short = [accuracy for _, _, missed in walked for accuracy in missed]
        warnings = (*fit.warnings, *short_fits(short, flat.size, self.owner.tol))
        return replace(fit, attributes=attributes, warnings=warnings)

    def walk(self, task: Task) -> tuple[Floats, dict[int, Floats], list[float]]:
        """The scores (folds, Cs), the folds' weights for each C that was reached, and the accuracies that miss tol."""
        order = np.argsort(self.Cs, kind="stable")
        scores = np.full((len(self.folds), len(self.Cs)), np.nan)
        coefs: dict[int, Floats] = {}
        short: list[float] = []
        for i, (V, accuracies) in zip(order, self.steps(self.Cs[order]), strict=True):
            coefs[i] = V
            short += accuracies[accuracies > self.owner.tol].tolist()
            with task.part(f"C={self.Cs[i]:.3g}", len(self.folds)) as value:
                for f, v in enumerate(V):
                    with value.part(f"fold {f}", data=self._training(f)) as fold:
                        fold.model = partial(self._attributes, v)
                        scores[f, i] = self._score(f, self.Cs[i], v)
            if value.stopped:
                break
        return scores, coefs, short

    def refitted(self, task: Task, C: float, folds: Floats) -> Fit:
        """The fit to all rows with C, from the mean of the folds' weights (F, K, d + 1)."""
        with task.part("refit") as final:
            whole_folds = np.isfinite(folds).all(axis=(1, 2))  # those that lack no class
            start = folds[whole_folds].mean(axis=0) if whole_folds.any() else np.zeros(folds.shape[1:])
            fit = self.predictor(C, start)._learn(self.sample)
            final.model = task.model = partial(self._attributes, np.column_stack([fit.model.coef, fit.model.intercept]))
        return fit

    def steps(self, Cs: Floats) -> Iterable[tuple[Floats, Floats]]:
        """For each C, the folds' weights (F, K, d + 1) and how accurate they are.

        Folds that lack the same classes go together; a class that a fold lacks has weights 0 and an intercept of
        -infinity there.
        """
        targets = self.sample.targets
        alike: dict[tuple[int, ...], list[int]] = {}
        for f, (train, _) in enumerate(self.folds):
            present = range(targets.n_classes) if targets.multilabel else np.unique(targets.values[train]).tolist()
            alike.setdefault(tuple(present), []).append(f)
        order = np.argsort([f for folds in alike.values() for f in folds])
        walks = [self._together(np.array(present), folds, Cs) for present, folds in alike.items()]
        for steps in zip(*walks, strict=True):
            yield np.concatenate([V for V, _ in steps])[order], np.concatenate([found for _, found in steps])

    def _together(self, present: Integers, folds: list[int], Cs: Floats) -> Iterable[tuple[Floats, Floats]]:
        """What `steps` gives, of some folds, which learn from rows of the classes ``present``."""
        owner, sample = self.owner, self.sample
        design, targets, weight, k = sample.design, sample.targets, sample.weight, sample.targets.n_classes
        member = np.zeros((design.n, len(folds)), dtype=bool)
        for column, f in enumerate(folds):
            member[self.folds[f][0], column] = True
        if len(present) < k:
            rows = np.flatnonzero(np.isin(targets.values, present))
            design, weight, member = design.take(rows), weight[rows], member[rows]
            targets = Targets(targets.classes[present], np.searchsorted(present, targets.values[rows]))
        tasks = risks(design.anchored(), targets, weight, owner.identifiability == "reference")
        walks = [path(risk, member, Cs.tolist(), owner.tol, owner.max_iter) for risk in tasks]
        for steps in zip(*walks, strict=True):
            found = [weights(risk, step.V) for risk, step in zip(tasks, steps, strict=True)]
            V = np.concatenate(found, axis=1)
            if len(present) < k:
                V = np.stack([seated(v, present, k, owner._share) for v in V])
            yield V, np.concatenate([step.decrement for step in steps])

    def _score(self, f: int, C: float, v: Floats) -> float:
        X, y, metadata = self.held_out[f]
        score = self.score(self.predictor(C, v), X, y, **metadata)
        if not np.isfinite(score):
            raise InvalidInputError(
                f"scoring gave {score} for C={C:g} on fold {f}: choose another score, or folds where it is defined.",
                "scoring",
            )
        return float(score)

    def predictor(self, C: float, v: Floats) -> LogisticRegression:
        """A `LogisticRegression` that has these weights, to score with or to start from."""
        own = {name: getattr(self.owner, name) for name in ("threshold", "fit_intercept", "class_weight")}
        own |= {name: getattr(self.owner, name) for name in ("identifiability", "tol", "max_iter")}
        predictor = LogisticRegression(C, warm_start=True, **own)
        predictor.__dict__.update(self._attributes(v), n_features_in_=self.sample.design.d)
        return predictor

    def _attributes(self, v: Floats) -> dict[str, Any]:
        targets, coef, intercept = self.sample.targets, np.ascontiguousarray(v[:, :-1]), v[:, -1].copy()
        attributes = {
            "classes_": targets.classes,
            "coef_": coef,
            "intercept_": intercept,
            "_model": Hyperplanes(coef, intercept),
            "_multilabel": targets.multilabel,
        }
        present = np.isfinite(intercept)
        if not present.all():  # as a classifier has it that knows of a class without weight
            by_class = ("classes_", targets.classes), ("coef_", coef), ("intercept_", intercept)
            attributes["_weighted"] = {name: values[present] for name, values in by_class}
        return attributes

    def _training(self, f: int) -> dict[str, Any]:
        """What fold f learns from, made when a callback asks."""
        train = self.folds[f][0]
        return {
            "X": lambda: self.sample.design.given(train),
            "y": lambda: self.labels[train],
            "metadata": lambda: None if self.weight is None else {"sample_weight": self.weight[train]},
        }


def _accuracy(estimator: Any, X: Any, y: Array, sample_weight: Floats | None = None) -> float:
    """The weight of the rows that are predicted rightly; of a 0/1 matrix y, in every column.

    scikit-learn's takes longer than some fits.
    """
    right = estimator.predict(X) == y
    return float(np.average(right if right.ndim == 1 else right.all(axis=1), weights=sample_weight))


def best_place(scores: Floats, Cs: Floats, choice: str, block: int) -> int:
    """The place of the highest mean score over folds, of equal ones that of the smallest C.

    "one_standard_error" takes the smallest C of the same block of places (an l1_ratio) whose mean is at most one
    standard error of the best mean below it.
    """
    mean = scores.mean(axis=0)
    # means of the same numbers in another order round differently
    ties = np.flatnonzero(mean >= mean.max() - 8 * np.finfo(float).eps * np.abs(mean).max())
    best = int(ties[np.argmin(Cs[ties])])
    if choice == "best" or len(scores) == 1:
        return best
    error = float(scores[:, best].std(ddof=1)) / np.sqrt(len(scores))
    first = best // block * block
    near = first + np.flatnonzero(mean[first : first + block] >= mean[best] - error)
    return int(near[np.argmin(Cs[near])])


def short_fits(short: list[float], fits: int, tol: float) -> tuple[ConvergenceWarning, ...]:
    if not short:
        return ()
    return (
        ConvergenceWarning(
            f"{len(short)} of the {fits} fits that choose C stopped at a relative suboptimality of up to about "
            f"{max(short):.1e}, above tol={tol:g}; raise max_iter, or tol, or leave out the largest values of C."
        ),
    )
