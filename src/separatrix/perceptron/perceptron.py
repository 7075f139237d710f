"""The perceptron: w <- w + eta c_i y_i (x_i, 1) at a mistake, by one of three rules, until a pass without mistakes.

The walk is made with eta = 1 and scaled at the end (see `State`): the updates are then the same for every eta.

Rows are taken as they are: the number of updates is bounded by R²/gamma² of these rows, not of rescaled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.certificates import All, Certificate
from separatrix.design import Design
from separatrix.design.sample import Sample
from separatrix.errors import ConvergenceWarning
from separatrix.geometry import Hyperplanes
from separatrix.loops.online import CYCLE, MISTAKES, PASSES, SINCE, UPDATES, begun, came_back
from separatrix.outcome import Fit, Status, Trace
from separatrix.perceptron.recorder import Recorder
from separatrix.separation.sides import separator
from separatrix.solvers.online import TIES, Rows, State
from separatrix.targets import Targets

RECORDED = 64  # updates whose scores a trace computes at once


@dataclass(frozen=True)
class Settings:
    """What a perceptron is told, apart from the data."""

    update: str = "online"
    eta0: float = 1.0
    boundary: str = "mistake"
    max_iter: int = 1000
    average: bool = False
    shuffle: np.random.RandomState | None = None
    trace: bool = False
    tol: float | None = None  # by how much the mean loss must fall for a pass to be of use
    patience: int = 5  # passes without use, with tol, after which to stop
    states: Sequence[State] = ()  # where each task starts


@dataclass(frozen=True)
class Task:
    """One perceptron to train: the rows, their signed steps c_i y_i, and what the start adds to their scores."""

    design: Design
    rows: Rows
    step: Floats
    offset: Floats | None
    settings: Settings

    @property
    def tie(self) -> float:
        return float(TIES[self.settings.boundary])

    def mistakes(self, w: Floats) -> tuple[Floats, Any]:
        """The scores of all rows, and which of them are mistakes."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.design.dot(w[: self.design.p, None])[:, 0]
            if self.offset is not None:
                scores += self.offset
        if not np.isfinite(scores).all():
            raise FloatingPointError("a score is not finite")
        return scores, np.where(scores == 0, self.step < self.tie, (scores < 0) == (self.step > 0))

    def loss(self, w: Floats) -> float:
        """The mean over the rows of max(0, -y_i w.(x_i, 1))."""
        scores, _ = self.mistakes(w)
        return float(np.maximum(0.0, -np.sign(self.step) * scores).mean())


# ---------------------------------------------------------------------- one pass of each rule
def online_pass(task: Task, state: State, watch: Recorder | None) -> tuple[int, int]:
    """Cycle the points, and update at each mistake. Returns the mistakes of this pass, and the updates: the same."""
    n, shuffle = task.rows.n, task.settings.shuffle
    order = None if shuffle is None else shuffle.permutation(n)
    recorded = RECORDED if watch else 0
    history, when = np.empty((recorded, task.rows.d + 1)), np.empty(recorded, dtype=np.intp)
    position = updates = 0
    while position < n:
        position, more = task.rows.run(task.step, task.offset, task.tie, order, position, state, history, when)
        updates += more
        if watch and more:
            watch(when[:more] if order is None else order[when[:more]], history[:more], 1)
    state.seen += n
    return updates, updates


def batch_pass(task: Task, state: State, watch: Recorder | None) -> tuple[int, int]:
    """w <- w + sum of step_i (x_i, 1) over the mistakes: gradient descent on sum_i c_i max(0, -y_i w.(x_i, 1))."""
    _, wrong = task.mistakes(state.w)
    mistakes = int(wrong.sum())
    if mistakes:
        change = task.design.tdot((task.step * wrong)[:, None])[:, 0]
        state.w[: task.design.p] += change
        if len(state.drift):
            state.drift[: task.design.p] += state.seen * change
        state.alpha += wrong
        if watch:
            watch(np.array([-1]), state.w[None], mistakes)
    state.seen += 1
    return mistakes, min(mistakes, 1)


def worst_pass(task: Task, state: State, watch: Recorder | None) -> tuple[int, int]:
    """w <- w + step_i (x_i, 1) for the mistake i with the smallest y_i w.(x_i, 1)."""
    scores, wrong = task.mistakes(state.w)
    mistakes = int(wrong.sum())
    if mistakes:
        i = int(np.argmin(np.where(wrong, np.sign(task.step) * scores, np.inf)))
        task.rows.add(i, task.step[i], state.w)
        if len(state.drift):
            task.rows.add(i, state.seen * task.step[i], state.drift)
        state.alpha[i] += 1
        if watch:
            watch(np.array([i]), state.w[None], 1)
    state.seen += 1
    return mistakes, min(mistakes, 1)


