"""The server: a port on this computer, the address to open, and uvicorn."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xordal.errors import DataError, SettingsError
from xordal.web.store import Store

PORT = 8765
_TRIED = 20  # ports after the first, where none was asked for
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Serving:
    """How to serve; the options of ``xordal serve``."""

    folder: Path
    host: str = "127.0.0.1"
    port: int | None = None
    names: Sequence[str] = ()
    most_bytes: int | None = None
    open_browser: bool = True
    first: tuple[Path, ...] = ()

    def hosts(self, port: int) -> list[str]:
        """Return the values of the Host header that name this server."""
        named = [*_LOOPBACK, *self.names]
        if self.host not in ("127.0.0.1", "0.0.0.0", "::", "::1"):
            named.append(self.host)
        return [f"{name}:{port}" for name in named]


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
    keys = Keys()
    shown = "127.0.0.1" if how.host in ("127.0.0.1", "0.0.0.0", "::") else how.host

    def address() -> str:
        return f"http://{shown}:{port}/?token={keys.token}"

    def entered() -> None:
        tell(f"Opened in a browser. For another browser: {address()}")

    site = Site(store, how.most_bytes or MOST_BYTES, how.first)
    app = make_app(site, keys, how.hosts(port), entered)
    tell(f"The page is at {address()}")
    tell("Press Ctrl-C to end it; what was learned stays.")
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    if how.open_browser:
        webbrowser.open(address())
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
    wanted = f"{host}:{port}" if port is not None else f"{host}, ports {PORT} to {PORT + _TRIED - 1}"
    raise SettingsError(f"Cannot serve at {wanted}: {reason}. Name another port with --port.")
