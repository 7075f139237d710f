"""One pass of the perceptron, and the formulas of naive Bayes: a sweep over the rows and no more."""

from __future__ import annotations

from typing import Any

from benchmarks import generate
from benchmarks.everyday.jobs import Job, both, fitting, model
from benchmarks.generate import Data
from benchmarks.problems import Scale, Source

TALL = Source("tall", lambda s: generate.dense(s.rows(1_000_000), 50))
RARE = Source("rare", lambda s: generate.rare(s.rows(500_000), 50_000, 80))
COUNTS = Source("counts", lambda s: generate.counted(s.rows(500_000), 50_000, 80))


def presence(scale: Scale) -> Data:
    """Whether a word occurs, instead of how often."""
    X, y = generate.counted(scale.rows(500_000), 50_000, 80)
    X.data[:] = 1
    return X, y


def accuracy(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    return {"training accuracy": float((fitted.predict(X[:50_000]) == y[:50_000]).mean())}


PASS = both(
    fitting(model("separatrix.Perceptron", max_iter=1)),
    fitting(model("sklearn.linear_model.Perceptron", max_iter=1, tol=None, shuffle=False)),
)


def _bayes(family: str, theirs: str, **parameters: Any) -> Any:
    return both(
        fitting(model("separatrix.NaiveBayes", family=family, **parameters)),
        fitting(model(f"sklearn.naive_bayes.{theirs}")),
    )


JOBS = (
    Job("perceptron, one pass, dense 1,000,000 x 50", "passes", TALL, PASS, accuracy),
    Job("perceptron, one pass, sparse 500,000 x 50,000, 80 non-zeros", "passes", RARE, PASS, accuracy),
    Job(
        "naive Bayes, gaussian, dense 1,000,000 x 50",
        "passes",
        TALL,
        _bayes("gaussian", "GaussianNB", shared_variance=False),
        accuracy,
    ),
    Job(
        "naive Bayes, multinomial, sparse 500,000 x 50,000",
        "passes",
        COUNTS,
        _bayes("multinomial", "MultinomialNB"),
        accuracy,
    ),
    Job(
        "naive Bayes, bernoulli, sparse 500,000 x 50,000",
        "passes",
        Source("presence", presence),
        _bayes("bernoulli", "BernoulliNB"),
        accuracy,
    ),
)
