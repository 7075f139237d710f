"""The folder of data sets that some tests use, and are skipped without: SEPARATRIX_DATA, or one beside the checkout."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

DATA = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))

needs_data = pytest.mark.skipif(
    not (DATA / "INDEX.json").exists(), reason=f"the data sets are not in {DATA}: set SEPARATRIX_DATA"
)


@cache
def index():
    """What is in the folder: files, formats and published results by name."""
    return json.loads((DATA / "INDEX.json").read_text())["datasets"]
