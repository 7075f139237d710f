"""Columns that alone nearly determine the target: often something that was known only afterwards."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.compare.tuning import sample_rows
from separatrix.data import Encoder, Table

SUSPECT = 0.99  # balanced accuracy of one column alone, on rows that its rule was not made from
ROWS = 4_000  # looked at
MOST_COLUMNS = 5_000  # a table of words has more, none of which is a leak by itself
MOST_NAMED = 5
KNOWN = 0.9  # of the rows: those of levels that a rule can have been made for


def possible_leaks(table: Table, X: Any, encoder: Encoder, codes: Integers, seed: int) -> list[str]:
    """A sentence for each feature, or category as a whole, whose balanced accuracy by itself is 0.99 or more.

    The best first.
    """
    if X.shape[1] > MOST_COLUMNS:
        return []
    rows = sample_rows(codes, ROWS, seed)
    x = X[rows].toarray() if hasattr(X, "tocsr") else np.asarray(X[rows])
    codes = codes[rows]
    half = _half_of_each(codes, seed)
    groups = encoder.groups
    whole = [c.name for c in table.columns if c.kind == "category" and len(groups.get(c.name, ())) > 1]
    found = [(name, _by_level(x[:, groups[name]] @ np.arange(1, len(groups[name]) + 1), codes, half)) for name in whole]
    told = {place for name in whole for place in groups[name]}
    found += [(name, _by_cuts(x[:, j], codes, half)) for j, name in enumerate(encoder.names) if j not in told]
    suspects = {name: value for name, value in found if value >= SUSPECT}
    for name in list(suspects):  # where its being missing says all, so does the mean that stands for it
        if f"{name} is missing" in suspects:
            del suspects[name]
    column = {encoder.names[place]: name for name, places in groups.items() for place in places}
    worst = sorted(suspects.items(), key=lambda each: -each[1])[:MOST_NAMED]
    return [_words(name, column.get(name, name), value) for name, value in worst]


def _words(feature: str, column: str, value: float) -> str:
    return (
        f"Possible leak: {feature!r} alone nearly determines the target (balanced accuracy {value:.3f}). If it is "
        f"known only afterwards, leave it out: --drop {shlex.quote(column)}."
    )


def _half_of_each(codes: Integers, seed: int) -> Array:
    """Half of the rows of each class at random: in the order of the table, every other row may be of one class."""
    order = np.lexsort((np.random.default_rng(seed).random(len(codes)), codes))
    half = np.zeros(len(codes), dtype=bool)
    half[order[::2]] = True
    return half


def _by_cuts(values: Floats, codes: Integers, half: Array) -> float:
    """The balanced accuracy of a tree of few leaves on one column, made from half of the rows, on the other half."""
    from sklearn.tree import DecisionTreeClassifier

    order = np.argsort(values, kind="stable")
    changes = int((codes[order][1:] != codes[order][:-1]).sum())
    if changes > 0.03 * len(codes) + 2 * codes.max():  # rows in the order of the column are no runs of one class
        return 0.0
    leaves = 2 * (int(codes.max()) + 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=0)
    return _recognised(tree.fit(values[half, None], codes[half]).predict(values[~half, None]), codes[~half])


def _by_level(levels: Floats, codes: Integers, half: Array) -> float:
    """The same of a category: of each level, the class of which it has the largest share in half of the rows.

    Judged by the rows of the other half whose level is known from the first, if these are nearly all.
    """
    different, level = np.unique(levels, return_inverse=True)
    k = int(codes.max()) + 1
    rows = np.bincount(level[half] * k + codes[half], minlength=len(different) * k).reshape(-1, k)
    judged = ~half & (rows.sum(axis=1) > 0)[level]
    if judged.sum() < KNOWN * (~half).sum():
        return 0.0
    said = (rows / np.maximum(rows.sum(axis=0), 1)).argmax(axis=1)
    return _recognised(said[level[judged]], codes[judged])


def _recognised(said: Integers, truth: Integers) -> float:
    return float(np.mean([(said[truth == c] == c).mean() for c in np.unique(truth)]))
