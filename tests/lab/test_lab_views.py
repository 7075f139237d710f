"""What the views show: starts of one's own, theorems that are checked, and answers that are refined."""

import math
import re

import numpy as np
import pytest
from lab.labpage import APP, choose, serve, stop, tab

from separatrix.lab.fits import answer

pytestmark = pytest.mark.long


def theorems(page):
    """The theorems that the page checks now, without their marks, and whether all hold."""
    lines = page.page.locator(".lab-theorems li").all_inner_texts()
    return [line[2:] for line in lines], all(line.startswith("✓") for line in lines)


# ------------------------------------------------------------------ starts
def test_a_start_is_written_as_three_numbers(lab):
    """The notes' weights of "at least 2 of 2", (1, 1) and -2, where a score of 0 predicts +1: no mistake is made."""
    lab.stage("perceptron", "and")
    assert lab.answer()["frames"]["mistakes"][-1] > 0
    choose(lab, "init", "a line of my own")
    choose(lab, "boundary", "predicts +1")
    for name, value in (("w₁", 1), ("w₂", 1), ("b", -2)):
        field = lab.page.get_by_label(f"Start: {name}")
        field.fill(str(value))
        field.press("Enter")
        lab.settled()
    assert lab.answer()["settings"]["init"] == [1, 1, -2]
    assert lab.answer()["frames"]["weights"] == [[1, 1, -2]]


@pytest.mark.parametrize("name", ["perceptron", "logistic"])
def test_a_start_is_dragged_by_its_grips(lab, name):
    lab.stage(name, "separable", init="1,0,-2")
    assert lab.answer()["frames"]["weights"][0] == [1, 0, -2]
    points = lab.points()
    lab.page.locator(".lab-plane").first.scroll_into_view_if_needed()
    box = lab.page.locator(".lab-plane").first.bounding_box()
    pane = f"{APP}.panes[0]"
    (x, y), (u, v) = lab.js(f"{pane}.view.grips({pane}.plane.map, {pane}.settings)")
    lab.page.mouse.move(box["x"] + x, box["y"] + y)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + x + 60, box["y"] + y + 10, steps=4)
    lab.page.mouse.up()
    lab.settled()
    w = lab.answer()["frames"]["weights"][0]
    assert w == lab.answer()["settings"]["init"] == lab.js(f"{pane}.settings.init")
    assert math.hypot(w[0], w[1]) == pytest.approx(1.0, rel=1e-3)  # turned, not stretched
    spots = [[x + 60, y + 10], [u, v]]
    on_line = lab.js(f"given.map(([X, Y]) => [{pane}.plane.map.x(X), {pane}.plane.map.y(Y)])", spots)
    assert all(abs(w[0] * a + w[1] * b + w[2]) < 0.01 for a, b in on_line)
    assert [float(field.input_value()) for field in lab.page.locator(".lab-numbers input").all()] == w
    assert lab.points() == points  # no point was drawn or moved


# ------------------------------------------------------------------ theorems
@pytest.mark.parametrize(
    ("name", "data", "settings", "words"),
    [
        ("perceptron", "separable", {}, ["w = w₀", "y w·(x, 1) + η", "l γ ≤", "w*·w/η ≤", "≤ R √l", "so l ≤ R²/γ²"]),
        ("perceptron", "separable", {"eta0": 0.3, "init": "ones"}, ["w = w₀", "y w·(x, 1) + η", "+ 2‖w₀‖/(ηγ)"]),
        ("perceptron", "overlapping", {"eta0": 0.3, "init": "ones"}, ["w = w₀", "y w·(x, 1) + η"]),
        ("perceptron", "separable", {"update": "batch"}, []),
        ("kozinec", "separable", {}, ["≤ γ ≤"]),
        ("kernel_perceptron", "moons", {"kernel": "poly"}, ["kernel = linear on the map"]),
        ("svc", "overlapping", {"C": 3}, ["w = Σ α y x", "KKT", "strong duality"]),
        ("svc", "circle", {"kernel": "poly", "C": 3}, ["kernel = linear on the map", "KKT", "strong duality"]),
        ("hard_margin", "separable", {}, ["margin = 1/‖w‖", "w = Σ α y x", "strong duality", "KKT", "every point has"]),
        ("hard_margin", "parity", {}, ["Σ λ y (x, 1) = 0"]),
        ("logistic", "overlapping", {}, ["every step goes down"]),
        ("logistic", "overlapping", {"solver": "newton", "C": "null"}, ["the maximum likelihood exists"]),
        ("logistic", "cube", {"solver": "newton", "C": "null"}, ["no finite maximum"]),
        ("softmax", "three", {"pivot": "1"}, ["no probability"]),
        ("fewest_errors", "eighteen", {}, ["bound ≤ errors"]),
    ],
)
def test_theorems_are_checked_on_the_drawn_points(lab, name, data, settings, words):
    lab.stage(name, data, **settings)
    lab.js(f"{APP}.goTo(3)")
    lab.drawn()
    found, hold = theorems(lab)
    assert hold
    assert len(found) == len(words)
    for text, part in zip(found, words, strict=True):
        assert part in text


