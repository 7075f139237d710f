"""Values as JSON and tensors, and back without loss.

JSON has text, truth values, whole numbers and finite floats; lists and objects with text as keys. All else is an object
with one key that starts with "$" and says what it is: ``{"$tensor": "coef_"}`` stands for the tensor of that name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.certificates import Certificate
from separatrix.errors import ModelFileError
from separatrix.formulas.families import FAMILIES, ExponentialFamily, has_name
from separatrix.kernels import Graph, Kernel
from separatrix.outcome import Status
from separatrix.persistence.container import storable

SHORT = 64  # longer lists of one type are tensors
STEPS = 10_000  # the largest whole number that a setting of a kernel can be: some are numbers of steps
WIDE = 1 << 20  # bytes up to which an array of text keeps the width it had
_LISTS: Mapping[type, tuple[str, str]] = {int: ("$ints", "<i8"), float: ("$floats", "<f8"), str: ("$strings", "|u1")}


class Writer:
    """Turns values into JSON; what is long, or must keep its number type, goes to `tensors`."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}

    def write(self, value: Any, where: str) -> Any:
        """The value as JSON. ``where`` names it, for its tensors and in errors."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            if value.bit_length() > 10_000:  # such numbers are neither printed nor read in Python
                raise ModelFileError(f"{where} is a whole number of {value.bit_length()} bits, which is too long.")
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
        if isinstance(value, list):
            return self._list(value, where)
        if isinstance(value, tuple):
            return {"$tuple": self._list(list(value), where)}
        if isinstance(value, Mapping):
            return self._mapping(value, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sparse.issparse(value):
            return self._sparse(value, where)
        return self._object(value, where)

    def _list(self, values: list[Any], where: str) -> Any:
        kinds = set(map(type, values))
        if len(values) > SHORT and len(kinds) == 1 and (kind := kinds.pop()) in _LISTS:
            tag, dtype = _LISTS[kind]
            if kind is str:
                return {tag: self._tensor(np.frombuffer(json.dumps(values).encode(), np.uint8), where)}
            if kind is float or all(abs(value) < 1 << 63 for value in values):
                return {tag: self._tensor(np.array(values, dtype=dtype), where)}
        return [self.write(value, f"{where}.{position}") for position, value in enumerate(values)]

    def _mapping(self, values: Mapping[Any, Any], where: str) -> Any:
        if all(isinstance(key, str) and not key.startswith("$") for key in values):
            return {key: self.write(value, f"{where}.{key}") for key, value in values.items()}
        pairs = enumerate(values.items())
        return {"$dict": [[self.write(k, f"{where}.key"), self.write(v, f"{where}.{i}")] for i, (k, v) in pairs]}

    def _array(self, array: Array, where: str) -> Any:
        if storable(array):
            columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
            # the order is kept because products round differently in another
            tag, stored = ("$columns", array.T) if columns_first else ("$tensor", array)
            return {tag: self._tensor(stored, where)}
        if array.dtype.kind not in "UO":
            raise _unknown(array, where, f"an array of {array.dtype}")
        entries = self._list(array.ravel().tolist(), where)
        return {"$array": {"dtype": array.dtype.str, "shape": list(array.shape), "entries": entries}}

    def _sparse(self, matrix: Any, where: str) -> Any:
        rows = matrix.tocsr()
        parts = {name: self._tensor(getattr(rows, name), f"{where}.{name}") for name in ("data", "indices", "indptr")}
        return {"$csr": {"array": isinstance(matrix, sparse.sparray), "shape": list(rows.shape), **parts}}

    def _object(self, value: Any, where: str) -> Any:
        if isinstance(value, Status):
            return {"$status": value.name}
        try:
            if isinstance(value, Certificate):
                return {"$certificate": self.write(value.to_dict(), where)}
            if isinstance(value, Kernel):
                return {"$kernel": value.to_dict()}
        except (TypeError, ValueError) as error:  # a function, or a number too long to print
            raise _unknown(value, where, f"{value!r:.100}") from error
        if isinstance(value, ExponentialFamily) and has_name(value):
            return {"$family": value.name}
        if isinstance(value, Graph):
            edges = [end for edge in value.edges for end in edge]
            labels = self.write(list(value.labels), f"{where}.labels")
            return {"$graph": {"edges": self.write(edges, f"{where}.edges"), "labels": labels}}
        raise _unknown(value, where, f"a {type(value).__name__}")

    def _tensor(self, array: Array, where: str) -> str:
        name = where
        while name in self.tensors:  # "a.b" may be b of a, or one name
            name += "'"
        self.tensors[name] = array
        return name


def _unknown(value: Any, where: str, what: str) -> ModelFileError:
    advice = (
        "what it computes is not plain data, and a model file holds nothing that could be executed"
        if callable(value) or not isinstance(value, np.ndarray)
        else "a model file holds numbers, truth values and text"
    )
    return ModelFileError(f"{where} is {what}, which cannot be saved: {advice}.")


class Reader:
    """Turns JSON and tensors back into values; `ModelFileError` for all that `Writer` does not write."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self.left = dict(tensors)
        self._tags: dict[str, Callable[[Any], Any]] = {
            "$array": self._array,
            "$certificate": lambda plain: Certificate.from_dict(self.read(plain)),
            "$columns": lambda name: self._tensor(name).T,
            "$csr": self._csr,
            "$dict": lambda pairs: {self.read(key): self.read(value) for key, value in _listed(pairs)},
            "$family": lambda name: FAMILIES[name],
            "$float": lambda text: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text],
            "$floats": lambda name: self._vector(name, "<f8").tolist(),
            "$graph": self._graph,
            "$ints": lambda name: self._vector(name, "<i8").tolist(),
            "$kernel": lambda settings: Kernel.from_dict(_flat(settings)),
            "$status": lambda name: Status[name],
            "$strings": self._strings,
            "$tensor": self._tensor,
            "$tuple": lambda values: tuple(_listed(self.read(values))),
        }

    def read(self, plain: Any) -> Any:
        """The value that was written."""
        if isinstance(plain, list):
            return [self.read(value) for value in plain]
        if not isinstance(plain, dict):
            return plain
        tag = next(iter(plain), "")
        if not tag.startswith("$"):
            if any(key.startswith("$") for key in plain):
                raise ModelFileError("a value of it is malformed")
            return {key: self.read(value) for key, value in plain.items()}
        if len(plain) != 1 or tag not in self._tags:
            raise ModelFileError(f"it has a value of an unknown kind, {tag!r:.80}")
        try:
            return self._tags[tag](plain[tag])
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"a value of the kind {tag[1:]!r} is malformed: {error}") from error

    def _tensor(self, name: Any) -> Array:
        if not isinstance(name, str) or name not in self.left:
            raise ModelFileError(f"its tensor {name!r:.80} is missing, or used twice")
        return self.left.pop(name)

    def _vector(self, name: Any, dtype: str) -> Array:
        vector = self._tensor(name)
        if vector.ndim != 1 or vector.dtype != np.dtype(dtype):
            raise ModelFileError(f"its tensor {name!r:.80} should be a list of {dtype}")
        return vector

    def _strings(self, name: Any) -> list[str]:
        texts = json.loads(self._vector(name, "|u1").tobytes())
        if not all(isinstance(text, str) for text in _listed(texts)):
            raise ModelFileError(f"its tensor {name!r:.80} should be a list of texts")
        return list(texts)

    def _array(self, plain: Any) -> Array:
        if set(plain) != {"dtype", "shape", "entries"}:
            raise ModelFileError("an array is malformed")
        entries, shape = _listed(self.read(plain["entries"])), [_whole(n) for n in _listed(plain["shape"])]
        if plain["dtype"] == "|O":
            array = np.empty(len(entries), dtype=object)
            array[:] = entries
            return array.reshape(shape)
        width = str(plain["dtype"]).removeprefix("<U")
        if not (width.isascii() and width.isdigit()) or not all(isinstance(entry, str) for entry in entries):
            raise ModelFileError("an array of text is malformed")
        # wider than its entries only as far as the file could not claim memory by it
        keeps = len(width) < 10 and 4 * int(width) * len(entries) <= WIDE
        longest = max(map(len, entries), default=0)
        return np.array(entries, dtype=f"<U{max(int(width) if keeps else 1, longest, 1)}").reshape(shape)

    def _csr(self, plain: Any) -> Any:
        if set(plain) != {"array", "shape", "data", "indices", "indptr"} or type(plain["array"]) is not bool:
            raise ModelFileError("a sparse matrix is malformed")
        parts = [self._tensor(plain[name]) for name in ("data", "indices", "indptr")]
        data, indices, indptr = parts
        rows, columns = (_whole(n) for n in _listed(plain["shape"]))
        if any(part.ndim != 1 for part in parts) or not _indexes(indices, indptr, len(data), rows, columns):
            raise ModelFileError("a sparse matrix is malformed: its entries are not in its rows and columns")
        kind = sparse.csr_array if plain["array"] else sparse.csr_matrix
        return kind((data, indices, indptr), shape=(rows, columns))

    def _graph(self, plain: Any) -> Graph:
        if set(plain) != {"edges", "labels"}:
            raise ModelFileError("a graph is malformed")
        ends = _listed(self.read(plain["edges"]))
        return Graph(zip(ends[::2], ends[1::2], strict=True), _listed(self.read(plain["labels"])))


def _indexes(indices: Array, indptr: Array, entries: int, rows: int, columns: int) -> bool:
    """Whether row i has the entries from indptr[i] to indptr[i + 1], all of them in the matrix.

    Compiled loops follow these numbers without looking. SciPy's own check skips what the last one does not reach.
    """
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)) or len(indptr) != rows + 1:
        return False
    ends = indptr[0] == 0 and indptr[-1] == entries == len(indices) and bool((indptr[1:] >= indptr[:-1]).all())
    return bool(ends and (not entries or (indices.min() >= 0 and indices.max() < columns)))


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ModelFileError("a list of it is malformed")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 48:
        raise ModelFileError("a size of it is malformed")
    return value


def _flat(settings: Any) -> dict[str, Any]:
    """Settings that are text, truth values or finite numbers of reasonable size."""
    if not isinstance(settings, dict):
        raise ModelFileError("the settings of a kernel are malformed")
    for value in settings.values():
        if not isinstance(value, (str, bool, int, float)) or (isinstance(value, int) and abs(value) > STEPS):
            raise ModelFileError("the settings of a kernel are malformed")
    return settings
