"""``separatrix fit``: one classifier, fitted, certified and saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.common import (
    METRICS,
    UNCERTIFIED,
    Data,
    Debug,
    Drop,
    Format,
    Json,
    Target,
    bad_option,
    check_folder,
    check_metric,
    clean,
    guarded,
    out,
    print_json,
)
from separatrix.cli.models import MODELS, find_model, read_options
from separatrix.cli.streaming import Memory, encoded_rows, going_through, streams

if TYPE_CHECKING:
    from separatrix._typing import Array
    from separatrix.compare.held_out import Recipe

CALIBRATIONS = ("sigmoid", "isotonic", "none")
CODINGS = ("all", "reference")
MODEL_FILE = Path("model.separatrix")  # as compare calls it


@guarded
def fit(
    context: typer.Context,
    data: Data = None,
    target: Target = None,
    model: Annotated[str, typer.Option("--model", "-m", help=f"One of {', '.join(MODELS)}.")] = "logistic",
    file: Annotated[Path, typer.Option("--out", "-o", help="The model file, named as given.")] = MODEL_FILE,
    scale: Annotated[
        bool, typer.Option("--scale", help="Divide columns of numbers by their standard deviations, as compare does.")
    ] = False,
    coding: Annotated[
        str | None,
        typer.Option(
            "--coding",
            help="Categories by all their levels, or against a reference level, as maximum likelihood has them: all, "
            "reference.",
            show_default=False,
        ),
    ] = None,
    calibrate: Annotated[
        str, typer.Option("--calibrate", help="Probabilities from held-out scores: sigmoid, isotonic or none.")
    ] = "none",
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold", help="Of two classes: P from which on it says the second; or tuned.", show_default=False
        ),
    ] = None,
    offsets: Annotated[
        str | None,
        typer.Option("--offsets", help="Of more classes: added to log P, as 0.1,0,-0.2; or tuned.", show_default=False),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", help="What a cut is tuned for.")] = METRICS[0],
    sample: Annotated[
        int | None, typer.Option("--sample", min=2, help="Learn from so many rows at random.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the sample and the folds.")] = 0,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds for --calibrate and a tuned cut.")] = 5,
    drop: Drop = None,
    memory: Memory = None,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> int:
    """Fit one classifier to a table. Its parameters are options too, as in: --model logistic --C 0.5."""
    import numpy as np

    import separatrix
    from separatrix.compare.quiet import quietly
    from separatrix.compare.result import plain
    from separatrix.compare.tuning import sample_rows
    from separatrix.compare.wording import certificate_words, seconds, status_words
    from separatrix.errors import InvalidInputError, SeparatrixError
    from separatrix.persistence import Sample, save
    from separatrix.scoring.scorer import Scorer

    params = read_options(model, context.args)
    kind = getattr(separatrix, find_model(model).estimator)
    metric = check_metric(metric)
    if calibrate not in CALIBRATIONS:
        raise bad_option(f"--calibrate takes {', '.join(CALIBRATIONS)}; got {calibrate!r}.")
    if coding not in (None, *CODINGS):
        raise bad_option(f"--coding takes {' or '.join(CODINGS)}; got {coding!r}.")
    # without a penalty, weights of all levels of a category are not determined
    unpenalised = params.get("C") == np.inf or params.get("bias_reduction") is not None
    reference = coding == "reference" or (coding is None and unpenalised)
    check_folder(file)
    if streams(data, memory):
        _check_streamed(reference, calibrate, "tuned" in (threshold, offsets))
    X, y, encoder, notes, fingerprint = encoded_rows(data, target, format, memory, drop, scale, reference)
    names, whole = encoder.names, (X, y)
    if sample is not None:
        rows = sample_rows(y, sample, seed)
        X, y = X[rows], y[rows]
    classes = np.unique(y)
    cut = _cut(threshold, offsets, len(classes))
    estimator = kind(**params)
    if cut is not None and calibrate == "none" and not hasattr(estimator, "predict_proba"):
        raise bad_option(f"{kind.__name__} has no probabilities to cut: give --calibrate sigmoid or isotonic too.")
    started = time.monotonic()
    try:
        with encoder.naming(), quietly() as warnings, going_through(X, "fitting"):
            estimator.fit(X, y)
            recipe = _recipe(lambda: kind(**params), *whole, classes, calibrate, cut, metric, folds, seed, sample)
    except ValueError as error:
        # the classifier names the parameter that it cannot use; scikit-learn, in a plain ValueError, may not
        untyped = not isinstance(error, SeparatrixError) and bool(params)
        if untyped or (isinstance(error, InvalidInputError) and error.parameter in params):
            raise bad_option(str(error)) from None
        raise
    elapsed = time.monotonic() - started
    warnings = [encoder.named(warning) for warning in warnings]
    calibration, decision = recipe.calibration, recipe.decision if cut is not None else None
    save(
        estimator,
        file,
        encoder=encoder,
        fingerprint=fingerprint,
        calibration=calibration,
        decision=decision,
        sample=None if sample is None else Sample(sample, seed),
    )
    certificate, status = estimator.certificate_, estimator.status_
    certified = certificate is not None and status.certified and not status.no_optimum
    accuracy = float(np.mean(Scorer(estimator, encoder, calibration, decision).predict_encoded(X) == y))
    if json_:
        print_json(
            {
                "command": "fit",
                "model": model,
                "parameters": {name: plain(value) for name, value in params.items()},
                "file": str(file),
                "rows": int(X.shape[0]),
                "features": len(names),
                "classes": [str(label) for label in estimator.classes_],
                "training_accuracy": accuracy,
                "seconds": elapsed,
                "status": status_words(certificate, status),
                "certified": certified,
                "certificate": certificate_words(certificate, status),
                "claim": None if certificate is None else certificate.claim,
                "calibration": None if calibration is None else calibration.to_dict(),
                "decision": None if decision is None else decision.to_dict(),
                "warnings": warnings,
                "notes": notes,
                "left_out": encoder.left_out,
                "fingerprint": fingerprint,
            }
        )
    else:
        console = out()
        shape = f"{X.shape[0]:,} rows, {len(names):,} features"
        console.print(f"{type(estimator).__name__} on {shape}: {seconds(elapsed)}, training accuracy {accuracy:.3f}")
        console.print(status_words(certificate, status))
        if certificate is not None:
            console.print(clean(certificate.claim))
        if calibration is not None:
            console.print(f"Probabilities calibrated ({calibration.kind}); the claim is about the model before that.")
        if decision is not None:
            console.print(f"Cut: {_cut_words(decision)}.")
        for warning in warnings:
            console.print(f"Warning: {clean(warning)}")
        if getattr(estimator, "standard_errors_", None) is not None:
            estimator.feature_names_in_ = names
            console.print(clean(estimator.summary()), soft_wrap=True)
        console.print(f"Wrote {file}.", soft_wrap=True)
    return 0 if certified else UNCERTIFIED


def _check_streamed(reference: bool, calibrate: str, tuned: bool) -> None:
    """Refuse what needs rows in memory: folds, and a look at all columns together."""
    wrong = {
        "Coefficients without a penalty need --coding reference, which": reference,
        "--calibrate": calibrate != "none",
        "A tuned cut": tuned,
    }
    for what, given in wrong.items():
        if given:
            raise bad_option(f"{what} takes rows in memory: leave it out, or fit to one file without --memory.")


def _cut(threshold: str | None, offsets: str | None, k: int) -> Any:
    """A `Decision` as given, "tuned", or None."""
    from separatrix.errors import DataError
    from separatrix.scoring.decision import Decision

    name, given = ("--threshold", threshold) if offsets is None else ("--offsets", offsets)
    if given is None:
        return None
    if threshold is not None and offsets is not None:
        raise bad_option("--threshold is for two classes and --offsets for more: give one.")
    if given == "tuned":
        return given
    if (name == "--threshold") != (k == 2):
        raise bad_option(f"{name} is for {'two classes' if name == '--threshold' else 'more than two'}; there are {k}.")
    try:
        numbers = [float(word) for word in given.split(",")]
        if name == "--offsets" and len(numbers) != k:
            raise bad_option(f"--offsets needs {k} numbers, one for each class; got {len(numbers)}.")
        plain = {"threshold": None, "offsets": numbers} if k > 2 else {"threshold": float(given), "offsets": None}
        return Decision.from_dict(plain)
    except (ValueError, DataError):
        raise bad_option(f"{name} needs a probability, numbers or the word tuned; got {given!r}.") from None


def _recipe(
    build: Any,
    X: Any,
    y: Array,
    classes: Array,
    calibrate: str,
    cut: Any,
    metric: str,
    folds: int,
    seed: int,
    sample: int | None,
) -> Recipe:
    """Calibration and cut, where they are to be learned: from scores of all rows, held out, as compare learns them."""
    import numpy as np

    from separatrix.compare.folds import check_classes, stratified
    from separatrix.compare.held_out import Recipe, out_of_fold
    from separatrix.scoring.calibration import fit_calibration
    from separatrix.scoring.decision import Decision, tune

    decision = cut if isinstance(cut, Decision) else Decision()
    if calibrate == "none" and cut != "tuned":
        return Recipe(None, decision)
    codes = np.searchsorted(classes, y)
    check_classes(classes, np.bincount(codes))
    said = out_of_fold(build, X, codes, stratified(codes, folds, seed), len(classes), sample, seed)
    calibration = None if calibrate == "none" else fit_calibration(said.scores, codes, len(classes), calibrate)
    recipe = Recipe(calibration, decision)
    if cut != "tuned":
        return recipe
    level = calibration is None and getattr(build(), "class_weight", None) == "balanced"
    return Recipe(calibration, tune(recipe.probabilities(said), codes, metric, level))


def _cut_words(decision: Any) -> str:
    if decision.threshold is not None:
        return f"the second class from a probability of {decision.threshold:.4g} on"
    if decision.offsets is None:
        return "the most probable class"
    return "the largest log P plus " + ", ".join(f"{offset:.3g}" for offset in decision.offsets)
