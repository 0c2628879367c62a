"""Ordinary tables: how long learning takes beside an earlier version and beside a peer at its best.

Rows are drawn from networks of the Bayesian Network Repository (seed 1) and given to all as the same data frame
of strings: what is measured is the user's call, `xordal.learn(frame)`, hidden groups and rules included, in a
process that has learned before. *Before* is an earlier version of xordal (`--before` names its source folder);
all versions and the peer run in turn, each in a process of its own. The peer is pyAgrum's greedy hill climbing
with one thread, which is its best here: with two it is several times slower. Seconds are processor seconds,
those of all threads together, so that other work on the machine counts little; medians where there are several
rounds. *Same* says whether both versions learned the same links, in the same order, with the same gains to the
bit and the same p-values to nine digits of their logarithms.
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
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
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
SEED = 1
TIME_LIMIT = 300  # seconds of one search

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
    if name == "nycflights":
        return pd.read_csv(folder() / "calendar" / "nycflights13_cat_30k.csv", dtype=str)
    if name in {"dna", "plants"}:
        data = pd.read_csv(folder() / "debd" / name / f"{name}.train.data.gz", header=None, dtype=str)
        return data.rename(columns=lambda column: f"x{column}")
    return pd.read_csv(folder() / "pmlb" / f"{name}.tsv", sep="\t", dtype=str)


def by_xordal(frame: Any, setting: dict[str, Any]) -> Answer:
    """Learn from a frame; what was learned is told by a digest of the trace, rules left out."""
    from xordal import BIC, Limits, learn

    chosen = {**setting, **({"criterion": BIC()} if "criterion" in setting else {})}
    found = learn(frame, limits=Limits(time_limit=TIME_LIMIT), **chosen)
    learned = getattr(found, "learned", found)
    trace = [repr(_rounded(entry)) for entry in learned.trace if entry.action != "rule"]
    told = sha256("\n".join(trace).encode()).hexdigest()
    return {"links": len(learned.links), "trace": told, "is_cut": learned.run.stopped_by is not None}


def _rounded(entry: TraceEntry) -> TraceEntry:
    """Return an entry with the log p-value to nine digits."""
    log_p = entry.log_p_value
    return replace(entry, log_p_value=None if log_p is None else float(f"{log_p:.9g}"))


def by_pyagrum(frame: Any, setting: dict[str, Any]) -> Answer:
    """Learn by greedy hill climbing with the peer's defaults."""
    learner = pyagrum_learner(frame)
    learner.useGreedyHillClimbing()
    return {"links": learner.learnBN().sizeArcs(), "trace": "", "is_cut": False}


