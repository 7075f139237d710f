"""A cascade of layers: how far its derivatives are from 0, in 60 digits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from soundness.data import Matrix, Table
from soundness.decimals import ONE, ZERO, D, dot, exactly, sigma, vector


def cascade(certificate: Any, table: Table) -> list[tuple[str, D, D]]:
    """The largest derivative by a weight of any layer, by the chain rule, over C sum_i c_i."""
    witness, rows = certificate.witness, table.rows
    codes, k = table.codes(certificate.classes), len(certificate.classes)
    c = (
        table.weights(certificate.classes, certificate.class_weight)
        if certificate.class_weight is not None
        else table.weights()
    )
    C, scale, total = exactly(witness["C"]), vector(witness["scale"]), sum(c, ZERO)
    centre = [dot(c, [row[j] for row in rows]) / total for j in range(len(scale))]
    layers, gradient = _layers(witness), []
    for place, (W, b) in enumerate(layers):  # of the penalty, with the weights of the first layer in units of scale
        unit = scale if place == 0 else [ONE] * len(W)
        gradient.append(([[w * u for w in line] for line, u in zip(W, unit, strict=True)], [ZERO] * len(b)))
    for row, weight, code in zip(rows, c, codes, strict=True):
        inputs, values = [row], row
        for place, (W, b) in enumerate(layers):
            score = [dot(values, [line[m] for line in W]) + b[m] for m in range(len(b))]
            if place < len(layers) - 1:
                values = [sigma(s) for s in score]
                inputs.append(values)
        slopes = [C * weight * s for s in _slopes(score, code, k, witness["loss"] == "squared_error")]
        inputs[0] = [(x - m) / u for x, m, u in zip(row, centre, scale, strict=True)]
        for place in reversed(range(len(layers))):
            W = layers[place][0]
            of_weights, of_intercepts = gradient[place]
            for m, slope in enumerate(slopes):
                of_intercepts[m] += slope
                for line, value in zip(of_weights, inputs[place], strict=True):
                    line[m] += slope * value
            if place:
                slopes = [a * (1 - a) * dot(line, slopes) for line, a in zip(W, inputs[place], strict=True)]
    worst = max(abs(g) for W, b in gradient for g in [*b, *(w for line in W for w in line)])
    # the check allows a tenth of tol for rounding
    return [("largest derivative", worst / (C * total), exactly(witness["tol"]) * D("1.1"))]


def _layers(witness: Any) -> list[tuple[Matrix, list[D]]]:
    """(W, b) of each layer, from all of them one after the other."""
    weights, intercepts = iter(vector(witness["coefs"])), iter(vector(witness["intercepts"]))
    sizes = [int(size) for size in witness["sizes"]]
    shapes = list(pairwise(sizes))
    matrices = [[[next(weights) for _ in range(m)] for _ in range(n)] for n, m in shapes]
    return [(W, [next(intercepts) for _ in range(m)]) for W, (_, m) in zip(matrices, shapes, strict=True)]


def _slopes(score: list[D], code: int, k: int, squared: bool) -> list[D]:
    """The derivatives of -log P(code), or of the squared distance of probabilities from 0 and 1, by the scores."""
    if k == 2:
        p, t = sigma(score[0]), D(code)
        return [2 * (p - t) * p * (1 - p) if squared else p - t]
    powers = [(s - max(score)).exp() for s in score]
    p = [e / sum(powers, ZERO) for e in powers]
    miss = [q - (1 if m == code else 0) for m, q in enumerate(p)]
    if not squared:
        return miss
    return [2 * q * (miss[m] - dot(miss, p)) for m, q in enumerate(p)]
