"""The lab in a browser, for the tests of this folder."""

import pytest
from lab.labpage import tab


@pytest.fixture(scope="module")
def lab(browser):
    """One tab for the tests that leave nothing behind."""
    with tab(browser) as page:
        yield page
