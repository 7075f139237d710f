"""Rows in a block file, for tests."""

from contextlib import contextmanager

from separatrix.files import BlockWriter, Stored
from separatrix.files.place import kept, private


@contextmanager
def stored(*batches, sparse=None, path=None):
    """The batches in a block file: without a name, or at a path."""
    with private() if path is None else kept(path) as draft:
        writer = BlockWriter(draft, batches[0].shape[1], sparse)
        for batch in batches:
            writer.add(batch)
        contents = writer.finish({}, {})
    rows = Stored(draft.descriptor, draft.name, contents)
    try:
        yield rows
    finally:
        rows.close()
