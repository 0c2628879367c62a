"""The application: its routes, each a few lines, and the gate around all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from xordal.data.write import csv_pieces
from xordal.demos.gallery import DEMOS, Demo
from xordal.errors import XordalError
from xordal.web import downloads, uploads
from xordal.web.asking import Networks
from xordal.web.events import stream
from xordal.web.form import Form
from xordal.web.gate import Gate, Keys
from xordal.web.runs import Run, Runs
from xordal.web.store import RunFolder, Store, clean_label
from xordal.web.words import FULL, cannot_be_kept, is_full

_HERE = Path(__file__).parent
_REPORT = _HERE.parent / "report"
_MOST_JSON = 2**20  # bytes of what the page sends but for uploads
_HOUR = 3600.0
_GONE = "This run is not here; it may have been removed."
_SCRIPTS = ("page", "dom", "map", "start", "look", "live", "ask", "workbench")
STATIC: dict[str, tuple[Path, str]] = {
    "style.css": (_REPORT / "templates" / "style.css", "text/css"),
    "report.css": (_REPORT / "templates" / "report.css", "text/css"),
    "view.js": (_REPORT / "static" / "view.js", "text/javascript"),
    **{
        name: (_HERE / "static" / name, "text/css" if name.endswith(".css") else "text/javascript")
        for name in ("page.css", *(f"{part}.js" for part in _SCRIPTS))
    },
}
"""What the page is made of; nothing else is served."""


class _JSON(JSONResponse):
    """JSON in ASCII: half a pair of characters, as a name in a file may have, is no UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode("ascii")


@dataclass(frozen=True, slots=True)
class Site:
    """What the routes work on."""

    store: Store
    most_bytes: int = uploads.MOST_BYTES
    first: tuple[Path, ...] = ()


class _NotHere(XordalError):
    """What was asked for is not there."""


def make_app(
    site: Site, keys: Keys, origins: Iterable[str], on_entry: Callable[[], None] = lambda: None
) -> Starlette:
    """Return the application; ``origins`` are the addresses by which browsers know it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     app = make_app(Site(Store(Path(folder))), Keys(), ["http://127.0.0.1:8765"])
    >>> sorted(route.path for route in app.routes)[0]
    '/'
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        runs = app.state.runs = Runs(site.store, uploads.UNPACKED * site.most_bytes)
        await runs.open()
        taken = [_take_in(runs, file).folder.id for file in site.first]
        app.state.first = taken[-1] if taken else None
        cleaning = asyncio.create_task(_clean(runs))
        yield
        cleaning.cancel()
        await runs.shut()

    app = Starlette(
        routes=_routes(),
        lifespan=lifespan,
        middleware=[Middleware(Gate, keys=keys, origins=list(origins), on_entry=on_entry)],
        exception_handlers={XordalError: _told, OSError: _not_kept},
    )
    app.router.redirect_slashes = False  # the server never sends anybody anywhere
    app.state.site = site
    app.state.networks = Networks()
    return app


def _routes() -> list[Route]:
    of = "/api/runs/{run}"
    return [
        Route("/", first_page),
        Route("/static/{name}", static),
        Route("/api/start", start),
        Route("/api/runs", upload, methods=["POST"]),
        Route("/api/samples/{name}", sample, methods=["POST"]),
        Route(of, one_run),
        Route(of, close, methods=["DELETE"]),
        Route(f"{of}/result", result),
        Route(f"{of}/download/{{what}}", download),
        Route(f"{of}/events", events, methods=["POST"]),
        Route(f"{of}/look", look, methods=["POST"]),
        Route(f"{of}/learn", learn, methods=["POST"]),
        Route(f"{of}/stop", stop, methods=["POST"]),
        Route(f"{of}/again", again, methods=["POST"]),
        Route(f"{of}/ask", ask, methods=["POST"]),
    ]


async def _told(request: Request, error: Exception) -> Response:
    """Answer a mistake with what is wrong and what to do."""
    if is_full(error):
        return _JSON({"error": FULL}, 507)
    status = 404 if isinstance(error, _NotHere) else 413 if isinstance(error, uploads.TooLarge) else 400
    return _JSON({"error": str(error)}, status)


async def _not_kept(request: Request, error: Exception) -> Response:
    """Answer that something could not be written, such as on a full disk."""
    return _JSON({"error": cannot_be_kept(error) if isinstance(error, OSError) else str(error)}, 507)


async def _clean(runs: Runs) -> None:
    while True:
        await asyncio.sleep(_HOUR)
        runs.remove_old()


def _runs(request: Request) -> Runs:
    found: Runs = request.app.state.runs
    return found


def _known(request: Request) -> Run:
    found = _runs(request).all.get(request.path_params["run"])
    if found is None:
        raise _NotHere(_GONE)
    return found


def _run(request: Request) -> Run:
    """Return the run that a request names, unless somebody has taken its folder away."""
    found = _known(request)
    if not found.folder.path.is_dir():
        raise _NotHere(_GONE)
    return found


async def _json(request: Request) -> Any:
    uploads.check_announced(request.headers.get("content-length"), _MOST_JSON)
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > _MOST_JSON:
            raise uploads.TooLarge(_MOST_JSON)
    try:
        return json.loads(bytes(pieces) or b"null")
    except (ValueError, RecursionError):
        raise XordalError("The request is no JSON.") from None


async def first_page(request: Request) -> Response:
    """Answer with the page."""
    return Response((_HERE / "templates" / "page.html").read_bytes(), media_type="text/html")


async def static(request: Request) -> Response:
    """Answer with a part of the page."""
    if request.path_params["name"] not in STATIC:
        raise _NotHere("There is no such file.")
    path, kind = STATIC[request.path_params["name"]]
    return Response(path.read_bytes(), media_type=kind)


async def start(request: Request) -> Response:
    """Answer with all runs and the samples."""
    site: Site = request.app.state.site
    told = [run.to_json() for run in reversed(_runs(request).all.values())]
    samples = [_sample(demo) for demo in DEMOS.values()]
    first = request.app.state.first
    return _JSON({"runs": told, "samples": samples, "most_bytes": site.most_bytes, "first": first})


def _sample(demo: Demo) -> dict[str, Any]:
    return {"name": demo.name, "title": demo.title, "story": demo.story, "max_variables": demo.max_variables}


async def upload(request: Request) -> Response:
    """Take in a file; its name is a label and nothing else."""
    site, runs = request.app.state.site, _runs(request)
    pieces = request.stream()
    try:
        uploads.check_announced(request.headers.get("content-length"), site.most_bytes)
        folder = runs.new(unquote(request.headers.get("x-file-name", "table")))
        with folder.removed_on_error():
            await uploads.receive(pieces, folder.upload, site.most_bytes)
    except (XordalError, OSError):
        await uploads.discard(pieces, site.most_bytes)
        raise
    return _JSON(runs.look(folder).to_json(), 201)


async def sample(request: Request) -> Response:
    """Begin a run with one of the gallery's tables."""
    demo = DEMOS.get(request.path_params["name"])
    if demo is None:
        raise _NotHere("There is no such sample.")
    folder = _runs(request).new(demo.title, demo.story)
    with folder.removed_on_error():
        folder.write("former", {"max_variables": demo.max_variables} if demo.max_variables else {})
        await run_in_threadpool(_write_sample, demo, folder)
    return _JSON(_runs(request).look(folder).to_json(), 201)


