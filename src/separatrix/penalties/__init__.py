"""Penalties on the weights: what is added to a sum of losses."""

from separatrix.penalties.elastic_net import ElasticNet
from separatrix.penalties.ridge import Ridge

__all__ = ["ElasticNet", "Ridge"]
