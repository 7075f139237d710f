"""The lab in a real browser: drawn with mouse, finger and keys, every algorithm, every step, every proof."""

import warnings

import numpy as np
import pytest
from lab.labpage import APP, serve, stop, tab

from separatrix.lab.algorithms import ALGORITHMS
from separatrix.lab.start import start

pytestmark = pytest.mark.long


def draw(page, places, tool="Draw"):
    """Click at these places of the plane, as shares of its width and height."""
    page.page.get_by_role("button", name=tool, exact=True).click()
    page.page.locator(".lab-plane").first.scroll_into_view_if_needed()
    box = page.page.locator(".lab-plane").first.bounding_box()
    for x, y in places:
        page.page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def two_clouds(seed):
    """Twenty places on the left and twenty on the right, none nearer to another than a few pixels."""
    random = np.random.default_rng(seed)
    grid = np.array([[i, j] for i in range(5) for j in range(4)])
    return [([0.12 + side, 0.2] + 0.06 * grid + random.uniform(0, 0.04, size=(20, 2))).tolist() for side in (0, 0.5)]


def test_forty_points_drawn_with_the_mouse_and_every_algorithm_on_them(browser):
    with tab(browser) as page:
        page.page.get_by_role("button", name="Clear", exact=True).click()
        for button, places in zip((1, 2), two_clouds(0), strict=True):
            page.page.locator(".lab-class").nth(button - 1).click()
            draw(page, places)
        points = page.points()
        assert len(points) == 40
        assert {c for _, _, c in points} == {0, 1}
        for name in ALGORITHMS:
            page.page.locator(".lab-algorithm").select_option(name)
            page.settled()
            found = page.answer()
            assert found["algorithm"] == name
            assert found["verified"], name
            assert page.js(f"{APP}.panes[0].checked.holds"), name
            assert page.page.locator(".lab-badge.lab-yes").count() == 2
            assert page.page.locator(".lab-sentence").inner_text().endswith(".")
            assert page.page.locator(".lab-readout dd").count() >= 2


