"""Every route lies behind one gate: without cookie, under a foreign name or from another page none answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.serving import HOST, OWN, application
from xordal.web.app import Site, make_app
from xordal.web.gate import POLICY, Keys
from xordal.web.store import Store

RUN = "0123456789abcdef"


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def app(tmp_path: Path, keys: Keys) -> Starlette:
    return application(tmp_path / "runs", keys)


@pytest.fixture
def client(app: Starlette) -> TestClient:
    """Return a client without runs and without a cookie: a request that passes the gate fails loudly."""
    return TestClient(app, base_url=OWN, raise_server_exceptions=True)


def asked(app: Starlette) -> list[tuple[str, str]]:
    """Return a request for each route and method; a route of another type would be a door without this test."""
    found = []
    for route in app.routes:
        assert isinstance(route, Route), f"{route} is no plain route: extend this test to it"
        path = route.path.replace("{run}", RUN).replace("{what}", "json").replace("{name}", "page.js")
        assert "{" not in path
        found += [(method, path) for method in sorted(route.methods or ())]
    return found


def with_cookie(client: TestClient, keys: Keys) -> TestClient:
    assert client.get("/", params={"token": keys.token}).status_code == 200
    return client


def test_there_is_something_to_ask(app: Starlette) -> None:
    assert len(asked(app)) > 14
    assert ("POST", f"/api/runs/{RUN}/events") in asked(app)


def test_no_route_answers_without_a_token(app: Starlette, client: TestClient) -> None:
    for method, path in [*asked(app), ("GET", "/nowhere"), ("GET", "/docs"), ("OPTIONS", "/")]:
        answer = client.request(method, path, headers={"origin": OWN})
        assert answer.status_code == 401, (method, path)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["", "x", "é", "a" * 43, '"; Path=/'])
def test_no_route_answers_to_a_wrong_cookie(app: Starlette, client: TestClient, cookie: str) -> None:
    for method, path in asked(app):
        headers = [(b"origin", OWN.encode()), (b"cookie", f"xordal-8765={cookie}".encode("latin-1"))]
        assert client.request(method, path, headers=headers).status_code == 401


@pytest.mark.parametrize("token", ["", "x", "a" * 43])
def test_a_wrong_token_opens_nothing(client: TestClient, token: str) -> None:
    assert client.get("/", params={"token": token}).status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8765", ""],
)
def test_dns_rebinding_a_foreign_name_is_refused(
    app: Starlette, client: TestClient, keys: Keys, host: str
) -> None:
    with_cookie(client, keys)
    for method, path in asked(app):
        answer = client.request(method, path, headers={"host": host, "origin": f"http://{host}"})
        assert answer.status_code == 421, (method, path)


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "https://127.0.0.1:8765", "http://127.0.0.1:9999", f"{OWN}/", ""],
)
def test_what_changes_anything_or_streams_needs_the_pages_own_origin(
    app: Starlette, client: TestClient, keys: Keys, origin: str | None
) -> None:
    with_cookie(client, keys)
    for method, path in asked(app):
        if method not in ("GET", "HEAD"):
            headers = {} if origin is None else {"origin": origin}
            assert client.request(method, path, headers=headers).status_code == 403, (method, path)


def test_two_origins_are_none(client: TestClient, keys: Keys) -> None:
    with_cookie(client, keys)
    headers = [("origin", OWN), ("origin", "http://evil.example")]
    assert client.post(f"/api/runs/{RUN}/stop", headers=headers).status_code == 403


@pytest.mark.slow  # starts a process
def test_every_stream_needs_cookie_host_and_origin(app: Starlette, keys: Keys) -> None:
    """In marimo (CVE-2026-39987) one stream lacked the check that all others had.

    A stream is known by what it answers, whatever its route is called.
    """
    with TestClient(app, base_url=OWN) as client:
        with_cookie(client, keys)
        headers = {"origin": OWN, "x-file-name": "small.csv"}
        run = client.post("/api/runs", content=b"a,b\n0,1\n1,0\n", headers=headers).json()["id"]
        streams = []
        for method, path in asked(app):
            if method == "DELETE":
                continue
            address = f"{path.replace(RUN, run)}?now"
            answer = client.request(method, address, headers={"origin": OWN})
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                streams.append((method, address))
        assert [method for method, _ in streams] == ["POST"]
        for method, address in streams:
            assert client.request(method, address).status_code == 403
            assert client.request(method, address, headers={"origin": "http://evil.example"}).status_code == 403
            foreign = {"host": "evil.example:8765", "origin": "http://evil.example:8765"}
            assert client.request(method, address, headers=foreign).status_code == 421
            client.cookies.clear()
            assert client.request(method, address, headers={"origin": OWN}).status_code == 401


def test_web_sockets_are_refused(client: TestClient, keys: Keys) -> None:
    with_cookie(client, keys)
    for path in ("/", f"/api/runs/{RUN}/events", "/terminal/ws"):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(path):
            pass


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_sites_page_reads_nothing(app: Starlette, client: TestClient, keys: Keys, site: str) -> None:
    with_cookie(client, keys)
    for method, path in asked(app):
        if method == "GET":
            answer = client.get(path, headers={"sec-fetch-site": site, "sec-fetch-mode": "no-cors"})
            assert answer.status_code == 403, path
    for path in ("/static/page.js", "/api/start"):  # nor by a link that leads past the first page
        answer = client.get(path, headers={"sec-fetch-site": site, "sec-fetch-mode": "navigate"})
        assert answer.status_code == 403


def test_a_token_works_once_and_is_in_no_answer(client: TestClient, keys: Keys) -> None:
    token = keys.token
    answer = client.get("/", params={"token": token})
    assert answer.status_code == 200
    assert token not in answer.text + str(answer.headers)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
    assert keys.token != token  # there is a new one
    client.cookies.clear()
    assert client.get("/", params={"token": token}).status_code == 401


def test_a_token_is_used_up_by_a_browser_that_is_in_already(client: TestClient, keys: Keys) -> None:
    """The address stays in the browser's history, and may be seen in its address bar."""
    with_cookie(client, keys)
    token = keys.token
    answer = client.get("/", params={"token": token})
    assert "refresh" in answer.text  # goes on to the page, whose address has no token
    assert keys.token != token
    client.cookies.clear()
    assert client.get("/", params={"token": token}).status_code == 401


