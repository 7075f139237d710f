"""
A folder of Parquet, in little memory
=====================================

The files are written once to a block file on the disk, from which fits read pass after pass. What is found is proved as
in memory.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from separatrix import LogisticRegression
from separatrix.data import open

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for part in range(4):
    x = rng.normal(size=(25_000, 3))
    town = rng.choice(["Brno", "Ghent", "Porto"], 25_000)
    clicked = x @ [1.0, -0.5, 0.2] + (town == "Porto") + rng.logistic(size=25_000) > 1
    pl.DataFrame({"age": x[:, 0], "price": x[:, 1], "hour": x[:, 2], "town": town, "clicked": clicked}).write_parquet(
        folder / f"{part}.parquet"
    )

# %%
with open(str(folder / "*.parquet"), target="clicked", memory="200MB") as rows:
    print(rows)
    model = LogisticRegression().fit(rows.X, rows.y)
    print(model.status_)
    print("holds:", bool(model.certificate_.verify(rows.X, rows.y)))
    names = rows.encoder.names

# %%
# The weights, with the names that the encoder gave the columns.

figure, axis = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
axis.barh(names[::-1], model.coef_[0][::-1])
axis.axvline(0, color="black", linewidth=1)
axis.set_xlabel("weight")
plt.show()
