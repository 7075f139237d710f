"""save and load: a classifier as a file and back."""

from __future__ import annotations

import inspect
import io
import os
import platform
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

import separatrix
from separatrix.data.encoder import Encoder
from separatrix.errors import DataError, ModelFileError
from separatrix.estimators.absent import bare, seat
from separatrix.estimators.base import Classifier
from separatrix.persistence.agreement import differences
from separatrix.persistence.atomic import write_atomically
from separatrix.persistence.bundle import Bundle, Sample
from separatrix.persistence.container import pack, unpack
from separatrix.persistence.fields import FIELDS, LEFT_OUT, check_fields
from separatrix.persistence.scorers import describe, rebuild
from separatrix.persistence.values import Reader, Writer
from separatrix.scoring.calibration import Calibration
from separatrix.scoring.decision import Decision
from separatrix.scoring.scorer import Scorer, fault

SCHEMA = 2
VERSIONS = {
    "separatrix": separatrix.__version__,
    "numpy": np.__version__,
    "scikit-learn": sklearn.__version__,
    "python": platform.python_version(),
}
_PARTS = {"schema", "class", "parameters", "fitted", "scorer", "published", "encoder", "calibration", "decision"}
_PARTS |= {"fingerprint", "sample", "versions"}
# what reading something malformed may raise before anyone can say what is wrong with it
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    encoder: Encoder | None = None,
    fingerprint: str | None = None,
    calibration: Calibration | None = None,
    decision: Decision | None = None,
    sample: Sample | None = None,
) -> None:
    """Write a fitted classifier to a file, in one step: whatever happens, the old file or the new one is there.

    Everything is kept but ``trace_``: parameters, fitted attributes, the certificate, and what `partial_fit` needs to
    go on. The file holds numbers and text, nothing that could be executed.

    Parameters
    ----------
    model : classifier of this package, or Scorer
        Fitted. With a function as a parameter (a kernel, a scoring), or a family of one's own, it cannot be saved. A
        `Scorer` is saved with all that it consists of.
    path : path
        Used as given; an existing file is replaced.
    encoder : Encoder, default=None
        Travels with the model: `load` then returns a `Scorer`, which takes raw rows.
    fingerprint : str, default=None
        Of the data, as `separatrix.data.Table.fingerprint` has it.
    calibration : Calibration, default=None
        What makes probabilities of the model's scores; goes with an encoder.
    decision : Decision, default=None
        Which class the probabilities decide on; goes with an encoder.
    sample : Sample, default=None
        Which rows of the table the model was fitted to, if not to all: what its certificate is about.

    Raises
    ------
    ModelFileError
        Part of the model is not plain data, or its weights are not those that its certificate is about; the message
        says which. A model whose weights were changed by hand is saved with ``certificate_ = None``.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from separatrix import NearestCentroid, load, save
    >>> model = NearestCentroid().fit([[0.0], [1.0], [3.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.separatrix"))
    ...     load(os.path.join(folder, "model.separatrix")).predict([[2.5]]).tolist()
    ['high']
    """
    write_atomically(path, dump(model, encoder, fingerprint, calibration, decision, sample))


