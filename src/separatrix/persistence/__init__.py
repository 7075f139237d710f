"""Model files: what was learned, its certificate and what is needed to use it, without anything executable."""

from separatrix.persistence.bundle import Bundle, Sample
from separatrix.persistence.files import load, load_bundle, save

__all__ = ["Bundle", "Sample", "load", "load_bundle", "save"]
