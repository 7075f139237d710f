"""Who visits the lab: two tabs, a tab whose server died, a page of another site, a finger faster than the fits."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from cli.test_command_lab import started
from lab.labpage import APP, LabPage, serve, stop, tab

from separatrix.lab.fits import answer
from separatrix.lab.start import start

pytestmark = pytest.mark.long


def test_two_tabs_of_one_browser(browser):
    server = serve()
    address = server.address
    with tab(browser, server) as page:
        second = page.page.context.new_page()
        second.goto(address)  # the token is spent, but the cookie lets it in
        second.wait_for_selector(".lab-badge")
        assert second.url == f"http://127.0.0.1:{server.port}/"
        page.stage("centroid", "xor")
    stop(server)


def test_a_server_that_is_killed_is_missed_and_found_again(browser):
    process, address = started()
    port = address.split(":")[2].partition("/")[0]
    context = browser.new_context()
    page = LabPage(context.new_page()).open(address)
    page.settled()
    process.kill()
    process.communicate()
    page.page.locator(".lab-algorithm").select_option("centroid")
    page.until("document.querySelector('.lab-banner').textContent.includes('does not answer')")
    assert len(page.points()) == 40  # nothing that was drawn is lost
    process, address = started("--port", port)
    page.until("document.querySelector('.lab-banner').textContent.includes('Open the address')")
    context.new_page().goto(address)  # lets this browser in again, and with it the tab that waits
    page.until(f"document.querySelector('.lab-banner').hidden && {APP}.panes[0].answer?.algorithm === 'centroid'")
    context.close()
    process.kill()
    process.communicate()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


def test_a_page_of_another_site_cannot_use_the_lab(browser, tmp_path):
    """Another port of this machine is the same site to a browser, which sends the cookie along: that is not enough."""
    asked = []
    server = serve(answers=lambda request: asked.append(request) or answer(request))
    (tmp_path / "index.html").write_text("<!doctype html><title>foreign</title>")
    foreign = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=foreign.serve_forever, daemon=True).start()
    context = browser.new_context()
    page = LabPage(context.new_page()).open(server.address)
    page.settled()
    before = len(asked)
    assert before > 0
    page.page.goto(f"http://127.0.0.1:{foreign.server_port}/")
    send = (
        "([port, options]) => fetch(`http://127.0.0.1:${port}/fit`, {method: 'POST', credentials: 'include', "
        "body: '{}', ...options}).then((reply) => reply.type, () => 'refused')"
    )
    plain = {"mode": "no-cors", "headers": {"Content-Type": "text/plain"}}
    assert page.page.evaluate(send, [server.port, plain]) == "refused"
    json_too = {"headers": {"Content-Type": "application/json"}}
    assert page.page.evaluate(send, [server.port, json_too]) == "refused"
    assert len(asked) == before
    context.close()
    foreign.shutdown()
    foreign.server_close()
    stop(server)


def test_while_a_fit_is_under_way_only_the_newest_request_waits(browser):
    asked, free = [], threading.Event()
    free.set()

    def slow(request):
        asked.append(request)
        free.wait(60)
        return answer(request)

    server = serve(answers=slow)
    with tab(browser, server) as page:
        page.stage("centroid", "separable")
        asked.clear()
        free.clear()
        x, y = page.place(3)
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        for step in range(60):
            page.page.mouse.move(x + step, y + step / 2)
        page.page.mouse.up()
        free.set()
        page.settled()
        assert len(asked) == 2  # of sixty changes: the first, and the last
        assert asked[-1]["X"] == [point[:2] for point in page.points()]
        assert not asked[-1]["draft"]
        assert page.js(f"{APP}.panes[0].X") == asked[-1]["X"]
    stop(server)


def test_a_server_that_is_silent_is_told_of_until_it_answers(browser):
    """And what the page said before is said again after."""
    free = threading.Event()
    free.set()
    server = serve(
        start(np.arange(12_000.0).reshape(-1, 2), np.arange(6000) % 2, ["a", "b"]),
        answers=lambda request: free.wait(60) and answer(request),
    )
    with tab(browser, server) as page:
        page.settled()
        note = "Of 6,000 rows 5,000 are drawn, evenly taken from each class."
        assert page.page.locator(".lab-banner").inner_text() == note
        free.clear()
        page.page.locator(".lab-algorithm").select_option("centroid")
        page.until("document.querySelector('.lab-banner').textContent.includes('has not answered yet')")
        free.set()
        page.settled()
        assert page.page.locator(".lab-banner").inner_text() == note
    stop(server)
