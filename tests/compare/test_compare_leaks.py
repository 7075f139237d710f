"""What a table says of itself before anything is compared: columns that tell the target, classes that are too small."""

from __future__ import annotations

import numpy as np
import pytest
from compare.tables import csv, rare_table

from separatrix import DataError
from separatrix.compare import run as running
from separatrix.compare import verdict
from separatrix.data import read_table


def test_a_leak_is_named_first_and_an_honest_column_is_not(few):
    columns, y = rare_table(400)
    random = np.random.default_rng(0)
    columns["wage"] = np.where(y == "yes", "", random.normal(size=400).round(3).astype(str))
    found = running.compare(read_table(csv(columns, y), target="y"), folds=2)
    assert len(found.leaks) == 1
    assert "'wage is missing'" in found.leaks[0]
    assert found.leaks[0].endswith("--drop wage.")  # which is a column: what is missing is not one
    assert any(
        words.text.startswith("Possible leak: 'wage is missing'") and words.warning for words in found.verdict_words[:2]
    )


@pytest.mark.parametrize("kind", ["every other row", "many levels"])
def test_leaks_that_hide(few, kind):
    """Classes in turn, as of matched pairs; and a code whose levels, in order, are not runs of one class."""
    random = np.random.default_rng(1)
    columns, y = {"a": random.normal(size=300).round(3)}, np.arange(300) % 2
    if kind == "every other row":
        columns["after"] = (5 * y + random.normal(size=300)).round(3)
    else:
        level = random.integers(0, 40, 300)
        columns["after"], y = np.array([f"code {each}" for each in level]), random.permutation(np.arange(40) % 2)[level]
    found = running.compare(read_table(csv(columns, y), target="y"), folds=2)
    assert ["'after'" in words for words in found.leaks] == [True]


@pytest.mark.parametrize(
    ("rows", "said", "words"),
    [
        (5, 0, "0 of 100 'b' and 100 of 100 'a'; it never says 'b'."),
        (5, 4, "80 of 100 'b' and 100 of 100 'a'; when it says 'b', it is right 100 times of 100."),
        (10_000, 9_999, "100 of 100 'a' and over 99.9 of 100 'b'; when it says 'a', it is right 88 times of 100."),
        (10_000, 1, "under 0.1 of 100 'b'"),
        (10_000, 9_970, "99.7 of 100 'b'"),
    ],
)
def test_what_it_gets_wrong_is_said_as_it_is(rows, said, words):
    truth = np.repeat([0, 1], [7, rows])
    codes = np.where(np.arange(7 + rows) >= 7 + rows - said, 1, 0)
    assert words in verdict._wrong(truth, codes, ["a", "b"])


@pytest.mark.parametrize(("counts", "folds"), [((2,) * 12, 5), ((2, 2), 5), ((9, 2), 5), ((9, 3), 2)])
def test_classes_too_small_to_calibrate_on_are_refused_with_advice(counts, folds):
    y = np.repeat(np.arange(len(counts)), counts)
    table = csv({"a": np.random.default_rng(0).normal(size=len(y)).round(3)}, [f"c{code}" for code in y])
    with pytest.raises(DataError, match=f"'c1' has {counts[1]} rows.*at least {4 if folds == 2 else 3} rows"):
        running.compare(read_table(table, target="y"), folds=folds)


def test_of_many_classes_the_worst_is_named_with_what_it_is_taken_for():
    truth, codes = np.repeat([0, 1, 2], 10), np.repeat([0, 1, 2], 10)
    codes[:5] = [2, 2, 2, 1, 1]
    words = verdict._wrong(truth, codes, ["a", "b", "c"])
    assert words == "Worst recognised: 50 of 100 'a' (most often taken for 'c')."
