"""Tables to compare classifiers on."""

import io

import numpy as np


def csv(columns, labels):
    """A table as bytes: columns by name, and the target "y"."""
    names = [*columns, "y"]
    rows = zip(*columns.values(), labels, strict=True)
    text = "\n".join([",".join(names), *(",".join(str(cell) for cell in row) for row in rows)])
    return io.BytesIO(text.encode())


def rare_table(n=800, seed=0, signal=1.3):
    """One row in eight is "yes"; two columns matter, one does not; a category."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)).round(4)
    score = signal * (x[:, 0] + 0.7 * x[:, 1]) - 2.6
    y = np.where(random.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    return {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "d": random.choice(["p", "q", "r"], n)}, y
