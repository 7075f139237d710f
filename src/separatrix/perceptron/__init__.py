"""Perceptrons: Rosenblatt's rule, the pocket, Kozinec's algorithm, kernels."""
