"""One fit with its check: how it ended, and everything that is wrong with that."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from soundness.claims import check, falsehoods, verified
from soundness.configurations import Configuration
from soundness.data import Table

from separatrix import SeparatrixError

SECONDS = 20.0
GOOD = ("CERTIFIED", "FORMULA", "MINIMUM_NORM", "SEPARATED", "BRACKETED", "STATIONARY", "FEWEST_ERRORS", "POCKET")


class TooLongError(BaseException):
    """The alarm went off."""


@dataclass
class Ending:
    """certified, warned, refused or failed; and what is wrong, if anything."""

    end: str
    faults: list[str]
    status: str = ""
    claims: int = 0


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """`TooLongError` after so many seconds of processor time: other work on the machine does not count."""

    def ring(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attempt(configuration: Configuration, table: Table, seconds: float = SECONDS) -> Ending:
    """Fit and check."""
    model = configuration.make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with alarm(seconds):
                model.fit(table.X, table.y, table.sample_weight)
        except TooLongError:
            return Ending("failed", [f"HANG: longer than {seconds:g} s"])
        except SeparatrixError as error:
            certificate = getattr(error, "certificate", None)
            if certificate is None:
                return Ending("refused", [])
            return Ending("refused", _proof(certificate, table), claims=1)
        except Exception as error:
            return Ending("failed", [_untyped(error)])
    strange = [w for w in caught if issubclass(w.category, (RuntimeWarning, DeprecationWarning))]
    faults = [f"WARNING of NumPy: {strange[0].message!s:.100}"] if strange else []
    status = model.status_.name
    try:
        with alarm(3 * seconds):
            faults += check(model, table)
    except TooLongError:
        faults.append("HANG: the check took too long")
    except Exception as error:
        faults.append(_untyped(error, "in the check, "))
    if status in GOOD and model.certificate_ is not None:
        end = "certified"
    elif caught:
        end = "warned"
    else:
        end = "certified" if model.certificate_ is not None else "failed"
        if end == "failed" and status != "UNCHECKED":
            faults.append(f"no certificate, no warning, status {status}")
    return Ending(end, faults, status, model.certificate_ is not None)


def _untyped(error: Exception, when: str = "") -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"UNTYPED {when}{type(error).__name__} at {where.filename.rsplit('/', 1)[-1]}:{where.lineno}: {error!s:.150}"


def _proof(certificate: Any, table: Table) -> list[str]:
    """What is wrong with the proof that an error carries."""
    try:
        with alarm(3 * SECONDS):
            faults = [f"FALSE: {line}" for line in falsehoods(certificate, table)]
    except TooLongError:
        faults = ["HANG: the check took too long"]
    except Exception as error:
        faults = [_untyped(error, "in the check, ")]
    try:
        if not verified(certificate, table):
            faults.append("verify refuses the error's proof")
    except ValueError as error:
        faults.append(f"verify raises: {error}")
    return faults
