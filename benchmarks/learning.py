"""Learning beside its peers and beside a bare scan: the numbers of docs/benchmarks/learning.md.

``python -m benchmarks.learning`` prints the page; ``-o FILE`` writes it and its plot; ``--rounds`` says how
often.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from math import comb
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.peer import pyagrum_learner
from benchmarks.planted import planted
from benchmarks.scan import alternate, seconds, spread
from xordal import EntropyDecrement, Limits, MultiLinkSearch, Significance, learn
from xordal.counting.cpu_numba import NumbaOracle
from xordal.data.table import CategoricalTable
from xordal.pi.zoo import music_box
from xordal.statistics.criterion import Criterion

N_VARIABLES, N_ROWS, N_HIDDEN = 1_000, 10_000, 50
CRITERIA: dict[str, Criterion] = {
    "Significance(0.05), the default": Significance(),
    "EntropyDecrement(0.004)": EntropyDecrement(0.004),
}
GOAL = 5  # times a bare scan that learning may take
SIZES = (50, 100, 200, 400)
ROWS = (20_000, 80_000, 320_000)


def frame_of(table: CategoricalTable) -> pd.DataFrame:
    """Return a table as a data frame of strings."""
    columns = zip(table.names, table.levels, table.codes, strict=True)
    return pd.DataFrame({name: [str(levels[code]) for code in codes] for name, levels, codes in columns})


def bare_scan(table: CategoricalTable, threads: int) -> None:
    """Look at all triples and keep nothing."""
    for _ in NumbaOracle(table, threads=threads).scan(3, lambda levels: np.inf):
        pass


def large(threads: int, rounds: int) -> list[str]:
    """Measure the large problem beside a bare scan of its triples."""
    table, truth = planted(N_VARIABLES, N_ROWS, N_HIDDEN)
    lines = []
    for name, criterion in CRITERIA.items():
        found = learn(table, criterion=criterion, limits=Limits(threads=threads))
        hidden = {link for entry in found.trace if entry.lookahead == 3 for link in entry.links}
        wrong, missed = set(found.links) - set(truth), set(truth) - set(found.links)
        ours = partial(learn, table, criterion=criterion, limits=Limits(threads=threads))
        pair = alternate(ours, lambda: bare_scan(table, threads), rounds)
        lines.append(
            f"| {name} | {threads} | {spread(np.array(pair.ours))} | {np.median(pair.theirs):.2f} "
            f"| {spread(1 / pair.ratios)} | {len(hidden) // 3} of {N_HIDDEN} | {len(missed)} | {len(wrong)} |"
        )
    return lines


def peak_memory() -> float:
    """Return the most megabytes that a process learning the large problem holds."""
    program = (
        "import resource\n"
        "from benchmarks.learning import *\n"
        "learn(planted(N_VARIABLES, N_ROWS, N_HIDDEN)[0])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def hill_climbing(frame: pd.DataFrame) -> set[frozenset[str]]:
    """Return the links that pyAgrum's greedy hill climbing learns."""
    learner = pyagrum_learner(frame)
    learner.useGreedyHillClimbing()
    network = learner.learnBN()
    return {frozenset(network.variable(v).name() for v in arc) for arc in network.arcs()}


def hill_climbing_pgmpy(frame: pd.DataFrame) -> set[frozenset[str]]:
    """Return the links that pgmpy's hill climbing learns."""
    from pgmpy.estimators import BIC, HillClimbSearch

    graph = HillClimbSearch(frame).estimate(scoring_method=BIC(frame), show_progress=False)
    return {frozenset(edge) for edge in graph.edges()}


def single_links(rounds: int) -> str:
    """Measure single links of 500 columns beside pyAgrum."""
    table, _ = planted(500, N_ROWS, 25)
    frame = frame_of(table)
    learn(table, max_links=1)
    pair = [
        (seconds(lambda: learn(table, max_links=1)), seconds(lambda: hill_climbing(frame)))
        for _ in range(min(rounds, 3))
    ]
    ours, theirs = ([times[side] for times in pair] for side in (0, 1))
    return (
        f"500 columns x {N_ROWS:,} rows, `max_links=1`: xordal {spread(np.array(ours))} s, pyAgrum's greedy "
        f"hill climbing {spread(np.array(theirs), 1)} s, {np.median(theirs) / np.median(ours):,.0f} times that."
    )


def music(rounds: int) -> list[str]:
    """Measure the music box from a data frame, warm, beside its peers."""
    model = music_box()
    frames = [frame_of(model.joint.sample_table(2_000, seed=seed)) for seed in range(10 * rounds + 1)]
    truth = {frozenset(model.joint.variables[v] for v in link) for link in model.graph.links}

    def ours(frame: pd.DataFrame, criterion: Criterion | None = None) -> set[frozenset[str]]:
        learner = MultiLinkSearch(max_links=3, criterion=criterion)
        return {frozenset(link) for link in learner.fit(frame).graph_.edges}

    peers: dict[str, Callable[[pd.DataFrame], set[frozenset[str]]]] = {
        "xordal, the paper's criterion": partial(ours, criterion=EntropyDecrement(0.004)),
        "xordal, the default: p-values, fill-in, idle links out": ours,
        "pyAgrum, greedy hill climbing": hill_climbing,
        "pgmpy, hill climbing": hill_climbing_pgmpy,
    }
    times: dict[str, list[float]] = {name: [] for name in peers}
    found: dict[str, list[set[frozenset[str]]]] = {name: [] for name in peers}
    for frame in frames:
        for name, run in peers.items():
            began = perf_counter()
            found[name].append(run(frame))
            times[name].append(perf_counter() - began)
    lines = ["| | ms | links right | missed | wrong |", "|---|---:|---:|---:|---:|"]
    for name in peers:
        taken, links = spread(1e3 * np.array(times[name][1:]), 1), found[name]
        right, missed, wrong = (
            np.mean([len(kept) for kept in some])
            for some in (
                [of & truth for of in links],
                [truth - of for of in links],
                [of - truth for of in links],
            )
        )
        lines.append(f"| {name} | {taken} | {right:.1f} | {missed:.1f} | {wrong:.1f} |")
    return lines


