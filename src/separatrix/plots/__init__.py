"""Plots as scikit-learn style displays: ``from_estimator`` computes, ``plot(ax=...)`` draws, attributes keep both.

matplotlib is imported when something is drawn: ``pip install "separatrix[cli]"``.
"""

from separatrix.plots.boundary import DecisionBoundary2D
from separatrix.plots.margins import MarginHistogram
from separatrix.plots.path import CoefficientPath
from separatrix.plots.trace import TraceDisplay

__all__ = ["CoefficientPath", "DecisionBoundary2D", "MarginHistogram", "TraceDisplay"]
