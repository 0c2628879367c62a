"""Ordinary tables: how long learning takes beside an earlier version and beside a peer at its best.

Rows are drawn from networks of the Bayesian Network Repository (seed 1) and given to all as the same data frame
of strings: what is measured is the user's call, `xordal.learn(frame)`, hidden groups and rules included, in a
process that has learned before. *Rules* are additive rules of any number of columns, sought after the network.
*Before* is an earlier version of xordal (`--before` names its source folder), which may seek no rules and may
read the frame by a call of its own; all versions and the peer run in turn, each in a process of its own. The
peer is pyAgrum's greedy hill climbing with one thread, which is its best here: with two it is several times
slower. Seconds are processor seconds, those of all threads together, so that other work on the machine counts
little; medians where there are several rounds. *Same* says whether both versions learned the same links, in the
same order, with the same gains to the bit and the same p-values to nine digits of their logarithms; where they
did not, it has how many links each learned, now and before.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from benchmarks.peer import pyagrum_learner

if TYPE_CHECKING:
    from xordal import TraceEntry

NETWORKS = (
    "cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "alarm", "hailfinder", "win95pts",
)  # fmt: skip
LARGER = NETWORKS[3:]
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "BIC": {"criterion": "BIC"},
    "BIC, k = 1": {"criterion": "BIC", "max_links": 1},
}
TABLES = ("kr_vs_kp", "splice", "mushroom", "house_votes_84", "nursery", "nycflights")
DENSE = "dense"
"""Begins the name of a random network: dense-60-150 has 60 columns of 2 to 5 levels and 150 links."""
DENSE_ROWS = 100_000
GROWTH = {
    "columns": [(f"{DENSE}-{n}-{2 * n}", 10_000) for n in (10, 20, 40)],
    "rows": [(f"{DENSE}-20-40", n) for n in (1_000, 10_000, 100_000)],
    "links": [(f"{DENSE}-30-{n}", 10_000) for n in (15, 30, 60)],
}
"""What grows, all else being equal; of columns with as many links for each."""
SEED = 1
MOST_PARENTS = 4  # of a column of a random network

Answer = dict[str, Any]


def folder() -> Path:
    """Return the folder of the data."""
    return Path(os.environ["XORDAL_DATA"])


def frame_of(name: str, n_rows: int) -> Any:
    """Return a table as a data frame of strings: rows of a network, or a file."""
    import pandas as pd

    if name in NETWORKS:
        from xordal.formats.bif import read_bif

        network = read_bif((folder() / "bif" / f"{name}.bif").read_text(encoding="utf-8"))
        return pd.DataFrame(network.sample_codes(n_rows, SEED).T.astype(str), columns=list(network.variables))
    if name.startswith(DENSE):
        _, n_columns, n_links = name.split("-")
        return dense(int(n_columns), int(n_links), n_rows)
    if name == "nycflights":
        return pd.read_csv(folder() / "calendar" / "nycflights13_cat_30k.csv", dtype=str)
    if name in {"dna", "plants"}:
        data = pd.read_csv(folder() / "debd" / name / f"{name}.train.data.gz", header=None, dtype=str)
        return data.rename(columns=lambda column: f"x{column}")
    return pd.read_csv(folder() / "pmlb" / f"{name}.tsv", sep="\t", dtype=str)


def dense(n_columns: int, n_links: int, n_rows: int) -> Any:
    """Return rows of a random network: so many arcs from earlier columns to later ones, at most four to each.

    Given its parents each column has a table of its own, drawn from a Dirichlet distribution of 1/2.
    """
    import pandas as pd

    generator = np.random.default_rng([SEED, n_columns, n_links])
    levels = generator.integers(2, 6, size=n_columns)
    parents: list[list[int]] = [[] for _ in range(n_columns)]
    while sum(map(len, parents)) < n_links:
        parent, child = sorted(generator.choice(n_columns, 2, replace=False).tolist())
        if parent not in parents[child] and len(parents[child]) < MOST_PARENTS:
            parents[child].append(parent)
    codes = np.zeros((n_columns, n_rows), dtype=np.int64)
    for child in range(n_columns):
        case = np.zeros(n_rows, dtype=np.int64)
        for parent in parents[child]:
            case = case * levels[parent] + codes[parent]
        n_cases = int(np.prod(levels[parents[child]]))
        limits = generator.dirichlet([0.5] * int(levels[child]), size=n_cases).cumsum(axis=1)
        drawn = generator.random(n_rows)[:, None] > limits[case]
        codes[child] = np.minimum(drawn.sum(axis=1), levels[child] - 1)
    return pd.DataFrame(codes.T.astype(str), columns=[f"x{v}" for v in range(n_columns)])


def by_xordal(frame: Any, setting: dict[str, Any], time_limit: float) -> Answer:
    """Learn from a frame; what was learned is told by a digest of the trace, rules left out."""
    import xordal

    chosen = {**setting, **({"criterion": xordal.BIC()} if "criterion" in setting else {})}
    # Versions before data frames could be learned from had a call that read them first.
    source = frame if "frame" in (xordal.learn.__doc__ or "") else xordal.read_table(frame)
    learned = xordal.learn(source, limits=xordal.Limits(time_limit=time_limit), **chosen)
    trace = [_told(entry) for entry in learned.trace if entry.action != "rule"]
    told = sha256("\n".join(trace).encode()).hexdigest()
    return {
        "links": len(learned.links),
        "trace": told,
        "is_cut": learned.run.stopped_by is not None,
        "phases": getattr(learned.run, "phases", {}),
    }


def _told(entry: TraceEntry) -> str:
    """Return what an entry tells, in words that all versions share; the log p-value to nine digits."""
    log_p = entry.log_p_value
    of_chance = None if log_p is None else f"{log_p:.9g}"
    return repr((entry.action, entry.lookahead, entry.links, entry.fill_in, entry.gain, entry.dof, of_chance))


def by_pyagrum(frame: Any, setting: dict[str, Any], time_limit: float) -> Answer:
    """Learn by greedy hill climbing with the peer's defaults."""
    learner = pyagrum_learner(frame)
    learner.useGreedyHillClimbing()
    return {"links": learner.learnBN().sizeArcs(), "trace": "", "is_cut": False}


