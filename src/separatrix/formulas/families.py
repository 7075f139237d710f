"""Exponential families for naive Bayes: p(x | theta) = exp(theta t(x) - a(theta) + b(x)) in each feature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, logit

from separatrix._typing import Array, Floats
from separatrix.errors import InvalidInputError

EPS = float(np.finfo(np.float64).eps)


class ExponentialFamily(ABC):
    """p(x | theta) = exp(theta t(x) - a(theta) + b(x)), fitted by matching E[t] to the mean of t in a class.

    Subclass it to give `NaiveBayes` a family of your own: `natural` and `log_partition` are all it needs.
    With t(x) = x, as here, the log-odds are linear in x. A family that defines another ``statistic`` gives
    a classifier that is linear in t(x), hence without ``coef_``. With ``size`` above 1, t(x) and theta are vectors of
    that length: theta t(x) is their inner product.

    Examples
    --------
    The exponential distribution p(x) = rate * exp(-rate * x) has theta = -rate = -1/mean, a = -log(-theta):

    >>> class Exponential(ExponentialFamily):
    ...     name = "exponential"
    ...     support = "positive numbers"
    ...     def supports(self, x): return x > 0
    ...     def natural(self, mean): return -1 / mean
    ...     def log_partition(self, theta): return -np.log(-theta)
    >>> from separatrix import NaiveBayes
    >>> model = NaiveBayes(family=Exponential()).fit([[1.0], [3.0], [6.0], [10.0]], [0, 0, 1, 1])
    >>> model.coef_.tolist()  # rates 1/2 and 1/8
    [[0.375]]

    Attributes
    ----------
    name : str
        What messages call it.
    support : str
        Which numbers it takes, in words.
    interval : bool
        Whether the support has no gaps, so that its ends tell of what is between.
    size : int
        The length of t(x); 1 for a number.
    """

    name: ClassVar[str]
    support: ClassVar[str] = "any number"
    interval: ClassVar[bool] = False
    size: ClassVar[int] = 1

    def supports(self, x: Array) -> Array:
        """Which entries of x the family gives any probability to."""
        return np.ones(np.shape(x), dtype=bool)

    def statistic(self, x: Array) -> Array:
        """t(x), elementwise; with ``size`` s above 1 the shape of x and a last axis of length s."""
        return x

    @abstractmethod
    def natural(self, mean: Floats) -> Floats:
        """theta such that E[t(x)] = mean: (k, g) for k classes and g features, or (k, g, s)."""

    @abstractmethod
    def log_partition(self, theta: Floats) -> Floats:
        """a(theta): (k, g)."""

    def base(self, x: Floats) -> Floats:
        """b(x), elementwise: of all methods, only `predict_joint_log_proba` asks for it."""
        return np.zeros(np.shape(x))

    def estimate(self, counts: Floats, means: Floats, alpha: float) -> Floats:
        """The parameters E[t], (k, g) or (k, g, s), from the weight of each class and the means of t in it."""
        return means

    @property
    def linear(self) -> bool:
        """Whether t(x) = x."""
        return type(self).statistic is ExponentialFamily.statistic and self.size == 1


class Bernoulli(ExponentialFamily):
    """p^x (1 - p)^(1 - x): theta = log(p / (1 - p)), a = log(1 + exp(theta)), p = (n_1 + alpha) / (n + 2 alpha)."""

    name = "bernoulli"
    support = "0 and 1"

    def supports(self, x: Array) -> Array:
        return (x == 0) | (x == 1)

    def estimate(self, counts: Floats, means: Floats, alpha: float) -> Floats:
        n = counts[:, None]
        return np.asarray((n * means + alpha) / (n + 2 * alpha))

    def natural(self, mean: Floats) -> Floats:
        return np.asarray(logit(mean))

    def log_partition(self, theta: Floats) -> Floats:
        return np.logaddexp(0.0, theta)


class Poisson(ExponentialFamily):
    """rate^x exp(-rate) / x!: theta = log(rate), a = exp(theta).

    A class without a single count would have rate 0 and infinite log-odds; its rate is held at eps times the
    mean rate of the classes. A column that is 0 in all classes says nothing, and gets no weight.
    """

    name = "poisson"
    support = "numbers from 0 up"
    interval = True

    def supports(self, x: Array) -> Array:
        return x >= 0

    def estimate(self, counts: Floats, means: Floats, alpha: float) -> Floats:
        return np.maximum(means, EPS * means.mean(axis=0))

    def natural(self, mean: Floats) -> Floats:
        return np.log(mean, out=np.zeros_like(mean), where=mean > 0)

    def log_partition(self, theta: Floats) -> Floats:
        return np.exp(theta)

    def base(self, x: Floats) -> Floats:
        return np.asarray(-gammaln(x + 1.0))


class Multinomial(ExponentialFamily):
    """prod_j p_j^x_j over all features of this family together: theta_j = log p_j, a = 0.

    p_j = (n_j + alpha) / (n + alpha d), where n_j is the total of feature j in a class and n their sum. b(x) is taken
    to be 0: the words of a text have an order, and the number of orders is the same in all classes.
    """

    name = "multinomial"
    support = "numbers from 0 up"
    interval = True

    def supports(self, x: Array) -> Array:
        return x >= 0

    def estimate(self, counts: Floats, means: Floats, alpha: float) -> Floats:
        smoothed = counts[:, None] * means + alpha
        total = smoothed.sum(axis=1, keepdims=True)
        return np.asarray(smoothed / np.where(total > 0, total, 1.0))

    def natural(self, mean: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(mean)

    def log_partition(self, theta: Floats) -> Floats:
        return np.zeros_like(theta)


class Gaussian(ExponentialFamily):
    """exp(-(x - mu)² / (2 sigma²)) / sqrt(2 pi sigma²); with a shared sigma, theta = mu/sigma², a = mu²/(2 sigma²).

    The variance comes from the data as well, so `separatrix.formulas.naive_bayes` works it out.
    """

    name = "gaussian"

    def base(self, x: Floats) -> Floats:
        return np.full(np.shape(x), -0.5 * np.log(2 * np.pi))

    def natural(self, mean: Floats) -> Floats:
        raise NotImplementedError("needs the variance")

    def log_partition(self, theta: Floats) -> Floats:
        raise NotImplementedError("needs the variance")


FAMILIES: dict[str, ExponentialFamily] = {f.name: f for f in (Bernoulli(), Gaussian(), Multinomial(), Poisson())}


def has_name(family: ExponentialFamily) -> bool:
    """Whether it is one of `FAMILIES`, or a copy of it, such as a pickled model has, without anything of its own."""
    return type(family) is type(FAMILIES.get(family.name)) and not vars(family)


def resolve(family: str | ExponentialFamily | Sequence[str | ExponentialFamily], d: int) -> list[ExponentialFamily]:
    """One family for each of d features, from what the user gave."""
    if isinstance(family, (str, ExponentialFamily)):
        return [_one(family)] * d
    families = [_one(f) for f in family] if isinstance(family, Iterable) else [_one(family)]
    if len(families) != d:
        raise InvalidInputError(
            f"family lists {len(families)} families, but X has {d} columns: give one for each.", "family"
        )
    return families


def _one(family: str | ExponentialFamily) -> ExponentialFamily:
    if isinstance(family, ExponentialFamily):
        return family
    if not isinstance(family, str) or family not in FAMILIES:
        raise InvalidInputError(
            f"family must be one of {', '.join(map(repr, sorted(FAMILIES)))}, an ExponentialFamily object, "
            f"or a list of these; got {family!r}.",
            "family",
        )
    return FAMILIES[family]


def shaped(family: ExponentialFamily, method: str, values: Any, shape: tuple[int, ...]) -> Floats:
    """What a family returned, if it has this shape: a family may be the user's own."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape != shape:
        raise InvalidInputError(
            f"{method} of the {family.name} family returned the shape {found.shape} where {shape} is needed: with "
            f"size = {family.size}, a number for each {'entry' if family.size == 1 else 'entry, in a last axis'}.",
            "family",
        )
    return found