@pytest.mark.parametrize(
    ("name", "data", "settings", "tampered", "word"),
    [
        ("perceptron", "separable", {}, "a.frames.weights[2][0] += 0.01", "y w·(x, 1) + η"),
        ("perceptron", "separable", {}, "a.facts.margin = 5", "l γ ≤"),
        ("svc", "overlapping", {}, "a.model.dual_coef[0][0] *= 1.1", "w = Σ α y x"),
        ("svc", "overlapping", {}, "a.certificate.dual *= 0.9", "strong duality"),
        ("hard_margin", "separable", {}, "a.model.coef[0][0] *= 1.1", "margin = 1/‖w‖"),
        (
            "hard_margin",
            "separable",
            {},
            "a.model.dual_coef[0] = a.model.dual_coef[0].map((v) => 2 * v)",
            "strong dual",
        ),
        ("logistic", "overlapping", {}, "a.frames.objective[3] += 10", "every step goes down"),
        ("logistic", "cube", {"solver": "newton", "C": "null"}, "a.facts.verdict = 'overlapping'", "exists"),
        ("kernel_perceptron", "moons", {"kernel": "poly"}, "a.facts.same_walk = false", "other mistakes"),
    ],
)
def test_a_theorem_that_does_not_hold_is_told(lab, name, data, settings, tampered, word):
    """Numbers changed by hand, in the page: its checks are of what it has, not of what should be there."""
    lab.stage(name, data, **settings)
    lab.js(f"((a) => {{ {tampered}; {APP}.panes[0].answer = {{ ...a }}; {APP}.goTo(2); }})({APP}.panes[0].answer)")
    lab.drawn()
    wrong = lab.page.locator(".lab-theorems .lab-no").all_inner_texts()
    assert any(word in line for line in wrong), wrong


@pytest.mark.parametrize("C", ["10", "null"])
def test_the_step_that_is_promised_to_go_down_is_the_librarys(lab, C):
    lab.stage("logistic", "overlapping", solver="gradient", C=C)
    Z = np.column_stack([np.array(lab.points())[:, :2], np.ones(len(lab.points()))])
    L = np.linalg.eigvalsh(Z.T @ Z)[-1] / 4 * (10 if C == "10" else 1) + (C == "10")
    (text,) = [line for line in theorems(lab)[0] if "1/L" in line]
    step, limit = re.findall(r"= ([\d.]+)", text)
    assert [float(step), float(limit)] == pytest.approx([1 / L, 1 / L], rel=1e-3)


# ------------------------------------------------------------------ answers
def test_fewest_errors_answers_with_the_best_so_far_and_is_refined_after(browser):
    asked = []
    server = serve(answers=lambda request: asked.append(request) or answer(request))
    with tab(browser, server) as page:
        page.stage("fewest_errors", "overlapping")
        drafts = [request["draft"] for request in asked if request["algorithm"] == "fewest_errors"]
        assert drafts[0]
        assert not drafts[-1]
        assert not page.answer()["draft"]
    stop(server)


def test_a_drag_shows_support_vectors_while_it_goes_on(lab):
    """A first answer of a kernel machine learns from some of the points; the others are still drawn."""
    lab.stage("svc", "moons", kernel="rbf")
    pane = f"{APP}.panes[0]"
    many = "Array.from({ length: 300 }, (_, i) => ({ x: i % 20, y: Math.floor(i / 20), c: +(i % 20 > 9) }))"
    lab.js(f"{APP}.store.set({many}, true)")
    lab.until(f"{pane}.flight === null && {pane}.answer.draft && {pane}.points.length === 300")
    assert 118 <= len(lab.answer()["rows"]) <= 122
    rings = lab.js(f"(s => {APP}.store.points.filter((_, i) => s(i).ring).length)({pane}.layers().styles())")
    assert rings == len(lab.answer()["model"]["support"])
    lab.js(f"{APP}.store.set({APP}.store.points)")
    lab.settled()
    assert lab.answer()["rows"] is None


def test_a_link_that_is_pasted_into_an_open_lab_is_followed(browser):
    with tab(browser) as page:
        page.stage("centroid", "moons")
        page.page.get_by_role("button", name="Link", exact=True).click()
        page.until("document.querySelector('.lab-dialog h2')?.textContent.startsWith('A link')")
        link = page.page.locator(".lab-dialog textarea").input_value()
        page.page.get_by_role("button", name="Close", exact=True).click()
        points = page.points()
        page.stage("perceptron", "xor")
        page.js("(location.hash = '')")
        page.js("(location.hash = given)", link.partition("#")[2])
        page.until(f"{APP}.panes[0]?.answer?.algorithm === 'centroid'")
        page.settled()
        assert page.points() == points
        assert page.page.locator(".lab-pane").count() == 1


def test_the_planes_of_two_algorithms_are_saved_side_by_side(browser):
    with tab(browser) as page:
        page.page.get_by_role("button", name="Compare", exact=True).click()
        page.settled()
        with page.page.expect_download() as taken:
            page.page.get_by_role("button", name="SVG", exact=True).click()
        drawn = taken.value.path().read_text()
        assert drawn.count("<svg") == 3
        page.page.get_by_role("button", name="Python", exact=True).click()
        code = page.page.locator(".lab-dialog textarea").input_value()
        assert code.index("Perceptron(") < code.index("LogisticRegression(")


def test_a_film_of_a_long_walk_is_short(browser):
    with tab(browser) as page:
        page.stage("pocket", "overlapping")
        assert page.js(f"{APP}.time.length") > 200  # at 8 steps a second more than 25 seconds
        with page.page.expect_download() as taken:
            page.page.get_by_role("button", name="Film", exact=True).click()
            assert page.js(f"{APP}.time.length / {APP}.time.pace") <= 10.0
            page.page.locator(".lab-speed").select_option("4")  # and as quick as one likes
        assert taken.value.path().stat().st_size > 1000
