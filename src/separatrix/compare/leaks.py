"""Columns that alone nearly determine the target: often something that was known only afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.compare.tuning import sample_rows
from separatrix.data import Table

SUSPECT = 0.99  # balanced accuracy of one column alone, on rows that its rule was not made from
ROWS = 4_000  # looked at
MOST_COLUMNS = 5_000  # a table of words has more, none of which is a leak by itself
MOST_NAMED = 5


def possible_leaks(table: Table, X: Any, names: Sequence[str], codes: Integers, seed: int) -> list[tuple[str, float]]:
    """Features, or categories as a whole, whose balanced accuracy by themselves is 0.99 or more; the best first."""
    if X.shape[1] > MOST_COLUMNS:
        return []
    rows = sample_rows(codes, ROWS, seed)
    x = X[rows].toarray() if hasattr(X, "tocsr") else np.asarray(X[rows])
    codes = codes[rows]
    found = [(name, _alone(values, codes)) for name, values in _columns(table, x, names)]
    suspects = [(name, value) for name, value in found if value >= SUSPECT]
    return sorted(suspects, key=lambda each: -each[1])[:MOST_NAMED]


def _columns(table: Table, x: Floats, names: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """Each feature by itself; the levels of a category together, as one column of their positions."""
    places = {name: j for j, name in enumerate(names)}
    for column in table.columns:
        if column.kind == "category":
            mine = [j for name, j in places.items() if name.startswith(f"{column.name}=")]
            if len(mine) > 1:
                yield column.name, (x[:, mine] * np.arange(1, len(mine) + 1)).sum(axis=1)
                for j in mine:
                    places.pop(names[j])
    for name, j in places.items():
        yield name, x[:, j]


def _alone(values: Floats, codes: Integers) -> float:
    """The balanced accuracy of a tree of few leaves on one column, made from half of the rows, on the other half."""
    from sklearn.tree import DecisionTreeClassifier

    order = np.argsort(values, kind="stable")
    changes = int((codes[order][1:] != codes[order][:-1]).sum())
    if changes > 0.03 * len(codes) + 2 * codes.max():  # rows in the order of the column are no runs of one class
        return 0.0
    half = np.arange(len(codes)) % 2 == 0
    leaves = 2 * (int(codes.max()) + 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=0)
    said = tree.fit(values[half, None], codes[half]).predict(values[~half, None])
    truth = codes[~half]
    return float(np.mean([(said[truth == c] == c).mean() for c in np.unique(truth)]))


def words(suspects: Sequence[tuple[str, float]]) -> list[str]:
    """A sentence for each."""
    return [
        f"Column {name!r} alone nearly determines the target (balanced accuracy {value:.3f}): a possible leak, such as "
        "something known only afterwards. If it is, leave it out with --drop."
        for name, value in suspects
    ]
