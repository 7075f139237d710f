"""Kozinec."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

from separatrix.errors import InvalidInputError
from separatrix.estimators import parameters
from separatrix.estimators.base import Classifier
from separatrix.estimators.online import on_given_rows
from separatrix.estimators.validation import Sample
from separatrix.outcome import Fit
from separatrix.perceptron.kozinec import RULES, Settings, learn


@dataclass(eq=False, repr=False)
class Kozinec(Classifier):
    """w <- the point nearest to 0 on the segment from w to a violating z, where z_i = y_i (x_i, 1).

    w stays in the convex hull of the z_i, so the best margin of any hyperplane through the origin of the z-space is at
    most ‖w‖; and w itself has the margin min_i z_i.w/‖w‖. The certificate is this bracket. More than two classes: one
    against the rest.

    Parameters
    ----------
    epsilon : float or None, default=None
        None stops at any w that separates the classes. A number between 0 and 1 goes on to the nearest point of the
        hull, the normal of the largest margin, until upper - lower <= epsilon * upper.
    rule : {"wolfe", "plain"}, default="wolfe"
        ``"plain"`` is Kozinec's own, with the worst z: it approaches the nearest point slowly, over millions of steps
        for a small epsilon. ``"wolfe"`` moves to the nearest point of the hull of all z used so far that still matter
        (Wolfe's minimum-norm point): few steps.
    max_iter : int, default=10000
        Steps at most, each of O(nd).
    fit_intercept : bool, default=True
        Whether z ends in y_i; otherwise b is 0.
    trace : bool, default=False
        Whether to record every step in ``trace_``.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The w with the best margin found (or, if none separates, the fewest mistakes).
    certificate_ : MarginBracket or All
        lower <= best margin in the space of (x, 1) <= upper. If lower > 0, w separates the classes.
    trace_ : Trace
        With ``trace=True``: step, point (the worst z), objective (‖w‖, the upper bound), gap (upper - lower), mistakes
        (rows with z.w <= 0), margin (the lower bound), weights; and task, for several classes.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here; ``n_iter_`` counts steps.

    Notes
    -----
    Data that cannot be separated have the origin in the hull: ‖w‖ falls to 0, the search ends there or at ``max_iter``,
    and a `ConvergenceWarning` says so. Weights of rows have no meaning for the hull: weight 0 leaves a row out, and of
    inseparable classes they count the mistakes.
    The margin is that of the homogeneous space: the intercept counts in ‖w‖. `HardMarginSVC` does not count it.

    Examples
    --------
    >>> from separatrix import Kozinec
    >>> model = Kozinec(epsilon=1e-6).fit([[0], [2]], [0, 1])
    >>> round(model.certificate_.upper, 6), model.coef_.round(6).tolist(), model.intercept_.round(6).tolist()
    (0.707107, [[0.5]], [-0.5])
    """

    epsilon: float | None = None
    _: KW_ONLY
    rule: str = "wolfe"
    max_iter: int = 10_000
    fit_intercept: bool = True
    trace: bool = False

    def _learn(self, sample: Sample) -> Fit:
        parameters.flags(self, "fit_intercept", "trace")
        if self.epsilon is not None and not (isinstance(self.epsilon, Real) and 0 < self.epsilon < 1):
            raise InvalidInputError(
                f"epsilon must be None or a number between 0 and 1; got {self.epsilon!r}.", "epsilon"
            )
        settings = Settings(
            epsilon=None if self.epsilon is None else float(self.epsilon),
            max_iter=parameters.whole("max_iter", self.max_iter, at_least=1),
            rule=parameters.one_of("rule", self.rule, RULES),
            trace=bool(self.trace),
        )
        return on_given_rows(learn(sample, settings), sample)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of classes that nothing separates it says so, and no more
        return tags
