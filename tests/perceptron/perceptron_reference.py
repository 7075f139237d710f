"""The algorithms once more, plainly and sharing nothing with the package; and problems to run them on."""

from fractions import Fraction

import numpy as np


def homogeneous(X, y):
    """z_i = y_i (x_i, 1)."""
    return np.asarray(y)[:, None] * np.column_stack([X, np.ones(len(X))])


def reference(X, y, eta=1.0, start=None, passes=10_000, wrong=lambda score, label: label * score <= 0):
    """Rosenblatt's rule, cycling the points: the weights after every update, and the points used."""
    points = np.column_stack([X, np.ones(len(X))]).astype(float)
    w = np.zeros(points.shape[1]) if start is None else np.array(start, dtype=float)
    weights, used = [w.copy()], []
    for _ in range(passes):
        clean = True
        for i, x in enumerate(points):
            if wrong(w @ x, y[i]):
                w = w + eta * y[i] * x
                weights.append(w.copy())
                used.append(i)
                clean = False
        if clean:
            break
    return np.array(weights), used


def separable(rng, n=None, d=None, gap=0.1, whole=False):
    """Rows and labels ±1 with every row at least `gap` from a random hyperplane (of the space of (x, 1))."""
    n, d = n or int(rng.integers(4, 30)), d or int(rng.integers(1, 6))
    while True:
        v = rng.normal(size=d + 1)
        v /= np.linalg.norm(v)
        X = rng.integers(-4, 5, size=(20 * n, d)).astype(float) if whole else rng.normal(size=(20 * n, d))
        scores = X @ v[:-1] + v[-1]
        X, scores = X[np.abs(scores) > gap][:n], scores[np.abs(scores) > gap][:n]
        y = np.sign(scores)
        if len(X) == n and len(set(y)) == 2:
            return X, y


def best_margin(X, y):
    """The largest margin in the space of (x, 1), by a quadratic program, and a unit vector that has it.

    The margin returned is the vector's own, computed from the data: a lower bound whatever the solver did.
    """
    import clarabel
    from scipy import sparse

    Z = homogeneous(X, y)
    n, p = Z.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    problem = clarabel.DefaultSolver(
        sparse.eye_array(p, format="csc"), np.zeros(p), sparse.csc_array(-Z), -np.ones(n),
        [clarabel.NonnegativeConeT(n)], settings,
    )  # fmt: skip
    v = np.array(problem.solve().x)
    v /= np.linalg.norm(v)
    return float((Z @ v).min()), v


# ---------------------------------------------------------------------- step by step, in rational numbers
TIE = {"mistake": lambda label: True, "positive": lambda label: label < 0, "correct": lambda label: False}


class Walked:
    """What a perceptron did: the steps so far after every update, the points used, and after every point or pass."""

    def __init__(self, p):
        self.sums, self.points, self.mistakes = [[Fraction(0)] * p], [-1], [0]
        self.after, self.passes, self.clean = [], 0, False


def rational_walk(
    X, y, update="online", boundary="mistake", start=None, eta=Fraction(1), weight=None, orders=None, passes=1000,
    intercept=True, chosen=None,
):  # fmt: skip
    """The three rules in rational arithmetic: eta is a Fraction such as 3/10, so ties are those of pen and paper.

    The weights are start + eta * sums. Where several points are equally bad, the worst rule takes the first, or that of
    `chosen`, the points that somebody else used.
    """
    Z = [[Fraction(float(v)) for v in row] + [Fraction(1)] * intercept for row in X]
    p = len(Z[0])
    c = [Fraction(1)] * len(Z) if weight is None else [Fraction(float(v)) for v in weight]
    begin = [Fraction(0)] * p if start is None else [Fraction(float(v)) for v in start]
    out, sums = Walked(p), [Fraction(0)] * p

    def margin(i):
        return int(y[i]) * sum((b + eta * s) * z for b, s, z in zip(begin, sums, Z[i], strict=True))

    def wrong(i):
        m = margin(i)
        return m < 0 or (m == 0 and TIE[boundary](y[i]))

    def add(points, name, count):
        for i in points:
            for j in range(p):
                sums[j] += c[i] * int(y[i]) * Z[i][j]
        out.sums.append(list(sums))
        out.points.append(name)
        out.mistakes.append(out.mistakes[-1] + count)

    for _ in range(passes):
        bad = [i for i in range(len(Z)) if wrong(i)]
        out.passes += 1
        out.clean = not bad
        if update == "online":
            out.clean = True
            for i in range(len(Z)) if orders is None else next(orders):
                if wrong(i):
                    add([i], i, 1)
                    out.clean = False
                out.after.append(list(sums))
        elif bad:
            if update == "batch":
                add(bad, -1, len(bad))
            else:
                least = min(map(margin, bad))
                worst = [i for i in bad if margin(i) == least]
                at = len(out.points)
                took = chosen[at] if chosen is not None and at < len(chosen) and chosen[at] in worst else worst[0]
                add([took], took, 1)
        if update != "online":
            out.after.append(list(sums))
        if out.clean:
            break
    return out


def floats(rows):
    return np.array([[float(v) for v in row] for row in rows])
