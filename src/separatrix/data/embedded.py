"""The table that comes with the package, by way of scikit-learn."""

from __future__ import annotations

import hashlib

import numpy as np

from separatrix.data.reading import require_polars
from separatrix.data.table import Table


def embedded() -> Table:
    """The Wisconsin breast-cancer table: 569 tumours, 30 measurements of cell nuclei, the target "diagnosis".

    Examples
    --------
    >>> from separatrix.data import embedded
    >>> table = embedded()
    >>> table.n_rows, table.target, sorted(set(table.y.tolist()))
    (569, 'diagnosis', ['benign', 'malignant'])
    """
    from sklearn.datasets import load_breast_cancer

    pl = require_polars()
    bunch = load_breast_cancer()
    names = [str(name) for name in bunch.feature_names]
    frame = pl.DataFrame({name: bunch.data[:, j] for j, name in enumerate(names)})
    y = np.asarray(bunch.target_names)[bunch.target]
    fingerprint = hashlib.sha256(bunch.data.tobytes() + bunch.target.astype(np.int8).tobytes()).hexdigest()
    return Table(frame, None, y, "diagnosis", "breast cancer", fingerprint, np.arange(1, len(y) + 1))
