"""From what the page asks to what it shows: the library fits, and its trace and certificate are sent as they are.

Floats go through JSON as their shortest decimal form, which a browser reads back to the same bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import separatrix
from separatrix.certificates import Certificate
from separatrix.errors import InvalidInputError, NotSeparableError, SeparatrixError
from separatrix.lab.algorithms import ALGORITHMS, DRAFT_POINTS, Algorithm, lifted
from separatrix.lab.facts import facts, verdict
from separatrix.lab.recipe import recipe
from separatrix.lab.request import POINTS, Sample, read_sample, read_settings
from separatrix.lab.words import last_word, sentences
from separatrix.outcome import Trace

__all__ = ["answer"]

FRAMES = 1500  # steps that are sent; of a longer walk, as many evenly taken


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The fit that the page asks for, or ``{"refusal": sentence}``; nothing raised is about what was asked."""
    try:
        name = request.get("algorithm")
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise InvalidInputError(f"There is no algorithm {name!r:.40}; there are: {', '.join(ALGORITHMS)}.")
        algorithm, draft = ALGORITHMS[name], bool(request.get("draft"))
        settings = read_settings(request, algorithm.settings)
        sample = read_sample(request, DRAFT_POINTS if draft and algorithm.few(settings) else POINTS)
        return fitted(name, algorithm, sample, settings, draft)
    except (SeparatrixError, ValueError, TypeError, ArithmeticError) as error:
        return {"refusal": str(error)}


def fitted(name: str, algorithm: Algorithm, sample: Sample, settings: Mapping[str, Any], draft: bool) -> dict[str, Any]:
    """Fit, trace, certificate and words."""
    parameters = algorithm.parameters(settings, sample, draft)
    X = lifted(sample.X, settings["map"]) if name == "lift" else sample.X
    model = getattr(separatrix, algorithm.estimator)(**parameters)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model.fit(X, sample.y)
            certificate = model.certificate_
            status, certified = str(model.status_), model.status_.certified and certificate is not None
        except NotSeparableError as refusal:
            model, certificate, status, certified = None, refusal.certificate, str(refusal), True
        known = facts(name, sample.X, sample.y, model)
    if model is None:
        exact = known if X is sample.X else verdict(X, sample.y)
        if exact["proof"] is not None:
            certificate = Certificate.from_dict(exact["proof"])  # the same claim, exactly
    told = [str(warning.message) for warning in heard if not draft]
    frames, kept = frames_of(model, name)
    proof = proved(certificate, X, sample.y)
    return {
        "algorithm": name,
        "settings": {**settings, **{key: plain(value) for key, value in parameters.items() if key in settings}},
        "rows": sample.rows.tolist() if sample.note else None,
        "notes": [sample.note] * bool(sample.note) + told + kept,
        "draft": draft,
        "frames": frames,
        "sentences": sentences(name, frames, sample, settings),
        "last": last_word(name, model, certificate),
        "model": model_of(model, name, sample),
        "facts": known,
        "status": status,
        "certified": bool(certified and proof["verified"]),
        **proof,
        "python": "" if draft else recipe(name, model and algorithm.estimator, parameters, settings, sample),
    }


def proved(certificate: Any, X: Any, y: Any) -> dict[str, Any]:
    """The certificate, its claim, and whether the library's own checker agrees, check by check."""
    if certificate is None:
        return {"certificate": None, "claim": "", "verified": False, "checks": [], "trusted": []}
    verification = certificate.verify(X, y)
    return {
        "certificate": certificate.to_dict(),
        "claim": certificate.claim,
        "verified": bool(verification),
        "checks": str(verification).splitlines(),
        "trusted": list(getattr(certificate, "trusted", ())),
    }


def frames_of(model: Any, name: str) -> tuple[dict[str, list[Any]], list[str]]:
    """The trace by columns, and a sentence if only some of its steps are sent; {} without a trace.

    Of a kernel machine the points alone say how alpha grew: its weights, one for each point and step, are left out.
    """
    trace: Trace | None = getattr(model, "trace_", None)
    if trace is None:
        return {}, []
    columns = {key: trace[key] for key in trace if not (name == "kernel_perceptron" and key == "weights")}
    steps, notes = np.arange(trace.n_steps), []
    if trace.n_steps > FRAMES:
        steps = np.unique(np.linspace(0, trace.n_steps - 1, FRAMES).astype(int))
        notes = [f"Of {trace.n_steps:,} steps the time line has {len(steps):,}, evenly taken."]
    if name == "pocket":
        columns["best"] = best_so_far(columns["errors"])
    sent = {key: plain(column[steps]) for key, column in columns.items()}
    if name == "pocket":
        sent["pocket"] = plain(columns["weights"][columns["best"][steps]])
    if name in ("perceptron", "kernel_perceptron"):
        sent["walked"] = plain(columns["point"])  # every update, also those between the frames: alpha counts them
    return sent, notes


def best_so_far(errors: Any) -> Any:
    """For each step the one at which the weights in the pocket were put there."""
    found, best = np.zeros(len(errors), dtype=int), 0
    for step in range(1, len(errors)):
        best = step if errors[step] < errors[step - 1] else best
        found[step] = best
    return found


def model_of(model: Any, name: str, sample: Sample) -> dict[str, Any] | None:
    """The weights, and what else the view of this algorithm draws."""
    if model is None:
        return None
    names = {
        "perceptron": ("n_updates_", "false_positives_", "false_negatives_", "dual_coef_"),
        "pocket": ("errors_", "n_updates_"),
        "kernel_perceptron": ("support_", "dual_coef_", "n_updates_"),
        "svc": ("support_", "dual_coef_", "slack_", "margin_"),
        "hard_margin": ("support_", "dual_coef_", "margin_"),
        "centroid": ("centroids_",),
        "naive_bayes": ("parameters_", "variances_", "class_prior_"),
    }.get(name, ())
    found = {key.rstrip("_"): plain(getattr(model, key)) for key in names if hasattr(model, key)}
    for key in ("coef_", "intercept_", "n_iter_"):
        value = getattr(model, key, None)
        if value is not None:
            found[key.rstrip("_")] = plain(np.atleast_1d(value))
    return {"classes": model.classes_.tolist(), **found}


def plain(value: Any) -> Any:
    """Numbers and lists as JSON has them: None for NaN, and for an infinity."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.isfinite(value).all()):
            return value.tolist()
        return [plain(entry) for entry in value] if value.ndim > 1 else [plain(entry) for entry in value.tolist()]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
