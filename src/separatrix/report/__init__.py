"""The page to send to colleagues: one HTML file that needs nothing else."""

from separatrix.report.page import render

__all__ = ["render"]
