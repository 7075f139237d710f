"""The outside of a model file: tensors and a JSON document in the safetensors format, with a checksum of every byte.

The checksum is the SHA-256 of the whole file, the 64 digits of the checksum itself being zeros.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from separatrix._typing import Array
from separatrix.errors import ModelFileError

LARGEST_HEADER = 100_000_000  # bytes, as the library has it: names and rules of some 700,000 columns
_ZEROS = "0" * 64
_START = re.compile(rb'\{"__metadata__":\{"separatrix":"\{\\"sha256\\":\\"([0-9a-f]{64})\\",')
_DTYPES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8",
    "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}


def storable(array: Array) -> bool:
    """Whether the format has the array's number type."""
    return array.dtype.newbyteorder("<") in _NAMES


def pack(document: Mapping[str, Any], tensors: Mapping[str, Array]) -> bytes:
    """The file as bytes; `ModelFileError` if the document is too large for a header."""
    from safetensors.numpy import save

    text = json.dumps({"sha256": _ZEROS, **document}, allow_nan=False, separators=(",", ":"))
    blob = save({name: _stored(array) for name, array in tensors.items()}, {"separatrix": text})
    if int.from_bytes(blob[:8], "little") > LARGEST_HEADER:
        raise ModelFileError(
            f"The model has too many settings for a model file: its header exceeds {LARGEST_HEADER} bytes."
        )
    found = _START.match(blob, 8)
    assert found is not None, "safetensors writes the metadata first"
    first, last = found.span(1)
    return b"".join((blob[:first], hashlib.sha256(blob).hexdigest().encode(), blob[last:]))


def _stored(array: Array) -> Array:
    return np.array(array, dtype=array.dtype.newbyteorder("<"), order="C", copy=None)


def unpack(source: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """The document and the tensors of a file of this size; of what is no model file, only the beginning is read."""
    start = source.read(8 + 256)
    found = _START.match(start, 8)
    if len(start) < 8 + 128 or found is None:
        raise ModelFileError("this is not a model file of separatrix, or its beginning is damaged")
    length = int.from_bytes(start[:8], "little")
    if length > LARGEST_HEADER or 8 + length > size:
        raise ModelFileError(f"its header should have {length} bytes, the file has {size}: it is cut off or damaged")
    blob = start + source.read(size - len(start))
    if len(blob) != size or source.read(1):
        raise ModelFileError("the file changed while it was read")
    first, last = found.span(1)
    digest = hashlib.sha256(blob[:first] + _ZEROS.encode())
    digest.update(memoryview(blob)[last:])
    if digest.hexdigest().encode() != found[1]:
        raise ModelFileError("its checksum does not fit: some of its bytes are damaged, altered or missing")
    try:
        # read here too: of names given twice the library takes the last, and it gives no metadata of bytes in memory
        header = json.loads(blob[8 : 8 + length], object_pairs_hook=_unique, parse_constant=_refuse)
        document = json.loads(header["__metadata__"]["separatrix"], object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ModelFileError(f"its header is malformed: {error}") from error
    if not isinstance(document, dict) or document.pop("sha256", None) is None:
        raise ModelFileError("its header is malformed")
    return document, _tensors(blob)


def _tensors(blob: bytes) -> dict[str, Array]:
    """The tensors, which the library sees to lie one after the other from the first byte to the last."""
    from safetensors import SafetensorError, deserialize

    tensors = {}
    try:
        for name, entry in deserialize(blob):  # type: ignore[no-untyped-call]
            dtype = np.dtype(_DTYPES[entry["dtype"]])  # the library has number types that NumPy has not
            # a bytearray of its own: the file's bytes can go, and the array can be written to
            array = np.frombuffer(entry["data"], dtype).reshape(entry["shape"])
            if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:  # bytes, which the library takes as given
                raise ValueError(f"tensor {name!r:.80} holds truth values other than 0 and 1")
            tensors[name] = array
    except (SafetensorError, ValueError, LookupError, OverflowError) as error:
        raise ModelFileError(f"its list of tensors is malformed: {error}") from error
    return tensors


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a name is given twice")
    return document


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")
