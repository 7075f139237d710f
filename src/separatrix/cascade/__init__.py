"""Layers of sigmoidal perceptrons, trained together."""

from separatrix.cascade.learner import Settings, learn

__all__ = ["Settings", "learn"]
