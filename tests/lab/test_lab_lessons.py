"""The lessons set stages that exist, and their tasks are told solved from not."""

import re

import pytest
from lab.labpage import APP, tab

from separatrix.lab.algorithms import ALGORITHMS
from separatrix.lab.files import FOLDER, lessons

pytestmark = pytest.mark.long

# what solves a task: an algorithm, settings, and points [x, y, class] or the name of data
FAR = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [4, 4, 1], [5, 4, 1], [4, 5, 1]]
CROSSED = [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
MANY = [[x, y, int(x > 4)] for x in (0, 1, 2, 9, 10, 11) for y in (0, 1)]
CORNERS = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
TIGHT = [[10, 10, 0], [10.5, 10, 0], [10, 10.6, 1], [10.4, 10.8, 1]]
SOLVED = {
    "separated": ("perceptron", {}, FAR),
    "proof-of-overlap": ("hard_margin", {}, CROSSED),
    "many-mistakes": ("perceptron", {"max_iter": 2000}, TIGHT),
    "few-mistakes": ("perceptron", {}, [[x - 5.5, y, c] for x, y, c in MANY]),
    "pocket-beats-walk": ("pocket", {}, [*MANY, [0.5, 0.5, 1]]),
    "bracket-closed": ("kozinec", {"rule": "wolfe", "epsilon": 0.01}, FAR),
    "kernel-separates-xor": ("kernel_perceptron", {"kernel": "rbf"}, CROSSED),
    "three-supports": ("hard_margin", {}, [[0, 0, 0], [2, 0, 0], [1, 3, 1], [1, 5, 1], [1, -1, 0]]),
    "wide-margin": ("hard_margin", {}, FAR),
    "all-at-C": ("svc", {"kernel": "linear", "C": 0.01}, [[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]]),
    "went-up": ("logistic", {"solver": "gradient", "learning_rate": 1.5}, "overlapping"),
    "no-maximum": ("logistic", {"solver": "newton", "C": None}, FAR),
    "newton-fast": ("logistic", {"solver": "newton"}, "overlapping"),
    "least-squares-errs": ("least_squares", {}, "outlier"),
    "centroid-errs": ("centroid", {}, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 0], [3, 3, 1], [4, 3, 1]]),
    "bayes-curve": ("naive_bayes", {"shared_variance": False}, "overlapping"),
    "fewest-settled": ("fewest_errors", {}, "eighteen"),
    "three-classes": ("softmax", {"pivot": 1}, "three"),
    "lifted-apart": ("lift", {"map": "product"}, [[x - 0.5, y - 0.5, c] for x, y, c in CROSSED]),
    "still-wrong": ("perceptron", {"init": [0, 0, 60]}, FAR),
    "bound-met": ("perceptron", {}, [[-3, 0, 0], [3, 0, 1]]),
    "m-of-d": ("perceptron", {"init": [1, 1, -2], "boundary": "positive"}, CORNERS),
    "parity": ("hard_margin", {}, "parity"),
    "same-walk": ("kernel_perceptron", {"kernel": "poly"}, CROSSED),
    "soft-is-hard": ("svc", {"kernel": "linear", "C": 1000}, FAR),
    "no-false-alarm": ("logistic", {"solver": "newton", "threshold": 0.95}, "overlapping"),
    "stuck": ("logistic", {"loss": "squared_error", "C": 100, "init": [-30, -30, 0]}, "overlapping"),
}
NOT_YET = [[0, 0, 0], [1, 5, 1], [2, 1, 0], [3, 6, 1], [7, 0, 0]]  # separable, uneven, and no answer to any task


def tasks(*some):
    """The names of the tasks of these lessons, or of all."""
    return re.findall(r"<!-- task: ([\w-]+) -->", "".join(lesson["text"] for lesson in some or lessons()))


def test_each_task_has_a_judge_and_each_lesson_a_stage():
    assert len(lessons()) >= 12
    assert set(tasks()) == set(SOLVED)
    script = (FOLDER / "page" / "lessons.js").read_text()
    assert set(re.findall(r'^  "?([\w-]+)"?: \(\$\)', script, re.MULTILINE)) == set(SOLVED)
    for lesson in lessons():
        staged = re.findall(r"<!-- try: (.*) -->", lesson["text"])
        assert staged, lesson["name"]
        for words in staged:
            given = dict(pair.split("=") for pair in words.split())
            assert set(given) - {"data", "algorithm"} <= set(ALGORITHMS[given["algorithm"]].settings), words
            assert f"  {given['data']}: " in (FOLDER / "page" / "data.js").read_text(), words


def test_no_lesson_is_chosen_before_any_was_open(browser):
    with tab(browser) as page:  # which must end without an error
        page.page.locator(".lab-lessons").select_option("")
        page.settled()


@pytest.mark.parametrize("lesson", range(len(lessons())))
def test_the_stage_of_a_lesson_can_be_set(lab, lesson):
    lab.page.locator(".lab-lessons").select_option(str(lesson))
    for button in lab.page.locator(".lab-lesson button", has_text="Set the stage").all():
        button.click()
        lab.settled()
        assert lab.page.locator(".lab-problem").inner_text() == ""
        assert lab.answer()["algorithm"] in ALGORITHMS
        assert lab.page.locator(".lab-solved").count() == 0  # what the lesson puts there is no answer to it
    lab.page.locator(".lab-lesson button", has_text="Close").click()
    assert not lab.page.locator(".lab-lesson").is_visible()


@pytest.mark.parametrize("task", SOLVED)
def test_a_solved_task_is_told_from_one_that_is_not(lab, task):
    algorithm, settings, points = SOLVED[task]
    number = next(i for i, lesson in enumerate(lessons()) if f"task: {task} " in lesson["text"])
    lab.load(NOT_YET)
    lab.stage("centroid" if algorithm != "centroid" else "naive_bayes")
    lab.page.locator(".lab-lessons").select_option("")
    lab.page.locator(".lab-lessons").select_option(str(number))
    place = tasks(lessons()[number]).index(task)
    item = lab.page.locator(".lab-task").nth(place)
    assert "lab-solved" not in item.get_attribute("class")
    lab.stage(algorithm, points if isinstance(points, str) else None)
    lab.page.evaluate(f"(given) => Object.assign({APP}.panes[0].settings, given)", settings)
    lab.js(f"{APP}.panes[0].ask(false)")
    if not isinstance(points, str):
        lab.load(points)
    lab.settled()
    lab.until(f"[...document.querySelectorAll('.lab-task')][{place}].classList.contains('lab-solved')")


def test_a_student_changes_the_stage_and_solves_a_task(lab):
    """The lesson on the widest street, with the mouse: a margin of at least 1, from the points on the stage."""
    number = next(i for i, lesson in enumerate(lessons()) if "task: wide-margin " in lesson["text"])
    lab.page.locator(".lab-lessons").select_option(str(number))
    lab.page.locator(".lab-lesson button", has_text="Set the stage").first.click()
    lab.settled()
    task = lab.page.locator(".lab-task", has_text="A margin of at least 1")
    while lab.answer()["certificate"]["lower"] < 1:
        assert "lab-solved" not in task.get_attribute("class")
        lab.page.get_by_role("button", name="Erase", exact=True).click()
        lab.page.mouse.click(*lab.place(lab.answer()["model"]["support"][0]))
        lab.settled()
    lab.until("document.querySelector('.lab-solved')")
    assert "lab-solved" in task.get_attribute("class")
    lab.page.get_by_role("button", name="Draw", exact=True).click()
    lab.page.locator(".lab-lesson button", has_text="Close").click()
