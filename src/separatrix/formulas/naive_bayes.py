"""Naive Bayes as a linear model: log-odds that add up over the features.

log P(c | x) = log P(c) + sum_j [theta_cj t(x_j) - a(theta_cj)] + terms without c, so that for two classes
coef_j = theta_1j - theta_0j and intercept = log P(1)/P(0) - sum_j [a(theta_1j) - a(theta_0j)].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design import Design
from separatrix.design import mapped as mapped_design
from separatrix.design.sample import Sample
from separatrix.errors import InvalidInputError, LikelihoodWarning
from separatrix.formulas.claims import stationarity
from separatrix.formulas.families import EPS, ExponentialFamily, Gaussian, has_name, shaped
from separatrix.formulas.moments import ClassMoments, bisectors, class_moments, class_priors, contrasts
from separatrix.formulas.scores import by_blocks, log_odds
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.targets import Targets

NEAREST = 2e-8  # a probability nearer to 1 has lost the digits of its log-odds
SMALLEST = 1e-290  # a variance whose inverse, and that of its eps, is finite


@dataclass(frozen=True)
class Settings:
    """What the user chose: a family for each column, and how to estimate."""

    families: list[ExponentialFamily]
    shared_variance: bool
    alpha: float
    priors: Floats | None
    smoothing: float = 0.0  # the share of the largest variance of a column that is added to all
    binarize: float | None = None  # what the entries that these rows say 1 for exceed

    @cached_property
    def groups(self) -> list[tuple[ExponentialFamily, Integers]]:
        """Each family with its columns."""
        if self.families.count(self.families[0]) == len(self.families):  # soon seen for any number of columns
            return [(self.families[0], np.arange(len(self.families)))]
        distinct = dict(zip(map(id, self.families), self.families, strict=True))
        return [(f, np.flatnonzero([g is f for g in self.families])) for f in distinct.values()]

    @cached_property
    def features(self) -> Integers:
        """The column that each statistic is of: all of them in turn, unless a family has vectors for t(x)."""
        sizes = [f.size for f in self.families] if len(self.groups) > 1 else self.families[0].size
        return np.repeat(np.arange(len(self.families)), sizes)

    def places(self, family: ExponentialFamily, columns: Integers) -> Integers:
        """Where the statistics of a family's columns are: (g,), or (g, s) if t(x) is a vector."""
        first = np.searchsorted(self.features, columns)
        return first if family.size == 1 else first[:, None] + np.arange(family.size)

    @property
    def linear(self) -> bool:
        """Whether the log-odds are linear in x."""
        return self.binarize is None and all(
            f.linear and (self.shared_variance or not isinstance(f, Gaussian)) for f, _ in self.groups
        )


def observe(sample: Sample, settings: Settings) -> ClassMoments:
    """Check that each column is in its family's support, and take the moments of t(x) in each class."""
    design = sample.design
    for family, columns in settings.groups:
        if type(family).supports is ExponentialFamily.supports:
            continue
        found = design.find(partial(_unsupported, family), columns, outside=family.interval)
        if found is not None:
            row, column, value = found
            raise InvalidInputError(
                f"{'Negative values in data: the' if value < 0 else 'The'} {family.name} family takes "
                f"{family.support}, but row {row} of {design.column(column)} holds {value:g}. "
                f"{_ADVICE.get(family.name, 'Choose another family for that column.')}"
            )
    mapped = mapped_design(design, partial(map_columns, settings=settings))
    gaussian = any(isinstance(f, Gaussian) for f, _ in settings.groups)
    moments = class_moments(mapped, sample.targets, sample.weight, spreads=gaussian)
    if moments.spreads is not None:
        still = np.flatnonzero(moments.variances() < SMALLEST)
        still = settings.features[still]
        still = still[[isinstance(settings.families[j], Gaussian) for j in still]]
        still = still[~design.constant(still)] if len(still) else still
        if len(still):
            raise InvalidInputError(
                f"{design.column(int(still[0]))} varies by less than 1e-145, so that its variance underflows: "
                "multiply the column by a large number."
            )
    return moments


def _unsupported(family: ExponentialFamily, x: Array) -> Array:
    return ~family.supports(x)


_ADVICE = {
    "bernoulli": "Binarise the column first, for instance X > 0, or choose another family for it.",
    "poisson": "Counts cannot be negative; for such a column choose family='gaussian'.",
    "multinomial": "Counts cannot be negative; for such a column choose family='gaussian'.",
}


def map_columns(X: Any, settings: Settings) -> Any:
    """t(x) in every column: X itself unless a family has a statistic of its own."""
    own = [(f, columns) for f, columns in settings.groups if not f.linear]
    if not own:
        return X
    if sparse.issparse(X):
        raise InvalidInputError("A family with a statistic of its own needs dense rows: use X.toarray().")
    x = np.asarray(X, dtype=np.float64)
    T = x[:, settings.features]
    for family, columns in own:
        at = settings.places(family, columns)
        T[:, at] = shaped(family, "statistic", family.statistic(x[:, columns]), (len(x), *at.shape))
    return T