@pytest.mark.parametrize(
    ("name", "data"),
    [("perceptron", "separable"), ("pocket", "overlapping"), ("kozinec", "separable"), ("logistic", "eighteen")],
)
def test_each_step_shows_the_weights_of_the_trace_to_the_last_bit(lab, name, data):
    lab.stage(name, data)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(lab.answer()["python"], "copied", "exec"), names)
    trace = names["model"].trace_
    steps = lab.answer()["frames"]["step"]
    scrubber = lab.page.locator(".lab-scrubber")
    for k in sorted({0, 1, len(steps) // 2, len(steps) - 1}):
        scrubber.evaluate("(e, k) => { e.value = k; e.dispatchEvent(new Event('input')); }", k)
        lab.drawn()
        shown = lab.js(f"{APP}.panes[0].answer.frames.weights[{APP}.panes[0].k]")
        assert shown == trace["weights"][steps[k]].tolist()
        assert lab.page.locator(".lab-step").inner_text() == f"{k} / {len(steps) - 1}"
        assert lab.page.locator(".lab-sentence").inner_text() == lab.answer()["sentences"][k]


def test_the_time_line_steps_plays_and_stops_at_the_end(lab):
    lab.stage("perceptron", "separable")
    press = lambda name: lab.page.get_by_role("button", name=name, exact=True).click()  # noqa: E731
    press("First step")
    assert lab.js(f"{APP}.time.k") == 0
    press("One step on")
    press("One step on")
    press("One step back")
    assert lab.js(f"{APP}.time.k") == 1
    lab.page.locator(".lab-speed").select_option("4")
    press("Play")
    lab.until(f"{APP}.time.k > 3")
    lab.until(f"!{APP}.time.playing")
    assert lab.js(f"{APP}.time.k") == lab.js(f"{APP}.time.length") - 1


def test_a_dragged_point_changes_the_certificate(lab):
    lab.stage("hard_margin", "separable")
    before = lab.answer()["certificate"]
    held = lab.answer()["model"]["support"][0]
    x, y = lab.place(held)
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    for step in range(1, 9):
        lab.page.mouse.move(x + 3 * step, y - 4 * step)
    lab.page.mouse.up()
    lab.settled()
    after = lab.answer()["certificate"]
    assert after["lower"] != before["lower"]
    assert lab.js(f"{APP}.panes[0].checked.holds")
    lab.page.get_by_role("button", name="Undo", exact=True).click()
    lab.settled()
    assert lab.answer()["certificate"] == before


def test_a_point_that_is_dragged_out_of_the_plane_is_seen_again(lab):
    lab.stage("least_squares", "outlier")
    points, (x, y) = lab.points(), lab.place(28)
    box = lab.page.locator(".lab-plane").first.bounding_box()
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + box["width"] + 80, y, steps=4)
    lab.page.mouse.up()
    lab.settled()
    assert lab.points()[28][0] > points[28][0]
    x, y = lab.place(28)
    assert box["x"] < x < box["x"] + box["width"]


def test_xor_shows_the_proof_that_no_line_exists(lab):
    lab.stage("hard_margin", "xor")
    found = lab.answer()
    assert found["certificate"]["kind"] == "Inseparable"
    assert found["certificate"]["exact"]
    assert "no hyperplane separates" in lab.page.locator(".lab-claim").inner_text()
    checks = lab.js(f"{APP}.panes[0].checked.checks")
    assert any("exactly 0" in check["name"] and check["holds"] for check in checks)
    assert "(0.5, 0.5)" in lab.page.locator(".lab-readout").inner_text()  # both weighted means
    lab.stage("perceptron", "xor")
    assert "No certificate" in lab.page.locator(".lab-proof").inner_text()
    assert "no line separates" in lab.page.locator(".lab-readout").inner_text()


def test_with_the_keyboard_alone(browser):
    with tab(browser) as page:
        keys = page.page.keyboard
        page.page.get_by_role("button", name="Clear", exact=True).focus()
        keys.press("Enter")
        for _ in range(40):
            keys.press("Tab")
            if page.js("document.activeElement.classList.contains('lab-plane')"):
                break
        for step, key in enumerate("1212"):
            keys.press(key)
            for _ in range(3 + step):
                keys.press("ArrowRight" if step % 2 else "ArrowLeft")
            keys.press("ArrowUp")
            keys.press("Enter")
        page.settled()
        points = page.points()
        assert len(points) == 4
        assert [c for *_, c in points] == [0, 1, 0, 1]
        assert page.js(f"{APP}.panes[0].checked.holds")
        keys.press("Enter")  # takes hold of the last point
        for _ in range(3):
            keys.press("ArrowDown")
        keys.press("Enter")
        page.settled()
        assert page.points()[3][1] < points[3][1]
        assert page.points()[:3] == points[:3]
        keys.press("Delete")
        keys.press("Control+z")
        page.settled()
        assert len(page.points()) == 4
        keys.press("Home")
        assert page.js(f"{APP}.time.k") == 0


def test_with_a_finger_on_a_telephone(browser):
    screen = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with tab(browser, **screen) as page:
        before = len(page.points())
        page.page.locator(".lab-plane").scroll_into_view_if_needed()
        box = page.page.locator(".lab-plane").bounding_box()
        page.page.touchscreen.tap(box["x"] + 30, box["y"] + 40)
        page.page.touchscreen.tap(box["x"] + 70, box["y"] + 60)
        page.settled()
        assert len(page.points()) == before + 2
        assert page.js("document.documentElement.scrollWidth") <= 390
        points = page.points()
        x, y = page.place(before)  # and a point is dragged
        fingers = page.page.context.new_cdp_session(page.page)
        for kind, move in (("touchStart", 0), ("touchMove", 15), ("touchMove", 30), ("touchEnd", None)):
            places = [] if move is None else [{"x": x + move, "y": y + move}]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
        page.settled()
        moved = page.points()
        assert moved[before][0] > points[before][0]
        assert moved[before][1] < points[before][1]
        assert moved[:before] == points[:before]


def test_lasso_erase_spray_and_classes(browser):
    with tab(browser) as page:
        page.stage("centroid", "xor")
        box = page.page.locator(".lab-plane").bounding_box()
        at = lambda x, y: (box["x"] + x * box["width"], box["y"] + y * box["height"])  # noqa: E731
        page.page.get_by_role("button", name="Lasso", exact=True).click()
        x, y = page.place(0)
        page.page.mouse.move(x - 30, y - 30)
        page.page.mouse.down()
        for dx, dy in ((30, -30), (30, 30), (-30, 30), (-30, -30)):
            page.page.mouse.move(x + dx, y + dy, steps=3)
        page.page.mouse.up()
        assert page.js(f"[...{APP}.store.selected]") == [0]
        page.page.locator(".lab-class").nth(2).click()  # another class, for what is selected
        page.settled()
        assert page.points()[0][2] == 2
        assert page.answer()["model"]["classes"] == [0, 1, 2]
        page.page.get_by_role("button", name="Erase", exact=True).click()
        page.page.mouse.click(*page.place(0))
        page.settled()
        assert len(page.points()) == 3
        page.page.get_by_role("button", name="Spray", exact=True).click()
        page.page.mouse.move(*at(0.5, 0.2))
        page.page.mouse.down()
        page.page.mouse.move(*at(0.6, 0.2), steps=8)
        page.page.mouse.up()
        page.settled()
        assert len(page.points()) > 10
        page.page.get_by_role("button", name="Undo", exact=True).click()
        page.settled()
        assert len(page.points()) == 3


def test_two_algorithms_side_by_side_on_the_same_points(browser):
    with tab(browser) as page:
        page.page.get_by_role("button", name="Compare", exact=True).click()
        page.settled()
        assert page.page.locator(".lab-pane").count() == 2
        draw(page, [(0.1, 0.1)])
        page.settled()
        assert page.js(f"{APP}.panes.map((p) => p.X.length)") == [41, 41]
        assert page.js(f"{APP}.panes.every((p) => p.checked?.holds)")
        page.page.get_by_role("button", name="Compare", exact=True).click()
        assert page.page.locator(".lab-pane").count() == 1


def test_the_copied_code_makes_the_same_fit_and_the_link_brings_the_points_back(browser):
    with tab(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.stage("svc", "overlapping", kernel="linear")
        page.page.get_by_role("button", name="Python", exact=True).click()
        names = {}
        exec(compile(page.page.locator(".lab-dialog textarea").input_value(), "copied", "exec"), names)
        assert names["model"].coef_.tolist() == page.answer()["model"]["coef"]
        page.page.get_by_role("button", name="Close", exact=True).click()
        page.page.get_by_role("button", name="Link", exact=True).click()
        page.until("document.querySelector('.lab-dialog h2').textContent.startsWith('A link')")
        link = page.page.locator(".lab-dialog textarea").input_value()
        assert "#lab=" in link
        before, points = page.answer(), page.points()
        page.page.get_by_role("button", name="Close", exact=True).click()
        page.page.goto("about:blank")
        page.hosts.clear()
        page.open(link)
        page.settled()
        assert page.points() == points
        assert page.answer()["certificate"] == before["certificate"]


def test_pictures_drawings_and_films(browser, tmp_path):
    with tab(browser) as page:
        for button, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg "), ("Film", b"\x1aE\xdf\xa3")):
            with page.page.expect_download() as taken:
                page.page.get_by_role("button", name=button, exact=True).click()
            content = taken.value.path().read_bytes()
            assert content.startswith(start), button
            if button == "SVG":
                assert content.count(b"<circle") >= 20
                assert content.count(b"<polygon") >= 20


def drop(page, name, text, words):
    """Drop a file on the page, which says these words then."""
    page.page.evaluate(
        "([name, text]) => { const dataTransfer = new DataTransfer(); dataTransfer.items.add(new File([text], name));"
        " document.querySelector('.lab').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true })); }",
        [name, text],
    )
    page.until(f"document.querySelector('.lab-banner').textContent.includes('{words}')")


def test_two_columns_of_a_table(browser):
    with tab(browser) as page:
        rows = [f"{i},{i % 7}.5,{'red' if i % 2 else 'blue'},n{i}" for i in range(30)]
        table = "\n".join(["length,width,colour,name", *rows, "x,1,red,n"])
        drop(page, "t.csv", table, "Rows with gaps in these columns are left out: 1.")
        page.settled()
        assert page.points()[3] == [3, 3.5, 1]
        assert page.js(f"{APP}.store.names") == ["length", "width"]
        many = "\n".join(f"{i},{i * i % 97},{i % 2}" for i in range(30_000))
        drop(page, "many.csv", f"a,b,kind\n{many}\n", "5,000 are drawn")
        page.settled()
        assert len(page.points()) == 5000
        assert "of the 5,000 points" in page.page.locator(".lab-notes").inner_text()
        page.page.locator("input[type=file]").set_input_files(  # or choose it
            {"name": "few.csv", "mimeType": "text/csv", "buffer": b"a;b;kind\n1;2;x\n3;4;y\n5;6;x\n"}
        )
        page.until(f"{APP}.store.points.length === 3")
        page.page.get_by_role("button", name="Undo", exact=True).click()
        page.settled()
        drop(page, "words.csv", "a,b\nx,y\nz,w\nx,w\n", "two columns of numbers")
        drop(page, "none.csv", "", "no table")
        assert len(page.points()) == 5000  # a table that cannot be drawn takes nothing away


@pytest.mark.parametrize("name", ALGORITHMS)
def test_bad_input_is_a_sentence_and_never_a_blank_page(lab, name):
    lab.stage(name, "separable")
    for points, words in (
        ([[0, 0, 0]], "at least two points"),
        ([[0, 0, 0], [1, 1, 0]], "one class"),
        ([[1, 1, 0], [1, 1, 1], [1, 1, 1]], "same place"),
    ):
        lab.load(points)
        assert words in lab.page.locator(".lab-problem").inner_text()
        assert lab.page.locator(".lab-plane").is_visible()
    lab.load([[0, 0, 0], [2, 1, 1], [0.5, 1, 0], [3, 2, 1]])
    assert lab.page.locator(".lab-problem").inner_text() == ""
    assert lab.answer()["verified"]


def test_twenty_thousand_points_are_thinned_and_it_says_so(browser):
    random = np.random.default_rng(0)
    y = np.arange(20_000) % 2
    server = serve(start(random.normal(size=(20_000, 2)) + 8 * y[:, None], y, ["a", "b"]))
    with tab(browser, server) as page:
        assert "Of 20,000 rows 5,000 are drawn" in page.page.locator(".lab-banner").inner_text()
        page.stage("centroid")
        assert "2,000 of the 5,000 points" in page.page.locator(".lab-notes").inner_text()
        assert page.js(f"{APP}.panes[0].checked.holds")
    stop(server)
