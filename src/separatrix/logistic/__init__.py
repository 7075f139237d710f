"""Logistic regression: penalised, by maximum likelihood, bias-reduced, by squared errors, along a path of C."""
