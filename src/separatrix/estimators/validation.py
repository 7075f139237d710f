"""Input checked once, on its way in: rows, labels and weights become a design, targets and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._held import malformed, unheld, workable
from separatrix.design import Design, as_design
from separatrix.design.partitions import Partitions
from separatrix.design.partitions_dask import is_collection
from separatrix.design.sample import Sample as Sample
from separatrix.errors import InvalidInputError
from separatrix.estimators.stored import check_learner, check_stored, require_memory, with_weight
from separatrix.estimators.stored import require_labels as require_labels
from separatrix.files import RowsElsewhere
from separatrix.targets import Targets

LARGEST = 1e150  # beyond this the square of an entry may overflow


def check_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    intercept: bool,
    reset: bool = True,
    classes: Array | None = None,
    sweep: bool = True,
) -> Sample:
    """Validate what `fit` was given; ``classes`` are the labels to expect if y need not have them all.

    ``sweep=False`` leaves out the search for NaN, infinity and huge entries, and that for duplicates in a sparse X: for
    a learner that sees each row's score anyway, and calls `check_entries` when one is not finite. Weights that are not
    given are then one 1 seen n times, which takes no time to make.
    """
    require_labels(estimator, y)
    X = check_rows(estimator, X, reset=reset)
    names = getattr(estimator, "feature_names_in_", None)
    design = as_design(X, intercept, names, duplicates=not sweep)
    if sweep or sample_weight is not None:  # rows of weight 0 are not looked at again
        check_entries(design, estimator)
    targets, weight, kept = check_labels(estimator, X, y, sample_weight, design.n, classes, spread=not sweep)
    require_memory(estimator, X, targets.tasks)
    n_given = design.n
    if not isinstance(kept, slice):
        design = as_design(with_weight(X, kept), intercept, names, duplicates=not sweep)
    return Sample(design, targets, weight, kept, n_given)


def check_labels(
    estimator: Any, X: Any, y: Any, sample_weight: Any, n: int, classes: Array | None = None, *, spread: bool = False
) -> tuple[Targets, Floats, Integers | slice]:
    """Targets and weights of the rows that have a weight, the class weights in it; and which rows these are."""
    y, few = _labels(estimator, y)
    check_consistent_length(X, y)
    weight = np.broadcast_to(1.0, n) if spread and sample_weight is None else _weights(sample_weight, n)
    kept: Integers | slice = slice(None)
    given = None
    if sample_weight is not None and not weight.all():  # weight 0 equals leaving the row out
        kept = np.flatnonzero(weight)
        given = _found(y, few) if y.ndim == 1 and classes is None else None
        y, weight, few = y[kept], weight[kept], None if few is None else _few_labels(y[kept])
    targets = _targets(estimator, y, few, classes)
    if given is not None and len(given) > targets.n_classes:
        targets = replace(targets, given=given)
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is not None:
        factors = _class_weights(class_weight, targets, weight)
        targets, weight = replace(targets, class_weight=factors), weight * factors[targets.values]
    return targets, weight, kept


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a 2D array or CSR matrix of numbers; what it says of its columns is kept, or compared with what was kept."""
    if isinstance(X, RowsElsewhere):
        return check_stored(estimator, X, reset=reset)
    if is_collection(X):
        check_learner(estimator, Partitions)
        raise InvalidInputError(f"{type(estimator).__name__} takes Dask collections by fit; this needs rows in memory.")
    if (flaw := malformed(X)) is not None:
        raise InvalidInputError(f"Input X {flaw}. Build it anew from rows, columns and values.")
    X = workable(X)
    if _plain(X):
        # nothing to convert, and columns without names: asking scikit-learn takes longer than some fits
        known = estimator.__dict__
        if reset:
            known["n_features_in_"] = X.shape[1]
            known.pop("feature_names_in_", None)
        if known.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in known:
            return _held(estimator, X, X)
    if hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        raise _elsewhere("Input X", X)
    if np.ma.is_masked(X):
        row, column = (int(place[0]) for place in np.nonzero(np.ma.getmaskarray(X)))
        raise InvalidInputError(
            f"Input X is masked in row {row}, column {column}: fill what is missing, or leave it out."
        )
    rows = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    if rows.dtype.kind in "mM":
        raise InvalidInputError(
            f"Input X holds dates or durations ({rows.dtype}): pass numbers, such as days since one."
        )
    if rows.dtype.kind == "O":  # whole numbers beyond 64 bits, fractions and the like, in a list
        rows = rows.astype(np.float64)
    return _held(estimator, X, rows)


