"""Scorer: raw rows in, labels and probabilities out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from separatrix._typing import Array, Floats
from separatrix.data.encoder import Encoder
from separatrix.data.rows import Rows
from separatrix.data.table import Table
from separatrix.errors import DataError
from separatrix.scoring.calibration import Calibration, class_scores
from separatrix.scoring.decision import Decision


def fault(model: Any, calibration: Calibration | None, decision: Decision | None) -> str | None:
    """Why a model cannot be used with these; None if it can."""
    k = len(model.classes_)
    if calibration is not None and len(calibration.maps) != (1 if k == 2 else k):
        return "its calibration is for another number of classes"
    if decision is None:
        return None
    if decision.threshold is not None and k != 2:
        return "its decision has a threshold, which is for two classes"
    if decision.offsets is not None and len(decision.offsets) != k:
        return "its decision is for another number of classes"
    if calibration is None and not hasattr(model, "predict_proba"):
        return "its decision is about probabilities, and there are none: it needs a calibration"
    return None


class Scorer:
    r"""rows → encoder → model → calibration → decision.

    What `separatrix.load` returns for a file with an encoder.

    Parameters
    ----------
    model : classifier of this package
        Fitted to what the encoder made of a table.
    encoder : Encoder
    calibration : Calibration, default=None
        What makes probabilities of the model's scores; without it, the model's own probabilities are shown.
    decision : Decision, default=None
        Which class the shown probabilities decide on; without it, the model's own prediction, or with a calibration the
        most probable class.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The labels, in the order of the probabilities.

    Examples
    --------
    >>> import io
    >>> from separatrix import LogisticRegression, Scorer
    >>> from separatrix.data import Encoder, read_table
    >>> table = read_table(io.BytesIO(b"age,sex,ill\n30,f,no\n41,m,yes\n35,f,no\n50,m,yes\n44,f,yes\n"), target="ill")
    >>> encoder = Encoder.fit(table)
    >>> scorer = Scorer(LogisticRegression().fit(encoder.transform(table)[0], table.y), encoder)
    >>> scorer.predict({"age": 61, "sex": "m"}).tolist()
    ['yes']
    """

    def __init__(
        self,
        model: Any,
        encoder: Encoder,
        calibration: Calibration | None = None,
        decision: Decision | None = None,
    ) -> None:
        if wrong := fault(model, calibration, decision):
            raise DataError(f"This model cannot be used so: {wrong}.")
        self.model = model
        self.encoder = encoder
        self.calibration = calibration
        self.decision = decision
        self.classes_ = model.classes_
        self._fill = encoder.filler()
        coef = vars(model).get("coef_")
        self._hyperplane = None if coef is None or len(model.classes_) != 2 else (coef.T, model.intercept_)
        # a kernel compares a row with others that are stored as the encoder stores them
        self._dense = "coef_" in vars(model) or not encoder.sparse

    def __repr__(self) -> str:
        parts = [f"{type(self.model).__name__}", f"{len(self.encoder.names)} features"]
        parts += ["calibrated"] * (self.calibration is not None)
        return f"<Scorer: {', '.join(parts)}>"

    def predict(self, rows: Table | Rows) -> Array:
        """The label of each row: what the shown probabilities decide on.

        Parameters
        ----------
        rows : DataFrame of pandas or polars, dict (one row), list of dicts, or Table
            With the columns of the table that the model was fitted to, by name, in any order; others are ignored.
            Numbers may be missing (None or NaN) and categories unknown: `Encoder` says what stands for them.

        Returns
        -------
        array of shape (n,)

        Raises
        ------
        DataError
            Naming the column and the row, and what to do.
        """
        return self.predict_encoded(self._encoded(rows))

    def _has_probabilities(self) -> bool:
        if self.calibration is None and not hasattr(self.model, "predict_proba"):
            raise AttributeError(f"{type(self.model).__name__} gives no probabilities, and there is no calibration.")
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, rows: Table | Rows) -> Floats:
        """P(class | row), calibrated if there is a calibration.

        Parameters
        ----------
        rows : DataFrame of pandas or polars, dict (one row), list of dicts, or Table

        Returns
        -------
        array of shape (n, k)
        """
        return self.probabilities_encoded(self._encoded(rows))

    def decision_function(self, rows: Table | Rows) -> Floats:
        """The scores of the model, as they are before any calibration.

        Parameters
        ----------
        rows : DataFrame of pandas or polars, dict (one row), list of dicts, or Table

        Returns
        -------
        array of shape (n,) or (n, k)
        """
        return np.asarray(self.model.decision_function(self._encoded(rows)))

    def _encoded(self, rows: Table | Rows) -> Any:
        if self._dense and isinstance(rows, Mapping):
            x = self._fill(rows)
            if x is not None:
                return x.reshape(1, -1)
        return self.encoder.transform(rows)[0]

    def predict_encoded(self, X: Any) -> Array:
        """The label of each row of a matrix that the encoder made."""
        if self.calibration is None and self.decision is None:
            return np.asarray(self.model.predict(X))
        probabilities = self.probabilities_encoded(X)
        codes = probabilities.argmax(axis=1) if self.decision is None else self.decision.codes(probabilities)
        return np.asarray(self.classes_.take(codes))

    def probabilities_encoded(self, X: Any) -> Floats:
        """(n, k) probabilities of the rows of a matrix that the encoder made."""
        if self.calibration is None:
            return np.asarray(self.model.predict_proba(X))
        if self._hyperplane is not None and type(X) is np.ndarray and len(X) == 1:
            # one row of floats: what the model's own checks take longer than
            w, b = self._hyperplane
            score = (X @ w + b)[0]
            if np.isfinite(score[0]):
                return self.calibration.probabilities(score)
        return self.calibration.probabilities(class_scores(self.model, X))
