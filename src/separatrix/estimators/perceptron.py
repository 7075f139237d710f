"""Perceptron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from separatrix.errors import InvalidInputError
from separatrix.estimators import parameters
from separatrix.estimators.absent import fitted_weights
from separatrix.estimators.base import Classifier
from separatrix.estimators.online import explained_overflow, first_weights, on_given_rows, stream_classes
from separatrix.estimators.validation import Sample, check_training
from separatrix.outcome import Fit
from separatrix.perceptron.perceptron import RULES, Settings, learn, learn_more
from separatrix.solvers.online import TIES, State


@dataclass(eq=False, repr=False)
class Perceptron(Classifier):
    """At a mistake, y_i (w.x_i + b) <= 0, step towards the point: w <- w + eta0 y_i x_i and b <- b + eta0 y_i.

    If the classes can be separated with margin gamma (in the space of the points (x, 1), of length at most R), at most
    R²/gamma² updates are made from zero weights, and the last pass is clean: the certificate then proves that every row
    is strictly on its own side. More than two classes: one perceptron for each class against the rest.

    Parameters
    ----------
    update : {"online", "batch", "worst"}, default="online"
        ``"online"``: cycle the points and update at each mistake. ``"batch"``: one update a pass with the sum of all
        misclassified points, which is gradient descent on the perceptron risk sum_i c_i max(0, -y_i (w.x_i + b)).
        ``"worst"``: one update a pass, with the misclassified point of the smallest y_i (w.x_i + b).
    eta0 : float, default=1.0
        The step. From zero weights it changes nothing but the length of (w, b): the walk is made with steps of 1, and
        scaled at the end. From others it is that of (w, b)_0 / eta0.
    init : {"zeros", "ones", "first"} or array-like of shape (d + 1,), default="zeros"
        The first weights, intercept last: ``"first"`` is y_1 (x_1, 1). An array has d entries without intercept, or one
        row for each class.
    boundary : {"mistake", "positive", "correct"}, default="mistake"
        What a score of 0 is in training: always a mistake; a prediction of +1; never a mistake.
    shuffle : bool, default=False
        Whether each pass takes the points in a new random order.
    max_iter : int, default=1000
        Passes at most. Fewer where the weights after a pass are what they were before, as on XOR: without shuffling or
        averaging the updates would repeat for ever, and a warning says so.
    average : bool, default=False
        Whether the result is the mean of the weights after every point (for one update a pass: after every pass).
    fit_intercept : bool, default=True
        Whether points end in a 1; otherwise b is 0.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes' steps, multiplied with the sample weights.
    random_state : int, RandomState or None, default=None
        For ``shuffle``.
    warm_start : bool, default=False
        Whether `fit` starts at the weights of the fit before, if there is one, instead of ``init``.
    trace : bool, default=False
        Whether to record every update in ``trace_``. Each then costs O(nd): meant for small and medium data.
    tol : float or None, default=None
        With a number, training ends as well when for ``n_iter_no_change`` passes the mean of max(0, -y_i (w.x_i + b))
        after the pass has not fallen by more than this; that costs another pass over the rows each, and proves nothing.
    n_iter_no_change : int, default=5
        For ``tol``.
    penalty, early_stopping : None and False
        As scikit-learn has them; other values raise an error that says what to use.
    alpha, l1_ratio, validation_fraction, n_jobs, verbose
        Without effect: there is no penalty, nothing is held out, and ``trace=True`` records every update.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The weights.
    n_updates_ : int, or array of shape (k,)
        How often the weights changed.
    false_positives_, false_negatives_ : int, or arrays of shape (k,)
        How often a point with y = -1, y = +1 was used.
    dual_coef_ : integer array of shape (n,) or (k, n)
        alpha_i, how often point i was used: without averaging and weights, (w, b) = (w, b)_0 + eta0 sum_i alpha_i y_i
        (x_i, 1). Not after `partial_fit`, whose points are gone.
    certificate_ : Separator, All or None
        That every row is strictly on its own side, with the distance of the nearest; for several classes one of them
        each. None if the passes ran out, or the last was clean but not strict.
    trace_ : Trace
        With ``trace=True``: step, point (-1: all), objective (the risk), mistakes so far, margin (smallest signed
        distance; 0 for w = 0), weights (intercept last); and task, for several classes.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here; ``n_iter_`` counts passes.

    Notes
    -----
    A weight scales the step of its point. For ``update="batch"`` that equals repeating the row; for a rule that goes
    point by point it does not.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> model = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> model.coef_.tolist(), model.intercept_.tolist(), model.n_updates_
    ([[3.0, 2.0]], [-4.0], 18)
    >>> bool(model.certificate_.verify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]))
    True
    """

    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {
        "penalty": (
            (None,),
            "a penalised perceptron minimises a different objective; use LogisticRegression or LinearSVC.",
        ),
        "early_stopping": (
            (False,),
            "nothing is held out; use PocketPerceptron to keep the best weights, or sklearn.linear_model.Perceptron.",
        ),
    }

    update: str = "online"
    _: KW_ONLY
    eta0: float = 1.0
    init: str | ArrayLike = "zeros"
    boundary: str = "mistake"
    shuffle: bool = False
    max_iter: int = 1000
    average: bool = False
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    random_state: Any = None
    warm_start: bool = False
    trace: bool = False
    tol: float | None = None
    n_iter_no_change: int = 5
    penalty: None = None
    early_stopping: bool = False
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    validation_fraction: float = 0.1
    n_jobs: int | None = None
    verbose: int = 0

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """One pass over further rows of a stream, from the weights so far.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (k,), default=None
            All labels that will come; needed on the first call only.
        sample_weight : array-like of shape (n,), default=None
            Factors of the rows' steps.

        Returns
        -------
        self
        """
        settings = self._settings()
        first = "coef_" not in self.__dict__
        labels = stream_classes(self, classes, first)
        if self.class_weight == "balanced":
            raise InvalidInputError(
                "class_weight='balanced' needs all rows at once: give partial_fit a dict of class weights.",
                "class_weight",
            )
        with self._fitting():
            sample = check_training(
                self, X, y, sample_weight, intercept=bool(self.fit_intercept), reset=first, classes=labels,
                sweep=self._needs_sweep(),
            )  # fmt: skip
            states = self._first_states(sample, settings) if first else self._last_states()
            with explained_overflow(self, sample):
                fit = learn_more(sample, replace(settings, states=states))
            if not first:
                before = {name: getattr(self, name) for name in fit.attributes if name != "_states"}
                counts = {name: total + fit.attributes[name] for name, total in before.items()}
                fit = replace(fit, n_iter=self.n_iter_ + 1, attributes={**fit.attributes, **counts})
            return self._publish(fit, sample)

    def _sample(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        return check_training(self, X, y, sample_weight, intercept=bool(self.fit_intercept), sweep=self._needs_sweep())

    def _needs_sweep(self) -> bool:
        # the online loop meets every entry, and stops at a score that is not finite: no search beforehand
        return self.update != "online" or bool(self.trace)

    def _learn(self, sample: Sample) -> Fit:
        settings = self._settings()
        warm = self.warm_start and "coef_" in self.__dict__
        states = self._warm_states(sample) if warm else self._first_states(sample, settings)
        with explained_overflow(self, sample):
            return on_given_rows(learn(sample, replace(settings, states=states)), sample)

    def _first_states(self, sample: Sample, settings: Settings) -> list[State]:
        """Where training starts by itself."""
        return [State.begin(w, settings.eta0, settings.average) for w in first_weights(self.init, sample)]

    def _warm_states(self, sample: Sample) -> list[State]:
        """Where the fit before ended, for a warm start."""
        states = [state.again(bool(self.average)) for state in self._last_states()]
        if not np.array_equal(self._labels, sample.targets.classes) or len(states[0].w) != sample.design.d + 1:
            raise InvalidInputError(
                "warm_start=True continues the fit before, but classes or number of columns have changed since: "
                "use warm_start=False, or the same classes and columns.",
                "warm_start",
            )
        return states

    def _last_states(self) -> list[State]:
        """Where the fit before ended; of a model that was saved and loaded, its weights are what is known."""
        if "_states" in self.__dict__:
            states = [state.with_step(state.eta) for state in self._states]
        else:
            weights = np.column_stack(fitted_weights(self))
            states = [State.begin(w, float(self.eta0), bool(self.average)) for w in weights]
        if not self.fit_intercept:
            for state in states:
                state.start[-1] = state.w[-1] = 0.0
                state.drift[-1:] = 0.0
        return states

    def _settings(self) -> Settings:
        parameters.flags(self, "shuffle", "average", "fit_intercept", "warm_start", "trace")
        return Settings(
            update=parameters.one_of("update", self.update, RULES),
            eta0=parameters.positive("eta0", self.eta0),
            boundary=parameters.one_of("boundary", self.boundary, TIES),
            max_iter=parameters.whole("max_iter", self.max_iter, at_least=1),
            average=bool(self.average),
            shuffle=check_random_state(self.random_state) if self.shuffle else None,
            trace=bool(self.trace),
            tol=None if self.tol is None else parameters.least("tol", self.tol, 0.0),
            patience=parameters.whole("n_iter_no_change", self.n_iter_no_change, at_least=1),
        )
