"""RidgeClassifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from separatrix.estimators.base import Classifier
from separatrix.estimators.parameters import flags, least, one_of, whole
from separatrix.estimators.validation import Sample
from separatrix.formulas import least_squares, ridge
from separatrix.outcome import Fit

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga")  # scikit-learn's; the optimum is one
ITERATIONS = 10_000  # of LSMR, if max_iter is None


@dataclass(eq=False, repr=False)
class RidgeClassifier(Classifier):
    """min over (w, b) of sum_i c_i (y_i - w.x_i - b)² + alpha ‖w‖², y_i = ±1; the sign of w.x + b is the prediction.

    More than two classes: one such regression for each class against the rest. A 0/1 matrix y: one for each of its
    columns. The intercept is not penalised. With alpha = 0 it is `LeastSquaresClassifier`.

    Parameters
    ----------
    alpha : float, default=1.0
        How much ‖w‖² costs.
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0.
    max_iter : int, default=None
        Iterations of LSMR, the method for data both long and wide; None stands for 10000. Other shapes are solved
        directly unless rounding prevents that.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.
    copy_X, tol, solver, random_state
        As scikit-learn has them, without effect: X is never changed, and all methods end at the one optimum, up to
        rounding.
    positive : False
        True, for weights that are not below 0, raises an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The hyperplanes.
    certificate_ : Stationarity or None
        That the normal equations hold; None, with a warning, where rounding the weights alone breaks them.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from separatrix import RidgeClassifier
    >>> model = RidgeClassifier(alpha=5.0).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(12).tolist()  # 4 / (5 + alpha)
    [[0.4]]
    """

    _takes_matrix = True
    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {
        "positive": ((False,), "weights of one sign are another problem; use sklearn.linear_model.RidgeClassifier."),
    }

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = 1e-4
    class_weight: Mapping[Any, float] | str | None = None
    solver: str = "auto"
    positive: bool = False
    random_state: Any = None

    def _learn(self, sample: Sample) -> Fit:
        flags(self, "fit_intercept")
        one_of("solver", self.solver, SOLVERS)
        least("tol", self.tol, 0.0)
        alpha = least("alpha", self.alpha, 0.0)
        max_iter = ITERATIONS if self.max_iter is None else whole("max_iter", self.max_iter, at_least=1)
        if alpha == 0:
            return least_squares.learn(sample, max_iter)
        return ridge.learn(sample, alpha, max_iter)
