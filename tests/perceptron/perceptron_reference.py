"""The algorithms once more, plainly and sharing nothing with the package; and problems to run them on."""

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
