"""The pocket algorithm: a perceptron walks on for ever, and the best weights it had are kept in the pocket.

Best means the fewest training errors (`ratchet`) or the longest run of correct answers (`run`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates import All
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts
from separatrix.design.sample import Sample
from separatrix.outcome import Fit, Status, Trace
from separatrix.perceptron.perceptron import hyperplanes, signed_steps
from separatrix.perceptron.recorder import Recorder
from separatrix.separation.sides import error_bound, identical_rows, wrong
from separatrix.solvers.online import TIES, Rows, State

CHUNK = 64  # updates whose errors are counted together: one matrix product instead of many


@dataclass(frozen=True)
class Settings:
    """What the pocket algorithm is told, apart from the data."""

    method: str = "ratchet"
    eta0: float = 1.0
    max_iter: int = 100
    shuffle: bool = True
    random: np.random.RandomState | None = None
    trace: bool = False


@dataclass
class Pocket:
    """The steps kept, in units of eta, with the weight of the rows they misclassify and the length of their run."""

    w: Floats
    errors: float
    run: int = 0


class Walk:
    """A perceptron on its way, with a pocket.

    The rule is that of the perceptron, a score of 0 predicting +1 as everywhere; eta scales the result (see `State`).
    The errors are those of the weights before that, free of its rounding. `most_recent` is the number of draws
    since the last update: the run of the weights it has now.
    """

    def __init__(self, design: Design, step: Floats, weight: Floats, settings: Settings) -> None:
        self.design, self.rows, self.step, self.weight, self.settings = design, Rows(design), step, weight, settings
        self.state = State.begin(np.zeros(design.d + 1), settings.eta0, average=False)
        self.state.alpha = np.zeros(design.n, dtype=np.int64)
        self.pocket = Pocket(self.state.w.copy(), float(self.errors(self.state.w[None])[0]))
        self.updates = self.most_recent = 0

    def errors(self, weights: Floats) -> Floats:
        """The total weight of the rows that each of these weights (m, d + 1) misclassifies."""
        V = np.ascontiguousarray(weights[:, : self.design.p].T)
        (total,) = self.design.reduce(_errors, self.step, self.weight, args=(V,))
        return np.asarray(total)

    def sweep(self, watch: Recorder | None) -> int:
        """n draws; returns the number of updates."""
        n, random = self.design.n, self.settings.random
        order = np.arange(n) if random is None or not self.settings.shuffle else random.randint(n, size=n)
        history, when = np.empty((CHUNK, self.design.d + 1)), np.empty(CHUNK, dtype=np.intp)
        position = updates = 0
        while position < n:
            before, start = self.state.w.copy(), position
            position, more = self.rows.run(
                self.step, None, TIES["positive"], order, position, self.state, history, when
            )
            updates += more
            keep = self._keep_best if self.settings.method == "ratchet" else self._keep_longest
            errors = keep(before, history[:more], when[:more] - start, position - start)
            if watch and more:
                watch(order[when[:more]], history[:more], 1, errors=errors)
            if self.pocket.errors == 0:
                break
        self.updates += updates
        return updates

    def _keep_best(self, before: Floats, history: Floats, when: Integers, drawn: int) -> Array:
        """After each update: if the new weights make fewer errors than the pocket, they replace it."""
        if not len(history):
            return np.zeros(0)
        errors = self.errors(history)
        pocketed = np.minimum.accumulate(np.minimum(errors, self.pocket.errors))
        best = int(np.argmin(errors))  # the first of the best: what replacing one by one arrives at
        if errors[best] < self.pocket.errors:
            self.pocket = Pocket(history[best].copy(), float(errors[best]))
        return pocketed

    def _keep_longest(self, before: Floats, history: Floats, when: Integers, drawn: int) -> Array:
        """Before each update: if the old weights had a longer run than the pocket, they replace it."""
        pocketed = np.empty(len(when))
        previous, run = 0, self.most_recent
        for k, place in enumerate(when):
            run += int(place) - previous
            if run > self.pocket.run:
                w = (history[k - 1] if k else before).copy()
                self.pocket = Pocket(w, float(self.errors(w[None])[0]), run)
            pocketed[k] = self.pocket.errors
            previous, run = int(place) + 1, 0
        self.most_recent = run + drawn - previous
        return pocketed

    def finish(self) -> bool:
        """Consider the weights it has now, if no draw of a whole sweep was a mistake; True if they make no errors."""
        errors = float(self.errors(self.state.w[None])[0])
        fewest = errors == 0 or self.settings.method == "ratchet"
        if errors < self.pocket.errors if fewest else self.most_recent > self.pocket.run:
            self.pocket = Pocket(self.state.w.copy(), errors, self.most_recent)
        return errors == 0


def learn(sample: Sample, settings: Settings) -> Fit:
    """One walk for each task; the model is what is in the pockets."""
    design, targets, weight = sample.design, sample.targets, sample.weight
    trace = Trace() if settings.trace else None
    walks, bounds, passes = [], [], 1
    for number in range(targets.tasks):
        step = signed_steps(targets, weight, number)
        walk = Walk(design, step, weight, settings)
        bounds.append(identical_rows(design, targets, weight, number))
        watch = None
        if trace is not None:
            watch = Recorder(trace, design, step, walk.state, number if targets.tasks > 1 else None)
            watch(np.array([-1]), walk.state.w[None], 0, errors=np.array([walk.pocket.errors]))
        for sweep in range(1, settings.max_iter + 1):
            passes = max(passes, sweep)
            updates = walk.sweep(watch)
            if walk.pocket.errors <= bounds[-1] or (updates == 0 and walk.finish()):
                break
        else:
            walk.finish()
        walks.append(walk)
    model = hyperplanes(design, np.array([walk.state.scaled(walk.pocket.w) for walk in walks]))
    parts = []
    for number, (w, b, bound) in enumerate(zip(model.coef, model.intercept.tolist(), bounds, strict=True)):
        errors = float(weight[wrong(design, targets.task_signs(number), w, b)].sum())
        proof = "identical rows" if bound > 0 else "nothing"
        parts.append(error_bound(design, targets, number, w, b, errors, bound, proof))
    attributes = {
        "errors_": targets.of_tasks([part.errors for part in parts]),
        "n_updates_": targets.of_tasks([walk.updates for walk in walks]),
    }
    return Fit(model, All.of(parts), Status.POCKET, passes, trace, attributes)


def _errors(block: Block, step: Floats, weight: Floats, V: Floats) -> Parts:
    wrong = (block.dot(V) >= 0) != (step > 0)[:, None]
    return (weight @ wrong.astype(np.float64),)  # a product of floats is BLAS, one with truth values is not
