"""What is minimised, over which data: the catalogue of problems with a common objective.

C is 1, the default of all contestants, unless the name says otherwise.
Sparse problems have no intercept, because LIBLINEAR would penalise it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import generate, read
from benchmarks.generate import Data


@dataclass(frozen=True)
class Scale:
    """Whether to keep everything small, and where real data is."""

    quick: bool = False
    folder: Path | None = None

    def rows(self, n: int) -> int:
        return max(n // 100, 300) if self.quick else n

    def columns(self, d: int) -> int:
        return max(d // 20, 5) if self.quick else d

    def part(self, data: Data) -> Data:
        """The data, or its first thousand rows."""
        X, y = data
        return (X[:1000], y[:1000]) if self.quick else (X, y)


@dataclass(frozen=True)
class Source:
    """Data under a name, so that problems which share it share its file."""

    name: str
    make: Callable[[Scale], Data]


@dataclass(frozen=True)
class Problem:
    """min over the weights of C sum_i loss_i + penalty; `task` names the loss, and rbf is the hinge in that space.

    The penalty is 1/2 ‖w‖², or ‖w‖₁ for a `sparse` model.
    """

    name: str
    task: str  # logistic, softmax, hinge, squared hinge, rbf
    source: Source
    C: float = 1.0
    intercept: bool = True
    gamma: float = 0.0
    sparse: bool = False


def _table(name: str) -> Callable[[Scale], Data]:
    def load(scale: Scale) -> Data:
        import numpy as np
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, np.where(y > 0, 1, -1) if len(np.unique(y)) == 2 else y

    return load


def _dense(n: int, d: int) -> Source:
    return Source(f"dense-{n // 1000}k-{d}", lambda s: generate.dense(s.rows(n), s.columns(d)))


def _independent(n: int, d: int) -> Source:
    return Source(f"independent-{n // 1000}k-{d}", lambda s: generate.independent(s.rows(n), s.columns(d)))


TEXT = Source("text", lambda s: generate.text(s.rows(50_000), s.columns(50_000), 80))
WIDE_TEXT = Source("wide-text", lambda s: generate.text(s.rows(50_000), s.columns(100_000), 60))
ONE_HOT = Source("one-hot", lambda s: generate.one_hot(s.rows(150_000), s.columns(9_890), 12))
A9A, W8A, IJCNN1 = (
    Source(name, lambda s, name=name: s.part(read.two(s.folder, name)))  # type: ignore[misc]
    for name in ("a9a", "w8a", "ijcnn1")
)
SMS = Source("sms", lambda s: s.part(read.messages(s.folder)))
NEWS20 = Source("news20", lambda s: s.part(read.halves(s.folder, "news20")))
MICROARRAY = Source("microarray", lambda s: generate.microarray(72, s.columns(7_000)))
COLON = Source("colon-like", lambda s: generate.microarray(62, s.columns(2_000)))
TALL = Source("tall-sparse-truth", lambda s: generate.sparse_truth(s.rows(100_000), s.columns(100)))
MNIST = Source("mnist", lambda s: s.part(read.digits(s.folder)))

PROBLEMS = (
    Problem("dense 200,000 x 100, logistic", "logistic", _dense(200_000, 100)),
    Problem("dense 50,000 x 500, logistic", "logistic", _dense(50_000, 500)),
    Problem("dense 20,000 x 2,000, logistic", "logistic", _dense(20_000, 2_000)),
    Problem("independent columns 200,000 x 100, logistic", "logistic", _independent(200_000, 100)),
    Problem("independent columns 50,000 x 500, logistic", "logistic", _independent(50_000, 500)),
    Problem(
        "mixed units 100,000 x 200, logistic",
        "logistic",
        Source("units", lambda s: generate.units(s.rows(100_000), s.columns(200))),
    ),
    Problem("breast cancer 569 x 30, logistic", "logistic", Source("breast-cancer", _table("breast_cancer"))),
    Problem("digits 1,797 x 64, softmax", "softmax", Source("digits", _table("digits"))),
    Problem(
        "50 classes 20,000 x 50, softmax",
        "softmax",
        Source("classes", lambda s: generate.classes(s.rows(20_000), s.columns(50), 5 if s.quick else 50)),
    ),
    Problem("mnist, softmax", "softmax", MNIST),
    Problem("text, logistic", "logistic", TEXT, intercept=False),
    Problem("text of 100,000 columns, logistic", "logistic", WIDE_TEXT, intercept=False),
    Problem("one-hot 150,000 x 9,890, logistic", "logistic", ONE_HOT, intercept=False),
    Problem("text, hinge", "hinge", TEXT, intercept=False),
    Problem("text, hinge, C=10", "hinge", TEXT, C=10.0, intercept=False),
    Problem("text, squared hinge", "squared hinge", TEXT, intercept=False),
    Problem("a9a, logistic", "logistic", A9A, intercept=False),
    Problem("a9a, hinge", "hinge", A9A, intercept=False),
    Problem("w8a, logistic", "logistic", W8A, intercept=False),
    Problem("w8a, hinge", "hinge", W8A, intercept=False),
    Problem("news20, logistic", "logistic", NEWS20, intercept=False),
    Problem("news20, hinge", "hinge", NEWS20, intercept=False),
    Problem("sms, logistic", "logistic", SMS, intercept=False),
    Problem(
        "blobs 30,000 x 20, rbf",
        "rbf",
        Source("blobs", lambda s: generate.blobs(s.rows(30_000), 20)),
        gamma=0.05,
    ),
    Problem("ijcnn1, rbf", "rbf", IJCNN1, gamma=1.0),
    Problem("a9a, rbf", "rbf", A9A, gamma=0.05),
    Problem("w8a, rbf", "rbf", W8A, gamma=0.05),
    # sparse models: C is about 100 / lambda_max, where a part of the columns is in use
    Problem("news20, sparse logistic", "logistic", NEWS20, C=0.8, intercept=False, sparse=True),
    Problem("a9a, sparse logistic", "logistic", A9A, C=0.04, intercept=False, sparse=True),
    Problem("text, sparse logistic", "logistic", TEXT, C=1.0, intercept=False, sparse=True),
    Problem("news20, sparse squared hinge", "squared hinge", NEWS20, C=1.0, intercept=False, sparse=True),
    Problem("microarray 72 x 7,000, sparse logistic", "logistic", MICROARRAY, C=3.0, sparse=True),
    Problem("colon-like 62 x 2,000, sparse logistic", "logistic", COLON, C=3.0, sparse=True),
    Problem("dense 100,000 x 100, sparse logistic", "logistic", TALL, C=0.005, sparse=True),
)
