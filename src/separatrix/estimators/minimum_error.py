"""MinimumErrorClassifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from separatrix.estimators import parameters
from separatrix.estimators.base import Classifier
from separatrix.estimators.validation import Sample
from separatrix.fewest_errors.learner import Settings, learn
from separatrix.outcome import Fit


@dataclass(eq=False, repr=False)
class MinimumErrorClassifier(Classifier):
    """min over (w, b) of sum_i c_i [w.x_i + b on the wrong side]: the fewest training errors of any hyperplane.

    Exact for two classes; more than two: each class against the rest. The problem is hard in general (its cost grows
    with the number of errors and of columns), so there is a limit on work, after which the best hyperplane found is
    returned with a proven lower bound on the errors.

    Parameters
    ----------
    max_nodes : int, default=1500
        Work for the whole fit, counted, so that equal calls give equal results. A node is a linear program of up to
        10,000 entries, of which larger ones count as several; 300,000 signs of enumerated hyperplanes, 10 of these
        settled in whole numbers, or 40 line searches, count as one. The default takes some ten seconds at most on an
        ordinary machine.
    time_limit : float or None, default=None
        Seconds after which to stop in any case, with what was found by then. Where it strikes depends on the machine:
        ``n_nodes_`` tells how far it came.
    fit_intercept : bool, default=True
        Whether b is free. Otherwise it is 0 and the hyperplanes are those through the origin: w = 0 is none of them.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The hyperplanes; of all that make these errors, ones with room on both sides. Where no hyperplane is better than
        one beyond all points, which predicts a constant, w is 0 and b is ±1.
    errors_, lower_bound_ : float, or arrays of shape (k,)
        The weight of the misclassified rows, of each class against the rest for more than two; and what is proven
        necessary. They are equal, but for rounding, unless the nodes were spent.
    n_nodes_ : int
        The work done.
    certificate_ : ErrorBound or All
        The errors, which its check recounts without rounding, and what the lower bound rests on.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from separatrix import MinimumErrorClassifier
    >>> model = MinimumErrorClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> model.errors_, model.lower_bound_
    (1.0, 1.0)
    """

    _: KW_ONLY
    max_nodes: int = 1500
    time_limit: float | None = None
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None

    def _learn(self, sample: Sample) -> Fit:
        parameters.flags(self, "fit_intercept")
        nodes = parameters.whole("max_nodes", self.max_nodes, at_least=1)
        limit = None if self.time_limit is None else parameters.positive("time_limit", self.time_limit)
        return learn(sample, Settings(nodes, limit))
