"""Imports go one way, and starting up costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import xordal
from xordal.cli.app import COMMANDS
from xordal.data.write import csv_text

ROOT = Path(xordal.__file__).parent
# scipy.special, which the default criterion needs, takes a tenth of a second; scipy.stats takes one.
SLOW = {"numba", "scipy.stats", "sklearn", "pandas", "polars", "networkx", "jinja2", "matplotlib"}
HEAVY = SLOW | {"numpy", "scipy", "pyarrow", "narwhals"}

# Each part may import itself and what stands in its list, at module level or inside functions.
BELOW_SEARCH = {"types", "errors", "data", "graph", "counting", "statistics"}
LIBRARY = BELOW_SEARCH | {"search", "model", "pi", "rules", "formats", "learning", "scanning", "reference"}
MAY_IMPORT: dict[str, set[str]] = {
    "types": set(),
    "errors": set(),
    "reference": {"types"},
    "data": {"types", "errors"},
    "graph": {"types", "errors"},
    "counting": {"types", "errors", "data", "graph"},
    "statistics": BELOW_SEARCH,
    "search": BELOW_SEARCH | {"scanning"},  # no more of it than SHARED_BOUNDS
    "model": BELOW_SEARCH,
    "pi": BELOW_SEARCH,
    "formats": BELOW_SEARCH | {"search", "model", "pi", "rules", "scanning"},
    "learning": LIBRARY,
    "scanning": BELOW_SEARCH,
    "rules": BELOW_SEARCH,
    "checking": LIBRARY,
    "workers": {"errors"},
    "resampling": LIBRARY | {"workers"},
    "tuning": LIBRARY | {"workers"},
    "report": LIBRARY | {"checking"},
    "estimator": LIBRARY | {"report"},
    "predictors": LIBRARY,
    "demos": LIBRARY,
    "web": LIBRARY | {"report", "demos"},
    "cli": LIBRARY
    | {
        "report",
        "resampling",
        "tuning",
        "demos",
        "checking",
        "web",
    },  # not the estimator: scikit-learn takes seconds to import
    "__init__": LIBRARY | {"estimator", "predictors", "report", "resampling", "tuning", "checking", "web"},
    "__main__": {"cli"},
}
# save() and load() of the network are called by name on it; the format is imported when they are called.
EXCEPTIONS = {
    ("model/network.py", "xordal.formats.network_files"),
    ("model/directed.py", "xordal.formats.network_files"),
    ("model/network.py", "xordal.report.fragment"),  # how notebooks show it
    # What learn() returns is a value; its methods call by a late import what answers them.
    ("types/learned.py", "xordal.errors"),
    ("types/learned.py", "xordal.model"),
    ("types/learned.py", "xordal.learning.fitting"),
    ("types/learned.py", "xordal.formats.overview"),
    ("types/learned.py", "xordal.report"),
    ("rules/finding.py", "xordal.formats.additive"),  # how Python shows rules
}
SHARED_BOUNDS = "xordal.scanning.trees"  # what the search and scans both discard sets by
BACKENDS = {f"xordal.counting.{name}" for name in ("cpu_numpy", "cpu_numba", "gpu", "blocks", "dask")}
COMPOSE = {
    "learning",
    "cli",
    "__init__",
}  # may name a backend; everything else above counting knows the protocols only
SELECT = ROOT / "counting" / "select.py"  # so may the one that chooses
GPU = (
    ROOT / "counting" / "gpu"
)  # a backend of several files, which leaves to NumPy what a device does not count


DASK = ROOT / "counting" / "dask"  # another, which sums what an inner one counts


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module and node.module != "xordal":
                yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(ROOT)) for path in MODULES])
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} is new: say in MAY_IMPORT what it may import"
    for name in imported(path):
        assert name != "importlib" or part == "__init__", f"{path} hides what it imports"
        assert name != "xordal" or part in {"cli", "__init__"}, f"{path} imports the public names"
        if name.startswith("xordal."):
            target = name.split(".")[1]
            if target in xordal.__all__:
                target = getattr(xordal, target).__module__.split(".")[1]
            is_excepted = any(
                str(path.relative_to(ROOT)) == file and name.startswith(module) for file, module in EXCEPTIONS
            )
            if target in MAY_IMPORT and not is_excepted:
                assert target in MAY_IMPORT[part] | {part}, f"{path} imports {name}"
                if (part, target) == ("search", "scanning"):
                    assert name.startswith(SHARED_BOUNDS), f"{path} imports {name}"
            if any(name == backend or name.startswith(f"{backend}.") for backend in BACKENDS):
                may_name = (
                    part in COMPOSE or path == SELECT or path.is_relative_to(GPU) or path.is_relative_to(DASK)
                )
                assert may_name, f"{path} names the backend {name}"


def test_the_reference_uses_the_standard_library_and_types_only() -> None:
    outside = {name.split(".")[0] for name in imported(ROOT / "reference.py")} - {"__future__", "xordal"}
    assert outside <= sys.stdlib_module_names


def test_importing_xordal_imports_nothing_heavy() -> None:
    assert imported_by("import xordal", HEAVY) == "[]"


def test_help_and_version_import_nothing_heavy() -> None:
    """All of them in one process: what the first one imports, the last one has imported too."""
    commands = [command.__name__ for command in COMMANDS]
    calls = [["--version"], ["--help"], *([command, "--help"] for command in commands)]
    program = f"""
    from xordal.cli.app import main
    for arguments in {calls!r}:
        try:
            main(arguments)
        except SystemExit as end:
            assert not end.code, arguments
        loaded = sorted(set(sys.modules) & {HEAVY!r})
        assert not loaded, (arguments, loaded)
"""
    assert imported_by(program.strip(), HEAVY) == "[]"


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_learning_from_a_file_imports_nothing_slow(tmp_path: Path, name: str) -> None:
    table = pa.table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(csv_text(table.column_names, zip(*table.to_pydict().values(), strict=True)))
    program = f"from xordal.cli.app import main; main(['learn', {str(tmp_path / name)!r}, '--json'])"
    assert imported_by(program, SLOW) == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("command", [["query", "a"], ["predict", "t.csv", "-t", "a"], ["score", "t.csv"]])
def test_using_a_network_imports_nothing_slow(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x,u\ny,v\n" * 10)
    learn = f"main(['learn', {str(tmp_path / 't.csv')!r}, '-q', '-o', {str(tmp_path / 'net.json')!r}])"
    subprocess.run([sys.executable, "-c", f"from xordal.cli.app import main; {learn}"], check=True)
    arguments = [
        command[0],
        str(tmp_path / "net.json"),
        *(str(tmp_path / a) if "." in a else a for a in command[1:]),
    ]
    program = f"from xordal.cli.app import main; main({[*arguments, '--json']!r})"
    assert imported_by(program, SLOW).splitlines()[-1] == "[]"


def imported_by(program: str, modules: set[str]) -> str:
    """Run a program in a new process and return which of the modules it imported, as text."""
    script = f"""
import sys
try:
    {program}
except SystemExit as end:
    assert not end.code, end.code
print(sorted(set(sys.modules) & {modules!r}), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stderr.strip()


def test_public_names_resolve() -> None:
    for name in xordal.__all__:
        assert getattr(xordal, name).__name__ == name
    assert set(xordal.__all__) <= set(dir(xordal))
    with pytest.raises(AttributeError, match="no_such_name"):
        xordal.no_such_name  # noqa: B018
