"""
Rows on a cluster
=================

Rows stay on their Dask workers; what travels are weights and sums. The end is a proved optimum, and it has the same
bits on any number of workers.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from separatrix import LogisticRegression

random = da.random.default_rng(0)
X = random.normal(size=(40_000, 8), chunks=(10_000, 8))
truth = np.linspace(-1, 1, 8)
y = (X @ truth + random.logistic(size=40_000, chunks=10_000) > 0).astype(int)

fits = []
for workers in (1, 2):
    with Client(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0"):
        fits.append(LogisticRegression().fit(X, y))
        holds = bool(fits[-1].certificate_.verify(X, y))
        print(f"{workers} worker(s): {fits[-1].status_} Holds: {holds}")
print("the same bits:", np.array_equal(fits[0].coef_, fits[1].coef_))

# %%
# What was found, beside what the rows were drawn by.

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.plot(truth, "s", label="drawn by")
axis.plot(fits[0].coef_[0], "o", label="found")
axis.set(xlabel="column", ylabel="weight")
axis.legend()
plt.show()