def dump(
    model: Any,
    encoder: Encoder | None = None,
    fingerprint: str | None = None,
    calibration: Calibration | None = None,
    decision: Decision | None = None,
    sample: Sample | None = None,
) -> bytes:
    """The file that `save` writes, as bytes."""
    if isinstance(model, Scorer):
        encoder, calibration, decision = model.encoder, model.calibration, model.decision
        model = model.model
    if _allowed(type(model).__name__) is not type(model):
        raise ModelFileError(
            f"{type(model).__name__} is not a classifier of separatrix: save one of these, such as the last step of a "
            "pipeline."
        )
    check_is_fitted(model)
    model = bare(model)
    parameters = model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name not in parameters and name not in LEFT_OUT}
    for name in fitted:
        if name not in FIELDS:
            raise ModelFileError(f"The model has an attribute {name!r} that model files do not know: delete it first.")
    writer = Writer()
    document = {
        "schema": SCHEMA,
        "class": type(model).__name__,
        "parameters": {name: _parameter(writer, name, value) for name, value in parameters.items()},
        "fitted": {name: writer.write(value, name) for name, value in fitted.items()},
        "scorer": writer.write(describe(model), "scorer"),
        "published": [name for name in vars(model).get("_published", ()) if name != "trace_"],
        "encoder": None if encoder is None else writer.write(encoder.to_dict(), "encoder"),
        "calibration": None if calibration is None else writer.write(calibration.to_dict(), "calibration"),
        "decision": None if decision is None else writer.write(decision.to_dict(), "decision"),
        "fingerprint": fingerprint,
        "sample": None if sample is None else list(sample),
        "versions": VERSIONS,
    }
    blob = pack(document, writer.tensors)
    try:
        _read(*unpack(io.BytesIO(blob), len(blob)))  # what cannot be loaded is not saved
    except ModelFileError as error:
        raise ModelFileError(f"The model cannot be saved: {error}") from error
    return blob


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote: a `Scorer`, which takes raw rows, if there is an encoder; else the classifier.

    Nothing in the file is executed; every field, shape and number is checked, and so is a checksum of all bytes.

    Parameters
    ----------
    path : path

    Returns
    -------
    Scorer or classifier

    Raises
    ------
    ModelFileError
        The file is not there, is no model file, or is damaged.
    """
    bundle = load_bundle(path)
    if bundle.encoder is None:
        return bundle.model
    return Scorer(bundle.model, bundle.encoder, bundle.calibration, bundle.decision)


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Read a classifier and, apart from it, all that was saved with it, and the versions it was written by.

    Parameters
    ----------
    path : path

    Returns
    -------
    Bundle

    Raises
    ------
    ModelFileError
        The file is not there, is no model file, or is damaged.
    """
    name = Path(path).name
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ModelFileError("it is not an ordinary file")
        with open(path, "rb") as file:
            return _read(*unpack(file, os.fstat(file.fileno()).st_size))
    except OSError as error:
        raise ModelFileError(f"{name} cannot be read: {error.strerror or error}.") from error
    except ModelFileError as error:
        raise ModelFileError(f"{name} cannot be loaded: {error}.") from error
    except _MALFORMED as error:
        raise ModelFileError(f"{name} cannot be loaded: it is malformed ({error}).") from error


def _read(document: dict[str, Any], tensors: dict[str, Any]) -> Bundle:
    schema = document.get("schema")
    if schema != SCHEMA:
        raise ModelFileError(f"it has the schema {schema!r:.20}, and this version of separatrix reads {SCHEMA}")
    if set(document) | {"sample"} != _PARTS:  # which older files do not have
        raise ModelFileError(f"it should consist of {', '.join(sorted(_PARTS))}")
    kind = _allowed(document["class"])
    if kind is None:
        raise ModelFileError(f"{document['class']!r:.80} is not a classifier of separatrix")
    reader = Reader(tensors)
    parameters = _parameters(kind, reader.read(document["parameters"]))
    fitted = reader.read(document["fitted"])
    if not isinstance(fitted, dict):
        raise ModelFileError("its attributes are malformed")
    sizes = check_fields(fitted)
    scorer = reader.read(document["scorer"])
    private = rebuild(scorer, fitted, sizes, parameters.get("shared_variance", True))
    encoder = _part(Encoder, reader.read(document["encoder"]))
    calibration = _part(Calibration, reader.read(document["calibration"]))
    decision = _part(Decision, reader.read(document["decision"]))
    if reader.left:
        raise ModelFileError(f"nothing refers to its tensors {sorted(reader.left)!r:.200}")
    model = kind(**parameters)
    model.__dict__.update(fitted, **private)
    model.__dict__["_published"] = _published(document["published"], model.__dict__)
    if wrong := differences(model):
        raise ModelFileError(f"{', and '.join(wrong)}: one of them was changed after the fit")
    if encoder is None and (calibration is not None or decision is not None):
        raise ModelFileError("it has a calibration or a decision but no encoder, so that no `Scorer` could use them")
    if unusable := fault(model, calibration, decision):
        raise ModelFileError(unusable)
    if encoder is not None and len(encoder.names) != getattr(model, "n_features_in_", len(encoder.names)):
        raise ModelFileError(f"its encoder gives {len(encoder.names)} features, which its model does not take")
    seat(model, _given(fitted))
    fingerprint, written_by = _fingerprint(document["fingerprint"]), _versions(document["versions"])
    return Bundle(model, encoder, fingerprint, written_by, calibration, decision, _sample(document.get("sample")))


