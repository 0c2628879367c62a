"""What an installation of xordal takes on disk: itself and all that it needs, extras apart.

The sizes are those of the files that each installed distribution lists as its own, in the environment that
runs this: ``python -m benchmarks.size``. The README's numbers are its output.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, files

from pip._vendor.packaging.requirements import Requirement  # an environment has pip, and may lack packaging

MEGABYTE = 1e6


def needed(name: str = "xordal", extra: str = "") -> set[str]:
    """Return the names of all distributions that one needs, itself included."""
    found: set[str] = set()
    waiting = [(name, extra)]
    while waiting:
        one, own_extra = waiting.pop()
        try:
            requires = distribution(one).requires or []
        except PackageNotFoundError:  # needed on another platform, or by another Python
            continue
        found.add(re.sub(r"[-_.]+", "-", one).lower())
        for text in requires:
            required = Requirement(text)
            is_meant = required.marker is None or required.marker.evaluate({"extra": own_extra})
            if is_meant and re.sub(r"[-_.]+", "-", required.name).lower() not in found:
                waiting.append((required.name, ""))
    return found


def size(name: str) -> int:
    """Return the bytes of all files of an installed distribution."""
    paths = [file.locate() for file in files(name) or ()]
    return sum(path.stat().st_size for path in paths if path.is_file())  # type: ignore[attr-defined]


def main() -> None:
    sizes = {name: size(name) / MEGABYTE for name in needed()}
    for name, megabytes in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{megabytes:7.1f} MB  {name}")
    print(f"{sum(sizes.values()):7.1f} MB  in all")
    if added := needed(extra="arrow") - set(sizes):
        print(f"{sum(map(size, added)) / MEGABYTE:7.1f} MB  more with the extra arrow")


if __name__ == "__main__":
    main()