@pytest.mark.slow  # starts a process
def test_no_answer_gives_away_the_next_token_or_the_cookie(app: Starlette, keys: Keys) -> None:
    """Every route, asked for a run that is there and for one that is not, with a body that is no JSON."""
    with TestClient(app, base_url=OWN) as client:
        with_cookie(client, keys)
        headers = {"origin": OWN, "x-file-name": "small.csv"}
        run = client.post("/api/runs", content=b"a,b\n0,1\n1,0\n", headers=headers).json()["id"]
        requests = [(method, path.replace(RUN, run)) for method, path in asked(app) if method != "DELETE"]
        requests = [(method, path + "?now" * path.endswith("/events")) for method, path in requests]
        for method, path in [*asked(app), *requests, ("GET", "/nowhere"), ("DELETE", f"/api/runs/{run}")]:
            answer = client.request(method, path, headers={"origin": OWN}, content=b"{" * (method == "POST"))
            told = answer.text + str(answer.headers)
            assert keys.token not in told and keys.cookie not in told, (method, path)
            assert "location" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "/%2F%2Fevil.example",
        "/api/start/",
        "/?next=//evil.example",
        "/\\evil.example",
        "/..//evil",
    ],
)
def test_no_answer_redirects(client: TestClient, keys: Keys, path: str) -> None:
    for entered in (False, True):
        if entered:
            with_cookie(client, keys)
        answer = client.get(f"{OWN}{path}", follow_redirects=False)
        assert answer.status_code in (200, 401, 404)
        assert "location" not in answer.headers


def test_every_answer_forbids_frames_and_anything_from_elsewhere(client: TestClient, keys: Keys) -> None:
    refused = client.get("/")
    with_cookie(client, keys)
    for answer in (refused, client.get("/"), client.get("/static/page.css"), client.get("/nowhere")):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
    assert "default-src 'none'" in POLICY and "frame-ancestors 'none'" in POLICY
    assert "script-src 'self'" in POLICY and "unsafe-eval" not in POLICY