def learn(sample: Sample, settings: Settings, before: ClassMoments | None = None) -> Fit:
    """The model that the moments of the rows determine, and of the rows ``before`` them."""
    design, targets, moments = sample.design, sample.targets, observe(sample, settings)
    moments = moments if before is None else before.merge(moments)
    counts = moments.counts
    seen = counts > 0
    prior = class_priors(counts, settings.priors)
    # a class not seen yet is like all the others together, but for its prior
    means = np.where(seen[:, None], moments.means, (counts / counts.sum()) @ moments.means)
    weight = np.where(seen, counts, counts.sum())

    parameters = moments.anchor + means
    variances: Floats | None = None
    held: list[int] = []
    if moments.spreads is not None:
        variances, floored = _variances(moments, weight, settings)
        held += list(settings.features[floored])
    for family, columns in settings.groups:
        if isinstance(family, Gaussian):
            continue
        at = settings.places(family, columns)
        mean = parameters[:, at]
        parameters[:, at] = family.estimate(weight, mean, settings.alpha)
        if family.name == "poisson":
            held += list(columns[(mean < parameters[:, at]).any(axis=0)])
    natural, log_partition = naturals(settings, parameters)
    _check_natural(natural, settings, targets, design)

    additive = Additive(settings, np.log(prior), parameters, natural, log_partition, variances)
    model: Any = additive
    coef = intercept = None
    if settings.linear:
        coef, intercept = _hyperplanes(additive, means, moments.anchor, targets.binary)
        coef, intercept = design.rounded(coef), design.rounded(intercept)
        model = Hyperplanes(coef, intercept)
    further = {"smoothing": settings.smoothing} if settings.smoothing else {}
    further |= {"binarize": settings.binarize} if settings.binarize is not None else {}
    certificate = stationarity(
        "naive_bayes", design, targets, families=[family.name for family in settings.families],
        shared_variance=settings.shared_variance, alpha=settings.alpha, priors_given=settings.priors is not None,
        prior=prior, parameters=parameters, variances=variances, coef=coef, intercept=intercept, **further,
    )  # fmt: skip
    # a density of the user's own is nothing that the check could repeat
    unknown = not all(has_name(f) for f, _ in settings.groups)
    unchecked = unknown or not seen.all()
    near = _near_one(parameters, settings, design)
    attributes = {
        "class_count_": counts,
        "class_prior_": prior,
        "parameters_": parameters,
        "variances_": variances,
        "_moments": moments,
        "_families": settings.families,
    }
    warnings = [_held_warning(sorted(set(held)), design)] if held else []
    warnings += [] if near is None else [near]
    status = Status.UNCHECKED if unchecked else Status.FORMULA if near is None else Status.UNCERTIFIED
    return Fit(
        model,
        None if unchecked or near is not None else certificate,
        Status.BOUNDED if held else status,
        attributes=attributes,
        warnings=tuple(warnings),
    )


def naturals(settings: Settings, parameters: Floats) -> tuple[Floats, Floats]:
    """theta and a(theta) of each class; 0 in Gaussian columns, and in those of counts that never come."""
    natural, log_partition = np.zeros_like(parameters), np.zeros((len(parameters), len(settings.families)))
    for family, columns in settings.groups:
        if isinstance(family, Gaussian):
            continue
        at = settings.places(family, columns)
        theta = shaped(family, "natural", family.natural(parameters[:, at]), (len(parameters), *at.shape))
        natural[:, at] = theta
        log_partition[:, columns] = shaped(family, "log_partition", family.log_partition(theta), theta.shape[:2])
        if family.name == "poisson":
            log_partition[:, columns[(parameters[:, at] == 0).all(axis=0)]] = 0.0
    return natural, log_partition


def _near_one(parameters: Floats, settings: Settings, design: Design) -> LikelihoodWarning | None:
    """A warning of a column with a probability so near to 1 that rounding it changes the log-odds, if there is one."""
    for family, columns in settings.groups:
        if family.name != "bernoulli":
            continue
        near = columns[(1 - parameters[:, settings.places(family, columns)] < NEAREST).any(axis=0)]
        if len(near):
            return LikelihoodWarning(
                f"A probability in {design.column(int(near[0]))} is within {NEAREST:g} of 1, where its log-odds lose "
                "their digits: there is no certificate. Raise alpha."
            )
    return None


