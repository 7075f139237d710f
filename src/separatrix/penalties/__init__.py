"""Penalties on the weights: what is added to a sum of losses."""

from separatrix.penalties.ridge import Ridge

__all__ = ["Ridge"]
