"""Which versions wrote a model file."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

import separatrix
from separatrix.errors import ModelFileError


def versions() -> dict[str, str]:
    """Those of this process."""
    import sklearn

    return {
        "separatrix": separatrix.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


def checked_versions(found: Any) -> dict[str, str]:
    """Those that a file says it was written with; `ModelFileError` if that is not what it says."""
    if (
        not isinstance(found, dict)
        or set(found) != set(versions())
        or not all(isinstance(text, str) and len(text) < 100 for text in found.values())
    ):
        raise ModelFileError("its versions are malformed")
    return found
