"""Model files: what was learned, its certificate and what is needed to use it, without anything executable."""

from separatrix.persistence.files import Bundle, load, load_bundle, save

__all__ = ["Bundle", "load", "load_bundle", "save"]