def _write_sample(demo: Demo, folder: RunFolder) -> None:
    table = demo.table()
    rows = (
        [levels[code] for levels, code in zip(table.levels, row, strict=True)]
        for row in table.rows()
    )  # fmt: skip
    with folder.upload.open("x", encoding="utf-8") as file:
        file.writelines(csv_pieces(table.names, rows))


def _take_in(runs: Runs, file: Path) -> Run:
    """Begin a run with a file that the user named when starting the server."""
    folder = runs.new(file.name)
    with folder.removed_on_error():
        folder.upload.write_bytes(file.read_bytes())
    return runs.look(folder)


async def one_run(request: Request) -> Response:
    """Answer with how far a run is, what its table looks like and how it is learned."""
    run = _run(request)
    folder = run.folder
    told: dict[str, Any] = {
        **run.to_json(),
        "overview": folder.read("overview"),
        "settings": folder.read("settings") or folder.read("former"),
        "failed": run.failure,
        "form": folder.read("form"),
        "story": run.about.get("story", ""),
    }
    return _JSON(told)


async def close(request: Request) -> Response:
    """Remove a run."""
    run = _known(request)
    request.app.state.networks.forget(run.folder.id)
    await _runs(request).close(run)
    return _JSON({})


async def result(request: Request) -> Response:
    """Answer with what was learned."""
    run = _run(request)
    if not run.folder.has("result"):
        raise _NotHere("Nothing is learned yet.")
    return Response((run.folder.path / "result.json").read_bytes(), media_type="application/json")


async def download(request: Request) -> Response:
    """Answer with a file to keep."""
    run, what = _run(request), request.path_params["what"]
    if what not in downloads.ENDINGS:
        raise _NotHere("There is no such format.")
    label = clean_label(str(run.about.get("label", "network")))
    title = Path(label).stem
    pieces = await run_in_threadpool(lambda: list(downloads.text_of(run.folder, what, title)))
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_. ") else "_" for c in title)
    headers = {"content-disposition": f'attachment; filename="{name}{downloads.ENDINGS[what]}"'}
    return Response("".join(pieces), media_type="application/octet-stream", headers=headers)


async def events(request: Request) -> Response:
    """Answer with the events of a run, as they come or those there are. By POST: the gate sees an Origin."""
    return stream(_run(request), request.headers.get("last-event-id", ""), now="now" in request.query_params)


async def look(request: Request) -> Response:
    """Read the table once more, in another way."""
    run = _run(request)
    _runs(request).look_again(run, Form.from_json(await _json(request)))
    return _JSON(run.to_json())


async def learn(request: Request) -> Response:
    """Begin to learn."""
    run = _run(request)
    _runs(request).learn(run, await _json(request))
    return _JSON(run.to_json())


async def stop(request: Request) -> Response:
    """End a search and keep what it has learned."""
    await _runs(request).stop(_run(request))
    return _JSON({})


async def again(request: Request) -> Response:
    """Begin a new run of the same table."""
    return _JSON(_runs(request).again(_run(request)).to_json(), 201)


async def ask(request: Request) -> Response:
    """Answer a question to a network."""
    run, question = _run(request), await _json(request)
    if not run.folder.network.is_file():
        raise _NotHere("Nothing is learned yet.")
    networks: Networks = request.app.state.networks
    return _JSON(await run_in_threadpool(lambda: networks.of(run.folder).answer(question)))
