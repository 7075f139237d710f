"""The logistic objective and its dual, recomputed from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data
from separatrix.certificates._signs import scores_with_error
from separatrix.certificates.base import Check


def check_logistic(data: Data, certificate: Any) -> list[Check]:
    """Primal and bound as stated, the bound below the primal, and the gap within what was asked for."""
    primal, rounding = _primal(data, certificate)
    rounding = rounding if np.isfinite(rounding) else 0.0  # scores that overflow prove nothing: no check passes by that
    checks = [Check("primal as stated, off by", abs(primal - certificate.primal), 0.0, rounding)]
    if certificate.bound == "fenchel":
        dual, blur, spill = _fenchel(data, certificate)
        checks.append(Check("residuals of a class do not sum to 0, but to", spill, 0.0, 16 * len(data.weight) * EPS))
    elif certificate.bound == "decrement":
        dual, blur = primal - _decrement(data, certificate), 0.0
    else:
        raise ValueError(f"No check for the bound {certificate.bound!r}.")
    dual = dual if dual > 0 else 0.0  # losses and penalty are never negative
    blur = blur if np.isfinite(blur) else 0.0
    scale = max(abs(primal), np.finfo(np.float64).tiny)
    slack = 8 * rounding + blur + 1e-9 * certificate.tol * scale
    checks += [
        Check("stated lower bound above the bound, by", certificate.dual - dual, 0.0, slack),
        Check("relative gap", (primal - dual) / scale, certificate.tol, slack / scale),
    ]
    return checks


def _targets(values: Any, K: int, certificate: Any) -> Any:
    """(m, K) matrix Y of ones and zeros; for two classes one column, of the positive class."""
    if certificate.task is not None:
        return np.asarray(values[:, certificate.task], dtype=np.float64)[:, None]
    return (values[:, None] == (np.arange(K) if K > 1 else np.array([1]))).astype(np.float64)


def _weights(certificate: Any) -> tuple[Any, Any, float]:
    W = np.asarray(certificate.coef, dtype=np.float64)
    b = np.asarray(certificate.intercept, dtype=np.float64)
    return W, b, 1.0 if np.isinf(certificate.C) else float(certificate.C)


def _losses(S: Any, Y: Any) -> Any:
    if S.shape[1] == 1:
        u = (2 * Y - 1) * S
        return (np.maximum(-u, 0.0) + np.log1p(np.exp(-np.abs(u))))[:, 0]
    top = S.max(axis=1)
    return top + np.log(np.exp(S - top[:, None]).sum(axis=1)) - (S * Y).sum(axis=1)


def _probabilities(S: Any) -> Any:
    if S.shape[1] == 1:
        e = np.exp(-np.abs(S))
        return np.where(S >= 0, 1.0, e) / (1.0 + e)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def _residuals(S: Any, Y: Any) -> Any:
    """P - Y, without the cancellation where a row is far on its own side."""
    if S.shape[1] == 1:
        sign = 2 * Y - 1
        return -sign * _probabilities(-sign * S)
    P = _probabilities(S)
    return np.where(Y == 1, -(P * (Y == 0)).sum(axis=1, keepdims=True), P)


def _primal(data: Data, certificate: Any) -> tuple[float, float]:
    """F, and how far rounding in the scores and sums can take it."""
    W, b, C = _weights(certificate)
    value = rounding = 0.0
    for x, values, weight in data.blocks():
        S, error = scores_with_error(x, W, b)
        losses = _losses(S, _targets(values, len(W), certificate))
        value += C * float(weight @ losses)
        rounding += C * float(weight @ (2 * error.max(axis=1) + 8 * EPS * (losses + np.abs(S).max(axis=1))))
    penalty = 0.0 if np.isinf(certificate.C) else 0.5 * float((W**2).sum())
    return value + penalty, rounding + len(data.weight) * EPS * value + W.size * EPS * penalty


def _fenchel(data: Data, certificate: Any) -> tuple[float, float, float]:
    """C sum c_i entropy(P_i) - 1/2 ‖C sum c_i (P_i - Y_i) (x_i - centre)'‖², at the mixed probabilities P.

    As the residuals sum to 0, the centre does not matter but for rounding. Returned with the dual are how far
    rounding of the scores can take its last term, and what the residuals sum to.
    """
    W, b, C = _weights(certificate)
    K = len(W)
    total = float(data.weight.sum())
    share, spill, centre = np.zeros(K), np.zeros(K), np.zeros(W.shape[1])
    for x, values, weight in data.blocks():
        Y = _targets(values, K, certificate)
        share += weight @ Y / total
        spill += weight @ _residuals(x @ W.T + b, Y) / total
        centre += weight @ x / total
    theta, constant = mixture(share, spill) if certificate.fit_intercept else (0.0, share)
    if not certificate.fit_intercept:
        centre = np.zeros_like(centre)
    entropy, moment, blur, left = 0.0, np.zeros_like(W), np.zeros_like(W), np.zeros(K)
    for x, values, weight in data.blocks():
        S, error = scores_with_error(x, W, b)
        P = (1 - theta) * _probabilities(S) + theta * constant
        Y = _targets(values, K, certificate)
        residual = weight[:, None] * ((1 - theta) * _residuals(S, Y) + theta * (constant - Y))
        entropy += float(weight @ _entropy(P))
        moment += residual.T @ (x - centre)
        # a change of the scores by e changes a probability by at most P (1 - P) 2 e <= e / 2
        blur += (weight * (0.5 * error.max(axis=1) + 8 * EPS)) @ np.abs(x - centre)
        left += residual.sum(axis=0)
    if certificate.reference and K > 1:
        moment[-1] = blur[-1] = 0.0  # the last class has no weights of its own to pay for
    dual = C * entropy - 0.5 * float((C * moment) ** 2 @ np.ones(W.shape[1]) @ np.ones(K))
    spilled = float(np.abs(left).max()) / total if certificate.fit_intercept else 0.0
    length, error = C * float(np.linalg.norm(moment)), C * float(np.linalg.norm(blur))
    return dual, error * (length + 0.5 * error), spilled


def mixture(share: Any, spill: Any) -> tuple[float, Any]:
    """The least theta and a constant prediction q with (1 - theta) spill + theta (q - share) = 0.

    q = share - spill (1 - theta) / theta must be probabilities: at least 0, and for one column at most 1.
    """
    room = np.where(spill > 0, share, (1.0 - share) if len(share) == 1 else np.inf)
    need = np.abs(spill)
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = float(np.max(np.where(need > 0, need / (need + room), 0.0)))
    if theta == 0.0:
        return 0.0, share
    theta = min(1.0, 2.0 * theta)  # not at the edge, where entropy is steep
    return theta, share - spill * (1 - theta) / theta


def _entropy(P: Any) -> Any:
    Q = np.clip(np.hstack([P, 1.0 - P]) if P.shape[1] == 1 else P, 0.0, 1.0)
    return -np.where(Q > 0, Q * np.log(np.where(Q > 0, Q, 1.0)), 0.0).sum(axis=1)


def _decrement(data: Data, certificate: Any) -> float:
    """(x + (1 - x) log(1 - x)) / rho² with x = lambda rho: the self-concordance bound on F - min F."""
    W, b, C = _weights(certificate)
    K, d = W.shape
    free = K if K == 1 else K - 1  # the last class's scores are a reference
    centre = sum((w @ x for x, _, w in data.blocks()), np.zeros(d)) / data.weight.sum()
    centre = centre if certificate.fit_intercept else np.zeros(d)
    p = d + bool(certificate.fit_intercept)

    def rows(x: Any) -> Any:
        return np.column_stack([x - centre, np.ones(len(x))]) if certificate.fit_intercept else x

    gradient, H = np.zeros((free, p)), np.zeros((free, p, free, p))
    for x, values, weight in data.blocks():
        S = x @ W.T + b
        P, z = _probabilities(S), rows(x)
        gradient += C * (weight[:, None] * _residuals(S, _targets(values, K, certificate)))[:, :free].T @ z
        others = _probabilities(-S) if K == 1 else P @ (1.0 - np.eye(K))  # 1 - P, where P rounds to 1 too
        for a in range(free):
            for c in range(free):
                h = P[:, a] * (others[:, a] if a == c else -P[:, c])
                H[a, :, c] += z.T @ ((C * weight * h)[:, None] * z)
    if not np.isinf(certificate.C):
        gradient[:, :d] += W[:free]
        for a in range(free):
            H[a, :, a][np.arange(d), np.arange(d)] += 1.0
    H = H.reshape(free * p, free * p)
    size = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), 1.0))
    values, Q = np.linalg.eigh(H / np.outer(size, size))
    live = values > len(values) * 8 * EPS * values[-1]
    if not np.isinf(certificate.C) and not live.all():
        return float("inf")  # a curvature that rounding hides; without a penalty no row sees such a direction
    root = (Q[:, live] / np.sqrt(values[live])).T / size  # root H root' = 1
    length = float(np.linalg.norm(root @ gradient.ravel()))
    rho = 0.0
    root = root.reshape(len(root), free, p)
    for x, _, _ in data.blocks():
        images = np.einsum("rap,ip->ira", root, rows(x))
        # a direction changes the scores of a row by at most this between two classes (one of them the reference)
        longest = np.sqrt((images**2).sum(axis=1)).max(axis=1)
        rho = max(rho, float(longest.max()) * (1.0 if K <= 2 else 2.0))
    t = length * rho
    if not t < 1.0:
        return float("inf")
    if t < 1e-4:
        return 0.5 * length**2 * (1 + t)  # the series, where the formula cancels
    return (t + (1 - t) * float(np.log1p(-t))) / rho**2
