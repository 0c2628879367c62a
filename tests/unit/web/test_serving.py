"""Where the server is to be found, by which names, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from xordal.errors import SettingsError
from xordal.web.serving import Serving


def serving(host: str = "127.0.0.1", *names: str) -> Serving:
    return Serving(Path("runs"), host, names=names)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://127.0.0.1:80"),
        ("::1", "http://[::1]:80"),
        ("fe80::7", "http://[fe80::7]:80"),
        ("pc7", "http://pc7:80"),
    ],
)
def test_the_address_that_is_printed_is_one_and_is_let_in(host: str, shown: str) -> None:
    assert serving(host).shown(80) == [shown]
    assert shown in serving(host).origins(80)


def test_what_stands_in_front_has_its_own_address() -> None:
    how = serving("127.0.0.1", "pc7", "https://Data.example.org", "https://data.example.org:8443")
    assert how.shown(80)[1:] == ["https://data.example.org", "https://data.example.org:8443"]
    assert set(how.shown(80)) < set(how.origins(80)) and "http://pc7:80" in how.origins(80)


@pytest.mark.parametrize(
    "name",
    ["https://", "ftp://x", "https://x/path", "https://u:p@x", "https://x:port", "a b://x", "https://x?q"],
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="--allow-host takes a name"):
        serving("127.0.0.1", name).origins(80)
