"""SVC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators import parameters
from separatrix.estimators.absent import spread
from separatrix.estimators.lazily import lazily
from separatrix.estimators.support_vectors import SupportVectorClassifier
from separatrix.outcome import Trace
from separatrix.svm.kernel_svm import Settings
from separatrix.svm.walked import MOST_TOLD

MOST_MOVES = 20_000_000  # of a pair of multipliers, where the user sets no limit


@dataclass(eq=False, repr=False)
class SVC(SupportVectorClassifier):
    """min over w, b of 1/2 ‖w‖² + C sum_i c_i max(0, 1 - y_i (<w, phi(x_i)> + b)), where <phi(a), phi(b)> = k(a, b).

    The support vector machine with a kernel, certified to the relative gap `tol`. Of its solution w = sum_i alpha_i y_i
    phi(x_i) only the points with alpha_i > 0, the support vectors, are kept. More than two classes: one machine for
    each pair, and a vote.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks; ``np.inf`` for a hard margin, which raises `NotSeparableError` where there is none.
    kernel : str, Kernel or callable, default="rbf"
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"laplacian"``, ``"sigmoid"``, ``"precomputed"`` (X is the kernel matrix),
        an object as ``Spectrum(4)`` for a list of strings or ``WeisfeilerLehman(2)`` for a list of graphs, or a
        function k(A, B) that returns the matrix of all pairs.
    degree : int, default=3
        For poly.
    gamma : {"scale", "auto"} or float, default="scale"
        For poly, rbf, laplacian and sigmoid: 1 / (d var(X)), 1 / d, or a number.
    coef0 : float, default=0.0
        For poly and sigmoid.
    tol : float, default=1e-4
        Largest certified relative suboptimality. Problems of up to some thousand points go to machine precision.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix. A pair of up to 2000 points holds its matrix whatever this says.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Of more than two classes: one score for each class, or for each pair.
    max_iter : int, default=-1
        Pairs of multipliers to move at most, for each pair of classes; then a `ConvergenceWarning` states the gap. -1
        is a limit of 20 million.
    warm_start : bool, default=False
        Whether to go on from the multipliers of the previous fit, as along a path of C. Small problems need no start.
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0, and the multipliers need not balance: with the kernel k + 1, b is
        penalised instead.
    break_ties : bool, default=False
        Ties between classes are always broken by the scores, as scikit-learn's True does; with "ovo" it must be False.
    probability : bool, default=False
        Whether there is `predict_proba`: scores become probabilities by sigmoids (Platt), which are fitted to scores
        of points that were left out of the fit, in 5 more fits. Nothing is random.
    shrinking, random_state, verbose
        Without effect: points are left aside and taken back whenever that saves time, nothing is random, and the
        certificate says how the fit went.
    trace : bool, default=False
        Whether to solve by single moves of sequential minimal optimisation, for study, and to record each in
        ``trace_``; then ``max_iter=-1`` stands for 100,000 moves.

    Attributes
    ----------
    support_ : integer array of shape (m,)
        The support vectors, class by class.
    support_vectors_ : array of shape (m, d), or list
        Themselves. Empty for a precomputed kernel.
    n_support_ : integer array of shape (k,)
        Their number in each class.
    dual_coef_ : array of shape (1, m) or (k - 1, m)
        alpha_i y_i; of more than two classes, in the machines of the point's class with each of the others.
    intercept_ : array of shape (1,) or (k (k - 1) / 2,)
        b.
    coef_ : array of shape (1, d) or (k (k - 1) / 2, d)
        w, with ``kernel="linear"``.
    slack_ : array of shape (n,) or (n, k (k - 1) / 2)
        xi_i = max(0, 1 - y_i f(x_i)) of the points learned from; 0 for points that are not of the pair.
    margin_ : float or array of shape (k (k - 1) / 2,)
        1 / ‖w‖.
    certificate_ : HingeGap, All, or None
        The objective and a proven lower bound on its minimum, with the Karush-Kuhn-Tucker conditions. None for a kernel
        that is not positive semidefinite, or that the checker does not know.
    kernel_ : Kernel
        The kernel with its settings.
    trace_ : Trace
        With ``trace=True``: step, point and other (the points whose alpha y rose and fell, -1 for none), objective,
        gap, mistakes, dual_coef and intercept (of a linear kernel weights, intercept last); and task, the number of the
        pair, for more than two classes. With C = inf, margin (of the weights so far) and bound (which no margin is
        above) in place of objective and gap.
    probA_, probB_ : arrays of shape (1,) or (k (k - 1) / 2,)
        With ``probability=True``: P = 1 / (1 + exp(probA f + probB)) for each pair.
    classes_, n_features_in_, n_iter_, status_
        As for every classifier here; ``n_iter_`` has one entry for each pair of classes.

    Examples
    --------
    >>> from separatrix import SVC
    >>> model = SVC(C=10.0, gamma=1.0).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> model.predict([[0, 0], [0.9, 0.1]]).tolist()
    [0, 1]
    >>> bool(model.certificate_.relative_gap < 1e-9)
    True
    """

    C: float = 1.0
    kernel: Any = "rbf"
    _: KW_ONLY
    degree: int = 3
    gamma: str | float = "scale"
    coef0: float = 0.0
    tol: float = 1e-4
    cache_size: float = 200
    class_weight: Mapping[Any, float] | str | None = None
    decision_function_shape: str = "ovr"
    max_iter: int = -1
    warm_start: bool = False
    fit_intercept: bool = True
    probability: bool = False
    shrinking: bool = True
    break_ties: bool = False
    random_state: Any = None
    verbose: bool = False
    trace: bool = False

    def _settings(self) -> Settings:
        parameters.flags(self, "fit_intercept", "warm_start", "break_ties", "trace")
        hard = isinstance(self.C, float) and np.isposinf(self.C)
        most = MOST_TOLD if self.trace else MOST_MOVES
        return Settings(
            C=np.inf if hard else parameters.positive("C", self.C),
            tol=parameters.positive("tol", self.tol),
            max_iter=most if self.max_iter == -1 else parameters.whole("max_iter", self.max_iter, at_least=1),
            cache_bytes=parameters.positive("cache_size", self.cache_size) * 2.0**20,
            fit_intercept=bool(self.fit_intercept),
            trace=Trace() if self.trace else None,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        if not self._calibrated():
            return super().fit(X, y, sample_weight)
        from separatrix.estimators.platt import divisible, sigmoids  # brings what only these need, .07 s

        with self._fitting():
            super().fit(X, y, sample_weight)
            points = divisible(X)
            n = _num_samples(points)
            weight = np.ones(n) if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, float), n)
            found = sigmoids(self, points, np.asarray(column_or_1d(y)), weight)
            self.__dict__.update(probA_=-found[:, 0], probB_=-found[:, 1])
            self.__dict__["_published"] += ("probA_", "probB_")
        return self

    def _calibrated(self) -> bool:
        if isinstance(self.probability, (bool, np.bool_)) and self.probability:
            return True
        if self.probability in (False, "deprecated"):
            return False
        raise InvalidInputError(f"probability must be True or False; got {self.probability!r}.", "probability")

    def _has_probabilities(self) -> bool:
        if not self._calibrated():
            raise AttributeError("predict_proba is not available when probability=False: use SVC(probability=True).")
        return True

    @available_if(_has_probabilities)
    @lazily
    def predict_proba(self, X: Any) -> Floats:
        """P(class | x), calibrated: it need not be largest for the class that `predict` names.

        Parameters
        ----------
        X : array-like, sparse matrix, or list

        Returns
        -------
        array of shape (n, k)
        """
        from separatrix.estimators.platt import probabilities

        check_is_fitted(self)
        if "probA_" not in self.__dict__:
            raise NotFittedError("predict_proba is not available when fitted with probability=False: fit again.")
        found = np.column_stack([-self.probA_, -self.probB_])
        return spread(probabilities(self._pair_scores(X), found, len(self._labels)), self.__dict__, 0.0)

    @available_if(_has_probabilities)
    @lazily
    def predict_log_proba(self, X: Any) -> Floats:
        """log P(class | x), as `predict_proba` has it."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
