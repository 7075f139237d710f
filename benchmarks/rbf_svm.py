"""The Gaussian kernel soft margin on tens of thousands of points, against scikit-learn-intelex and LIBSVM.

    python benchmarks/rbf_svm.py [--accuracy 1e-4] [--repeat 3] [--libsvm] [NAME=FILE:C:GAMMA ...]

FILE is in svmlight format, plain or compressed by xz or gz. Each rival is first run with stricter and stricter stopping
rules, up to the first whose duality gap, evaluated here in float64 and not taken from anyone's word, is within the
accuracy asked for. Then all run in turn, and the medians are compared.
"""

import argparse
import gzip
import lzma
import statistics
import time

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file, make_classification
from sklearn.svm import SVC as Libsvm

from separatrix import SVC

RULES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


def blobs(n=30000, d=20):
    X, y = make_classification(
        n,
        d,
        n_informative=10,
        n_redundant=0,
        n_clusters_per_class=4,
        class_sep=1.0,
        flip_y=0.02,
        random_state=0,
    )
    return (X - X.mean(0)) / X.std(0), np.where(y > 0, 1.0, -1.0)


def read(path):
    opener = {"xz": lzma.open, "gz": gzip.open}.get(path.rsplit(".", 1)[-1], open)
    with opener(path, "rb") as file:
        X, y = load_svmlight_file(file)
    X.sort_indices()
    dense = X.nnz > 0.3 * X.shape[0] * X.shape[1]
    return X.toarray() if dense else sparse.csr_matrix(X), np.where(y > 0, 1.0, -1.0)


def relative_gap(model, X, y, C, gamma):
    """(primal - dual) / primal of a fitted model, from its coefficients alone, with the best intercept for them."""
    coef = model.dual_coef_
    coef = np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=np.float64).ravel()
    alpha, signed = np.zeros(len(y)), np.zeros(len(y))
    signed[model.support_] = coef
    alpha = np.clip(signed * y, 0.0, C)
    heavier = y if alpha @ y > 0 else -y  # scaled down, so that the dual point is feasible
    ratio = alpha[heavier < 0].sum() / alpha[heavier > 0].sum()
    alpha = np.where(heavier > 0, alpha * ratio, alpha)
    f = np.empty(len(y))
    X = X.toarray() if sparse.issparse(X) else X
    S, c = X[model.support_], (alpha * y)[model.support_]
    squares = (X * X).sum(1)
    for first in range(0, len(y), 500):
        rows = slice(first, first + 500)
        distance = squares[rows, None] + squares[model.support_] - 2 * (X[rows] @ S.T)
        f[rows] = np.exp(-gamma * np.maximum(distance, 0)) @ c
    kinks = np.sort(y - f)
    b = kinks[np.searchsorted(np.arange(1, len(y) + 1), (y > 0).sum())]
    square = (alpha * y) @ f
    primal = 0.5 * square + C * np.maximum(0, 1 - y * (f + b)).sum()
    return (primal - (alpha.sum() - 0.5 * square)) / primal


def timed(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def loosest(make, X, y, C, gamma, accuracy):
    """The first stopping rule that is accurate enough, and the gap it reaches."""
    for rule in RULES:
        model = make(rule).fit(X, y)
        gap = relative_gap(model, X, y, C, gamma)
        if gap <= accuracy:
            return rule, gap
    return RULES[-1], gap


def compare(name, X, y, C, gamma, accuracy, repeat, libsvm):
    from sklearnex.svm import SVC as Intelex

    makers = {"intelex": lambda rule: Intelex(C=C, gamma=gamma, tol=rule, cache_size=200)}
    if libsvm:
        makers["libsvm"] = lambda rule: Libsvm(C=C, gamma=gamma, tol=rule, cache_size=200)
    ours = SVC(C=C, gamma=gamma, tol=accuracy, cache_size=200)
    small = np.r_[np.flatnonzero(y > 0)[:1500], np.flatnonzero(y < 0)[:1500]]
    SVC(C=C, gamma=gamma).fit(X[small], y[small])  # compiled now
    SVC(C=C, gamma=gamma).fit(X[:5000], y[:5000])
    rules = {rival: loosest(make, X, y, C, gamma, accuracy) for rival, make in makers.items()}
    times = {rival: [] for rival in ("separatrix", *makers)}
    for _ in range(repeat):
        times["separatrix"].append(timed(ours, X, y))
        for rival, make in makers.items():
            times[rival].append(timed(make(rules[rival][0]), X, y))
    middle = {rival: statistics.median(found) for rival, found in times.items()}
    print(f"{name}: {X.shape[0]} x {X.shape[1]}, C={C:g}, gamma={gamma:g}, {len(ours.support_)} support vectors")
    gap, claimed = relative_gap(ours, X, y, C, gamma), ours.certificate_.relative_gap
    print(f"  separatrix  {middle['separatrix']:7.2f} s   gap {gap:.1e} (it says {claimed:.1e})")
    for rival, (rule, reached) in rules.items():
        ratio = middle[rival] / middle["separatrix"]
        print(f"  {rival:10s}  {middle[rival]:7.2f} s   gap {reached:.1e} at tol={rule:g}   {ratio:.2f} times as long")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accuracy", type=float, default=1e-4)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--libsvm", action="store_true")
    parser.add_argument("--no-blobs", action="store_true")
    parser.add_argument("tables", nargs="*", metavar="NAME=FILE:C:GAMMA")
    given = parser.parse_args()
    problems = [] if given.no_blobs else [("blobs", blobs, 1.0, 0.05)]
    for table in given.tables:
        name, rest = table.split("=", 1)
        path, C, gamma = rest.rsplit(":", 2)
        problems.append((name, lambda path=path: read(path), float(C), float(gamma)))
    for name, load, C, gamma in problems:
        compare(name, *load(), C, gamma, given.accuracy, given.repeat, given.libsvm)


if __name__ == "__main__":
    main()
