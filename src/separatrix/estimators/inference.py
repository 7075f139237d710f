"""What a maximum-likelihood fit says about its own uncertainty."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import fitted_weights


class WaldInference:
    """Intervals and a summary from ``standard_errors_``, for an estimator that has them or says why not."""

    def conf_int(self, level: float = 0.95) -> Floats:
        """Wald intervals: coefficient ± z standard errors.

        Parameters
        ----------
        level : float, default=0.95
            Coverage, between 0 and 1.

        Returns
        -------
        array of shape (p, 2), or (k, p, 2) for more than two classes
            Lower and upper ends, the intercept last.
        """
        if not isinstance(level, Real) or not 0 < level < 1:
            raise InvalidInputError(f"level must be between 0 and 1; got {level!r}.")
        half = ndtri(0.5 + level / 2) * self._errors()
        centre = self._estimates()
        return np.stack([centre - half, centre + half], axis=-1)

    def summary(self) -> str:
        """A table of coefficients, standard errors, z, p-values and intervals, to print or paste."""
        errors = self._errors()
        estimates, intervals = self._estimates(), self.conf_int()
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]))  # type: ignore[attr-defined]
        names += ["(intercept)"] if self.fit_intercept else []  # type: ignore[attr-defined]
        width = max(12, *map(len, names))
        head = f"{'':{width}}  {'coef':>11}  {'std err':>10}  {'z':>8}  {'P>|z|':>8}  {'[0.025':>11}  {'0.975]':>11}"
        lines = [f"{type(self).__name__}: log-likelihood {self.log_likelihood_:.6f}", str(self.status_)]  # type: ignore[attr-defined]
        blocks = [None] if estimates.ndim == 1 else list(self._labels)  # type: ignore[attr-defined]
        for label, estimate, error, interval in zip(
            blocks,
            np.atleast_2d(estimates),
            np.atleast_2d(errors),
            np.atleast_3d(intervals).reshape(-1, len(names), 2),
            strict=True,
        ):
            lines += ["", *([f"class {label}"] if label is not None else []), head]
            for name, b, se, (low, high) in zip(names, estimate, error, interval, strict=True):
                lines.append(f"{name:{width}}  {b:11.6g}  {_test(b, se)}  {low:11.5g}  {high:11.5g}")
        return "\n".join(lines)

    def _estimates(self) -> Floats:
        coef, intercept = fitted_weights(self)
        all_ = np.column_stack([coef, intercept]) if self.fit_intercept else coef  # type: ignore[attr-defined]
        return np.asarray(all_[0] if len(all_) == 1 else all_)

    def _errors(self) -> Floats:
        check_is_fitted(self)
        errors: Any = getattr(self, "standard_errors_", None)
        if errors is None:
            raise InvalidInputError(f"There are no standard errors: {self._why_not()}")  # type: ignore[attr-defined]
        return np.asarray(errors)


def _test(b: float, se: float) -> str:
    """Standard error, z and two-sided p-value as text; a coefficient that the data do not determine has none."""
    if not 0 < se < np.inf:
        return f"{'not estimable' if se else 'fixed':>10}  {'':>8}  {'':>8}"
    z = b / se
    return f"{se:10.5g}  {z:8.3f}  {2 * ndtr(-abs(z)):8.4f}"
