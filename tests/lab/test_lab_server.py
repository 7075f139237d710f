"""The lab's server lets in whoever holds the token, once, and nobody else."""

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest

from separatrix.lab.server import BODY, LabServer


@pytest.fixture
def server():
    def answer(request):
        if request.get("fail"):
            raise RuntimeError("on purpose")
        return {"got": request}

    started = LabServer(answer, {"names": ["a", "b"]})
    thread = threading.Thread(target=started.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield started
    started.shutdown()
    started.server_close()
    thread.join()


def ask(server, method, path, body=None, **headers):
    """Status, headers and text of a request sent as it is, without a browser's manners."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    given = {"Host": f"127.0.0.1:{server.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in given.items():
        connection.putheader(name, value)
    if body is not None and "Content-Length" not in given:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, reply.headers, text


def enter(server):
    """The cookie that the token is exchanged for."""
    parts = urlsplit(server.address)
    status, headers, _ = ask(server, "GET", f"{parts.path}?{parts.query}")
    assert status == 303
    assert headers["Location"] == "/"
    return headers["Set-Cookie"].partition(";")[0]


def post(server, cookie, body=b"{}", path="/fit", **headers):
    usual = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{server.port}", "Content-Type": "application/json"}
    return ask(server, "POST", path, body, **(usual | {name.replace("_", "-"): h for name, h in headers.items()}))


def test_the_token_is_exchanged_once_for_a_cookie_that_no_script_and_no_other_site_can_use(server):
    address = urlsplit(server.address)
    _, headers, _ = ask(server, "GET", f"/?{address.query}")
    words = {word.strip() for word in headers["Set-Cookie"].split(";")[1:]}
    assert words == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert address.query.partition("=")[2] not in headers["Set-Cookie"]
    status, headers, text = ask(server, "GET", f"/?{address.query}")
    assert status == 401
    assert "Set-Cookie" not in headers
    assert "Open the address" in json.loads(text)["error"]


def test_a_second_tab_with_the_cookie_is_led_away_from_the_token(server):
    query = urlsplit(server.address).query
    cookie = enter(server)
    status, headers, _ = ask(server, "GET", f"/?{query}", Cookie=cookie)
    assert (status, headers["Location"]) == (303, "/")
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("token", ["", "x", "é", "A" * 43])
def test_a_wrong_token_opens_nothing_and_uses_nothing_up(server, token):
    from urllib.parse import quote

    assert ask(server, "GET", f"/?token={quote(token)}")[0] == 401
    enter(server)


@pytest.mark.parametrize("path", ["/", "/lab.js", "/lab.css", "/host.js", "/start.json", "/fit", "/etc/passwd"])
@pytest.mark.parametrize("cookie", [None, "separatrix_lab=1", "separatrix_lab_{port}=", "{name}=\x01;;;="])
def test_nothing_is_served_without_the_cookie(server, path, cookie):
    given = {} if cookie is None else {"Cookie": cookie.format(port=server.port, name=server.cookie)}
    assert ask(server, "GET", path, **given)[0] == 401


def test_the_page_runs_no_script_but_its_own(server):
    status, headers, text = ask(server, "GET", "/", Cookie=enter(server))
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "<script type" in text
    assert "style=" not in text
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_fit_is_asked_for_by_post(server):
    cookie = enter(server)
    status, headers, text = post(server, cookie, b'{"a": [1.5]}')
    assert (status, json.loads(text)) == (200, {"got": {"a": [1.5]}})
    assert headers.get_content_type() == "application/json"
    status, _, text = ask(server, "GET", "/fit", Cookie=cookie)
    assert (status, json.loads(text)["error"]) == (405, "A fit is asked for with POST.")
    assert post(server, cookie, path="/")[0] == 404
    assert ask(server, "PUT", "/fit", b"{}", Cookie=cookie)[0] == 501


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.example"]
)
def test_a_foreign_name_for_this_machine_is_refused(server, host):
    cookie = enter(server)
    host = host.format(port=server.port)
    assert ask(server, "GET", "/", Cookie=cookie, Host=host)[0] == 403
    assert post(server, cookie, Host=host, Origin=f"http://{host}")[0] == 403


def test_localhost_is_this_machine_too(server):
    cookie, host = enter(server), f"localhost:{server.port}"
    assert post(server, cookie, Host=host, Origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", ""]
)
def test_a_page_of_another_site_cannot_post(server, origin):
    status, _, text = post(server, enter(server), Origin=origin.format(port=server.port))
    assert (status, json.loads(text)["error"]) == (403, "Only the lab's own page may ask for a fit.")


def test_who_does_not_say_where_a_post_comes_from_is_refused(server):
    cookie = enter(server)
    status, _, _ = ask(server, "POST", "/fit", b"{}", Cookie=cookie, Content_Type="application/json")
    assert status == 403
    assert post(server, cookie, Sec_Fetch_Site="cross-site")[0] == 403


def test_posts_without_the_cookie_are_refused(server):
    enter(server)
    assert post(server, f"{server.cookie}=wrong")[0] == 401


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content_Type": "text/plain"}, b"{}", 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, b"a=1", 415),
        ({"Content_Length": "12x"}, b"{}", 411),
        ({"Content_Length": "-1"}, b"{}", 411),
        ({"Transfer_Encoding": "chunked"}, b"{}", 411),
        ({"Content_Length": str(BODY + 1)}, b"{}", 413),
        ({"Content_Length": "9" * 5000}, b"{}", 413),
        ({}, b"{", 400),
        ({}, b"\xff\xfe", 400),
        ({}, b"[" * 100_000, 400),
        ({}, b"[1]", 400),
    ],
)
def test_what_is_no_request_gets_a_sentence(server, headers, body, status):
    found, _, text = post(server, enter(server), body, **headers)
    assert found == status
    assert json.loads(text)["error"].endswith(".")


def test_who_opens_a_spent_address_reads_a_sentence(server):
    """In another browser, say: text, not the JSON that the page's script gets."""
    enter(server)
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    status, headers, text = ask(server, "GET", "/?token=spent", Accept=accept)
    assert status == 401
    assert headers.get_content_type() == "text/plain"
    assert text == "Open the address that separatrix lab printed: it lets this browser in, once."


def test_a_failure_is_a_sentence_and_the_server_goes_on(server):
    cookie = enter(server)
    status, _, text = post(server, cookie, b'{"fail": true}')
    assert (status, json.loads(text)["error"]) == (500, "The lab failed: on purpose")
    assert post(server, cookie)[0] == 200


def test_only_this_machine_can_connect(server):
    assert server.server_address[0] == "127.0.0.1"
