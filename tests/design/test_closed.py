"""Rows are touched in `design` and `loops` alone; block functions have names and write nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import separatrix
from separatrix.design import Block, as_design
from separatrix.design.reducing import INLINE_BYTES, Parts

ROOT = Path(separatrix.__file__).parent
OPEN = ("design", "loops")
STEPS = ("reduce", "rows", "extremes")
READERS = ("separatrix.certificates", "separatrix.loops")  # who may be lent the rows as the user gave them


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] not in OPEN:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def attributes(tree: ast.AST, *names: str) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names:
            yield node


def test_nobody_outside_reaches_for_the_rows() -> None:
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in modules()
        for node in attributes(tree, "_X", "X")
        if "design" in ast.unparse(node.value)
    ]
    assert guilty == []


def test_rows_as_given_leave_by_estimators_only() -> None:
    rooms = {
        path.relative_to(ROOT).parts[0]
        for path, tree in modules()
        for node in attributes(tree, "given")
        if "design" in ast.unparse(node.value)
    }
    assert rooms == {"estimators"}


def test_block_functions_are_named_in_a_module() -> None:
    seen, guilty = 0, []
    for path, tree in modules():
        known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        known |= {
            alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STEPS):
                continue
            if ast.unparse(node.func.value).split(".")[-1] not in ("design", "plain", "anchored", "part"):
                continue  # np.add.reduce, rows of tables
            seen += 1
            first = node.args[0] if node.args else None
            if not (isinstance(first, ast.Name) and first.id in known):
                guilty.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert guilty == []
    assert seen > 30


def test_rows_are_lent_to_checkers_and_loops_only() -> None:
    seen, guilty = 0, []
    for path, tree in modules():
        readers = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(READERS)
            for alias in node.names
        }
        for node in attributes(tree, "lend"):
            seen += 1
            call = next(c for c in ast.walk(tree) if isinstance(c, ast.Call) and c.func is node)
            reader = call.args[0]
            own = isinstance(reader, ast.Attribute) and reader.attr in ("verify", "stated")  # of a certificate
            if not (own or ast.unparse(reader) in readers):
                guilty.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert guilty == []
    assert seen > 8


def _positions(block: Block, values: np.ndarray) -> Parts:
    return (block.rows.start + np.flatnonzero(values == 0),)


def _largest(block: Block, values: np.ndarray, factor: float) -> Parts:
    return factor * float(values.max()), block.x.max(axis=0)


def _mixed(block: Block, values: np.ndarray) -> Parts:
    return block.x.sum(axis=0), float(values.max()), values + block.rows.start


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rules_on_many_blocks_are_those_of_the_whole(threads: int) -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(-9, 10, size=(120_000, 7)).astype(np.float64)
    design, values = as_design(X), rng.integers(0, 50, size=len(X)).astype(np.float64)
    X[60_000], values[7] = 99.0, 99.0  # the largest are in neither the last block nor all of them
    assert design.nbytes > INLINE_BYTES
    separatrix.set_threads(threads)
    try:
        (where,) = design.rows(_positions, values)
        most, entries = design.extremes(_largest, values, args=(2.0,))
        sums, top, starts = design.reduce(_mixed, values, rules=("sum", "max", "rows"))
    finally:
        separatrix.set_threads(None)
    assert np.array_equal(where, np.flatnonzero(values == 0))
    assert most == 2.0 * values.max()
    assert np.array_equal(entries, X.max(axis=0))
    assert np.array_equal(sums, X.sum(axis=0))
    assert top == values.max()
    assert len(starts) == len(X)
    assert len(np.unique(starts - values)) > 1  # there were several blocks


def test_taken_rows_keep_their_coordinates() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(loc=1e6, size=(50, 3))
    design = as_design(X).centred(np.ones(50)).scaled(np.array([1.0, 2.0, 0.5]))
    V, rows = rng.normal(size=(4, 2)), np.array([3, 3, 40])
    assert np.array_equal(design.take(rows).dot(V), design.dot(V)[rows])
    assert np.array_equal(design.row(40), X[40])


def _turned(block: Block) -> Parts:
    return (np.asfortranarray(2.0 * block.x),)


@pytest.mark.parametrize("n", [40, 200_000])
def test_values_of_rows_are_in_c_order_however_blocks_had_them(n: int) -> None:
    """Or `reshape(-1)[at] = ...` would change a copy of what came of one block, and not of what came of several."""
    X = np.random.default_rng(7).normal(size=(n, 5))
    (found,) = as_design(X).rows(_turned)
    assert found.flags.c_contiguous
    assert np.array_equal(found, 2.0 * X)
