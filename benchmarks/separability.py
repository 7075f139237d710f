"""How long it takes to say whether classes are separable, beside a linear program by HiGHS on what that can still do.

    python benchmarks/separability.py            1,000,000 rows of 50 columns, and a program on 100,000
    python benchmarks/separability.py 100000     fewer rows

Each case runs in a process of its own; memory is the peak of that process beyond what it held with X and y made.
"""

import json
import resource
import subprocess
import sys
import time

COLUMNS = 50


def make(rows, separable):
    import numpy as np

    r = np.random.default_rng(0)
    X = r.standard_normal((rows, COLUMNS))
    w = r.standard_normal(COLUMNS)
    score = X @ w + 0.3
    if not separable:
        return X, (score + 3 * r.logistic(size=rows) > 0).astype(int)
    y = (score > 0).astype(int)
    for start in range(0, rows, 10_000):
        part = slice(start, start + 10_000)
        X[part] += np.outer((2 * y[part] - 1) * 0.05, w / np.linalg.norm(w))
    return X, y


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(rows, separable, exact):
    from separatrix import separability

    X, y = make(rows, separable)
    separability(X[:100], y[:100])
    before = peak()
    start = time.perf_counter()
    result = separability(X, y, exact=exact)
    answered = time.perf_counter()
    verified = bool(result.verify(X, y))
    end = time.perf_counter()
    return {
        "answer": result.verdict + (", exact" if result.exact else ""),
        "seconds": answered - start,
        "verify": end - answered,
        "verified": verified,
        "memory / X": (peak() - before) / (X.nbytes / 2**20),
    }


def program(rows, separable):
    """The detection of separation by one linear program: max sum z_i.v subject to z_i.v >= 0, |v| <= 1."""
    import numpy as np
    from scipy.optimize import linprog

    X, y = make(rows, separable)
    before = peak()
    start = time.perf_counter()
    Z = (2.0 * y - 1)[:, None] * np.column_stack([X, np.ones(rows)])
    result = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(rows), bounds=(-1, 1), method="highs")
    seconds = time.perf_counter() - start
    answer = "separated" if -result.fun > 1e-6 else "not separated"
    return {"answer": answer, "seconds": seconds, "memory / X": (peak() - before) / (X.nbytes / 2**20)}


def main(rows):
    few = min(rows, 100_000)
    cases = [("separatrix", rows, s, e) for s, e in ((False, False), (False, True), (True, False))]
    cases += [("separatrix", few, s, False) for s in (False, True)]
    cases += [("HiGHS LP", few, s, False) for s in (False, True)]
    print(f"{'':12}{'rows':>10} {'data':12}{'answer':22}{'seconds':>9}{'verify':>9}{'memory / X':>12}")
    for who, n, separable, exact in cases:
        run = subprocess.run(
            [sys.executable, __file__, "--case", who, str(n), str(int(separable)), str(int(exact))],
            capture_output=True,
            text=True,
            check=True,
        )
        row = json.loads(run.stdout)
        verify = f"{row['verify']:9.2f}" if row.get("verified") else f"{'':>9}"
        data = "separable" if separable else "overlapping"
        figures = f"{row['seconds']:9.2f}{verify}{row['memory / X']:12.2f}"
        print(f"{who:12}{n:10} {data:12}{row['answer']:22}{figures}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        who, n, separable, exact = sys.argv[2], *map(int, sys.argv[3:])
        print(json.dumps(ours(n, separable, exact) if who == "separatrix" else program(n, separable)))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
