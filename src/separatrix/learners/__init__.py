"""Classifiers that need no solver: a formula, or an update rule that is its own algorithm."""
