"""The equations of stationary points in 60 digits and more, straight from their definitions."""

import mpmath
import numpy as np
from mpmath import mpf


def _numbers(array):
    return [mpf(float(v)) for v in np.ravel(array)]


def _columns(X, c, free):
    """The columns about their weighted means, and one of 1s; or as they are, without an intercept."""
    n, d = X.shape
    columns = [_numbers(X[:, j]) for j in range(d)]
    if not free:
        return columns
    means = [mpmath.fdot(c, column) / sum(c) for column in columns]
    return [[v - mean for v in column] for column, mean in zip(columns, means, strict=True)] + [[mpf(1)] * n]


def _scores(X, w, b):
    w = _numbers(w)
    return [mpmath.fdot(w, _numbers(row)) + mpf(float(b)) for row in X]


def squared_error_gradient(X, t, w, b, C=np.inf, weight=None, free=True, digits=60):
    """max_j |dE/dv_j| / (‖slopes‖ ‖column j‖ + |w_j|) for E = C sum_i c_i (t_i - sigma(z_i))² + 1/2 ‖w‖²."""
    X = np.asarray(X, dtype=float)
    with mpmath.workdps(digits):
        factor = mpf(1) if np.isinf(C) else mpf(float(C))
        c = [factor * v for v in _numbers(np.ones(len(X)) if weight is None else weight)]
        slopes = []
        for z, ti in zip(_scores(X, w, b), t, strict=True):
            u = z if ti else -z
            right, wrong = 1 / (1 + mpmath.exp(-u)), 1 / (1 + mpmath.exp(u))
            slopes.append((-2 if ti else 2) * right * wrong**2)
        length = mpmath.sqrt(sum(ci * s**2 for ci, s in zip(c, slopes, strict=True)))
        worst = mpf(0)
        for j, column in enumerate(_columns(X, c, free)):
            pull = mpf(float(w[j])) if j < X.shape[1] and np.isfinite(C) else mpf(0)
            terms = sum(ci * s * v for ci, s, v in zip(c, slopes, column, strict=True))
            scale = length * mpmath.sqrt(sum(ci * v**2 for ci, v in zip(c, column, strict=True))) + abs(pull)
            worst = max(worst, abs(terms + pull) / scale if scale else mpf(0))
        return float(worst)


def least_squares_cosine(X, signs, W, b, weight=None, free=True, digits=60):
    """max_j |sum_i c_i r_i z_ij| / (‖z_j‖ ‖y‖) over columns about their means and over tasks."""
    X = np.asarray(X, dtype=float)
    with mpmath.workdps(digits):
        c = _numbers(np.ones(len(X)) if weight is None else weight)
        worst = mpf(0)
        for w, b_k, target in zip(W, b, np.transpose(signs), strict=True):
            residual = [y - z for y, z in zip(_numbers(target), _scores(X, w, b_k), strict=True)]
            for column in _columns(X, c, free):
                length = mpmath.sqrt(sum(ci * v**2 for ci, v in zip(c, column, strict=True)) * sum(c))
                if length:
                    worst = max(
                        worst, abs(sum(a * r * v for a, r, v in zip(c, residual, column, strict=True))) / length
                    )
        return float(worst)


def firth_score(X, t, w, b, weight=None, free=True, digits=60):
    """The length of sum_i [c_i (t_i - p_i) + h_i (1/2 - p_i)] z_i in the norm of the inverse information."""
    X = np.asarray(X, dtype=float)
    with mpmath.workdps(digits):
        c = _numbers(np.ones(len(X)) if weight is None else weight)
        rows = mpmath.matrix([_numbers(row) + [mpf(1)] * free for row in X])
        p = [1 / (1 + mpmath.exp(-z)) for z in _scores(X, w, b)]
        root = mpmath.matrix(rows.rows, rows.cols)
        for i in range(rows.rows):
            for j in range(rows.cols):
                root[i, j] = mpmath.sqrt(c[i] * p[i] * (1 - p[i])) * rows[i, j]
        try:
            inverse = (root.T * root) ** -1
        except ZeroDivisionError:  # no information in 60 digits: nowhere near a maximum
            return float("inf")
        score = mpmath.matrix(rows.cols, 1)
        for i in range(rows.rows):
            z = rows[i, :].T
            h = c[i] * p[i] * (1 - p[i]) * (z.T * inverse * z)[0]
            score += z * (c[i] * (int(t[i]) - p[i]) + h * (mpf(1) / 2 - p[i]))
        return float(mpmath.sqrt(abs((score.T * inverse * score)[0])))
