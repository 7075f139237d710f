"""LIBSVM itself: the soft margin with the Gaussian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse as matrices

from benchmarks.adapters import Route, Size
from benchmarks.adapters.separatrix import CACHE
from benchmarks.objective import Expansion, Solution
from benchmarks.problems import Problem

NAME, PACKAGE = "LIBSVM", "libsvm-official"
COARSE = (1e-2, 1e-4, 1e-6)  # its time hardly depends on the tolerance, and is long


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    return (Route("-s 0 -t 2", COARSE),) if problem.task == "rbf" else ()


def prepare(problem: Problem, X: Any, y: Any) -> Any:
    from libsvm.svm import svm_problem

    return svm_problem(y.astype(float), matrices.csr_matrix(X))


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from libsvm.svm import svm_parameter
    from libsvm.svmutil import svm_train

    options = f"{solver} -g {problem.gamma} -c {problem.C} -e {tol} -m {CACHE} -q"
    return svm_train(data, svm_parameter(options))


def solution(fitted: Any) -> Solution:
    sign = 1.0 if fitted.get_labels()[0] > 0 else -1.0  # its scores are for the label that comes first in the data
    coef = np.array(fitted.get_sv_coef(), dtype=np.float64)[:, 0]
    return Expansion(np.array(fitted.get_sv_indices()) - 1, sign * coef, -sign * float(fitted.rho[0]))