def serve() -> None:
    """Answer one question a line: learn from a table, and say how long that took."""
    frames: dict[tuple[str, int], Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        key = question["name"], question["rows"]
        if key not in frames:
            frames.clear()
            frames[key] = frame_of(*key)
        run = by_pyagrum if question["by"] == "pyagrum" else by_xordal
        began, wall = process_time(), perf_counter()
        answer = run(frames[key], question["setting"])
        times = {"seconds": process_time() - began, "wall": perf_counter() - wall}
        print(json.dumps({**answer, **times}), flush=True)


class Learner:
    """A process that learns whenever it is asked."""

    def __init__(self, by: str, source: Path | None, stack: ExitStack) -> None:
        here = Path(__file__).parents[1]
        paths = [str(source or here / "src"), str(here)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
        self._by = by
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
        question = {"by": self._by, "name": name, "rows": rows, "setting": setting}
        print(json.dumps(question), file=pipe, flush=True)
        answer: Answer = json.loads(self._process.stdout.readline())  # type: ignore[union-attr]
        return answer


def measured(
    learners: dict[str, Learner], name: str, rows: int, setting: str, rounds: int
) -> dict[str, Answer]:
    """Return the answers of all in turn; of several rounds the median of the seconds."""
    every: dict[str, list[Answer]] = {who: [] for who in learners}
    for _ in range(rounds):
        for who, learner in learners.items():
            every[who].append(learner.learn(name, rows, {} if who == "pyagrum" else SETTINGS[setting]))
    return {
        who: {**answers[0], "seconds": float(np.median([one["seconds"] for one in answers]))}
        for who, answers in every.items()
    }


def line_of(name: str, rows: int, setting: str, found: dict[str, Answer]) -> list[str]:
    """Return one line of the table of networks."""
    now, before, peer = (found.get(who) for who in ("now", "before", "pyagrum"))
    assert now is not None
    cut = " (time was up)"
    cells = [name, f"{rows:,}" if rows else "", setting, f"{now['seconds']:.2f}{cut if now['is_cut'] else ''}"]
    if before is not None:
        is_same = "yes" if now["trace"] == before["trace"] else "no"
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


def networks(
    learners: dict[str, Learner], chosen: argparse.Namespace
) -> Iterator[tuple[list[str], dict[str, Answer]]]:
    """Yield a line and the answers for each network, number of rows and setting."""
    for learner in learners.values():  # what is loaded or compiled once does not count
        for rows, name in ((1_000, "asia"), (10_000, "alarm")):
            for settings in SETTINGS.values():
                learner.learn(name, rows, settings)
    for rows in chosen.rows:
        for name in NETWORKS:
            if chosen.only not in name:
                continue
            for setting in SETTINGS:
                found = measured(learners, name, rows, setting, chosen.rounds)
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


def real(learners: dict[str, Learner]) -> Iterator[list[str]]:
    """Yield a line for each real table."""
    ours = {"now": learners["now"]}
    for name in TABLES:
        yield line_of(name, 0, "default", measured(ours, name, 0, "default", 1))
    for name in ("dna", "plants"):
        for setting in ("BIC, k = 1", "BIC"):
            yield line_of(name, 0, setting, measured(ours, name, 0, setting, 1))


def page(
    chosen: argparse.Namespace, every: list[tuple[list[str], dict[str, Answer]]], own: list[list[str]]
) -> str:
    """Return the page of what is measured so far."""
    heading = ["table", "rows", "settings", "xordal, s"]
    beside = [*heading, *(["before, s", "times as fast", "same"] if chosen.before else [])]
    beside += ["pyAgrum, s", "xordal / pyAgrum"]
    lines = [
        "# Ordinary tables",
        "",
        " ".join((__doc__ or "").split()),
        "",
        f"`python -m benchmarks.ordinary`, {chosen.rounds} round(s), {platform.machine()}, {os.cpu_count()} "
        f"cores (load average {os.getloadavg()[0]:.1f} when it ended), Python {platform.python_version()}. "
        f"A search has {TIME_LIMIT} seconds by the clock.",
        "",
        "## Networks",
        "",
        *summary(every),
        "",
        *_table(beside, [line for line, _ in every]),
    ]
    if own:
        lines += ["", "## Real tables", "", "With BIC, k is 3 where nothing else is said.", ""]
        lines += _table(heading, own)
    return "\n".join(lines) + "\n"


def measure(chosen: argparse.Namespace, learners: dict[str, Learner]) -> None:
    """Measure everything; the page is written anew after each line, so that none is lost."""
    every: list[tuple[list[str], dict[str, Answer]]] = []
    own: list[list[str]] = []

    def tell(line: list[str]) -> None:
        print(*line, flush=True)
        if chosen.output is not None:
            chosen.output.write_text(page(chosen, every, own), encoding="utf-8")

    for line, found in networks(learners, chosen):
        every.append((line, found))
        tell(line)
    for line in real(learners) if not chosen.only else ():
        own.append(line)
        tell(line)


def _table(heading: list[str], rows: list[list[str]]) -> list[str]:
    marks = ["---" if place in (0, 2) else "---:" for place in range(len(heading))]
    return ["| " + " | ".join(cells) + " |" for cells in (heading, marks, *rows)]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="file to write")
    parser.add_argument("--before", type=Path, help="folder src/ of an earlier version")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--only", default="", help="networks with this in their name, and no real tables")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if "XORDAL_DATA" not in os.environ:
        sys.exit("Skipped: set XORDAL_DATA to the folder that holds bif/asia.bif and the like.")
    if chosen.serve:
        serve()
        return
    with ExitStack() as stack:
        learners = {"now": Learner("xordal", None, stack)}
        if chosen.before is not None:
            learners["before"] = Learner("xordal", chosen.before.resolve(), stack)
        learners["pyagrum"] = Learner("pyagrum", None, stack)
        measure(chosen, learners)


if __name__ == "__main__":
    main()
