"""What a fit claims, and how anyone can check it.

A certificate holds a claim and the witnesses that prove it. `verify` recomputes everything from the data
with NumPy alone: this package imports nothing else of separatrix, so the checker shares no code with the
checked.
"""

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
