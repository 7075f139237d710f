"""Tables in memory, fits to them, and batches of their rows, for tests of rows in a file."""

import json
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone


def dense(k=2, n=30_000, single=False):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(n, 20)) * rng.uniform(0.1, 5, size=20) + rng.normal(size=20)
    X = np.round(X * 64) / 64 if single else X
    X[:, 3] += 1e5  # far from the origin: subtracted from entries
    scores = (X - X.mean(axis=0)) @ rng.normal(size=(20, k)) / 3 + rng.gumbel(size=(n, k))
    return X, scores.argmax(axis=1)


def csr(k=2, n=20_000):
    rng = np.random.default_rng(k)
    X = sparse.random(n, 300, density=0.1, format="csr", random_state=0)
    X.data = rng.normal(size=X.nnz)
    return X, (X @ rng.normal(size=(300, k)) + 0.5 * rng.gumbel(size=(n, k))).argmax(axis=1)


TABLES = {"dense": dense(), "short": dense(single=True), "three": dense(3), "csr": csr()}


def fitted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y, weight)


def plain(model):
    """All that was published, as text that shows every bit."""
    certificate = model.certificate_
    names = ("coef_", "intercept_", "n_iter_", "slack_", "support_", "dual_coef_", "n_updates_")
    found = {name: np.asarray(getattr(model, name)).tolist() for name in names if hasattr(model, name)}
    return json.dumps([found, None if certificate is None else certificate.to_dict(), str(model.status_)], default=str)


class Batches:
    """What a user may write: nothing but blocks()."""

    def __init__(self, X, y, weight=None, step=7000):
        self.X, self.y, self.weight, self.step = X, y, weight, step

    def blocks(self):
        for first in range(0, self.X.shape[0], self.step):
            rows = slice(first, first + self.step)
            yield (
                self.X[rows],
                None if self.y is None else self.y[rows],
                None if self.weight is None else self.weight[rows],
            )


class Counted(Batches):
    """The same, with a count of the rows that were asked for."""

    rows = 0

    def blocks(self):
        for x, labels, weight in super().blocks():
            self.rows += x.shape[0]
            yield x, labels, weight
