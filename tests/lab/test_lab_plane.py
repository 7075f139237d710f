"""The points under the hand: what undo brings back, keys that hold a point, and links that are broken."""

import base64
import json
import zlib

import pytest
from lab.labpage import APP, tab

pytestmark = pytest.mark.long


def past(page):
    return page.js(f"{APP}.store.past.length")


def test_undo_brings_back_names_and_window_with_the_points(lab):
    lab.stage("centroid", "separable")
    before = lab.js(f"{APP}.store.state")
    far = [{"x": 1e6 + i, "y": -3e5 - i * i, "c": i % 2} for i in range(12)]
    lab.js(f"{APP}.store.load(given, ['year', 'price'], ['no', 'yes'])", far)
    lab.settled()
    assert lab.page.locator(".lab-class").all_inner_texts()[:2] == ["no", "yes"]
    lab.page.keyboard.press("Control+z")
    lab.settled()
    assert lab.js(f"{APP}.store.state") == before
    assert lab.page.locator(".lab-class").all_inner_texts()[:2] == ["−1", "+1"]
    lab.page.keyboard.press("Control+Shift+Z")
    lab.settled()
    assert lab.js(f"{APP}.store.names") == ["year", "price"]
    assert lab.points() == [[p["x"], p["y"], p["c"]] for p in far]


def test_what_changes_nothing_is_nothing_to_undo(lab):
    lab.stage("centroid", "separable")
    count = past(lab)
    lab.page.get_by_role("button", name="Draw", exact=True).click()
    lab.page.mouse.click(*lab.place(3))  # takes hold of a point, and lets go
    lab.page.get_by_role("button", name="Erase", exact=True).click()
    box = lab.page.locator(".lab-plane").bounding_box()
    lab.page.mouse.click(box["x"] + 5, box["y"] + box["height"] - 5)  # where no point is
    assert past(lab) == count
    lab.page.get_by_role("button", name="Draw", exact=True).click()


def hold(page):
    """Draw a point with the keys, take it up, and move it once: the place of the point."""
    page.stage("centroid", "separable")
    page.page.locator(".lab-data").focus()
    while not page.js("document.activeElement.classList.contains('lab-plane')"):
        page.page.keyboard.press("Tab")
    for key in ("Shift+ArrowLeft", "Enter", "Enter", "ArrowUp"):
        page.page.keyboard.press(key)
    return len(page.points()) - 1


@pytest.mark.parametrize("end", ["Enter", "Escape", "Tab"])
def test_a_point_that_keys_let_go_has_the_whole_fit(lab, end):
    count, i = past(lab), hold(lab)
    height = lab.points()[i][1]
    lab.page.keyboard.press(end)
    lab.settled()
    assert lab.js(f"{APP}.panes[0].X")[i][1] == height
    assert past(lab) == count + 3  # other data, a point, and its way
    lab.page.keyboard.press("ArrowUp")
    assert lab.points()[i][1] == height


def test_what_happens_to_the_points_meanwhile_lets_go_of_the_one_held(lab):
    i = hold(lab)
    lab.page.keyboard.press("Delete")
    lab.settled()
    points = lab.points()
    assert len(points) == i
    lab.page.keyboard.press("ArrowUp")
    assert lab.points() == points


def fragment(state):
    """A link's fragment, made here."""
    deflate = zlib.compressobj(wbits=-15)
    text = deflate.compress(json.dumps(state).encode()) + deflate.flush()
    return "lab=" + base64.urlsafe_b64encode(text).decode().rstrip("=")


def test_a_link_holds_the_names_of_a_table(browser):
    state = {
        "points": [[1, 2, 0], [3, 5, 1]],
        "names": ["height", "width"],
        "labels": ["cat", "dog"],
        "panes": [{"id": "centroid", "settings": {}}],
    }
    with tab(browser) as page:
        page.js("(location.hash = given)", fragment(state))
        page.until(f"{APP}.panes[0]?.answer?.algorithm === 'centroid'")
        page.settled()
        assert page.points() == state["points"]
        assert page.js(f"{APP}.store.names") == ["height", "width"]
        assert page.page.locator(".lab-readout dt").all_inner_texts()[:2] == ["μ of class cat", "μ of class dog"]
        assert {key: page.js(f"{APP}.state()")[key] for key in state} == {
            **state,
            "panes": [{"id": "centroid", "settings": {}}],
        }


