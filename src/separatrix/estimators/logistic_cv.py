"""LogisticRegressionCV: C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logit
from sklearn.model_selection import check_cv

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.base import ProbabilisticClassifier
from separatrix.estimators.callbacks import Observed
from separatrix.estimators.gate import checked
from separatrix.estimators.logistic import ELSEWHERE, LogisticRegression
from separatrix.estimators.logistic_search import Fold, Search
from separatrix.estimators.parameters import flags, one_of, whole
from separatrix.estimators.routing import Scored
from separatrix.estimators.sparse_search import SparseSearch, ratios_of
from separatrix.estimators.validation import Sample, require_labels
from separatrix.outcome import Fit


@dataclass(eq=False, repr=False)
class LogisticRegressionCV(Observed, Scored, ProbabilisticClassifier):
    """argmax over C of the mean over folds of score(fit to the others with C); then the fit to all rows with that C.

    The fits minimise C sum_i c_i log(1 + exp(-y_i (w.x_i + b))) + 1/2 ‖w‖², as `LogisticRegression` does; of equally
    good values of C the smallest is taken. All folds are solved together, as C grows, each from its optimum for the
    value of C before.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        The values of C to try; a number n stands for n values from 1e-4 to 1e4, evenly spaced in the logarithm.
    cv : int, splitter, iterable of (train, test) rows, or None, default=None
        Number of stratified folds, 5 by default, or folds of one's own. Rows of weight 0 are in none of ours. A class
        without rows to learn from has the probability 0 in that fold.
    scoring : str, callable or None, default=None
        What makes a good C: the name of a score of scikit-learn, such as "neg_log_loss", or a function
        (estimator, X, y) → number, larger is better. None is accuracy.
    threshold, fit_intercept, class_weight, identifiability
        As for `LogisticRegression`. "balanced" uses the counts of all rows, in every fold.
    tol : float, default=1e-4
        Largest certified relative suboptimality of the final fit; the folds' fits, whose weights only choose C, go to a
        hundredth of it by the solver's own estimate. Small problems go to machine precision.
    max_iter : int, default=1000
        Iterations after which to give up, for each value of C.
    choice : {"best", "one_standard_error"}, default="best"
        "one_standard_error" takes the smallest C whose mean score is not below the best by more than the standard error
        of that over the folds: of models that can hardly be told apart, the simplest.
    l1_ratios : sequence of float, default=(0.0,)
        The shares of ‖w‖₁ in the penalty to try: see `LogisticRegression`.
    penalty : {"l1", "l2", "elasticnet"}, default="deprecated"
        As scikit-learn had it: "l1" and "l2" stand for ``l1_ratios`` of 1 and 0. Leave it.
    refit : True
        As scikit-learn has it; False raises an error that says what to use.
    solver, dual, intercept_scaling, n_jobs, verbose, random_state, use_legacy_attributes
        Without effect: the solver is chosen by the shape of the data, the intercept is not penalised, all cores are
        used, the certificate says how the fit went, nothing is random, and the attributes are those below.

    Attributes
    ----------
    C_ : float
        The value chosen.
    Cs_ : array of shape (n_Cs,)
        The values tried.
    scores_ : array of shape (n_folds, n_Cs), or (n_folds, n_l1_ratios, n_Cs) for several of these
        The score of each fold for each C.
    coefs_paths_ : array of shape (n_folds, n_Cs, 1, p), or (n_folds, n_Cs, k, p)
        The weights of each fold for each C, the intercept last; with another axis for several l1_ratios, as above.
    l1_ratio_, l1_ratios_ : float, array
        The ratio chosen, and those tried, if there are others than 0.
    coef_, intercept_, certificate_, status_, n_iter_
        Of the fit to all rows with C_.
    classes_, n_features_in_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(scoring="neg_log_loss").fit(X, y)
    >>> model.scores_.shape
    (5, 10)
    >>> bool(model.certificate_.verify(X, y))
    True
    """

    _takes_matrix = True
    _elsewhere: ClassVar[Mapping[str, str]] = LogisticRegression._elsewhere
    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {
        "penalty": (
            ("l1", "l2", "elasticnet", "deprecated"),
            "it is 'l1', 'l2' or 'elasticnet', for only then there is a C to choose.",
        ),
        "refit": ((True,), "the final weights are always fitted to all rows; coefs_paths_ has those of the folds."),
        "solver": (
            ("auto", "newton", "lbfgs", *ELSEWHERE),
            "the solver is chosen by the shape of the data; use LogisticRegression to choose one.",
        ),
    }

    Cs: int | Sequence[float] = 10
    _: KW_ONLY
    cv: Any = None
    scoring: str | Callable[..., float] | None = None
    threshold: float = 0.5
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    identifiability: str = "symmetric"
    tol: float = 1e-4
    max_iter: int = 1000
    choice: str = "best"
    penalty: str = "deprecated"
    l1_ratios: Sequence[float] | None = (0.0,)
    refit: bool = True
    solver: str = "auto"
    dual: bool = False
    intercept_scaling: float = 1.0
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None
    use_legacy_attributes: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose C, then learn from all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Any order, number type or data frame; never changed.
        y : array-like of shape (n,)
            Labels. ``classes_[1]`` is the positive class of two.
        sample_weight : array-like of shape (n,), default=None
            Weight k equals repeating a row k times, in the fits and in the scores; weight 0 equals leaving it out. With
            scikit-learn's metadata routing, in the scores only if the scorer asks for it.
        **params
            What else the splitter and the scorer ask for, with metadata routing.

        Returns
        -------
        self
        """
        with self._fitting():
            require_labels(self, y)
            Cs = self._grid()
            splitting, scoring = self._routed("fit", sample_weight, params)
            sample = self._sample(X, y, sample_weight)
            folds = self._folds(sample, y, splitting)
            one_of("choice", self.choice, ("best", "one_standard_error"))
            ratios = ratios_of(self.penalty, self.l1_ratios)
            kind = Search if ratios == (0.0,) else SparseSearch
            search = kind(self, sample, folds, Cs, ratios, sample_weight is not None, scoring)
            fit = self._observed(search.run, len(ratios) * len(Cs) + 1, X, y, sample_weight)
            return self._publish(checked(fit, self._entries(sample), X, y, sample_weight), sample)

    def _learn(self, sample: Sample) -> Fit:
        raise NotImplementedError("fit does it: the folds need y as it was given.")

    def _grid(self) -> Floats:
        """The values of C, checked."""
        if isinstance(self.Cs, Integral) and not isinstance(self.Cs, bool):
            return np.logspace(-4, 4, whole("Cs", self.Cs, at_least=1))
        values = np.asarray(self.Cs)
        if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf" or not (values > 0).all():
            raise InvalidInputError(f"Cs must be a whole number above 0 or numbers above 0; got {self.Cs!r}.", "Cs")
        return values.astype(np.float64)

    def _folds(self, sample: Sample, y: Any, splitting: Mapping[str, Any]) -> list[Fold]:
        """The folds as rows of the sample; each must have rows of two classes to learn from, and some to score."""
        flags(self, "fit_intercept")
        labels = sample.targets.values
        if self.cv is None or isinstance(self.cv, Integral):  # rows of weight 0 do not count
            try:
                folds = list(check_cv(self.cv, labels, classifier=True).split(labels, labels))
            except ValueError as error:  # of scikit-learn, for more folds than a class has rows, or than there are rows
                raise InvalidInputError(
                    f"{error} Use fewer folds (cv), or leave out the rarest classes.", "cv"
                ) from error
        else:
            folds = list(check_cv(self.cv, y, classifier=True).split(np.zeros(sample.n_given), y, **splitting))
            if not isinstance(sample.kept, slice):
                place = np.full(sample.n_given, -1)
                place[sample.kept] = np.arange(len(sample.kept))
                folds = [tuple(rows[rows >= 0] for rows in (place[train], place[test])) for train, test in folds]
        for f, (train, test) in enumerate(folds):
            if not len(test):
                raise InvalidInputError(f"Fold {f} has no row with a weight to score: use fewer folds.", "cv")
            if not sample.targets.multilabel:
                present = np.bincount(labels[train], minlength=sample.targets.n_classes) > 0
                if np.count_nonzero(present) < 2:
                    missing = sample.targets.classes[~present].tolist()
                    raise InvalidInputError(
                        f"The rows that fold {f} learns from have none of the classes {missing}, and one class is not "
                        "enough to fit: use other folds.",
                        "cv",
                    )
        return folds

    def _cut(self) -> float:
        return float(logit(self.threshold))
