"""Settings that all tests share."""

import os
import shutil
import signal

import pytest
from hypothesis import settings

settings.register_profile("local", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# a run in the background inherits that Ctrl-C is ignored, and so would the processes that tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def many_cores(monkeypatch):
    """As many threads as are asked for, whatever cores there are: they take turns, and would show a race."""
    from separatrix.loops import threads

    monkeypatch.setattr(threads, "cores", lambda: 64)


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, or any other on the path; without one, or without playwright, who asks for it is skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on the path")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=found, args=FLAGS)
        yield launched
        launched.close()
