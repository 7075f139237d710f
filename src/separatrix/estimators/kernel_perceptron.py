"""KernelPerceptron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from sklearn.utils import check_random_state

from separatrix.errors import InvalidInputError, SeparatrixError
from separatrix.estimators import parameters
from separatrix.estimators.kernel_points import KernelClassifier
from separatrix.estimators.online import on_given_rows
from separatrix.outcome import Fit
from separatrix.perceptron.kernel_perceptron import Settings, learn


@dataclass(eq=False, repr=False)
class KernelPerceptron(KernelClassifier):
    """alpha_i <- alpha_i + 1 at a mistake, y_i f(x_i) <= 0, where f(x) = sum_j alpha_j y_j (k(x_j, x) + 1).

    The perceptron on phi(x), of which only inner products k(a, b) = <phi(a), phi(b)> are needed: points may be vectors,
    strings, graphs or anything a kernel is known for. The bias is the constant 1 added to the kernel. More than two
    classes: one perceptron for each class against the rest.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"laplacian"``, ``"sigmoid"``, ``"precomputed"`` (X is the kernel matrix),
        an object as ``Spectrum(4)`` for a list of strings or ``WeisfeilerLehman(2)`` for a list of graphs, or a
        function k(A, B) that returns the matrix of all pairs.
    gamma : {"scale", "auto"} or float, default="scale"
        For poly, rbf, laplacian and sigmoid: 1 / (d var(X)), 1 / d, or a number.
    degree : int, default=3
        For poly.
    coef0 : float, default=0.0
        For poly and sigmoid.
    max_iter : int, default=1000
        Passes at most.
    shuffle : bool, default=False
        Whether each pass takes the points in a new random order.
    fit_intercept : bool, default=True
        Whether 1 is added to the kernel. Without, b = 0: the boundary goes through the origin of feature space.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes' steps, multiplied with the sample weights.
    random_state : int, RandomState or None, default=None
        For ``shuffle``.
    trace : bool, default=False
        Whether to record every update in ``trace_``.

    Attributes
    ----------
    support_ : integer array of shape (m,)
        The points used at least once.
    support_vectors_ : array of shape (m, d), or list
        Themselves: all of the training data that the model keeps. Empty for a precomputed kernel.
    dual_coef_ : array of shape (1, m) or (k, m)
        alpha_i y_i of the support points: f(x) = sum_i dual_coef_i k(x_i, x) + intercept_.
    intercept_ : array of shape (1,) or (k,)
        sum_i alpha_i y_i.
    n_updates_ : int, or array of shape (k,)
        Number of updates.
    certificate_ : KernelSeparator, All or None
        That y_i f(x_i) > 0 for every training point. None if the passes ran out, a score is too close to 0 for float64,
        or the kernel is an object of your own, which the checker does not know.
    trace_ : Trace
        With ``trace=True``: step, point, objective (the perceptron risk), mistakes so far, margin (smallest signed
        distance in feature space), weights (alpha_i y_i of the points with a weight); and task, for several classes.
    classes_, n_features_in_, n_iter_, status_
        As for every classifier here; ``n_iter_`` counts passes.

    Notes
    -----
    A weight scales the step of its point, which is not the same as repeating it. Rows of the kernel matrix are computed
    when first needed and kept up to 200 MB: the matrix as a whole never is.

    Examples
    --------
    >>> from separatrix import KernelPerceptron
    >>> from separatrix.kernels import Spectrum
    >>> model = KernelPerceptron(Spectrum(2)).fit(["gattaca", "tacaga", "ccggcc", "ggcgcg"], [1, 1, 0, 0])
    >>> model.predict(["attac", "cgcgg"]).tolist()
    [1, 0]
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "C": "there is no penalty; use SVC with C.",
        "eta0": "from zero weights the step changes nothing but the length of w.",
        "cache_size": "rows of the kernel matrix are kept up to 200 MB.",
    }

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: str | float = "scale"
    degree: int = 3
    coef0: float = 0.0
    max_iter: int = 1000
    shuffle: bool = False
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    random_state: Any = None
    trace: bool = False

    def _learn(self, sample: Any) -> Fit:
        parameters.flags(self, "shuffle", "fit_intercept", "trace")
        settings = Settings(
            max_iter=parameters.whole("max_iter", self.max_iter, at_least=1),
            intercept=bool(self.fit_intercept),
            shuffle=check_random_state(self.random_state) if self.shuffle else None,
            trace=bool(self.trace),
        )
        try:
            fit = learn(sample, settings)
        except FloatingPointError as error:
            raise InvalidInputError(f"The scores overflow ({error}): scale the columns of X, or the kernel.") from error
        except SeparatrixError:
            raise
        except ValueError as error:  # of the kernel, on these points
            raise InvalidInputError(str(error)) from error
        return replace(fit, trace=on_given_rows(replace(fit, attributes={}), sample).trace)
