"""Cascade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from separatrix.cascade import Settings, learn
from separatrix.errors import InvalidInputError
from separatrix.estimators import parameters
from separatrix.estimators.base import ProbabilisticClassifier
from separatrix.estimators.validation import Sample
from separatrix.outcome import Fit


@dataclass(eq=False, repr=False)
class Cascade(ProbabilisticClassifier):
    """s_l = a_(l-1) W_l + b_l, a_l = sigma(s_l): layers of sigmoidal perceptrons, P(y | x) from the last scores.

    The objective is C sum_i c_i loss_i + 1/2 sum_l ‖W_l‖², with the columns of x about their mean in standard
    deviations. It is not convex: what is found depends on the start, and the certificate claims that it is a stationary
    point, no more. Two classes have one output, P = sigma(s); more have one each, P = softmax(s).

    Parameters
    ----------
    hidden : int or sequence of int, default=8
        Units of the hidden layer, or of each; () for none, which is logistic regression.
    C : float, default=10.0
        Weight of the losses against the penalty.
    loss : {"log", "squared_error"}, default="log"
        -log P(y_i | x_i), or the squared distance of the probabilities from 0 and 1 (of two classes, of the one).
    solver : {"lbfgs", "gradient"}, default="lbfgs"
        "gradient" is W ← W - learning_rate dF/dW.
    learning_rate : float or None, default=None
        The step of "gradient". None: twice the last one, halved until the objective falls.
    tol : float, default=1e-5
        Of C sum_i c_i: the largest derivative at the end.
    max_iter : int, default=1000
        From each start.
    n_init : int, default=4
        Starts, of which the one with the least objective is kept.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.
    random_state : int, RandomState or None, default=0
        Of the starts: equal calls are equal fits.
    trace : bool, default=False
        Keep the steps of the start that is kept in ``trace_``: objective, largest derivative, all weights.

    Attributes
    ----------
    coefs_, intercepts_ : lists of arrays
        W_l (inputs, units) and b_l (units,) of each layer, in the units of X.
    objective_ : float
    certificate_ : Stationarity or None
        That every derivative is 0 up to tol; None, with a warning, where it is not.
    classes_, n_features_in_, n_iter_, status_
        As for every classifier here.

    Examples
    --------
    >>> from separatrix import Cascade
    >>> xor, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = Cascade(hidden=2, C=1000).fit(xor, y)
    >>> model.predict(xor).tolist()
    [0, 1, 1, 0]
    """

    hidden: int | Sequence[int] = 8
    C: float = 10.0
    _: KW_ONLY
    loss: str = "log"
    solver: str = "lbfgs"
    learning_rate: float | None = None
    tol: float = 1e-5
    max_iter: int = 1000
    n_init: int = 4
    class_weight: Mapping[Any, float] | str | None = None
    random_state: Any = 0
    trace: bool = False

    def _learn(self, sample: Sample) -> Fit:
        parameters.one_of("loss", self.loss, ("log", "squared_error"))
        parameters.one_of("solver", self.solver, ("lbfgs", "gradient"))
        parameters.flags(self, "trace")
        if self.learning_rate is not None and self.solver != "gradient":
            raise InvalidInputError(
                "learning_rate is for solver='gradient': 'lbfgs' finds its own steps.", "learning_rate"
            )
        sizes = list(self.hidden) if isinstance(self.hidden, (Sequence, np.ndarray)) else [self.hidden]
        settings = Settings(
            hidden=tuple(parameters.whole("hidden", size, at_least=1) for size in sizes),
            C=parameters.positive("C", self.C),
            squared=self.loss == "squared_error",
            descent=self.solver == "gradient",
            rate=None if self.learning_rate is None else parameters.positive("learning_rate", self.learning_rate),
            tol=parameters.positive("tol", self.tol),
            max_iter=parameters.whole("max_iter", self.max_iter, at_least=1),
            starts=parameters.whole("n_init", self.n_init, at_least=1),
            random=check_random_state(self.random_state),
            trace=bool(self.trace),
        )
        return learn(sample, settings)
