"""A lab in a real browser: the server in a thread, the page in Chromium."""

import threading
import time
from contextlib import contextmanager

from separatrix.lab.fits import answer
from separatrix.lab.server import LabServer

PATIENCE = 90.0  # seconds: a fit takes some hundredths, but machines share
APP = "document.getElementById('lab').lab"


def serve(start=None, port=0, secret=None, answers=answer):
    """A server in a thread of its own."""
    server = LabServer(answers, start, port)
    server.secret = secret or server.secret
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def stop(server):
    server.shutdown()
    server.server_close()


class LabPage:
    """A tab with the lab in it. The page's policy forbids eval, so that waiting is done from here."""

    def __init__(self, page):
        self.page, self.problems, self.failed, self.hosts = page, [], [], set()
        page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("requestfailed", lambda request: self.failed.append((request.url, request.failure)))
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def open(self, address):
        self.page.goto(address)
        self.until("document.getElementById('lab')")  # which a host may put on its page later
        self.until(f"{APP}?.panes[0]?.answer || document.querySelector('.lab-problem')?.textContent")
        return self

    def js(self, expression, argument=None):
        return self.page.evaluate(f"(given) => ({expression})", argument)

    def until(self, expression):
        """Wait until the expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.js(f"!!({expression})"):
            assert time.monotonic() < end, f"never came true: {expression}"
            self.page.wait_for_timeout(15)

    def settled(self):
        """Wait until every pane has the whole answer about the points as they are, and has checked it."""
        self.until(
            f"{APP}.panes.every((p) => p.flight === null && (p.problem.textContent || (p.points === {APP}.store.points"
            " && !p.answer.draft && (p.checked || !p.answer.certificate))))"
        )
        self.drawn()

    def drawn(self):
        """Wait until the picture is of what there is: it is drawn with the next frame, whenever that comes."""
        self.until(f"!{APP}.pending")

    def stage(self, algorithm, data=None, **settings):
        """Another algorithm on other data."""
        words = {"algorithm": algorithm, **({"data": data} if data else {}), **settings}
        self.page.evaluate(f"(given) => {APP}.stage(given)", words)
        self.settled()

    def load(self, points):
        """Points [x, y, class]."""
        self.page.evaluate(f"(given) => {APP}.store.load(given.map(([x, y, c]) => ({{ x, y, c }})))", points)
        self.settled()

    def answer(self):
        return self.js(f"{APP}.panes[0].answer")

    def points(self):
        return self.js(f"{APP}.store.points.map((p) => [p.x, p.y, p.c])")

    def place(self, i):
        """Where point i is on the screen."""
        self.page.locator(".lab-plane").first.scroll_into_view_if_needed()
        where = "[box.left + plane.map.X(p.x), box.top + plane.map.Y(p.y)]"
        return self.js(
            f"((p, plane, box) => {where})({APP}.store.points[given], {APP}.panes[0].plane, "
            f"{APP}.panes[0].plane.canvas.getBoundingClientRect())",
            i,
        )


def choose(page, name, words):
    """Another value of a choice, by its words."""
    page.page.locator(f"[data-name={name}]").select_option(label=words)
    page.settled()


@contextmanager
def tab(browser, server=None, **options):
    """A page in a context of its own, which must end without an error and without a request to any other host."""
    own = server is None
    server = server or serve()
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    context.set_default_timeout(1000 * PATIENCE)
    page = LabPage(context.new_page())
    try:
        yield page.open(server.address)
        assert page.problems == [], (page.problems, page.failed)
        assert page.hosts == {f"127.0.0.1:{server.port}"}
    finally:
        context.close()
        if own:
            stop(server)
