"""The server: a port on this computer, the address to open, and uvicorn."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from xordal.errors import DataError, SettingsError
from xordal.web.store import Store

PORT = 8765
_TRIED = 20  # ports after the first, where none was asked for
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::")  # to listen on, not to go to


@dataclass(frozen=True, slots=True)
class Serving:
    """How to serve; the options of ``xordal serve``.

    ``names`` are further names of the server, and addresses (``https://data.example.org``) of what stands in
    front of it and encrypts.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int | None = None
    names: Sequence[str] = ()
    most_bytes: int | None = None
    open_browser: bool = True
    first: tuple[Path, ...] = ()

    def origins(self, port: int) -> list[str]:
        """Return the addresses by which browsers know this server.

        Raises
        ------
        SettingsError
            If one of the names is neither a name nor an address.

        Examples
        --------
        >>> Serving(Path("runs"), names=["pc7", "https://data.example.org"]).origins(8765)[3:]
        ['http://pc7:8765', 'https://data.example.org']
        """
        own = [] if self.host in (*_LOOPBACK, *_EVERYWHERE) else [self.host]
        return [_origin(name, port) for name in (*_LOOPBACK, *self.names, *own)]

    def shown(self, port: int) -> list[str]:
        """Return where to go: this server, and then what stands in front of it."""
        here = "127.0.0.1" if self.host in _EVERYWHERE else self.host
        return [_origin(here, port), *(_origin(name, port) for name in self.names if "://" in name)]


def _origin(name: str, port: int) -> str:
    """Return the origin of a name with the server's port, or of an address as it stands."""
    if "://" not in name:
        bare = name.strip("[]")
        name = f"http://[{bare}]:{port}" if ":" in bare else f"http://{bare}:{port}"
    try:
        split = urlsplit(name)
        is_one = split.scheme in ("http", "https") and bool(split.hostname) and (split.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one or "@" in name or name.lower() != f"{split.scheme}://{split.netloc}".lower():
        raise SettingsError(
            f"--allow-host takes a name such as pc7, or an address such as https://data.example.org, not "
            f"{name!r}."
        )
    return name.lower()


def serve(how: Serving, tell: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; ``tell`` prints the address.

    Raises
    ------
    SettingsError
        If the port is taken, another server works in the folder, or the extra ``web`` is not installed.
    """
    try:
        import starlette  # noqa: F401  # only asked for: a missing extra is told before anything begins
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"xordal serve needs {error.name}, which is not installed: pip install 'xordal[web]'."
        ) from None
    for file in how.first:
        if not file.is_file():
            raise DataError(f"There is no file {str(file)!r}. Check the path.")
    store = Store(how.folder)
    with store.held():
        _serve(how, store, tell)


def _serve(how: Serving, store: Store, tell: Callable[[str], None]) -> None:
    import uvicorn

    from xordal.web.app import Site, make_app
    from xordal.web.gate import Keys
    from xordal.web.uploads import MOST_BYTES

    listening = _listen(how.host, how.port)
    port = int(listening.getsockname()[1])
    origins = how.origins(port)
    keys = Keys()
    places = how.shown(port)

    def address() -> str:
        return " or ".join(f"{place}/?token={keys.token}" for place in places)

    def entered() -> None:
        tell(f"Opened in a browser. For another browser: {address()}")

    site = Site(store, how.most_bytes or MOST_BYTES, how.first)
    app = make_app(site, keys, origins, entered)
    tell(f"The page is at {address()}")
    tell("Press Ctrl-C to end it; what was learned stays.")
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    if how.open_browser:
        webbrowser.open(f"{places[0]}/?token={keys.token}")
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        return


def _listen(host: str, port: int | None) -> socket.socket:
    """Return a socket on the port asked for; where none was, on the first free one of a few."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [port] if port is not None else range(PORT, PORT + _TRIED):
        # asyncio sends small answers at once (TCP_NODELAY) only where the protocol is named: without, each
        # took 44 ms on a kept connection.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(128)  # who is told the address at once is not refused
            return listening
        except OSError as error:
            listening.close()
            reason = error.strerror
    where = f"[{host}]" if ":" in host else host
    wanted = f"{where}:{port}" if port is not None else f"{where}, ports {PORT} to {PORT + _TRIED - 1}"
    raise SettingsError(f"Cannot serve at {wanted}: {reason}. Name another port with --port.")