def _given(fitted: Mapping[str, Any]) -> Any:
    """All labels, if some of them had no weight in the fit."""
    given = fitted.get("_given")
    if given is not None and not set(fitted["classes_"].tolist()) < set(given.tolist()):
        raise ModelFileError("its classes_ are not among the labels that it was given")
    return given


def _allowed(name: Any) -> type[Classifier] | None:
    """The public classifier of this name, if there is one."""
    if not isinstance(name, str) or name not in separatrix.__all__:
        return None
    kind = getattr(separatrix, name)
    return kind if inspect.isclass(kind) and issubclass(kind, Classifier) else None


def _parameter(writer: Writer, name: str, value: Any) -> Any:
    try:
        return writer.write(value, f"parameters.{name}")
    except ModelFileError as error:
        remedy = f"If predictions do not depend on it, use set_params({name}=...) before saving."
        raise ModelFileError(f"{error} {remedy}") from error


def _parameters(kind: type[Classifier], given: Any) -> dict[str, Any]:
    """The parameters of a class, all of them; a number where the default is one (or several, for a whole one)."""
    signature = inspect.signature(kind).parameters
    if not isinstance(given, dict) or set(given) != set(signature):
        raise ModelFileError(f"{kind.__name__} has the parameters {', '.join(signature) or 'none'}")
    for name, value in given.items():
        default = signature[name].default
        several = type(default) is int and isinstance(value, (list, tuple, np.ndarray))
        single = isinstance(value, (bool, int, float, type(None)))
        if isinstance(default, (bool, int, float)) and not (single or several):
            raise ModelFileError(f"its parameter {name} should be a number")
        if isinstance(value, float) and np.isnan(value):
            raise ModelFileError(f"its parameter {name} is not a number")
    threshold = given.get("threshold", 0.5)  # which predictions depend on
    if not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ModelFileError("its parameter threshold is not a probability")
    return given


def _published(names: Any, present: Mapping[str, Any]) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) and name in present for name in names):
        raise ModelFileError("its list of attributes is malformed")
    return tuple(names)


def _part(kind: Any, plain: Any) -> Any:
    try:
        return None if plain is None else kind.from_dict(plain)
    except DataError as error:
        raise ModelFileError(str(error)) from error


def _sample(plain: Any) -> Sample | None:
    if plain is None:
        return None
    if not (isinstance(plain, list) and [type(part) for part in plain] == [int, int] and min(plain) >= 0):
        raise ModelFileError("its sample is not a number of rows and a seed")
    return Sample(*plain)


def _fingerprint(text: Any) -> str | None:
    if text is not None and not (isinstance(text, str) and re.fullmatch(r"[0-9a-f]{64}", text)):
        raise ModelFileError("its fingerprint is not a SHA-256 in hexadecimal digits")
    return text


def _versions(found: Any) -> dict[str, str]:
    named = isinstance(found, dict) and set(found) == set(VERSIONS)
    if not (named and all(isinstance(text, str) and len(text) < 100 for text in found.values())):
        raise ModelFileError("its versions are malformed")
    return dict(found)
