"""scikit-learn's estimator checks that cannot hold here, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXPECTED_FAILURES"]

EXPECTED_FAILURES: Mapping[str, Mapping[str, str]] = {}
"""{class name: {check name: why the mathematics forbids it}}"""
