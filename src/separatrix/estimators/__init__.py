"""The scikit-learn face: the only place that validates input and warns."""
