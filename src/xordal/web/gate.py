"""The gate: every request passes it before a route sees it, and every answer leaves with its headers.

A server on this computer can be reached by every page that the browser shows. So the gate asks four things, in
this order, and refuses what fails one of them:

* the Host header names this server. A foreign name that was made to point here (DNS rebinding) does not;
* whatever is not a plain GET carries the Origin of this very page: the one that belongs to that name, with
  https where something in front of the server encrypts. Streams are opened by POST, so that this one
  rule holds for them too; a missing Origin is refused like a foreign one;
* a GET does not come from another site's page, by the browser's own word (Sec-Fetch-Site), unless a person
  followed a link to the first page;
* it carries the cookie, which a browser gets once, for the token in the address that the terminal shows.

The token is used up by that, no answer repeats it, and no answer of the server redirects anywhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",  # bars of tables: a width each
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READING = {"GET", "HEAD"}
_PORTS = {"http": 80, "https": 443}
_ENTERED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>xordal</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">Go on</a></p></body></html>"""
_NO_COOKIE = (
    "This page belongs to the one who started it. Open the address that xordal serve printed in the terminal; "
    "each address works once, and a new one is printed when it was used."
)


@dataclass(slots=True)
class Keys:
    """The one-time token of the address, and what the browser that used it carries from then on."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def use(self, token: str) -> bool:
        """Whether this is the token; if so it is used up and there is a new one."""
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return False
        self.token = secrets.token_urlsafe(32)
        return True

    def opens(self, cookie: str) -> bool:
        """Whether a cookie is the one that was given out."""
        return secrets.compare_digest(cookie.encode(), self.cookie.encode())


class Gate:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app
        What lies behind the gate.
    keys
        The token and the cookie.
    origins
        The addresses by which browsers know this server, such as ``http://127.0.0.1:8765``.
    on_entry
        Called when a token was used up.
    """

    def __init__(
        self, app: ASGIApp, keys: Keys, origins: Iterable[str], on_entry: Callable[[], None] = lambda: None
    ) -> None:
        self._app, self._keys, self._on_entry = app, keys, on_entry
        known = [origin.lower() for origin in origins]
        self._origins = {host: origin for origin in known for host in _hosts_of(origin)}
        # Cookies do not know ports: two servers on one computer must not overwrite each other's.
        self._cookie = f"xordal-{'-'.join(sorted({str(_port_of(origin)) for origin in known}))}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._pass(scope, receive, _Sending(send))
        else:  # a web socket: there are none
            await send({"type": "websocket.close", "code": 1008})

    async def _pass(self, scope: Scope, receive: Receive, send: _Sending) -> None:
        answer = self._answer(scope)
        try:
            await (answer or self._app)(scope, receive, send)
        except Exception:
            if (
                not send.has_begun
            ):  # here, so that the answer to a mistake of ours has the headers of all others
                await _refused(500, "xordal made a mistake. Nothing of yours is lost.")(scope, receive, send)
            raise

    def _answer(self, scope: Scope) -> Response | None:
        """Return what the gate itself answers; None lets the request through."""
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or (own := self._origins.get(host[0].lower())) is None:
            return _refused(421, "This server does not go by that name.")
        origins = headers.getlist("origin")
        if scope["method"] not in _READING and origins != [own]:
            return _refused(403, "Only the page itself may change anything.")
        if any(origin != own for origin in origins) or not _is_from_here(scope, headers):
            return _refused(403, "Another site's page asked for this.")
        token = _token_in(
            scope
        )  # used up by a browser that is in already, too: it stays in the list of addresses
        if token is not None and self._keys.use(token):
            self._on_entry()
            return self._entered(is_encrypted=own.startswith("https:"))
        return None if self._has_cookie(headers) else _refused(401, _NO_COOKIE)

    def _has_cookie(self, headers: Headers) -> bool:
        # By hand: http.cookies stops at the first odd one, and other programs on this computer set those too.
        for line in headers.getlist("cookie"):
            for pair in line.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self._cookie and self._keys.opens(value):
                    return True
        return False

    def _entered(self, *, is_encrypted: bool) -> Response:
        # No redirect: a browser that came by a link from elsewhere would not send a strict cookie along.
        answer = HTMLResponse(_ENTERED)
        answer.set_cookie(
            self._cookie, self._keys.cookie, httponly=True, samesite="strict", path="/", secure=is_encrypted
        )
        return answer


def _port_of(origin: str) -> int:
    split = urlsplit(origin)
    return split.port or _PORTS[split.scheme]


def _hosts_of(origin: str) -> list[str]:
    """Return the values of the Host header that stand for an origin; browsers leave the usual port out."""
    split = urlsplit(origin)
    if _port_of(origin) != _PORTS[split.scheme]:
        return [split.netloc]
    name = split.netloc.removesuffix(f":{_PORTS[split.scheme]}")
    return [name, f"{name}:{_PORTS[split.scheme]}"]


def _is_from_here(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from our page or from a person; a followed link may lead to the first page."""
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return True
    return scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"


def _token_in(scope: Scope) -> str | None:
    """Return the token in the address of the first page."""
    if scope["method"] != "GET" or scope["path"] != "/":
        return None
    found = parse_qs(scope["query_string"].decode("ascii", "replace")).get("token")
    return found[0] if found else None


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(why, status)


class _Sending:
    """Sends an answer with the headers that every answer has; knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.has_begun = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            MutableHeaders(scope=message).update(HEADERS)
        await self._send(message)