def _plain(X: Any) -> bool:
    """Whether X is NumPy's array of numbers or SciPy's CSR matrix of floats, not empty, and needs no conversion."""
    if type(X) is np.ndarray:
        kinds = "fiub"
    elif type(X) in (sparse.csr_matrix, sparse.csr_array):
        kinds = "f"
    else:
        return False
    return X.ndim == 2 and X.dtype.kind in kinds and all(X.shape)


def _elsewhere(name: str, values: Any) -> InvalidInputError:
    """That these are in an array of another library, perhaps in another memory."""
    kind = f"{type(values).__module__}.{type(values).__name__}"
    return InvalidInputError(f"{name} is a {kind}, but here NumPy computes: pass numpy.asarray of it, on the CPU.")


def _numpy(name: str, values: Any) -> Any:
    """Labels or weights, in NumPy's memory if they are in an array of another library."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__array_namespace__"):
        return values
    try:
        copied = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # whatever the library says of memory that is elsewhere
        raise _elsewhere(name, values) from error
    if copied.dtype.kind == "O":  # NumPy could make nothing of it
        raise _elsewhere(name, values)
    return copied


def _held(estimator: Any, X: Any, rows: Any) -> Any:
    """The rows, if float64 holds what X has: every claim of a certificate is about X itself."""
    if X is rows and X.dtype in (np.float64, np.float32):
        return rows
    place = unheld(X, rows)
    if place is None:
        return rows
    row, column = place
    names = getattr(estimator, "feature_names_in_", None)
    column_name = f"column {column}" if names is None else f"column {column} ({names[column]!r})"
    raise InvalidInputError(
        f"Input X holds a number that float64 would round: row {row}, {column_name}. If it is an identifier, leave the "
        "column out; if it counts from far off, as a time in nanoseconds, subtract the column's smallest entry before; "
        "if rounding does no harm, pass X converted by astype(numpy.float64)."
    )


def check_points(estimator: Any, X: Any, largest: float = LARGEST) -> Any:
    """Validate what `predict` and its like were given."""
    X = check_rows(estimator, X, reset=False)
    check_entries(as_design(X, names=getattr(estimator, "feature_names_in_", None)), estimator, largest)
    return X


def within_range(X: Any) -> bool:
    """Whether the sum of all squares shows that no entry is NaN, infinite, or so large that its square overflows.

    One product, which for a row takes a tenth of the time of a design; False only says that `check_entries` must look.
    """
    plain = type(X) is np.ndarray and X.dtype.kind == "f" and X.flags.c_contiguous
    return plain and float(np.vdot(X, X)) <= LARGEST**2


def check_entries(design: Design, estimator: Any, largest: float = LARGEST) -> None:
    """Refuse NaN, infinity, and numbers whose squares overflow, and say where they are."""
    found = design.out_of_range(largest)
    if found is None:
        return
    row, column, value = found
    place = design.place(row, column)
    if np.isnan(value):
        raise InvalidInputError(
            f"Input X contains NaN: {place}. {type(estimator).__name__} does not take missing values: drop such "
            "rows, or fill them in first, for instance with sklearn.impute.SimpleImputer."
        )
    if np.isinf(value):
        raise InvalidInputError(f"Input X contains infinity: {place}. Drop the row or replace the value (inf).")
    raise InvalidInputError(
        f"Input X contains {value:.3g}: {place}. The square of such a number overflows float64: "
        f"divide the column by {10.0 ** np.floor(np.log10(abs(value))):.0e} or so."
    )


def _labels(estimator: Any, y: Any) -> tuple[Array, Array | None]:
    """Labels (n,), or a 0/1 matrix (n, k) for an estimator that takes one; and which there are, if few."""
    y = y.toarray() if sparse.issparse(y) else _numpy("y", y)
    shape = getattr(y, "shape", None) or np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1 and estimator._takes_matrix:
        matrix = check_array(y, input_name="y")
        if not np.isin(matrix, (0, 1)).all():
            raise InvalidInputError("A matrix y must hold 0 and 1 only: one column a label, 1 where the row has it.")
        return np.asarray(matrix, dtype=np.intp), None
    if isinstance(y, (list, tuple)) and len({isinstance(label, str) for label in y}) == 2:
        y = np.array(y, dtype=object)  # NumPy would turn numbers, None and NaN into text
    if len(shape) == 2 and shape[1] > 1 and np.isin(np.asarray(y), (0, 1)).all():
        raise InvalidInputError(
            f"y should be a 1d array, got an array of shape {shape} instead: {type(estimator).__name__} takes one "
            "label a row. LogisticRegression takes a matrix, and so does sklearn.multioutput.MultiOutputClassifier."
        )
    if type(y) is not np.ndarray or y.ndim != 1:
        y = np.asarray(column_or_1d(y, warn=True))
    if y.dtype.kind in "fO":
        missing = np.flatnonzero(~np.isfinite(y)) if y.dtype.kind == "f" else _missing(y)
        if len(missing):
            raise InvalidInputError(
                f"Input y contains NaN or infinity in row {missing[0]}: drop the rows without a label."
            )
        if y.dtype.kind == "O" and len({isinstance(label, str) for label in y}) == 2:
            raise _mixed(y)
    few = _few_labels(y)
    if few is None or few.dtype.kind == "f":  # any few whole numbers or words are labels
        # three of each: the check warns of labels that are mostly different
        check_classification_targets(y if few is None else np.repeat(few, 3))
    return y, few


def _missing(y: Array) -> Integers:
    """The rows whose label is None, NaN or the like, which does not equal itself."""
    return np.flatnonzero([label is None or type(label).__name__ == "NAType" or label != label for label in y])


def _mixed(y: Array) -> InvalidInputError:
    kinds = sorted({type(label).__name__ for label in y})
    return InvalidInputError(
        f"The labels in y are of several types ({', '.join(kinds)}), which have no order: make them all one type."
    )


def _few_labels(y: Array) -> Array | None:
    """The labels in sorted order if there are few numbers or words among many rows, found without sorting y."""
    if y.dtype.kind not in "biufU":
        return None
    labels = np.unique(y[:1000])
    if not 0 < len(labels) <= min(20, len(y) // 3):
        return None
    known = np.zeros(len(y), dtype=bool)  # a byte a row: what is as large as y takes longer to get than to fill
    for label in labels:
        known |= y == label
    return labels if known.all() else None


def _found(y: Array, few: Array | None) -> Array:
    """The labels of y in sorted order."""
    try:
        return np.unique(y) if few is None else few
    except TypeError as error:
        raise _mixed(y) from error


def _targets(estimator: Any, y: Array, few: Array | None, classes: Array | None) -> Targets:
    if y.ndim == 2:
        return Targets(np.arange(y.shape[1]), y)
    found = _found(y, few)
    if classes is not None:
        unknown = np.setdiff1d(found, classes)
        if len(unknown):
            raise InvalidInputError(f"y has labels {unknown.tolist()}, which are not in classes={classes.tolist()}.")
        return Targets(classes, np.searchsorted(classes, y))
    if len(found) < 2:
        raise InvalidInputError(
            f"{type(estimator).__name__} needs rows of at least 2 classes with a weight above 0, but y contains only "
            f"one class: {found.tolist()[0]!r}. Check that y is the label column, and that the weights are as meant."
        )
    if len(found) == 2:
        return Targets(found, (y == found[1]).view(np.int8))  # a byte a row, as above
    return Targets(found, np.searchsorted(found, y))  # much faster than the inverse that np.unique offers


def _weights(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.ones(n)
    weight = np.array(_numpy("sample_weight", sample_weight), dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise InvalidInputError(
            f"sample_weight has the shape {weight.shape}, but X has {n} rows: give one number a row, shape ({n},)."
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise InvalidInputError("sample_weight contains NaN or infinity, or its sum overflows: scale it down.")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise InvalidInputError(
            f"sample_weight must not be negative (Negative values in row {row}): use 0 to leave a row out."
        )
    if total == 0:
        raise InvalidInputError("sample_weight is zero for every row: at least two classes need a weight above 0.")
    if not 1e-100 <= total <= 1e100:  # products with X would vanish or overflow
        raise InvalidInputError(f"sample_weight sums to {total:.3g}: bring the sum to between 1e-100 and 1e100.")
    return weight


def _class_weights(class_weight: Any, targets: Targets, weight: Floats) -> Floats:
    """The factor of each class: given by label, or total / (k * weight of the class) for "balanced"."""
    if targets.multilabel:
        raise InvalidInputError("class_weight has no meaning for a 0/1 matrix y: use sample_weight.", "class_weight")
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(targets.values, weights=weight, minlength=targets.n_classes)
        return np.asarray(weight.sum() / (targets.n_classes * counts))
    if not isinstance(class_weight, Mapping):
        raise InvalidInputError(
            f'class_weight must be "balanced", a dict or None; got {class_weight!r}.', "class_weight"
        )
    labels = targets.classes.tolist()
    try:
        factors = np.array([class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"class_weight must hold one number a class; got {class_weight!r}.", "class_weight"
        ) from error
    if class_weight and not any(label in class_weight for label in labels):
        raise InvalidInputError(
            f"None of the keys of class_weight {list(class_weight)} is a label in y: {labels}.", "class_weight"
        )
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise InvalidInputError(
            f"class_weight must be finite and above 0 for every class; got {class_weight!r}. "
            "To leave a class out, leave its rows out.",
            "class_weight",
        )
    return factors