def serve() -> None:
    """Answer one question a line: learn from a table, and say how long that took."""
    import pandas as pd

    frames: dict[str, Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        file = question["file"]
        if file not in frames:
            frames.clear()
            frames[file] = pd.read_pickle(file)
        run = by_pyagrum if question["by"] == "pyagrum" else by_xordal
        began, wall = process_time(), perf_counter()
        answer = run(frames[file], question["setting"], question["time_limit"])
        times = {"seconds": process_time() - began, "wall": perf_counter() - wall}
        print(json.dumps({**answer, **times}), flush=True)


class Frames:
    """Data frames as files, made by this version, so that all learn from the very same one."""

    def __init__(self, stack: ExitStack) -> None:
        self._folder = Path(stack.enter_context(TemporaryDirectory()))

    def file(self, name: str, rows: int) -> str:
        """Return the file that holds a table."""
        path = self._folder / f"{name}-{rows}.pickle"
        if not path.exists():
            frame_of(name, rows).to_pickle(path)
        return str(path)


class Learner:
    """A process that learns whenever it is asked."""

    def __init__(
        self, by: str, source: Path | None, frames: Frames, time_limit: float, stack: ExitStack
    ) -> None:
        here = Path(__file__).parents[1]
        paths = [str(source or here / "src"), str(here)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
        self._asked = {"by": by, "time_limit": time_limit}
        self._frames = frames
        self._process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.ordinary", "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=here,
            )
        )
        stack.callback(self._process.terminate)

    def learn(self, name: str, rows: int, setting: dict[str, Any]) -> Answer:
        """Return how long learning takes, and what was learned."""
        pipe: IO[str] = self._process.stdin  # type: ignore[assignment]
        question = {**self._asked, "file": self._frames.file(name, rows), "setting": setting}
        print(json.dumps(question), file=pipe, flush=True)
        answer: Answer = json.loads(self._process.stdout.readline())  # type: ignore[union-attr]
        return answer


