"""The quantities of logistic regression at the fitted weights, for study."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats
from separatrix.estimators.absent import fitted_weights
from separatrix.estimators.validation import Sample, check_training
from separatrix.logistic.euclidean import squared_risk
from separatrix.logistic.penalised import Settings, first, make_risk
from separatrix.problems.risk import Risk


class Study:
    """Likelihood, derivatives and each point's pull, for an estimator with the parameters of `LogisticRegression`."""

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """sum_i c_i log P(y_i | x_i) under the fitted model; for a 0/1 matrix y, summed over its columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,), or 0/1 matrix
        sample_weight : array-like of shape (n,), default=None
            c_i, to which ``class_weight`` is multiplied.
        """
        sample = self._studied(X, y, sample_weight)
        scores, values = self._study_scores(sample), sample.targets.values
        if scores.shape[1] == 1 or sample.targets.multilabel:
            signs = sample.targets.signs(values)
            return float(sample.weight @ log_expit(signs * scores).sum(axis=1))
        logs = log_softmax(scores, axis=1)
        return float(sample.weight @ logs[np.arange(len(values)), values])

    def cross_entropy(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """-sum_i c_i log P(y_i | x_i) / sum_i c_i: the mean price, in nats, of the labels under the fitted model.

        Parameters
        ----------
        X, y, sample_weight
            As for `log_likelihood`.
        """
        return -self.log_likelihood(X, y, sample_weight) / float(self._studied(X, y, sample_weight).weight.sum())

    def gradient(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """d/d(w, b) of C sum_i c_i loss_i + 1/2 ‖w‖² at the fitted weights (C = inf: of sum_i c_i loss_i).

        Parameters
        ----------
        X, y, sample_weight
            As for `log_likelihood`.

        Returns
        -------
        array of shape (p,), or (k, p) for several classes or columns of y
            The intercept last. Without the bias-reducing term, if there is one.
        """
        rows = []
        for risk, V in self._risks(self._studied(X, y, sample_weight)):
            G = risk.value_and_gradient(V)[1]
            rows.append((G @ risk.basis.T).T)
        gradient = np.vstack(rows)
        return gradient[0] if len(gradient) == 1 else gradient

    def hessian(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """The second derivatives of the same objective at the fitted weights.

        Parameters
        ----------
        X, y, sample_weight
            As for `log_likelihood`.

        Returns
        -------
        array of shape (p, p), or (k p, k p) for several classes, or (k, p, p) for a 0/1 matrix y of k columns
            The intercept last; for several classes, class after class.
        """
        blocks = []
        for risk, V in self._risks(self._studied(X, y, sample_weight)):
            H = risk.hessian(V)
            if risk.k > 1:
                spread = np.kron(risk.basis, np.eye(risk.design.p))
                H = spread @ H @ spread.T
            blocks.append(H)
        return blocks[0] if len(blocks) == 1 else np.array(blocks)

    def pull(self, X: Any, y: Any) -> Floats:
        """e_i = t_i - p_i for ``loss="log"``, e_i p_i (1 - p_i) for ``loss="squared_error"``: each point's pull.

        A gradient step moves (w, b) by learning_rate C c_i pull_i (x_i, 1) for each point (twice that for
        squared_error, whose slope has a factor 2). Here t_i is 1 or 0 and p_i = P(y_i = 1 | x_i). The pull e p (1 -
        p) is largest not on the boundary but where the true class has the probability 1/3, and fades for points far
        on the wrong side.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,), or 0/1 matrix

        Returns
        -------
        array of shape (n,), or (n, k) for several classes or columns of y
        """
        sample = self._studied(X, y, None)
        scores, targets = self._study_scores(sample), sample.targets
        T = 0.5 * (targets.signs(targets.values) + 1.0)
        several = scores.shape[1] > 1 and not targets.multilabel
        P = softmax(scores, axis=1) if several else expit(scores)
        error = T - P
        if not several:  # without cancellation: the probability of the wrong class
            error = (2 * T - 1) * expit(-(2 * T - 1) * scores)
        if self.loss == "squared_error":  # type: ignore[attr-defined]
            error = error * expit(scores) * expit(-scores)
        return error[:, 0] if error.shape[1] == 1 else error

    # ------------------------------------------------------------------ how
    def _studied(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        check_is_fitted(self)
        intercept, classes = bool(self.fit_intercept), self._labels  # type: ignore[attr-defined]
        return check_training(self, X, y, sample_weight, intercept=intercept, reset=False, classes=classes)

    def _study_scores(self, sample: Sample) -> Floats:
        design = sample.design.anchored()
        return design.dot(design.from_user_units(*fitted_weights(self)))

    def _risks(self, sample: Sample) -> list[tuple[Risk, Floats]]:
        """The objective, or that of each column of a 0/1 matrix y; with the fitted weights, in the user's units."""
        C, reference = float(self._C), self.identifiability == "reference"  # type: ignore[attr-defined]
        settings = Settings(C=C, solver="auto", tol=1.0, max_iter=1, reference=reference)
        make = squared_risk if self.loss == "squared_error" else make_risk  # type: ignore[attr-defined]
        coef, intercept = fitted_weights(self)
        risks = [make(sample.design, targets, sample.weight, settings) for targets in sample.targets.columns]
        rows = [slice(j, j + 1) for j in range(len(risks))] if sample.targets.multilabel else [slice(None)]
        return [(risk, first(risk, (coef[j], intercept[j]))) for risk, j in zip(risks, rows, strict=True)]
