"""Model files taken apart and put together again, with a checksum that fits whatever is in them."""

import hashlib
import json
import struct

ZEROS = b"0" * 64


def split(blob):
    """The header, the document in it, and the tensors' bytes."""
    length = struct.unpack("<Q", blob[:8])[0]
    header = json.loads(blob[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["separatrix"]), blob[8 + length :]


def join(header, document, data):
    """A file with a checksum that fits, whatever is in it."""
    document = {"sha256": ZEROS.decode(), **{k: v for k, v in document.items() if k != "sha256"}}
    tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
    text = json.dumps(document, separators=(",", ":"))
    raw = json.dumps({"__metadata__": {"separatrix": text}, **tensors}, separators=(",", ":")).encode()
    return signed(struct.pack("<Q", len(raw)) + raw + data)


def signed(blob):
    return blob.replace(ZEROS, hashlib.sha256(blob).hexdigest().encode(), 1)
