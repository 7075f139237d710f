"""From the user's ``kernel`` parameter to a kernel."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from separatrix._typing import Array
from separatrix.kernels.base import Kernel
from separatrix.kernels.function import FromFunction
from separatrix.kernels.gamma import resolve_gamma
from separatrix.kernels.precomputed import Precomputed
from separatrix.kernels.radial import Laplacian, Rbf
from separatrix.kernels.settings import invalid
from separatrix.kernels.vectors import Linear, Poly, Sigmoid

#: The kernels that have a name; the others are objects.
NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")


def resolve(
    kernel: Any,
    *,
    gamma: Any,
    degree: Any,
    coef0: Any,
    X: Any,
    sample_weight: Array | None = None,
) -> Kernel:
    """The kernel a user means.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"; a kernel object, taken as it
        is; or a function k(A, B) -> matrix.
    gamma : {"scale", "auto"} or float
        For "poly", "rbf", "laplacian" and "sigmoid": 1 / (d var(X)), 1 / d, or a positive number.
    degree, coef0 : int, float
        For "poly" (both) and "sigmoid" (coef0).
    X : points
        The training points, from which gamma is found.
    sample_weight : array of shape (n,), optional
        How often each row of ``X`` counts.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise invalid(f"kernel is the class {kernel.__name__}: pass an object, {kernel.__name__}(...)", "kernel")
    if not isinstance(kernel, str):
        if callable(kernel):
            return FromFunction(kernel)
        raise invalid(f"kernel must be a name, a kernel object or a function k(A, B), got {kernel!r}", "kernel")
    if kernel == "linear":
        return Linear()
    if kernel == "precomputed":
        return Precomputed()
    if kernel not in NAMES:
        raise invalid(_unknown(kernel), "kernel")
    scale = resolve_gamma(gamma, X, sample_weight)
    if kernel == "poly":
        return Poly(degree, scale, coef0)
    if kernel == "sigmoid":
        return Sigmoid(scale, coef0)
    return Rbf(scale) if kernel == "rbf" else Laplacian(scale)


def _unknown(name: str) -> str:
    known = ", ".join(map(repr, NAMES))
    hints = {"spectrum": "Spectrum(k)", "weisfeilerlehman": "WeisfeilerLehman(h)"}
    plain = "".join(filter(str.isalpha, name.lower()))
    if plain in hints:
        return f"kernel {name!r} has settings, so it is an object: kernel={hints[plain]}. Names: {known}"
    close = get_close_matches(name.lower(), NAMES, n=1)
    return f"unknown kernel {name!r}{f', did you mean {close[0]!r}?' if close else '.'} Known: {known}"
