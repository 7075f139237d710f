"""The widget: the same page with the kernel in the server's place. In notebooks proper where these are installed."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from lab.labpage import APP, PATIENCE, LabPage
from scipy.sparse import csr_matrix

import separatrix.lab
from separatrix.lab.files import module, styles
from separatrix.lab.fits import answer
from separatrix.lab.start import beginning, start

X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [3.0, 4.0]])
Y = np.array(["no", "no", "yes", "yes", "yes"])
CODE = "from separatrix.lab import Lab\nshown = Lab([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])\nshown"


def test_without_anywidget_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "separatrix.lab.widget", raising=False)
    with pytest.raises(ImportError, match=re.escape("pip install 'separatrix[lab]'")):
        _ = separatrix.lab.Lab
    with pytest.raises(AttributeError, match="Labs"):
        _ = separatrix.lab.Labs


def test_a_start_is_two_columns_of_finite_numbers_and_up_to_six_classes():
    found = start(X, Y, ["a", "b"])
    assert found["X"] == X.tolist()
    assert found["y"] == [0, 0, 1, 1, 1]
    assert found["classes"] == ["no", "yes"]
    for bad, labels, words in (
        (X[:, :1], Y, "two columns"),
        (X, Y[:2], "a label for each point"),
        (X, np.array([Y, Y]), "a label for each point"),
        (X.ravel(), Y, "two columns"),
        (X + 1j, Y, "real numbers"),
        ([["a", 1.0]] * 5, Y, "real numbers"),
        (X, [1.0, 2.0, np.nan, 2.0, np.nan], "Label 2 is missing, and 1 more"),
        (X, [None, "no", "yes", "no", "yes"], "Label 0 is missing"),
        (np.where(X > 3, np.nan, X), Y, "finite"),
        (np.zeros((7, 2)), np.arange(7), "6 classes"),
    ):
        with pytest.raises(separatrix.DataError, match=words):
            start(bad, labels, ["a", "b"])
    with pytest.raises(separatrix.DataError, match="1 names"):
        start(X, Y, ["a"])


@pytest.mark.parametrize(
    ("points", "labels", "classes"),
    [
        (X.tolist(), tuple(Y), ["no", "yes"]),
        (csr_matrix(X), Y[:, None], ["no", "yes"]),
        (X.astype(np.int8), Y == "yes", ["False", "True"]),
        (X.astype(object), np.array([1, 1, "yes", "yes", "yes"], dtype=object), ["1", "yes"]),
    ],
)
def test_points_and_labels_are_taken_as_scikit_learn_takes_them(points, labels, classes):
    found = start(points, labels, ["a", "b"])
    assert found["X"] == X.tolist()
    assert found["y"] == [0, 0, 1, 1, 1]
    assert found["classes"] == classes
    json.dumps(found, allow_nan=False)


def test_of_many_rows_some_are_drawn_and_it_says_so():
    many = np.random.default_rng(0).normal(size=(50_001, 2))
    found = start(many, many[:, 0] > 0, ["a", "b"])
    assert 5000 - 2 <= len(found["X"]) == len(found["y"]) <= 5000
    assert found["note"].startswith(f"Of 50,001 rows {len(found['X']):,} are drawn")
    rows = {tuple(row): label for row, label in zip(many.tolist(), (many[:, 0] > 0).tolist(), strict=True)}
    assert all(rows[tuple(point)] == label for point, label in zip(found["X"], found["y"], strict=True))
    assert start(X, Y, ["a", "b"])["note"] == ""


def test_the_widget_answers_by_id_and_takes_frames_with_names():
    pytest.importorskip("anywidget")
    pandas = pytest.importorskip("pandas")
    widget = separatrix.lab.Lab(pandas.DataFrame(X, columns=["height", "width"]), Y)
    assert widget.start["names"] == ["height", "width"]
    assert widget.start["notebook"]
    assert widget._esm == module()
    sent = []
    widget.send = sent.append
    request = {"id": "0.1", "algorithm": "centroid", "X": X.tolist(), "y": [0, 0, 1, 1, 1]}
    widget._answer(widget, request, [])
    assert sent == [{"id": "0.1", "answer": answer(request)}]
    json.dumps(sent, allow_nan=False)
    with pytest.raises(ValueError, match="come together"):
        separatrix.lab.Lab(X)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextmanager
def hosted(browser, folder, script):
    """A page of another host, with the module, its styles, and a `model` whose answers all who listen hear."""
    page = LabPage(browser.new_page(viewport={"width": 900, "height": 800}))
    page.page.expose_function("fitted", lambda request: answer(request))
    (folder / "lab.js").write_text(module(), encoding="utf-8")
    (folder / "lab.css").write_text(styles(), encoding="utf-8")
    begin = json.dumps({**beginning(start(X, Y, ["a", "b"])), "notebook": True})
    (folder / "host.html").write_text(
        f"""<!doctype html><meta charset="utf-8"><body>
        <script type="module">
        import lab from "./lab.js";
        const heard = [];
        const model = {{
          get: (name) => ({{ start: {begin} }})[name],
          send: async (request) => {{
            const found = await fitted(request);
            heard.forEach((tell) => tell({{ id: request.id, answer: found }}, []));
          }},
          on: (event, tell) => event === "msg:custom" && heard.push(tell),
        }};
        const el = Object.assign(document.createElement("div"), {{ id: "lab" }});
        {script}
        </script>""",
        encoding="utf-8",
    )
    files = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=files.serve_forever, daemon=True).start()
    yield page.open(f"http://127.0.0.1:{files.server_port}/host.html")
    page.page.close()
    files.shutdown()
    files.server_close()


LATE = """
const styles = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "lab.css" });
window.close = lab.render({ model, el });
setTimeout(() => document.body.append(el), 100);
setTimeout(() => document.head.append(styles), 300);
"""


def test_the_module_runs_in_a_host_that_has_no_more_than_the_stated_model(browser, tmp_path):
    """get, send and on: what anywidget gives. The element may come to the page, and its styles to it, later."""
    with hosted(browser, tmp_path, LATE) as page:
        page.settled()
        assert page.js(f"{APP}.store.labels") == ["no", "yes"]
        page.until(f"{APP}.colours.ink.startsWith('#')")
        page.until(f"({DRAWN})({APP}) > 100")
        assert page.page.get_by_role("button", name="Link", exact=True).count() == 0  # a notebook has no place for it
        page.stage("hard_margin", "xor")
        assert page.js(f"{APP}.panes[0].checked.holds")
        page.js("window.close()")
        assert page.page.locator(".lab").count() == 0


@pytest.mark.parametrize(
    "words", [("data-jp-theme-light", "false", "true"), ("class", "a dark-theme", "b vscode-light")]
)
def test_the_colours_are_those_of_the_notebook(browser, tmp_path, words):
    """JupyterLab, marimo and VS Code have themes of their own, which may change while the lab is there."""
    name, dark, light = words
    with hosted(browser, tmp_path, LATE) as page:
        page.until(f"{APP}.colours.paper === '#ffffff'")
        page.js("document.body.setAttribute(...given)", [name, dark])
        page.until(f"{APP}.colours.paper === '#12171d'")
        page.page.emulate_media(color_scheme="dark")
        page.js("document.body.setAttribute(...given)", [name, light])
        page.until(f"{APP}.colours.paper === '#ffffff'")
        page.js("document.body.removeAttribute(given)", name)
        page.until(f"{APP}.colours.paper === '#12171d'")


TWO = """
const other = (await import("./lab.js?again")).default;
const second = document.createElement("div");
document.body.append(el, second);
lab.render({ model, el });
other.render({ model, el: second });
const points = (n) => Array.from({ length: n }, (_, i) => ({ x: i, y: i * i, c: i % 2 }));
await Promise.all([el.lab.ready, second.lab.ready]);
el.lab.store.load(points(6));
second.lab.store.load(points(9));
window.both = [el.lab, second.lab];
"""


def test_two_pages_of_one_kernel_do_not_take_each_others_answers(browser, tmp_path):
    """A kernel tells every page that shows the widget, and each page counts its requests from 1."""
    with hosted(browser, tmp_path, TWO) as page:
        page.until(
            "window.both?.every(({ store, panes: [pane] }) => pane.flight === null && pane.points === store.points)"
        )
        assert page.js("window.both.map((app) => app.panes[0].answer.model.dual_coef.length)") == [6, 9]


# how many pixels of the plane have the colour of the first class
DRAWN = """(app) => {
  const { canvas } = app.panes[0].plane, [r, g, b] = app.colours.rgb[0];
  const d = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0;
  for (let i = 0; i < d.length; i += 4) n += d[i] === r && d[i + 1] === g && d[i + 2] === b;
  return n;
}"""


@contextmanager
def running(folder, pattern, *words):
    """A notebook server in a process of its own; the address that it prints."""
    log = folder / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *words], stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=folder
        )
    try:
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, log.read_text())):
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)
        yield found[0]
    finally:
        process.kill()
        process.communicate()


def used(page):
    """The widget on this page: XOR is proved, points are drawn and dragged, and a step has the bits of the trace."""
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.locator(".lab-proof h3").first.wait_for(timeout=1000 * PATIENCE)
    inside = lambda words: page.locator(".lab").first.evaluate(f"(el) => ((app) => {words})(el.parentElement.lab)")  # noqa: E731

    def until(words):
        end = time.monotonic() + PATIENCE
        while not inside(f"!!({words})"):
            assert time.monotonic() < end, words
            page.wait_for_timeout(50)

    settled = "app.panes[0].flight === null && app.panes[0].points === app.store.points && !app.panes[0].answer.draft"
    until("app.colours.ink.startsWith('#')")
    assert inside(f"({DRAWN})(app)") > 100  # four points are seen
    columns = "new Set([...el.querySelectorAll('.lab-readout dt')].map((e) => e.getBoundingClientRect().left)).size"
    assert inside(columns) == 1
    assert inside(columns.replace("dt", "dd")) == 1
    assert (
        inside(
            "el.querySelector('dd').getBoundingClientRect().top - el.querySelector('dt').getBoundingClientRect().top"
        )
        == 0
    )
    page.locator(".lab-algorithm").first.select_option("hard_margin")
    page.locator(".lab-badge.lab-yes", has_text="this page").first.wait_for(timeout=1000 * PATIENCE)
    assert "exactly" in page.locator(".lab-claim").first.inner_text()
    assert len(inside("app.store.points")) == 4

    page.locator(".lab-algorithm").first.select_option("centroid")
    plane = page.locator(".lab-plane").first
    plane.scroll_into_view_if_needed()
    plane.click(position={"x": 60, "y": 60})  # draws a point
    until(f"app.store.points.length === 5 && {settled} && app.panes[0].checked?.holds")
    before = inside("app.panes[0].answer.certificate")
    box = plane.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 130, box["y"] + 110, steps=5)
    page.mouse.up()
    until(f"{settled} && app.panes[0].checked?.holds")
    assert inside("app.store.points.length") == 5
    assert inside("app.panes[0].answer.certificate") != before

    page.locator(".lab-algorithm").first.select_option("perceptron")
    page.locator(".lab-step", has_text="/").first.wait_for(timeout=1000 * PATIENCE)
    page.get_by_role("button", name="First step", exact=True).first.click()
    page.locator(".lab-sentence", has_text="Start").first.wait_for(timeout=1000 * PATIENCE)
    page.get_by_role("button", name="One step on", exact=True).first.click()
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(inside("app.panes[0].answer.python"), "copied", "exec"), names)
    assert inside("app.panes[0].answer.frames.weights[app.panes[0].k]") == names["model"].trace_["weights"][1].tolist()
    assert not faults


@pytest.mark.long
def test_in_jupyterlab(browser, tmp_path):
    pytest.importorskip("anywidget")
    pytest.importorskip("jupyterlab")
    TimeoutError = pytest.importorskip("playwright.sync_api").TimeoutError
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": CODE}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "lab.ipynb").write_text(json.dumps(notebook))
    words = ["jupyterlab", "--no-browser", "--port=0", "--ServerApp.ip=127.0.0.1", "--allow-root"]
    with running(tmp_path, r"http://127\.0\.0\.1:\d+/lab\?token=\w+", *words) as address:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(address.replace("/lab?", "/lab/tree/lab.ipynb?"))
        code = page.locator(".jp-Notebook .jp-CodeCell").first
        for _ in range(10):  # a notebook that is still loading may not hear the key
            code.click(timeout=1000 * PATIENCE)
            page.keyboard.press("Shift+Enter")
            with suppress(TimeoutError):
                code.locator(".jp-InputPrompt", has_text=re.compile(r"[*\d]")).wait_for(timeout=10_000)
                break
        used(page)
        page.close()


@pytest.mark.long
def test_in_marimo(browser, tmp_path):
    pytest.importorskip("anywidget")
    pytest.importorskip("marimo")
    body = "\n".join(f"    {line}" for line in CODE.splitlines())
    cell = f"@app.cell\ndef _():\n{body}\n    return\n"
    start_it = 'if __name__ == "__main__":\n    app.run()\n'
    (tmp_path / "page.py").write_text(f"import marimo\n\napp = marimo.App()\n\n\n{cell}\n\n{start_it}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["marimo", "run", "page.py", "--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    with running(tmp_path, rf"http://[\w.]+:{port}", *words) as address:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(address)
        used(page)
        page.close()


def test_node_reads_the_joined_module(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node on the path")
    path = Path(tmp_path, "lab.mjs")
    path.write_text(module(), encoding="utf-8")
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nothing_but_one_small_module():
    assert len(module().encode()) + len(styles().encode()) <= 150 * 1024
    assert "import " not in module().replace("important", "")
    assert "eval(" not in module()