RULES: Mapping[str, Callable[[Task, State, Recorder | None], tuple[int, int]]] = {
    "online": online_pass,
    "batch": batch_pass,
    "worst": worst_pass,
}


# ---------------------------------------------------------------------- passes until one is clean
@dataclass(frozen=True)
class Run:
    """How the training of one task ended."""

    state: State
    passes: int
    updates: int
    mistakes: int  # in the last pass
    stalled: bool = False  # stopped because the loss no longer fell
    cycle: tuple[int, int] = (0, 0)  # passes and updates after which the weights came back, if they did


def train(task: Task, state: State, watch: Recorder | None) -> Run:
    """Pass after pass by the chosen rule, until one without mistakes, `patience` ones without use, or `max_iter`.

    A pass over the points in their order depends on nothing but the weights before it. So it also ends where these come
    back: from there on it would repeat itself. Not if weights are averaged, which repetitions change.
    """
    rule, settings = RULES[task.settings.update], task.settings
    cycles = settings.shuffle is None and not settings.average
    if rule is online_pass and settings.shuffle is None and settings.tol is None and watch is None:
        counts = task.rows.passes(task.step, task.offset, task.tie, settings.max_iter, state, cycles)
        state.seen += int(counts[PASSES]) * task.rows.n
        return Run(state, int(counts[PASSES]), int(counts[UPDATES]), int(counts[MISTAKES]), cycle=_cycle(counts))
    updates = mistakes = passes = useless = 0
    best, counts, saved = np.inf, begun(), state.w.copy()
    for _ in range(settings.max_iter):
        mistakes, more = rule(task, state, watch)
        passes, updates = passes + 1, updates + more
        if mistakes == 0:
            break
        counts[UPDATES] = updates
        if cycles and came_back(state.w, saved, counts):
            return Run(state, passes, updates, mistakes, cycle=_cycle(counts))
        if settings.tol is not None:
            loss = settings.eta0 * task.loss(state.w)
            useless = useless + 1 if loss > best - settings.tol else 0
            best = min(best, loss)
            if useless >= settings.patience:
                return Run(state, passes, updates, mistakes, stalled=True)
    return Run(state, passes, updates, mistakes)


def _cycle(counts: Integers) -> tuple[int, int]:
    """The passes and the updates of a cycle, if there is one."""
    return (int(counts[CYCLE]), int(counts[UPDATES] - counts[SINCE])) if counts[CYCLE] else (0, 0)


def learn(sample: Sample, settings: Settings) -> Fit:
    """Train one perceptron for each task, from the states of the settings, which are left as they are."""
    design, targets, runs = sample.design, sample.targets, []
    trace = Trace() if settings.trace else None
    for number, (task, state) in enumerate(_begun(sample, settings)):
        watch = None
        if trace is not None:
            watch = Recorder(trace, design, task.step, state, number if targets.tasks > 1 else None)
            watch(np.array([-1]), state.w[None], 0)
        runs.append(train(task, state, watch))
    model = hyperplanes(design, np.array([run.state.averaged() for run in runs]))
    certificate, status, warnings = verdict(design, targets, model, runs, settings)
    attributes = published(targets, runs, settings)
    return Fit(model, certificate, status, max(run.passes for run in runs), trace, attributes, tuple(warnings))


def learn_more(sample: Sample, settings: Settings) -> Fit:
    """One pass over new rows of a stream, from these states, which are left as they are."""
    runs = []
    for task, state in _begun(sample, settings):
        mistakes, updates = RULES[settings.update](task, state, None)
        runs.append(Run(state, 1, updates, mistakes))
    model = hyperplanes(sample.design, np.array([run.state.averaged() for run in runs]))
    attributes = published(sample.targets, runs, settings)
    del attributes["dual_coef_"]  # the points are gone
    return Fit(model, None, Status.STREAM, attributes=attributes)


def _begun(sample: Sample, settings: Settings) -> Iterator[tuple[Task, State]]:
    """Each task, and a state to train that goes on from that of the settings."""
    design, rows = sample.design, Rows(sample.design)
    for number, before in enumerate(settings.states):
        state = before.with_step(settings.eta0)
        state.alpha = np.zeros(design.n, dtype=np.int64)
        step = signed_steps(sample.targets, sample.weight, number)
        yield Task(design, rows, step, state.offsets(design), settings), state


def signed_steps(targets: Targets, weight: Floats, task: int) -> Floats:
    """c_i y_i for each row."""
    step = 2.0 * (targets.values == targets.positive(task))
    step -= 1.0  # in place, here and below: to get memory for many rows takes longer than to fill it
    step *= weight
    return step