class Kept:
    """What was measured so far, in a file, so that a run that was ended goes on where it was."""

    def __init__(self, chosen: argparse.Namespace, learners: dict[str, Learner]) -> None:
        path = chosen.results
        self._path, self._learners, self._rounds, self._only = path, learners, chosen.rounds, chosen.only
        self._known: dict[str, Answer] = {}
        self._is_warm = False
        if path is not None and path.exists():
            self._known = json.loads(path.read_text(encoding="utf-8"))

    def measured(self, name: str, rows: int, setting: str, others: bool = True) -> dict[str, Answer]:
        """Return the answers of all in turn, or of this version alone; of several rounds the median.

        Of a table that is not to be measured, only what is known: of this version nothing, maybe.
        """
        chosen = [who for who in self._learners if others or who == "now"]
        keys = {who: f"{who}, {name}, {rows}, {setting}" for who in chosen}
        is_wanted = not self._only or name in self._only
        if is_wanted and any(key not in self._known for key in keys.values()):
            self._warm()
            every: dict[str, list[Answer]] = {who: [] for who in chosen}
            for _ in range(self._rounds):
                for who in chosen:
                    settings = {} if who == "pyagrum" else SETTINGS[setting]
                    every[who].append(self._learners[who].learn(name, rows, settings))
            for who, answers in every.items():
                seconds = float(np.median([one["seconds"] for one in answers]))
                self._known[keys[who]] = {**answers[0], "seconds": seconds}
            if self._path is not None:
                self._path.write_text(json.dumps(self._known, indent=1), encoding="utf-8")
        return {who: self._known[key] for who, key in keys.items() if key in self._known}

    def _warm(self) -> None:
        """Let all learn something first: what is loaded or compiled once does not count."""
        if not self._is_warm:
            self._is_warm = True
            for learner in self._learners.values():
                for rows, name in ((1_000, "asia"), (10_000, "alarm")):
                    for settings in SETTINGS.values():
                        learner.learn(name, rows, settings)


def line_of(name: str, rows: int, setting: str, found: dict[str, Answer]) -> list[str]:
    """Return one line of the table of networks."""
    now, before, peer = (found.get(who) for who in ("now", "before", "pyagrum"))
    assert now is not None
    cut = " (time was up)"
    phases = now["phases"]
    of_rules = now["seconds"] * phases.get("rules", 0.0) / sum(phases.values())
    cells = [name, f"{rows:,}" if rows else "", setting, f"{now['seconds']:.2f}{cut if now['is_cut'] else ''}"]
    cells.append(f"{of_rules:.2f}")
    if before is not None:
        is_same = "yes" if now["trace"] == before["trace"] else f"{now['links']}, {before['links']}"
        both = f"{before['seconds']:.2f}{cut if before['is_cut'] else ''}"
        cells += [both, f"{before['seconds'] / now['seconds']:.1f}", is_same]
    if peer is not None:
        cells += [f"{peer['seconds']:.2f}", f"{now['seconds'] / peer['seconds']:.2f}"]
    return cells


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return float(np.exp(np.mean(np.log(values))))


def networks(kept: Kept, chosen: argparse.Namespace) -> Iterator[tuple[list[str], dict[str, Answer]]]:
    """Yield a line and the answers for each network, number of rows and setting."""
    for rows in chosen.rows:
        for name in NETWORKS:
            for setting in SETTINGS:
                found = kept.measured(name, rows, setting)
                if found:
                    yield line_of(name, rows, setting, found), found


def summary(every: list[tuple[list[str], dict[str, Answer]]]) -> Iterator[str]:
    """Yield the geometric means over the larger networks."""
    by_kind: dict[tuple[str, str], list[dict[str, Answer]]] = {}
    for (name, rows, setting, *_), found in every:
        if name in LARGER:
            by_kind.setdefault((rows, setting), []).append(found)
    for (rows, setting), some in by_kind.items():
        text = f"- {rows} rows, {setting}:"
        if "pyagrum" in some[0]:
            ratios = [one["now"]["seconds"] / one["pyagrum"]["seconds"] for one in some]
            text += f" {geometric_mean(ratios):.2f} times pyAgrum's seconds"
        if "before" in some[0]:
            ratios = [one["before"]["seconds"] / one["now"]["seconds"] for one in some]
            text += f", {geometric_mean(ratios):.2f} times as fast as before"
        yield text + f" (geometric mean of {len(some)} networks)"


def real(kept: Kept) -> Iterator[list[str]]:
    """Yield a line for each real table, and for the dense network."""
    tables = [(name, 0, "default") for name in TABLES]
    tables += [(name, 0, setting) for name in ("dna", "plants") for setting in ("BIC, k = 1", "BIC")]
    for name, rows, setting in (*tables, (f"{DENSE}-60-150", DENSE_ROWS, "default")):
        found = kept.measured(name, rows, setting, others=False)
        if found:
            yield line_of(name, rows, setting, found)


