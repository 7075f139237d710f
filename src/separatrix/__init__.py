"""Linear classifiers that prove what they found."""
