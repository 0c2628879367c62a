"""Large tables and clusters: what packing, counting and a cluster cost, as a page.

    python -m benchmarks.large.measure FOLDER -o docs/benchmarks/large.md

FOLDER holds the files of ``benchmarks.large.generate``. Each reading and learning is a process of its own, so
that its time and memory are its own. The last part is an estimate from the costs measured in the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.large import cluster
from xordal.counting.select import oracle_for
from xordal.data.read import read_table
from xordal.data.write import write_text
from xordal.types.varsets import varset

_SETS = 40
FEW = ["chain1", "chain2", "x1", "x2", "x3", "y1", "y2", "y3"]
_ONE = """
import json, resource, sys, time
began = time.perf_counter()
from xordal import learn, read_table
asked = json.loads(sys.argv[1])
table = read_table(asked["source"], **asked["how"])
read = time.perf_counter() - began
learned = learn(table)
print(json.dumps({
    "rows": table.n_rows, "read": read, "all": time.perf_counter() - began, "cpu": time.process_time(),
    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "trace": [[list(map(list, e.links)), e.gain, e.log_p_value] for e in learned.trace],
    "names": list(table.names), "packed": table.blocks is not None, "distinct": int(table.codes.shape[1]),
}))
"""


def one(source: object, **how: Any) -> dict[str, Any]:
    """Read and learn in a process of its own; return times, memory and trace."""
    asked = json.dumps({"source": source, "how": how})
    done = subprocess.run([sys.executable, "-c", _ONE, asked], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def line(name: str, run: dict[str, Any]) -> str:
    """Return a row of the table of runs."""
    numbers = (run["read"], run["all"] - run["read"], run["cpu"])
    times = " | ".join(f"{seconds:.1f} s" for seconds in numbers)
    return f"| {name} | {times} | {run['memory'] / 1e9:.2f} GB | {len(run['trace'])} |"


def beside_duckdb(folder: Path) -> list[str]:
    """Count some sets of all columns, by xordal in its packed table and by DuckDB in the Parquet files."""
    import duckdb

    pattern = str(folder / "*.parquet")
    table = read_table(pattern)
    triples = list(combinations(range(table.n_variables), 3))
    chosen = [triples[place] for place in np.random.default_rng(23).choice(len(triples), _SETS, replace=False)]
    ours, theirs = [], []
    with duckdb.connect() as database:
        database.execute(f"SET threads = {os.cpu_count()}")
        for triple in chosen:
            began = perf_counter()
            asked = ", ".join(table.names[v] for v in triple)
            rows = database.sql(f"SELECT {asked}, COUNT(*) FROM '{pattern}' GROUP BY ALL").fetchall()
            theirs.append((perf_counter() - began, sorted(row[-1] for row in rows)))
    oracle = oracle_for(table, backend="blocks", threads=os.cpu_count() or 1)
    oracle.counts([varset(chosen[0])])  # compiled code is loaded, files are mapped
    began = perf_counter()
    for counts in oracle.counts([varset(triple) for triple in chosen]):
        ours.append(sorted(counts.counts.tolist()))
    taken = perf_counter() - began
    assert ours == [counts for _, counts in theirs]
    return [
        "",
        f"Distinct rows of all {table.n_variables} columns are nearly as many as rows, so there a database "
        f"cannot count them once for all. Set by set it can: {_SETS} random triples of all columns and rows, "
        f"the same counts, took DuckDB {sum(seconds for seconds, _ in theirs) / _SETS:.2g} s each from the "
        f"Parquet files, xordal {taken / _SETS:.2g} s each from its packed table, both with {os.cpu_count()} "
        "threads.",
    ]


def runs(folder: Path) -> list[str]:
    """Measure reading and learning: first and second run, few columns both ways, and a common subset."""
    pattern, files = str(folder / "*.parquet"), sorted(folder.glob("*.parquet"))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XORDAL_CACHE"] = cache
        first, second = one(pattern), one(pattern)
        packed = sum(file.stat().st_size for file in Path(cache).rglob("*.bin"))
        few = one(pattern, columns=FEW)
        asked = ", ".join(FEW)
        counted = one(pattern, sql=f"SELECT {asked} FROM data")
        part = str(files[-1])
        in_memory, streamed = one(part), one([part])
        counted_sets = beside_duckdb(folder)
    size = sum(file.stat().st_size for file in files)
    same = [
        first["trace"] == second["trace"],
        few["trace"] == counted["trace"],
        in_memory["trace"] == streamed["trace"] and streamed["packed"] and not in_memory["packed"],
    ]
    assert all(same), same
    return [
        f"{first['rows']:,} rows, {len(first['names'])} columns, {size / 1e9:.2f} GB of Parquet in "
        f"{len(files)} files; {packed / 1e9:.2f} GB packed.",
        "",
        "| run | until counting begins | learning | processor time in all | memory | steps |",
        "|---|---|---|---|---|---|",
        line("first: read and packed", first),
        line("second: from the cache", second),
        line(f"{len(FEW)} columns, read and packed", few),
        line(f"{len(FEW)} columns, counted by DuckDB ({counted['distinct']:,} distinct rows)", counted),
        line(f"the last file alone ({in_memory['rows']:,} rows), in memory", in_memory),
        line("the last file alone, packed on disk", streamed),
        "",
        f"Read and packed at {first['rows'] / first['read']:,.0f} rows/s; the second run begins to count "
        f"{first['read'] / second['read']:.0f} times sooner. Times hold the start of Python (about a "
        "second). Memory is the largest resident set, pages of mapped files included. The traces of each pair "
        "of runs are equal, p-values included.",
        *counted_sets,
    ]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("-o", "--output", default=None)
    given = asked.parse_args()
    began, load = perf_counter(), os.getloadavg()[0]
    page = [
        "# Large tables, measured",
        "",
        "Made by `python -m benchmarks.large.generate FOLDER` (seed 23) and `python -m "
        "benchmarks.large.measure "
        f"FOLDER`, on {os.cpu_count()} cores (load average {load:.1f} when it began).",
        "",
        "## One machine",
        "",
        *runs(given.folder),
        "",
        *cluster.page(given.folder),
    ]
    text = "\n".join(page) + "\n"
    print(text, f"{perf_counter() - began:.0f} s")
    if given.output:
        write_text(given.output, text)


if __name__ == "__main__":
    main()
