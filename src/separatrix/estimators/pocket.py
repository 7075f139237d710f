"""PocketPerceptron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils import check_random_state

from separatrix.estimators import parameters
from separatrix.estimators.base import Classifier
from separatrix.estimators.online import explained_overflow, on_given_rows
from separatrix.estimators.validation import Sample
from separatrix.outcome import Fit
from separatrix.perceptron.pocket import Settings, learn


@dataclass(eq=False, repr=False)
class PocketPerceptron(Classifier):
    """w <- w + eta0 y_i (x_i, 1) at each mistake on a random point; the best weights on the way are kept in a pocket.

    For data that cannot be separated, where the perceptron itself never settles. With random draws the pocket holds
    weights with the fewest errors with a probability that tends to 1. More than two classes: one against the rest.

    Parameters
    ----------
    method : {"ratchet", "run"}, default="ratchet"
        What the pocket keeps. ``"ratchet"``: the weights with the fewest training errors, counted after every update,
        so that it only ever improves. ``"run"``: those with the longest run of correct answers, the final ones
        included, which needs no count and so is faster.
    eta0 : float, default=1.0
        The step. The weights start at zero, so it changes nothing but their length: the walk is made with steps of 1,
        and what is in the pocket is scaled at the end.
    shuffle : bool, default=True
        Whether points are drawn at random, with replacement, as the limit theorem has it; otherwise they take turns.
    max_iter : int, default=100
        Passes at most, of n draws each. For ``"ratchet"`` each update of a pass costs O(nd), though many are counted
        together.
    fit_intercept : bool, default=True
        Whether points end in a 1; otherwise b is 0.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes' steps and errors, multiplied with the sample weights.
    random_state : int, RandomState or None, default=None
        For the draws.
    trace : bool, default=False
        Whether to record every update in ``trace_``, at O(nd) each.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        What is in the pocket.
    errors_ : float, or array of shape (k,)
        Total weight of the rows that it misclassifies, as it is stored.
    n_updates_ : int, or array of shape (k,)
        How often the walking weights changed.
    certificate_ : ErrorBound or All
        The errors, recounted exactly, and the fewest known to be necessary: of identical rows with opposite labels
        one side is always wrong. `MinimumErrorClassifier` finds the fewest possible, at a price.
    trace_ : Trace
        With ``trace=True``: as for `Perceptron`, and errors, those of the pocket.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here; ``n_iter_`` counts passes.

    Notes
    -----
    A weight scales the step of its point, and is what an error there counts.

    Examples
    --------
    >>> from separatrix import PocketPerceptron
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> PocketPerceptron(random_state=0).fit(*xor).errors_  # no line makes fewer
    1.0
    """

    method: str = "ratchet"
    _: KW_ONLY
    eta0: float = 1.0
    shuffle: bool = True
    max_iter: int = 100
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    random_state: Any = None
    trace: bool = False

    def _learn(self, sample: Sample) -> Fit:
        parameters.flags(self, "shuffle", "fit_intercept", "trace")
        settings = Settings(
            method=parameters.one_of("method", self.method, ("ratchet", "run")),
            eta0=parameters.positive("eta0", self.eta0),
            max_iter=parameters.whole("max_iter", self.max_iter, at_least=1),
            shuffle=bool(self.shuffle),
            random=check_random_state(self.random_state),
            trace=bool(self.trace),
        )
        with explained_overflow(self, sample):
            return on_given_rows(learn(sample, settings), sample)
