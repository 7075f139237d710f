"""LogisticRegression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.utils import check_random_state

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import fitted_weights
from separatrix.estimators.base import ProbabilisticClassifier
from separatrix.estimators.callbacks import Observed, Task
from separatrix.estimators.elastic_net import PENALTIES, disagreement, l1_ratio, sparse_logistic
from separatrix.estimators.inference import WaldInference
from separatrix.estimators.parameters import flags, one_of, positive, whole
from separatrix.estimators.stream import Stream
from separatrix.estimators.study import Study
from separatrix.estimators.validation import Sample
from separatrix.formulas.least_squares import least_squares_start
from separatrix.geometry import Hyperplanes
from separatrix.logistic.learner import learn, one_pass
from separatrix.logistic.penalised import Settings, Start
from separatrix.outcome import Fit

SOLVERS = {
    "log": ("auto", "newton", "lbfgs", "gradient", "sgd"),
    "squared_error": ("auto", "newton", "gauss-newton", "gradient", "sgd"),
}
ELSEWHERE = ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga")  # solvers of scikit-learn


@dataclass(eq=False, repr=False)
class LogisticRegression(Observed, Study, Stream, WaldInference, ProbabilisticClassifier):
    """min over (w, b) of C sum_i c_i log(1 + exp(-y_i (w.x_i + b))) + 1/2 ‖w‖², certified to the relative gap `tol`.

    More than two classes: softmax, C sum_i -c_i log softmax(W x_i + b)[y_i] + 1/2 ‖W‖². A 0/1 matrix y: one independent
    predictor for each column. The intercept is not penalised. ``C=np.inf`` is maximum likelihood.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the penalty; ``np.inf`` for no penalty.
    loss : {"log", "squared_error"}, default="log"
        "log" is cross-entropy, as above. "squared_error" is the Euclidean distance between labels and probabilities, C
        sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖² with t_i = 0 or 1; for two classes, or a 0/1 matrix y. It is not
        convex: the certificate claims a stationary point, of which kind, and no more. Without a penalty it may have no
        finite minimum, for separable classes and others; then a warning says so.
    solver : {"auto", "newton", "lbfgs", "gauss-newton", "gradient", "sgd"}, default="auto"
        scikit-learn's other names ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga") mean "auto".
        "newton" is Newton-Raphson (IRLS), damped; for squared_error the exact Hessian, within a trust region where it
        is not positive definite or its step goes too far. "gauss-newton", for squared_error, takes 2 J'J for the
        Hessian. "lbfgs", for log, is a quasi-Newton method with a diagonal preconditioner. "gradient" and "sgd" are
        the plain rules on the data as it is, (w, b) <- (w, b) - learning_rate * gradient of the sum, or of one
        point's term; a pass of "sgd" takes all points in a new random order, the m-th with the step learning_rate *
        10 / (9 + m). "auto" is the fastest that certifies, by the shape of the data; for squared_error it is "newton"
        from each of zeros, least squares and the optimum of cross-entropy, and the lowest end (for large tables, a
        quasi-Newton method from the last of these).
    init : {"auto", "zeros", "least_squares"} or array-like of shape (d + 1,) or (k, d + 1), default="auto"
        The first weights, intercept last (d entries without one). "least_squares" regresses the labels 0 and 1 on X.
        "auto" is that for "newton" and "gauss-newton", and zeros for the others.
    threshold : float, default=0.5
        Two classes or a 0/1 matrix: predict positive when P >= threshold.
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.
    identifiability : {"symmetric", "reference"}, default="symmetric"
        More than two classes: weights that sum to 0 over the classes, or the last class's fixed at 0. Without a
        penalty the two are the same model; with one they are not.
    bias_reduction : {"firth", None}, default=None
        "firth" maximises sum_i c_i log P(y_i | x_i) + 1/2 log det I, I the Fisher information: the estimate has less
        bias, and is finite for separable classes too. For two classes and ``C=np.inf``.
    learning_rate : float or None, default=None
        The step of "gradient" and "sgd". None is 1/L: for "gradient", L = C lambda_max(sum_i c_i z_i z_i') s + 1,
        with z = (x, 1) and s the largest curvature of the loss (1/4 for log, 1/2 for more than two classes, 0.154 for
        squared_error), so that each step lowers the objective. For "sgd", L = max_i C c_i ‖z_i‖² s + 1/n, so that no
        step overshoots on its own point.
    damping : bool, default=True
        False, for solver="newton": every step is Newton's whole step, as textbooks print it. It may diverge, which is
        an error that says so.
    schedule : {"decay", "constant"}, default="decay"
        For "sgd": whether the step falls as above, or stays learning_rate, and the weights hover about the optimum.
    replacement : bool, default=False
        For "sgd": whether each of the n points of a pass is drawn from all of them, in place of a random order.
    tol : float, default=1e-4
        Largest certified relative suboptimality. Tiny problems go to machine precision. For squared_error, the largest
        gradient relative to slopes and columns; for Firth, the largest modified score in standard errors.
    max_iter : int, default=1000
        Iterations (of "sgd": passes) after which to give up, with a `ConvergenceWarning` that states the gap reached.
    random_state : int, RandomState or None, default=None
        Order of the points for "sgd".
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit.
    trace : bool, default=False
        Whether to record every step in ``trace_``, which costs a pass over the rows each.
    penalty : {"l1", "l2", "elasticnet", None}, default="deprecated"
        As scikit-learn had it: "l1" and "l2" stand for ``l1_ratio`` of 1 and 0, None for ``C=np.inf``. Leave it.
    l1_ratio : float, default=0.0
        The share of ‖w‖₁ in the penalty, l1_ratio ‖w‖₁ + (1 - l1_ratio)/2 ‖w‖²: above 0, weights are exactly 0 where
        the data do not ask for more. For loss="log" and solver="auto". For more than two classes the weights that
        are best do not sum to 0 then.
    dual, intercept_scaling, n_jobs, verbose
        Without effect: the solver is chosen by the shape of the data, the intercept is not penalised, all cores are
        used (set OMP_NUM_THREADS to use fewer), and the certificate says how the fit went.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The weights.
    certificate_ : DualityGap or Stationarity, or All of these for a 0/1 matrix y
        F at the weights and a proven lower bound on its minimum; a `Separator` or `Inseparable` where the maximum
        likelihood does not exist. A `Stationarity` for squared_error and Firth.
    n_nonzero_ : int
        With an L1 penalty, how many entries of ``coef_`` are not 0; ``certificate_.zeros`` tells of which ones it is
        proved that they are 0 in every optimum.
    log_likelihood_, standard_errors_, rank_ : float, array of shape (p,) or (k, p), int
        Maximum likelihood (``C=np.inf``) only; the intercept last.
    penalized_log_likelihood_ : float
        With ``bias_reduction="firth"``: the log-likelihood plus 1/2 log det I.
    trace_ : Trace
        With ``trace=True``: step, point (-1: all), objective, gap (NaN within a pass of "sgd"; for squared_error and
        Firth instead gradient, as `tol` bounds it), mistakes (rows on the wrong side), weights (intercept last); and
        task, for a 0/1 matrix y.
    n_iter_ : integer array of shape (1,)
        Iterations.
    classes_, n_features_in_, status_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.certificate_.relative_gap < 1e-12
    True
    >>> bool(model.certificate_.verify(X, y))
    True
    >>> LogisticRegression(loss="squared_error").fit(X, y).certificate_.kind
    'local minimum'
    """

    _takes_matrix = True
    _elsewhere: ClassVar[Mapping[str, str]] = {
        "multi_class": "more than two classes are softmax; use sklearn.multiclass.OneVsRestClassifier for the other.",
    }
    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {"penalty": PENALTIES}

    C: float = 1.0
    loss: str = "log"
    solver: str = "auto"
    init: str | ArrayLike = "auto"
    threshold: float = 0.5
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    identifiability: str = "symmetric"
    bias_reduction: str | None = None
    learning_rate: float | None = None
    damping: bool = True
    schedule: str = "decay"
    replacement: bool = False
    tol: float = 1e-4
    max_iter: int = 1000
    random_state: Any = None
    warm_start: bool = False
    trace: bool = False
    penalty: str | None = "deprecated"
    l1_ratio: float | None = 0.0
    dual: bool = False
    intercept_scaling: float = 1.0
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        if not hasattr(self, "_skl_callbacks"):
            return super().fit(X, y, sample_weight)

        def whole(task: Task) -> Any:
            super(LogisticRegression, self).fit(X, y, sample_weight)
            task.model = lambda: {name: value for name, value in vars(self).items() if name in self._published}
            return self

        return self._observed(whole, 0, X, y, sample_weight)

    @property
    def _C(self) -> float:
        """What the losses are multiplied with: infinity without a penalty."""
        return np.inf if self.penalty is None else self.C

    @property
    def _solver(self) -> str:
        """The solver by our own name for it."""
        return "auto" if self.solver in ELSEWHERE else self.solver

    def _learn(self, sample: Sample) -> Fit:
        settings, ratio = self._settings(sample), l1_ratio(self.penalty, self.l1_ratio)
        sparse = ratio > 0 and np.isfinite(settings.C)
        fit = sparse_logistic(self, sample, ratio, settings) if sparse else learn(sample, settings)
        warned = (*disagreement(self.penalty, self.l1_ratio), *fit.warnings)
        counted = {"n_nonzero_": int(np.count_nonzero(fit.model.coef))} if ratio > 0 else {}
        attributes = {**fit.attributes, **counted, "n_iter_": np.array([fit.n_iter])}
        return replace(fit, attributes=attributes, warnings=warned)

    def _descend(self, sample: Sample, W: Floats, calls: int) -> None:
        if l1_ratio(self.penalty, self.l1_ratio) > 0 or self.bias_reduction is not None:
            raise InvalidInputError("partial_fit is for l1_ratio=0 and without bias_reduction.")
        settings = replace(self, solver="sgd", damping=True)._settings(sample)
        if settings.reference and len(W) > 1:
            W -= W[-1].copy()  # the same model, the last class's weights 0
        one_pass(sample, settings, W, calls)

    def _streamed(self, model: Hyperplanes, calls: int) -> Fit:
        return replace(super()._streamed(model, calls), attributes={"n_iter_": np.array([calls])})

    def _settings(self, sample: Sample) -> Settings:
        flags(self, "fit_intercept", "warm_start", "trace", "damping", "replacement")
        C = np.inf if np.inf == self._C else positive("C", self.C)
        loss = one_of("loss", self.loss, SOLVERS)
        one_of("identifiability", self.identifiability, ("symmetric", "reference"))
        two = sample.targets.binary or sample.targets.multilabel
        if not isinstance(self.threshold, Real) or not 0 <= self.threshold <= 1:
            raise InvalidInputError(f"threshold must be a probability; got {self.threshold!r}.", "threshold")
        if self.threshold != 0.5 and not two:
            raise InvalidInputError(
                "threshold is for two classes or a 0/1 matrix y: of more, the most probable wins.", "threshold"
            )
        if loss == "squared_error" and not two:
            raise InvalidInputError(
                "Only binary classification is supported, and a 0/1 matrix y, by loss='squared_error': use loss='log', "
                "or sklearn.multiclass.OneVsRestClassifier around this.",
                "loss",
            )
        if self.bias_reduction is not None:
            self._check_bias_reduction(C, two)
        settings = Settings(
            C=C,
            solver=one_of("solver", self._solver, SOLVERS[loss], f" for loss={loss!r}"),
            tol=positive("tol", self.tol),
            max_iter=whole("max_iter", self.max_iter, at_least=1),
            reference=self.identifiability == "reference",
            start=self._start(sample),
            trace=bool(self.trace),
            loss=loss,
            firth=self.bias_reduction is not None,
            rate=None if self.learning_rate is None else positive("learning_rate", self.learning_rate),
            rng=check_random_state(self.random_state),
            damping=bool(self.damping),
            constant=one_of("schedule", self.schedule, ("decay", "constant")) == "constant",
            replacement=bool(self.replacement),
        )
        if not settings.damping and (settings.solver != "newton" or settings.firth):
            raise InvalidInputError("damping=False is for solver='newton', without bias_reduction.", "damping")
        for name, given in (("replacement", settings.replacement), ("schedule", settings.constant)):
            if given and settings.solver != "sgd":
                raise InvalidInputError(f"{name} is for solver='sgd': the others take all points at once.", name)
        if settings.rate is not None and settings.solver not in ("gradient", "sgd"):
            raise InvalidInputError(
                "learning_rate is for solver='gradient' or 'sgd': the others find their own steps.", "learning_rate"
            )
        return settings

    def _check_bias_reduction(self, C: float, two: bool) -> None:
        refused = partial(InvalidInputError, parameter="bias_reduction")
        if self.bias_reduction != "firth":
            raise refused(f"bias_reduction must be 'firth' or None; got {self.bias_reduction!r}.")
        if not np.isinf(C):
            raise refused("bias_reduction='firth' penalises the likelihood by itself: use C=np.inf.")
        if self.loss != "log" or not two:
            raise refused("bias_reduction='firth' is for loss='log' and two classes, or a 0/1 matrix y.")
        if self._solver not in ("auto", "newton"):
            raise refused("bias_reduction='firth' is solved by Fisher scoring: use solver='auto'.")

    def _start(self, sample: Sample) -> Start:
        """The weights of the previous fit, or what ``init`` stands for; None for the solver's own choice."""
        design, targets = sample.design, sample.targets
        rows = 1 if targets.binary else targets.n_classes
        if self.warm_start and "coef_" in self.__dict__:
            coef, intercept = fitted_weights(self)
            if coef.shape == (rows, design.d) and np.array_equal(self._labels, targets.classes):
                return coef, intercept
        init = self.init
        if isinstance(init, str):
            one_of("init", init, ("auto", "zeros", "least_squares"))
            squares = self._solver in ("newton", "gauss-newton") and self.bias_reduction is None
            if init == "least_squares" or (init == "auto" and squares):
                coef, intercept = least_squares_start(design, targets, sample.weight)
            elif init == "zeros":
                coef, intercept = np.zeros((rows, design.d)), np.zeros(rows)
            else:
                return None
        else:
            given = np.asarray(init, dtype=np.float64)
            if given.shape not in ((design.p,), (rows, design.p)) or not np.isfinite(given).all():
                raise InvalidInputError(
                    f"init must be 'auto', 'zeros', 'least_squares' or {rows} row(s) of {design.p} finite numbers "
                    f"(intercept last); got an array of shape {given.shape}.",
                    "init",
                )
            given = np.broadcast_to(given, (rows, design.p))
            coef, intercept = given[:, : design.d], given[:, design.d :].sum(axis=1)
        if self.identifiability == "reference" and rows > 1 and not targets.multilabel:
            coef, intercept = coef - coef[-1], intercept - intercept[-1]  # the same model, the last class's weights 0
        return coef, intercept

    def _cut(self) -> float:
        return float(logit(self.threshold))

    def _why_not(self) -> str:
        if self.loss != "log":
            return "weights that minimise the squared error are not the most likely ones. Use loss='log'."
        if not np.isinf(self._C):
            return "a penalised estimate is biased, so its curvature is not its uncertainty. Use C=np.inf."
        if self._multilabel:
            return "y is a 0/1 matrix; fit its columns one by one."
        return str(self.status_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss == "log" and self.bias_reduction is None
        return tags
