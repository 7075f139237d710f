"""The search for C and l1_ratio: fits of the folds along paths, one for each ratio, and the final fit with the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import seated
from separatrix.estimators.elastic_net import l1_ratio
from separatrix.estimators.logistic import LogisticRegression
from separatrix.estimators.logistic_search import Search
from separatrix.penalties import ElasticNet
from separatrix.sparse_models.columns import Columns
from separatrix.sparse_models.fit import losses_of
from separatrix.sparse_models.working_set import Solution, solve
from separatrix.targets import Targets

CLOSER = 0.01  # of tol is the gap of a fold's fit, as for l1_ratio=0


def ratios_of(penalty: Any, ratios: Any) -> tuple[float, ...]:
    """The ratios to try; scikit-learn's ``penalty`` stands for one, and None or "warn" for 0."""
    if penalty in ("l1", "l2"):
        return (1.0 if penalty == "l1" else 0.0,)
    if ratios is None or isinstance(ratios, str):
        if penalty == "elasticnet":
            raise InvalidInputError("l1_ratios must be specified when penalty is elasticnet.", "l1_ratios")
        return (0.0,)
    values = ratios if isinstance(ratios, Sequence | np.ndarray) else (ratios,)
    if not len(values):
        raise InvalidInputError("l1_ratios must have a number from 0 to 1, or several.", "l1_ratios")
    return tuple(l1_ratio(None, value, "l1_ratios") for value in np.asarray(values).tolist())


class SparseSearch(Search):
    """The search over the grid of ratios and values of C."""

    def steps(self, Cs: Floats) -> Iterator[tuple[Floats, Floats]]:
        if self.ratio == 0.0:
            yield from super().steps(Cs)
            return
        finite = np.isfinite(Cs)  # they rise: C=np.inf, without a penalty, is the last
        for found in zip(*(self._fold(train, Cs[finite]) for train, _ in self.folds), strict=True):
            yield np.stack([V for V, _ in found]), np.array([accuracy for _, accuracy in found])
        yield from super().steps(Cs[~finite])

    def _fold(self, train: Integers, Cs: Floats) -> Iterator[tuple[Floats, float]]:
        """For each C the weights (K, d + 1) of one fold, and how accurate they are."""
        sample = self.sample
        targets, k = sample.targets, sample.targets.n_classes
        design, weight = sample.design.take(train), sample.weight[train]
        if targets.multilabel:
            tasks = [Targets(np.array([0, 1]), column) for column in targets.values[train].T]
            present = np.arange(k)
        else:
            present, codes = np.unique(targets.values[train], return_inverse=True)
            tasks = [Targets(targets.classes[present], codes)]
        columns, penalty = Columns(design), ElasticNet(self.ratio)
        starts: list[Solution] = []
        for before, C in zip([1.0, *Cs[:-1].tolist()], Cs.tolist(), strict=True):
            weights, accuracies, ends = [], [], []
            for number, task in enumerate(tasks):
                smooth = losses_of(task, C * weight, "log", 1)
                start, known = (np.zeros((smooth.K, design.d)), np.zeros((smooth.K, 1))), None
                if starts:
                    last = starts[number]
                    start, known = (last.w, last.b), last.known.of_times(C / before)
                found = solve(columns, smooth, penalty, start, CLOSER * self.owner.tol, self.owner.max_iter, known)
                coef, intercept = columns.design.user_units(np.vstack([found.w.T, found.b.T])[: design.p])
                weights.append(np.column_stack([coef, intercept]))
                accuracies.append(found.gap / max(found.value, np.finfo(np.float64).tiny))
                ends.append(found)
            starts = ends
            V = np.concatenate(weights)
            yield V if len(present) == k else seated(V, present, k, self.owner._share), max(accuracies)

    def predictor(self, C: float, v: Floats) -> LogisticRegression:
        return super().predictor(C, v).set_params(l1_ratio=self.ratio)
