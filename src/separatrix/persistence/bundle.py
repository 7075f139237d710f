"""What a model file holds, once it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from separatrix.data.encoder import Encoder
from separatrix.estimators.absent import bare
from separatrix.persistence.agreement import parameter_differences, row_differences
from separatrix.scoring.calibration import Calibration
from separatrix.scoring.decision import Decision


class Sample(NamedTuple):
    """Rows of a table, drawn by `separatrix.compare.tuning.sample_rows`: how many were asked for, and the seed."""

    rows: int
    seed: int


@dataclass(frozen=True)
class Bundle:
    """What a model file holds.

    Parameters
    ----------
    model : Classifier
        The fitted classifier.
    encoder : Encoder or None
        How a table becomes the numbers that the classifier takes.
    fingerprint : str or None
        The SHA-256 of the table that the classifier was fitted to.
    versions : mapping
        Of separatrix, NumPy, scikit-learn and Python, when the file was written.
    calibration : Calibration or None
        What makes probabilities of the model's scores.
    decision : Decision or None
        Which class the probabilities decide on.
    sample : Sample or None
        Which rows of the table the classifier was fitted to; None for all.
    """

    model: Any
    encoder: Encoder | None
    fingerprint: str | None
    versions: Mapping[str, str]
    calibration: Calibration | None = None
    decision: Decision | None = None
    sample: Sample | None = None

    def differences(self, X: Any, y: Any) -> list[str]:
        """How the model differs from what its certificate is about, given the rows that it was fitted to; in words.

        That its weights are those of the certificate was seen when the file was read. What is left are its parameters,
        and its support vectors, which must be rows of the data.

        Parameters
        ----------
        X : array, sparse matrix, or list
        y : array-like of shape (n,)

        Returns
        -------
        list of str
            Empty if there is no difference.
        """
        model = bare(self.model)
        return parameter_differences(model, y) + row_differences(model, X, y)
