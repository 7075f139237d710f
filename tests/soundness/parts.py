"""What several kinds of claims are about: the rows of two sides, and rows in a kernel's feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
from soundness.data import Table, kernel_matrix
from soundness.decimals import D, exactly, factor, matrix

NEAR = D("1e-9")  # of a margin: what its bounds may be off
TINY = exactly(float(np.finfo(np.float64).tiny))


def frozen(values: Any) -> Any:
    return None if values is None else tuple(np.asarray(values, dtype=float).tolist())


def sides(certificate: Any, table: Table) -> tuple[list[int], list[int]]:
    """Positions (among the rows with a weight) that the certificate is about, and their signs."""
    codes = table.codes(certificate.classes)
    negative = getattr(certificate, "negative", None)
    inside = [i for i, code in enumerate(codes) if negative is None or code in (certificate.positive, negative)]
    return inside, [1 if codes[i] == certificate.positive else -1 for i in inside]


def features(kernel: Any, table: Table, inside: list[int]) -> tuple[list[list[D]], D]:
    """Rows whose inner products are the kernel's values, and the matrix's smallest pivot relative to its row."""

    def make() -> tuple[list[list[D]], D]:
        if kernel["kernel"] == "precomputed":
            all_rows = matrix(np.asarray(table.dense)[:, table.kept])
            K = [[all_rows[i][j] for j in inside] for i in inside]
            K = [[(K[i][j] + K[j][i]) / 2 for j in range(len(K))] for i in range(len(K))]
            L, lowest = factor(K, D("1e-13"))
        else:
            K = kernel_matrix(kernel, [table.rows[i] for i in inside])
            L, lowest = factor(K)
        return L, lowest

    return table.remembered(("features", repr(sorted(kernel.items())), tuple(inside)), make)