def _variances(moments: ClassMoments, weight: Floats, settings: Settings) -> tuple[Floats, Integers]:
    """Pooled (d,) or own (k, d) variances, smoothed, at least eps times the column's own; and where that binds."""
    shared = settings.shared_variance
    assert moments.spreads is not None
    n = moments.counts.sum()
    within = moments.spreads.sum(axis=0) / n
    floor = EPS * moments.variances()
    raw = within if shared else np.where((moments.counts > 0)[:, None], moments.spreads / weight[:, None], within)
    gaussian = np.zeros(len(within), dtype=bool)
    for family, columns in settings.groups:
        gaussian[settings.places(family, columns)] = isinstance(family, Gaussian)
    if settings.smoothing:
        raw = raw + settings.smoothing * moments.variances()[gaussian].max()
    low = (raw < floor) & gaussian
    return np.where(gaussian, np.maximum(raw, floor), 0.0), np.flatnonzero(low if shared else low.any(axis=0))


def _check_natural(theta: Floats, settings: Settings, targets: Targets, design: Design) -> None:
    if np.isfinite(theta).all():
        return
    c, place = np.argwhere(~np.isfinite(theta))[0]
    column = int(settings.features[place])
    family = settings.families[column]
    fix = "Use alpha > 0." if family.name in ("bernoulli", "multinomial") else "Drop the column or change its family."
    raise InvalidInputError(
        f"In class {targets.classes.tolist()[c]!r} the {family.name} parameter of {design.column(column)} is at the "
        f"edge of its range, where the log-odds are infinite. {fix}"
    )


def _held_warning(columns: list[int], design: Design) -> LikelihoodWarning:
    named = ", ".join(design.column(j) for j in columns[:5]) + (", ..." if len(columns) > 5 else "")
    return LikelihoodWarning(
        f"The likelihood has no finite maximum in {named}: a class never varies there (gaussian) or never counts "
        "anything (poisson). The parameter is held at eps times the column's own scale, so such a column "
        "outweighs all others: drop it if that is not meant."
    )


def _hyperplanes(additive: Additive, means: Floats, anchor: Floats, binary: bool) -> tuple[Floats, Floats]:
    """coef and intercept of the log-odds: of class 1 against 0, or of each class against the mean of all."""
    # contrasts of what exceeds the first class: a large part that all share cancels before it can round
    natural, partition = (terms - terms[0] for terms in (additive.natural, additive.log_partition))
    constant = additive.log_prior - partition.sum(axis=1)
    contrast = contrasts(len(means))
    coef, intercept = contrast @ natural, contrast @ constant
    if additive.variances is not None:
        # (mu_c - m).(x - (mu_c + m) / 2) / sigma², as for centroids: no mu² that a large shift would round
        precision = np.divide(1.0, additive.variances, out=np.zeros_like(anchor), where=additive.variances > 0)
        difference, middle = bisectors(means, binary)
        slope = difference * precision
        offset = -(slope * (middle + anchor)).sum(axis=1)
        coef, intercept = coef + slope, intercept + (offset if binary else offset - offset.mean())
    return coef, intercept


@dataclass(frozen=True)
class Additive:
    """score_c(x) = log P(c) + sum_j log p(x_j | c), without the terms that all classes share."""

    settings: Settings
    log_prior: Floats
    parameters: Floats
    natural: Floats
    log_partition: Floats
    variances: Floats | None

    def scores(self, X: Any) -> Floats:
        """(n, k) scores, or (n, 1) log-odds for two classes."""
        return log_odds(self._joint(X, base=False))

    def joint(self, X: Any) -> Floats:
        """log p(x, c) for each class, (n, k): the scores, and sum_j b(x_j)."""
        return self._joint(X, base=True)

    def _joint(self, X: Any, base: bool) -> Floats:
        joint = by_blocks(X, X.shape[1], lambda x, _: self._block(x) + self._base(x) if base else self._block(x))
        lost = np.flatnonzero(~np.isfinite(joint.max(axis=1)))  # one class may have probability 0, not all of them
        if len(lost):
            raise InvalidInputError(
                f"The score of row {lost[0]} overflows: its entries are too large for the variances."
            )
        return joint

    def _block(self, x: Floats) -> Floats:
        t = map_columns(x, self.settings)
        joint = t @ self.natural.T + (self.log_prior - self.log_partition.sum(axis=1))
        if self.variances is not None:
            own = np.broadcast_to(self.variances, self.parameters.shape)
            for c, (mu, variance) in enumerate(zip(self.parameters, own, strict=True)):
                live = variance > 0
                z = t - mu if live.all() else t[:, live] - mu[live]
                z *= z  # in place, here and below: memory for many rows takes longer to get than to fill
                z /= variance[live]
                joint[:, c] -= 0.5 * (z.sum(axis=1) + np.log(variance[live]).sum())
        return np.asarray(joint)

    def _base(self, x: Floats) -> Floats:
        """sum_j b(x_j) of each row (n, 1), without columns that are constant and so say nothing."""
        total = np.zeros((len(x), 1))
        for family, columns in self.settings.groups:
            if isinstance(family, Gaussian):
                assert self.variances is not None
                live = np.atleast_2d(self.variances)[0, self.settings.places(family, columns)] > 0
                columns = columns[live]
            total[:, 0] += family.base(x[:, columns]).sum(axis=1)
        return total