def median_of(run: Callable[[], object], rounds: int) -> float:
    """Return the median seconds of some runs, after one that does not count."""
    return float(np.median([seconds(run) for _ in range(rounds + 1)][1:]))


def growth(rounds: int) -> dict[str, tuple[list[int], list[float]]]:
    """Return times against columns, rows and links looked ahead."""

    def search(n: int, rows: int, k: int) -> float:
        table, _ = planted(n, rows, n // 20)
        return median_of(lambda: learn(table, max_links=k), rounds)

    return {
        "columns": (list(SIZES), [search(n, N_ROWS, 3) for n in SIZES]),
        "rows": (list(ROWS), [search(200, rows, 3) for rows in ROWS]),
        "links looked ahead": (list(range(1, 7)), [search(40, N_ROWS, k) for k in range(1, 7)]),
    }


def slope(x: list[int], y: list[float]) -> float:
    """Return the power with which y grows with x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def plot(grown: dict[str, tuple[list[int], list[float]]], path: Path) -> None:
    """Draw the growth."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "xordal"
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    for axis, (name, (x, y)) in zip(axes, grown.items(), strict=True):
        axis.plot(x, y, "o-", color="#1f4e79")
        axis.set_yscale("log")
        if name != "links looked ahead":
            axis.set_xscale("log")
        axis.set_xticks(x, [f"{value:,}" for value in x])
        axis.minorticks_off()
        axis.set_xlabel(name)
        axis.set_ylabel("seconds")
    figure.savefig(path, metadata={"Date": None})


def work() -> list[str]:
    """Count the exact scores of searches beside what testing everything in each pass would take."""
    lines = [
        "| | graphs, as the paper counts | pairs and triples | sets looked at | scored exactly |",
        "|---|---:|---:|---:|---:|",
    ]
    tables: dict[str, tuple[CategoricalTable, Criterion]] = {
        "music box, k = 3, threshold 0.004": (music_box().joint.exact_table(), EntropyDecrement(0.004)),
        "100 columns, k = 3": (planted(100, N_ROWS, 5)[0], Significance()),
        "1,000 columns, k = 3": (planted(N_VARIABLES, N_ROWS, N_HIDDEN)[0], Significance()),
    }
    for name, (table, criterion) in tables.items():
        run = learn(table, criterion=criterion).run
        n_sets = comb(table.n_variables, 2) + comb(table.n_variables, 3)
        numbers = (run.graphs_tested, n_sets, run.sets_scanned, run.candidates_scored)
        lines.append(f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return lines


def page(rounds: int, plot_to: Path | None) -> str:
    """Return the page."""
    grown = growth(max(1, rounds // 2))
    if plot_to is not None:
        plot(grown, plot_to)
    columns, rows, _ = (slope(*series) for series in grown.values())
    lines = [
        "# Learning",
        "",
        "Medians, with quartiles in brackets, of runs that alternate. `python -m benchmarks.learning`, "
        f"{rounds} rounds, {platform.machine()}, {os.cpu_count()} cores (load average {os.getloadavg()[0]:.1f} "
        f"when it began), Python {platform.python_version()}.",
        "",
        f"## {N_VARIABLES:,} columns",
        "",
        f"{N_ROWS:,} rows, {N_HIDDEN} hidden XOR triples with 5 % flips among chains of ordinary links, k = 3.",
        "*Scan* is all triples looked at once, nothing kept; learning may take "
        f"{GOAL} times as long. Missed and wrong are links.",
        "",
        "| criterion | threads | learning, s | scan, s | learning / scan | triples found | missed | wrong |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *large(1, rounds),
        *large(2, rounds),
        "",
        f"Peak memory of the process, data included: {peak_memory():.0f} MB.",
        "",
        "## Single links",
        "",
        single_links(rounds),
        "",
        "## The music box",
        "",
        "From a data frame of 2,000 rows of strings to a network and its hidden groups, in a process that has",
        f"learned before; {10 * rounds} samples, each learned by all in turn. Twelve links are true; means of "
        "links.",
        "",
        *music(rounds),
        "",
        "## Growth",
        "",
        f"Time grows with the number of columns as N^{columns:.2f} ({SIZES[0]} to {SIZES[-1]} columns, k = 3), "
        f"with the number of rows as n^{rows:.2f} ({ROWS[0]:,} to {ROWS[-1]:,} rows, 200 columns).",
        "",
        "![Time against columns, rows and links looked ahead](growth.svg)",
        "",
        *(
            f"- {name}: " + ", ".join(f"{at:,}: {taken:.3f} s" for at, taken in zip(*series, strict=True))
            for name, series in grown.items()
        ),
        "",
        "With k, a scan of sets of m columns is added where k reaches m(m-1)/2: triples at 3, quadruples at 6; "
        f"of 40 columns {comb(40, 2):,} pairs, {comb(40, 3):,} triples and {comb(40, 4):,} quadruples.",
        "In between, only sets around links are added.",
        "",
        "## Work",
        "",
        *work(),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="file to write; the plot goes beside it")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    began = perf_counter()
    output: Path | None = arguments.output
    text = page(arguments.rounds, None if output is None else output.parent / "growth.svg")
    if output is None:
        print(text)
    else:
        output.write_text(text)
        print(f"{output} written in {perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