def hyperplanes(design: Design, V: Floats) -> Hyperplanes:
    """The weights V (tasks, d + 1) as the model holds them."""
    return Hyperplanes(design.rounded(V[:, : design.d]), design.rounded(V[:, design.d]))


# ---------------------------------------------------------------------- what the fit may claim
def verdict(
    design: Design, targets: Targets, model: Hyperplanes, runs: Sequence[Run], settings: Settings
) -> tuple[Certificate | None, Status, list[Warning]]:
    """After clean passes whose weights strictly separate, a `Separator` for each task; otherwise a warning."""
    dirty = [number for number, run in enumerate(runs) if run.mistakes]
    if dirty and all(runs[number].cycle[0] for number in dirty):
        return None, Status.REPEATING, [_repeating(targets, runs, dirty)]
    if dirty:
        return None, Status.UNCERTIFIED, [_out_of_passes(targets, runs, dirty, settings)]
    design = design.summed()
    proofs = [
        separator(design, targets, number, w, float(b))
        for number, (w, b) in enumerate(zip(model.coef, model.intercept, strict=True))
    ]
    parts = [proof for proof in proofs if proof is not None]
    if len(parts) < len(proofs):
        return None, Status.UNSTRICT, [_not_strict(settings)]
    return All.of(parts), Status.SEPARATED, []


def _named(targets: Targets, runs: Sequence[Run], dirty: Sequence[int]) -> str:
    """Which classes these are, if there are several tasks."""
    if len(runs) == 1:
        return ""
    labels = ", ".join(str(targets.classes[number]) for number in dirty[:5]) + (", ..." if len(dirty) > 5 else "")
    return f" (classes {labels} against the rest)"


def _repeating(targets: Targets, runs: Sequence[Run], dirty: Sequence[int]) -> Warning:
    run = runs[dirty[0]]
    passes, updates = run.cycle
    return ConvergenceWarning(
        f"The perceptron repeats itself{_named(targets, runs, dirty)}: after pass {run.passes} its weights are exactly "
        f"those of {passes} {'pass' if passes == 1 else 'passes'} before, and it would go through the same "
        f"{'update' if updates == 1 else f'{updates} updates'} for ever. Unless rounding swallows its steps, no "
        "hyperplane separates the classes: "
        "separatrix.separability(X, y) proves it. PocketPerceptron keeps the weights with the fewest errors."
    )


def _out_of_passes(targets: Targets, runs: Sequence[Run], dirty: Sequence[int], settings: Settings) -> Warning:
    mistakes = sum(runs[number].mistakes for number in dirty)
    n = len(runs[0].state.alpha)
    which = _named(targets, runs, dirty)
    if any(runs[number].stalled for number in dirty):
        return ConvergenceWarning(
            f"The perceptron stopped, as tol={settings.tol:g} asks, with {mistakes} mistakes on {n} rows in the last "
            f"pass{which}, so nothing is proved: tol=None goes on until a pass is clean."
        )
    return ConvergenceWarning(
        f"The perceptron stopped after max_iter={settings.max_iter} passes with {mistakes} mistakes on {n} rows in the "
        f"last pass{which}, so nothing is proved. separatrix.separability(X, y) says whether the classes can be "
        "separated at all, and separatrix.mistake_bound(X, y) how many updates that takes at most: if they can, raise "
        "max_iter; if not, PocketPerceptron keeps the weights with the fewest errors."
    )


def _not_strict(settings: Settings) -> Warning:
    if settings.average:
        return ConvergenceWarning(
            "The last pass was clean, but the averaged weights do not separate every row, so there is no certificate: "
            "average=False keeps the weights that do."
        )
    return ConvergenceWarning(
        "The last pass was clean, but some rows have a score of 0 or one that rounds across it, so the weights do not "
        "strictly separate the classes and there is no certificate: boundary='mistake' trains until every row is "
        "strictly on its own side, and float64 input keeps all digits of the weights."
    )


def published(targets: Targets, runs: Sequence[Run], settings: Settings) -> dict[str, Any]:
    """The counts of a fit, numbers for two classes, one for each class otherwise; and where it ended."""
    alphas = [run.state.alpha for run in runs]
    sides = [targets.values == targets.positive(task) for task in range(len(runs))]
    # a product would first copy the truth values as numbers, which takes longer
    missed = [int(np.einsum("i,i", alpha, side)) for alpha, side in zip(alphas, sides, strict=True)]
    counts: dict[str, Any] = {
        "n_updates_": [run.updates for run in runs],
        "false_positives_": [int(alpha.sum()) - m for alpha, m in zip(alphas, missed, strict=True)],
        "false_negatives_": missed,
        "dual_coef_": alphas,
    }
    numbers = {name: targets.of_tasks(value) for name, value in counts.items()}
    return numbers | {"_states": [run.state.with_step(settings.eta0) for run in runs]}
