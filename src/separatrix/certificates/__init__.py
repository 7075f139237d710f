"""What a fit claims, and how anyone can check it.

A certificate holds a claim and the witnesses that prove it. `verify` recomputes everything from the data
with NumPy alone: this package imports nothing else of separatrix, so the checker shares no code with the
checked. Names are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.certificates.all_parts import All
    from separatrix.certificates.base import Certificate, Check, Verification
    from separatrix.certificates.duality_gap import DualityGap
    from separatrix.certificates.elastic_net_gap import ElasticNetGap
    from separatrix.certificates.error_bound import ErrorBound
    from separatrix.certificates.hinge_gap import HingeGap
    from separatrix.certificates.inseparable import Inseparable
    from separatrix.certificates.kernel_margin import KernelInseparable, KernelMarginBracket
    from separatrix.certificates.kernel_separator import KernelSeparator
    from separatrix.certificates.logistic_gap import LogisticGap
    from separatrix.certificates.margin_bracket import MarginBracket
    from separatrix.certificates.path_gap import PathGap
    from separatrix.certificates.separator import Separator
    from separatrix.certificates.stationarity import Stationarity

_HOMES = {
    "All": "all_parts",
    "Certificate": "base",
    "Check": "base",
    "DualityGap": "duality_gap",
    "ElasticNetGap": "elastic_net_gap",
    "ErrorBound": "error_bound",
    "HingeGap": "hinge_gap",
    "Inseparable": "inseparable",
    "KernelInseparable": "kernel_margin",
    "KernelMarginBracket": "kernel_margin",
    "KernelSeparator": "kernel_separator",
    "LogisticGap": "logistic_gap",
    "MarginBracket": "margin_bracket",
    "PathGap": "path_gap",
    "Separator": "separator",
    "Stationarity": "stationarity",
    "Verification": "base",
}

__all__ = [
    "All",
    "Certificate",
    "Check",
    "DualityGap",
    "ElasticNetGap",
    "ErrorBound",
    "HingeGap",
    "Inseparable",
    "KernelInseparable",
    "KernelMarginBracket",
    "KernelSeparator",
    "LogisticGap",
    "MarginBracket",
    "PathGap",
    "Separator",
    "Stationarity",
    "Verification",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
