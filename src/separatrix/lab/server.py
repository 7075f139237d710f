"""The lab's server: one page, its script and styles, and ``POST /fit``; on 127.0.0.1 only, for whoever holds the token.

The address that is opened holds a token. The first request with it gets a cookie that scripts cannot read and other
sites cannot send, and is redirected to the address without it; after that the token opens nothing. What is asked for
must name this server (Host), and what is posted must come from its own page (Origin): a page of another site, or a name
that someone points at 127.0.0.1, is refused before anything is read.
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Callable, Mapping
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from separatrix.lab.files import module, page, styles
from separatrix.lab.start import beginning

__all__ = ["LabServer"]

HOST = "127.0.0.1"
BODY = 4 * 2**20  # bytes of a request: 20,000 points are about one million
PATIENCE = 30.0  # seconds without a byte after which a connection is closed

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Refused(Exception):
    """A request that is not answered: a status, and a sentence that says why."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class LabServer(ThreadingHTTPServer):
    """Serves the lab until it is closed.

    Parameters
    ----------
    answer : function
        What ``POST /fit`` does with the JSON object sent; returns the one to send back. Calls come one at a time.
    start : mapping
        What the page begins with: points, labels, names.
    port : int
        0 for any that is free.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer: Answer, start: Mapping[str, Any] | None = None, port: int = 0) -> None:
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            raise OSError(
                error.errno, f"Port {port} cannot be listened on ({error.strerror}): choose another"
            ) from None
        self.answer, self.start = answer, dict(start or {})
        self._token: str | None = secrets.token_urlsafe(32)
        self.secret = secrets.token_urlsafe(32)
        self._exchange, self._fitting = Lock(), Lock()

    @property
    def port(self) -> int:
        """The port listened on."""
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """The address to open: once."""
        return f"http://{HOST}:{self.port}/?token={self._token}"

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers do not tell ports apart, so each server has its own."""
        return f"separatrix_lab_{self.port}"

    def exchange(self, token: str) -> bool:
        """Whether this is the token, which is used up by asking with it."""
        with self._exchange:
            if self._token is None or not same(token, self._token):
                return False
            self._token = None
            return True

    def fit(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to one request; one after the other, as fits use all cores."""
        with self._fitting:
            return self.answer(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that the browser dropped is no news; `Handler` answers every other error itself."""


def same(given: str, secret: str) -> bool:
    """Whether two texts are equal, in a time that does not tell how far they agree."""
    return compare_digest(given.encode(), secret.encode())


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LabServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "separatrix", ""
    timeout = PATIENCE

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        """The page and its parts."""
        self._guarded(self._get)

    def do_POST(self) -> None:
        """A fit."""
        self._guarded(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is for the address, not for each request."""

    # ------------------------------------------------------------------ who asks
    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            self._check_host()
            work()
        except Refused as refusal:
            self.close_connection = True  # what was sent along is not read
            if "text/html" in self.headers.get("Accept", ""):  # a person looks at it
                self._send(str(refusal).encode(), "text/plain", refusal.status)
            else:
                self._send_json({"error": str(refusal)}, refusal.status)
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _check_host(self) -> None:
        own = [[f"{name}:{self.server.port}"] for name in (HOST, "localhost")]
        if self.headers.get_all("Host", []) not in own:
            raise Refused(HTTPStatus.FORBIDDEN, "This server answers only to its own address on this machine.")

    def _check_cookie(self) -> None:
        try:
            given = SimpleCookie("; ".join(self.headers.get_all("Cookie") or [])).get(self.server.cookie)
        except CookieError:
            given = None
        if given is None or not same(given.value, self.server.secret):
            raise Refused(
                HTTPStatus.UNAUTHORIZED, "Open the address that separatrix lab printed: it lets this browser in, once."
            )

    def _check_origin(self) -> None:
        """Of a POST: browsers say which page it comes from, and whoever does not say so is no page of ours."""
        own = f"http://{self.headers['Host']}"
        if (
            self.headers.get_all("Origin") != [own]
            or self.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin"
        ):
            raise Refused(HTTPStatus.FORBIDDEN, "Only the lab's own page may ask for a fit.")

    # ------------------------------------------------------------------ what is asked
    def _get(self) -> None:
        parts = urlsplit(self.path)
        tokens = parse_qs(parts.query).get("token", [])
        if parts.path == "/" and tokens:
            self._let_in(tokens[0])
            return
        self._check_cookie()
        texts: Mapping[str, tuple[str, Callable[[], str]]] = {
            "/": ("text/html", page),
            "/lab.js": ("text/javascript", module),
            "/lab.css": ("text/css", styles),
            "/host.js": ("text/javascript", lambda: module("host")),
            "/start.json": ("application/json", lambda: json.dumps(beginning(self.server.start))),
        }
        if parts.path == "/fit":
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "A fit is asked for with POST.")
        if parts.path not in texts:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here; the lab is at /.")
        kind, text = texts[parts.path]
        self._send(text().encode(), kind)

    def _let_in(self, token: str) -> None:
        """The cookie for the token, and away from the address that holds it; a second tab has the cookie already."""
        headers = {"Location": "/"}
        if self.server.exchange(token):
            headers["Set-Cookie"] = f"{self.server.cookie}={self.server.secret}; HttpOnly; SameSite=Strict; Path=/"
        else:
            self._check_cookie()
        self._send(b"", "text/plain", HTTPStatus.SEE_OTHER, headers)

    def _post(self) -> None:
        self._check_origin()
        self._check_cookie()
        if urlsplit(self.path).path != "/fit":
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing to post to here but /fit.")
        request = self._body()
        try:
            self._send_json(self.server.fit(request))
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:  # a fault of ours: the page says so, and the server goes on
            self._send_json({"error": f"The lab failed: {error}"}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _body(self) -> Mapping[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A request must be JSON.")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "A request must say how long it is.")
        if len(length) > 12 or int(length) > BODY:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A request may have at most {BODY // 2**20} megabytes.")
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "The request is not JSON.") from None
        if not isinstance(request, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "The request must be a JSON object.")
        return request

    # ------------------------------------------------------------------ what is sent
    def _send_json(self, content: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(content, allow_nan=False).encode(), "application/json", status)

    def _send(
        self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        if kind.startswith("text/"):
            kind += "; charset=utf-8"
        lines = {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}
        if self.close_connection:
            lines["Connection"] = "close"
        for name, value in lines.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
