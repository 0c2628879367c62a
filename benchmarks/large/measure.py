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
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.large import cluster
from xordal.data.write import write_text

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
    ]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("-o", "--output", default=None)
    given = asked.parse_args()
    began = perf_counter()
    page = [
        "# Large tables, measured",
        "",
        "Made by `python -m benchmarks.large.generate FOLDER` (seed 23) and `python -m "
        "benchmarks.large.measure "
        f"FOLDER`, on {os.cpu_count()} cores. The machine did other work meanwhile; processor time says more "
        "than time, and ratios more than either.",
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