def growth(kept: Kept) -> Iterator[list[str]]:
    """Yield a line for each thing that grows: seconds at each size, and the exponent fitted to them."""
    for what, tables in GROWTH.items():
        found = [kept.measured(name, rows, "default", others=False) for name, rows in tables]
        if not all(found):
            continue
        seconds = [one["now"]["seconds"] for one in found]
        place = {"columns": 1, "links": 2}.get(what)
        sizes = [rows if place is None else int(name.split("-")[place]) for name, rows in tables]
        exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        yield [
            what,
            ", ".join(f"{n:,}" for n in sizes),
            ", ".join(f"{s:.2f}" for s in seconds),
            f"{exponent:.2f}",
        ]


def page(
    chosen: argparse.Namespace,
    every: list[tuple[list[str], dict[str, Answer]]],
    own: list[list[str]],
    grown: list[list[str]],
) -> str:
    """Return the page of what is measured so far."""
    heading = ["table", "rows", "settings", "xordal, s", "of it rules, s"]
    beside = [*heading, *(["before, s", "times as fast", "same"] if chosen.before else [])]
    beside += ["pyAgrum, s", "xordal / pyAgrum"]
    lines = [
        "# Ordinary tables",
        "",
        " ".join((__doc__ or "").split()),
        "",
        f"`python -m benchmarks.ordinary`, {chosen.rounds} round(s), {platform.machine()}, {os.cpu_count()} "
        f"cores (load average {os.getloadavg()[0]:.1f} when it ended), Python {platform.python_version()}. "
        f"A search has {chosen.time_limit:.0f} seconds by the clock.",
        "",
        "## Networks",
        "",
        *summary(every),
        "",
        *_table(beside, [line for line, _ in every]),
    ]
    if own:
        said = (
            "With BIC, k is 3 where nothing else is said; dense-60-150 is a random network of 60 columns of 2 "
            "to 5 levels with 150 links. Where time was up, that was by the clock, and the search would have "
            "taken longer: on a machine that does other work few processor seconds may be enough for that."
        )
        lines += ["", "## Real tables, and a dense network", "", said, ""]
        lines += _table(heading, own)
    if grown:
        said = (
            "Seconds of the default on random networks of columns of 2 to 5 levels. Columns grow with two "
            "links for each and 10,000 rows, rows with 20 columns and 40 links, links with 30 columns and "
            "10,000 rows."
        )
        lines += ["", "## Growth", "", said, ""]
        lines += _table(["what grows", "sizes", "seconds", "exponent"], grown)
    return "\n".join(lines) + "\n"


def measure(chosen: argparse.Namespace, learners: dict[str, Learner]) -> None:
    """Measure everything; the page is written anew after each line, so that none is lost."""
    every: list[tuple[list[str], dict[str, Answer]]] = []
    own: list[list[str]] = []
    grown: list[list[str]] = []

    def tell(line: list[str]) -> None:
        print(*line, flush=True)
        if chosen.output is not None:
            chosen.output.write_text(page(chosen, every, own, grown), encoding="utf-8")

    kept = Kept(chosen, learners)
    for line, found in networks(kept, chosen):
        every.append((line, found))
        tell(line)
    for line in real(kept):
        own.append(line)
        tell(line)
    for line in growth(kept):
        grown.append(line)
        tell(line)


def _table(heading: list[str], rows: list[list[str]]) -> list[str]:
    marks = ["---" if place in (0, 2) else "---:" for place in range(len(heading))]
    return ["| " + " | ".join(cells) + " |" for cells in (heading, marks, *rows)]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="file to write")
    parser.add_argument("--before", type=Path, help="folder src/ of an earlier version")
    parser.add_argument("--results", type=Path, help="file that keeps what was measured, to go on from")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of one search")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument(
        "--only", nargs="+", default=[], help="tables to measure; of others what --results has is shown"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if "XORDAL_DATA" not in os.environ:
        sys.exit("Skipped: set XORDAL_DATA to the folder that holds bif/asia.bif and the like.")
    if chosen.serve:
        serve()
        return
    with ExitStack() as stack:
        frames = Frames(stack)
        learners = {"now": Learner("xordal", None, frames, chosen.time_limit, stack)}
        if chosen.before is not None:
            learners["before"] = Learner("xordal", chosen.before.resolve(), frames, chosen.time_limit, stack)
        learners["pyagrum"] = Learner("pyagrum", None, frames, chosen.time_limit, stack)
        measure(chosen, learners)


if __name__ == "__main__":
    main()
