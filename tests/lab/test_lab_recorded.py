"""The page of the docs: the lab without a server, on recorded fits."""

import json
from pathlib import Path

import pytest
from lab.labpage import APP, LabPage

from separatrix.lab.algorithms import ALGORITHMS
from separatrix.lab.files import lessons, module, styles

PAGE = Path(__file__).parents[2] / "docs" / "lab.html"


def test_the_page_is_of_this_module():
    text = PAGE.read_text(encoding="utf-8")
    again = "it is older than its sources: python docs/pictures/lab.py makes it anew"
    assert module().partition("export default")[0] in text, again
    assert styles() in text, again
    for lesson in lessons():
        assert json.dumps(lesson["text"], ensure_ascii=False).replace("<", "\\u003c") in text, again


@pytest.mark.long
def test_recorded_fits_are_replayed_and_checked_without_any_server(browser):
    page = LabPage(browser.new_page(viewport={"width": 1200, "height": 900}))
    page.open(PAGE.as_uri())
    for data in ("separable", "xor"):
        page.stage("perceptron", data)
        for name in ALGORITHMS:
            page.page.locator(".lab-algorithm").select_option(name)
            page.settled()
            assert page.page.locator(".lab-problem").inner_text() == "", name
            assert page.answer()["algorithm"] == name
            assert page.js(f"!{APP}.panes[0].checked || {APP}.panes[0].checked.holds"), name
    for lesson in range(len(lessons())):
        page.page.locator(".lab-lessons").select_option(str(lesson))
        for button in page.page.locator(".lab-lesson button", has_text="Set the stage").all():
            button.click()
            page.settled()
            assert page.page.locator(".lab-problem").inner_text() == "", lesson
    page.stage("centroid", "moons")
    assert "recorded fits" in page.page.locator(".lab-problem").inner_text()
    assert page.hosts == {""}  # of file:///
    assert not page.problems