@pytest.mark.parametrize(
    "state",
    [
        {"points": [[1, 2, 0], [3, 5, 1]], "panes": [None]},
        {"points": [[1, 2, 0], [3, 5, 1]], "panes": "perceptron"},
        {"points": [[1, 2, 0.5], [3, 5, 99]], "panes": []},
        {"points": [[1, 2, 0], [3, 5, 1]], "names": [{}], "panes": []},
        {"points": 3},
        None,
    ],
)
def test_a_broken_link_is_told_and_other_points_are_shown(browser, state):
    with tab(browser) as page:
        page.js("(location.hash = given)", fragment(state))
        page.until("document.querySelector('.lab-banner').textContent.includes('could not be read')")
        page.settled()
        assert len(page.points()) == 40
        assert page.js(f"{APP}.panes[0].checked.holds")


def test_columns_can_be_chosen_as_long_as_the_table_is_there(lab):
    rows = "\n".join(f"{i},{i * i},{2000 + i % 7},{'ab'[i % 2]}" for i in range(20))
    lab.page.locator("input[type=file]").set_input_files(
        {"name": "t.csv", "mimeType": "text/csv", "buffer": f"p,q,year,kind\n{rows}\n".encode()}
    )
    lab.until(f"{APP}.store.names[0] === 'p'")
    lab.settled()
    lab.page.locator(".lab-columns select").nth(0).select_option("year")
    lab.settled()
    assert lab.points()[3] == [2003, 9, 1]
    lab.stage("centroid", "separable")
    assert not lab.page.locator(".lab-columns").is_visible()


def test_a_second_algorithm_joins_at_the_step_of_the_first(browser):
    with tab(browser) as page:
        page.js(f"{APP}.goTo(3)")
        page.page.get_by_role("button", name="Compare", exact=True).click()
        page.settled()
        assert page.js(f"{APP}.panes.map((pane) => pane.k)") == [3, 3]
        page.page.locator(".lab-algorithm").nth(1).select_option("kozinec")
        page.settled()
        assert page.js(f"{APP}.panes.map((pane) => pane.k)") == [3, 3]
        page.js(f"{APP}.goTo(Infinity)")
        page.load([[0, 0, 0], [1, 0, 1], [0.4, 1, 0], [2, 2, 1]])  # who was at the end stays there
        assert page.js(f"{APP}.panes.every((pane) => pane.k === pane.frames - 1)")


def test_the_stage_of_a_lesson_comes_into_sight_on_a_telephone(browser):
    with tab(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as page:
        page.page.locator(".lab-lessons").select_option("11")
        page.page.locator(".lab-lesson button", has_text="Set the stage").nth(1).tap()
        page.settled()
        box = page.page.locator(".lab-plane").bounding_box()
        page.until("document.querySelector('.lab-plane').getBoundingClientRect().top >= 0")
        assert page.js("document.querySelector('.lab-plane').getBoundingClientRect().bottom") <= 844
        assert box["height"] > 200


def test_a_second_finger_draws_nothing(browser):
    with tab(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as page:
        page.page.locator(".lab-plane").scroll_into_view_if_needed()
        before, box = page.points(), page.page.locator(".lab-plane").bounding_box()
        fingers = page.page.context.new_cdp_session(page.page)
        first, second = [[box["x"] + x, box["y"] + y] for x, y in ((40, 40), (180, 200))]
        touch = lambda kind, *places: fingers.send(  # noqa: E731
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]},
        )
        touch("touchStart", first)
        touch("touchStart", first, second)
        for step in range(1, 6):
            touch("touchMove", first, [second[0] - 20 * step, second[1] - 25 * step])
        touch("touchEnd")
        page.settled()
        assert len(page.points()) == len(before) + 1
        page.page.touchscreen.tap(*second)  # and the next one draws again
        page.settled()
        assert len(page.points()) == len(before) + 2
