"""Warnings of a fit, kept instead of shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quietly() -> Iterator[list[str]]:
    """Collect the warnings raised inside, each message once: a table shows them better than a terminal."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield messages
        finally:
            messages.extend(dict.fromkeys(str(warning.message) for warning in caught))