def test_only_what_the_page_is_made_of_is_served(client: TestClient, keys: Keys) -> None:
    with_cookie(client, keys)
    assert client.get("/static/page.js").status_code == 200
    for name in ("..%2Fgate.py", "..%2f..%2fetc%2fpasswd", "%2e%2e/gate.py", "gate.py", ".", "page.js%00"):
        assert client.get(f"{OWN}/static/{name}").status_code == 404, name


def test_a_cookie_of_another_server_on_this_computer_is_not_ours(client: TestClient, keys: Keys) -> None:
    answer = client.get("/static/page.js", headers={"cookie": f"xordal-9000={keys.cookie}"})
    assert answer.status_code == 401
    answer = client.get("/static/page.js", headers={"cookie": f"other=1; xordal-8765={keys.cookie}"})
    assert answer.status_code == 200
    assert HOST.endswith("8765")


@pytest.mark.parametrize("other", ["theme={dark}", "a b=c", '"x', "=", "na,me=1", 'json={"a":1}', "é=ü", ";;"])
def test_odd_cookies_of_other_programs_on_this_computer_do_not_matter(
    client: TestClient, keys: Keys, other: str
) -> None:
    ours = f"xordal-8765={keys.cookie}"
    for line in (f"{other}; {ours}", f"{ours}; {other}", f"xordal-8765=old; {other}; {ours}"):
        headers = [(b"cookie", line.encode("latin-1"))]
        assert client.get("/static/page.js", headers=headers).status_code == 200, line
    headers = [
        (b"cookie", f"{other}; xordal-8765={keys.cookie}x; xxordal-8765={keys.cookie}".encode("latin-1"))
    ]
    assert client.get("/static/page.js", headers=headers).status_code == 401


def test_a_mistake_of_ours_is_answered_with_all_headers(app: Starlette, keys: Keys) -> None:
    async def broken(request: object) -> None:
        raise RuntimeError("secret")

    app.router.routes.append(Route("/broken", broken))
    client = with_cookie(TestClient(app, base_url=OWN, raise_server_exceptions=False), keys)
    answer = client.get("/broken")
    assert answer.status_code == 500 and "secret" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"


FRONT = "https://data.example.org"


@pytest.fixture
def behind(tmp_path: Path, keys: Keys) -> TestClient:
    """Return a client of a server that something in front of it, which encrypts, passes requests on to."""
    app = make_app(Site(Store(tmp_path)), keys, [OWN, FRONT])
    return TestClient(app, base_url=FRONT, raise_server_exceptions=True)


@pytest.mark.parametrize("host", ["data.example.org", "data.example.org:443", "Data.Example.ORG"])
def test_behind_what_encrypts_the_page_works(behind: TestClient, keys: Keys, host: str) -> None:
    answer = behind.get("/", params={"token": keys.token}, headers={"host": host})
    assert answer.status_code == 200 and "secure" in answer.headers["set-cookie"].lower()
    headers = {"host": host, "cookie": answer.headers["set-cookie"].split(";")[0]}
    assert behind.get("/static/page.js", headers=headers).status_code == 200
    origin = {"origin": FRONT, **headers}
    assert behind.post("/nowhere", headers=origin).status_code == 404


def test_behind_what_encrypts_the_gate_is_as_narrow(behind: TestClient, keys: Keys) -> None:
    with_cookie(behind, keys)
    assert behind.post("/nowhere", headers={"origin": FRONT}).status_code == 404
    for origin in (None, "http://data.example.org", f"{FRONT}:443", "https://evil.example", OWN):
        headers = {} if origin is None else {"origin": origin}
        assert behind.post("/nowhere", headers=headers).status_code == 403, origin
    for host in ("evil.example", "data.example.org:8765", "data.example.org.evil.example"):
        assert behind.get("/", headers={"host": host}).status_code == 421, host
    headers = {"host": HOST, "origin": FRONT}  # the name of one address with the origin of the other
    assert behind.post("/nowhere", headers=headers).status_code == 403
