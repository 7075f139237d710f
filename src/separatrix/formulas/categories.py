"""Naive Bayes of categories: log P(c | x) = log P(c) + sum_j log P(x_j | c) + a term without c.

Category v of feature j is t(x_j) = the v-th unit vector: an exponential family whose statistic is a vector. The tables
of all features stand side by side in one of k rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts
from separatrix.design.sample import Sample
from separatrix.errors import InvalidInputError
from separatrix.formulas.claims import stationarity
from separatrix.formulas.moments import class_priors
from separatrix.formulas.scores import by_blocks, log_odds
from separatrix.outcome import Fit, Status

MOST = 1 << 20  # categories of a column; more of them are identifiers


@dataclass(frozen=True)
class CategoryCounts:
    """Of class c: counts[c] = sum w_i, and table[c], the weight of each category of each feature in turn."""

    counts: Floats
    table: Floats
    n_categories: Integers

    def merge(self, other: CategoryCounts) -> CategoryCounts:
        """The counts of both sets of rows."""
        n = np.maximum(self.n_categories, other.n_categories)
        return CategoryCounts(self.counts + other.counts, self.widened(n) + other.widened(n), n)

    def widened(self, n: Integers) -> Floats:
        """The table with room for n categories."""
        wide = np.zeros((len(self.counts), int(n.sum())))
        for own, m, place in zip(starts(self.n_categories), self.n_categories, starts(n), strict=True):
            wide[:, place : place + m] = self.table[:, own : own + m]
        return wide


def starts(n_categories: Integers) -> Integers:
    """Where the table of each feature begins."""
    return np.concatenate([[0], np.cumsum(n_categories)[:-1]])


@dataclass(frozen=True)
class Categories:
    """score_c(x) = log P(c) + sum_j log P(x_j | c), the log-probabilities of all categories in a table (k, D)."""

    log_prior: Floats
    log_probability: Floats
    n_categories: Integers

    @cached_property
    def _starts(self) -> Integers:
        return starts(self.n_categories)

    def scores(self, X: Any) -> Floats:
        """(n, k) scores, or (n, 1) log-odds for two classes."""
        return log_odds(self.joint(X))

    def joint(self, X: Any) -> Floats:
        """log P(x, c) for each class, (n, k)."""
        return by_blocks(X, X.shape[1] * len(self.log_prior), self._block)

    def _block(self, x: Floats, first: int) -> Floats:
        strange = _no_category(x) | (x >= self.n_categories)
        if strange.any():
            row, column = np.argwhere(strange)[0]
            raise InvalidInputError(
                f"Row {first + row} has {x[row, column]:g} in column {column}, whose categories are 0 to "
                f"{self.n_categories[column] - 1}: raise min_categories to make room for more when fitting."
            )
        places = x.astype(np.intp) + self._starts
        return np.asarray(self.log_prior + self.log_probability[:, places].sum(axis=2).T)


@dataclass(frozen=True)
class Settings:
    """What the user chose."""

    alpha: float
    priors: Floats | None
    min_categories: Integers | int


def observe(sample: Sample, settings: Settings) -> CategoryCounts:
    """Check that entries are whole numbers from 0 up, and count them in each class."""
    design, k = sample.design, sample.targets.n_classes
    found = design.find(_no_category, np.arange(design.d))
    if found is not None:
        row, column, value = found
        raise InvalidInputError(
            f"{'Negative values in data: categories' if value < 0 else 'Categories'} are whole numbers from 0 to "
            f"{MOST - 1}, but row {row} of {design.column(column)} holds {value:g}. Encode the column first, for "
            "instance with sklearn.preprocessing.OrdinalEncoder."
        )
    (largest,) = design.extremes(_largest)
    n = np.maximum(largest.astype(np.int64) + 1, settings.min_categories)
    size = int(n.sum())
    codes, weight = sample.targets.values, sample.weight
    (flat,) = design.reduce(_counted, codes, weight, args=(starts(n), k, size))
    counts = np.asarray(np.bincount(codes, weight, k), dtype=np.float64)
    return CategoryCounts(counts, flat.reshape(k, size), n)


def _no_category(x: Array) -> Array:
    x = np.asarray(x, dtype=np.float64)
    return ~((x >= 0) & (x < MOST) & (x == np.floor(x)))


def _dense(block: Block) -> Floats:
    return np.asarray(block.x.toarray() if sparse.issparse(block.x) else block.x)


def _largest(block: Block) -> Parts:
    return (_dense(block).max(axis=0),)


def _counted(block: Block, codes: Integers, weight: Floats, first: Integers, k: int, size: int) -> Parts:
    places = _dense(block).astype(np.int64) + first + size * codes.astype(np.int64)[:, None]
    repeated = np.broadcast_to(weight[:, None], places.shape)
    return (np.bincount(places.ravel(), repeated.ravel(), k * size),)


def learn(sample: Sample, settings: Settings, before: CategoryCounts | None = None) -> Fit:
    """P(x_j = v | c) = (n_cjv + alpha) / (n_c + alpha n_categories_j)."""
    design, targets, counted = sample.design, sample.targets, observe(sample, settings)
    counted = counted if before is None else before.merge(counted)
    counts, n = counted.counts, counted.n_categories
    seen = counts > 0
    # a class not seen yet is like all the others together, but for its prior
    table = np.where(seen[:, None], counted.table, counted.table.sum(axis=0))
    weight = np.where(seen, counts, counts.sum())
    smoothed = table + settings.alpha
    theta = smoothed / (weight[:, None] + np.repeat(settings.alpha * n, n))
    _check_positive(theta, n, design, sample)
    prior = class_priors(counts, settings.priors)
    certificate = stationarity(
        "categories", design, targets, alpha=settings.alpha, n_categories=n, prior=prior, parameters=theta,
        priors_given=settings.priors is not None,
    )  # fmt: skip
    attributes = {
        "class_count_": counts,
        "class_prior_": prior,
        "parameters_": theta,
        "n_categories_": n,
        "_moments": counted,
    }
    model = Categories(np.log(prior), np.log(theta), n)
    status = Status.FORMULA if seen.all() else Status.UNCHECKED
    return Fit(model, certificate if seen.all() else None, status, attributes=attributes)


def _check_positive(theta: Floats, n: Integers, design: Design, sample: Sample) -> None:
    if theta.all():
        return
    c, place = np.argwhere(theta == 0)[0].tolist()
    name = sample.targets.classes.tolist()[c]
    column = int(np.searchsorted(starts(n), place, side="right") - 1)
    raise InvalidInputError(
        f"In class {name!r}, category {place - starts(n)[column]} of {design.column(column)} never occurs, so that its "
        "log-odds are infinite. Use alpha > 0.",
        "alpha",
    )
