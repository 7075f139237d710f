"""What scikit-learn's ``penalty`` and ``l1_ratio`` stand for, and the sparse models that they ask for."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import fitted_weights
from separatrix.estimators.validation import Sample
from separatrix.logistic.learner import together
from separatrix.outcome import Fit
from separatrix.sparse_models.fit import Settings, sparse_model
from separatrix.sparse_models.machines import sparse_machines

# "deprecated" stands for no value in scikit-learn
PENALTIES = (("l1", "l2", "elasticnet", None, "deprecated"), "it is 'l1', 'l2', 'elasticnet' or None.")


def l1_ratio(penalty: Any, ratio: Any, parameter: str = "l1_ratio") -> float:
    """The share of ‖w‖₁ in the penalty: ``ratio`` itself, unless ``penalty`` says otherwise.

    "l1" is 1 and "l2" is 0, whatever the ratio; "elasticnet" needs one.
    """
    if ratio is not None and (isinstance(ratio, bool) or not isinstance(ratio, Real) or not 0 <= float(ratio) <= 1):
        raise InvalidInputError(f"{parameter} must be a number from 0 to 1; got {ratio!r}.", parameter)
    if penalty == "elasticnet" and ratio is None:
        raise InvalidInputError("l1_ratio must be specified when penalty is elasticnet.", "l1_ratio")
    if penalty in ("l1", "l2"):
        return 1.0 if penalty == "l1" else 0.0
    return 0.0 if ratio is None else float(ratio)


def disagreement(penalty: Any, ratio: Any) -> tuple[Warning, ...]:
    """A warning if ``penalty`` overrules an ``l1_ratio`` that someone chose."""
    meant = {"l1": (0, 1), "l2": (0,)}.get(penalty)
    if meant is None or ratio is None or ratio in meant:
        return ()
    return (
        UserWarning(
            f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty}). "
            f"Inconsistent values: penalty={penalty} with l1_ratio={ratio}. Use l1_ratio alone."
        ),
    )


def sparse_logistic(model: Any, sample: Sample, ratio: float, chosen: Any) -> Fit:
    """Logistic regression with an elastic net: two classes, softmax, or each column of a 0/1 matrix y by itself."""
    settings = Settings(chosen.C, ratio, chosen.tol, chosen.max_iter)
    refused = {
        "loss": model.loss != "log",
        "bias_reduction": model.bias_reduction is not None,
        "solver": model._solver != "auto",
        "trace": bool(model.trace),
        "identifiability": model.identifiability == "reference"
        and not (sample.targets.binary or sample.targets.multilabel),
    }
    for name, given in refused.items():
        if given:
            raise InvalidInputError(
                f"{name}={getattr(model, name)!r} is for l1_ratio=0: with an L1 penalty leave {name} at its default.",
                name,
            )
    if not sample.targets.multilabel:
        return sparse_model(sample.design, sample.targets, sample.weight, settings, chosen.start)
    fits = [
        sparse_model(sample.design, column, sample.weight, settings, chosen.of_column(j).start)
        for j, column in enumerate(sample.targets.columns)
    ]
    return together(fits, sample.targets.classes)


def sparse_svc(model: Any, sample: Sample, settings: Any) -> Fit:
    """Linear support vector machines with an L1 penalty."""
    if np.isinf(settings.C):
        raise InvalidInputError("C=np.inf, the hard margin, is for penalty='l2': use a finite C.", "C")
    design, targets, start = sample.design, sample.targets, None
    if model.warm_start and "coef_" in model.__dict__ and np.array_equal(model._labels, targets.classes):
        weights = fitted_weights(model)
        start = weights if weights[0].shape == (targets.tasks, design.d) else None
    chosen = Settings(settings.C, 1.0, settings.tol, settings.max_iter, settings.loss)
    kept = np.arange(design.n) if isinstance(sample.kept, slice) else sample.kept
    return sparse_machines(design, targets, sample.weight, kept, chosen, start)
