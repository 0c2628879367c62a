"""Section 5: measured work beside Table 2, the execution chain (Figure 3) and forest (Figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, product

from xordal.errors import counted
from xordal.pi.complexity import costs, execution_chain, execution_forest
from xordal.report.drawings import ExecutionDrawing
from xordal.report.paper import printed
from xordal.report.paper.checks import Grid, Item, compare, holds
from xordal.report.paper.runs import Studies, Study
from xordal.search.passes import passes
from xordal.search.schedule import Schedule
from xordal.types.choices import ScheduleName
from xordal.types.trace import Pass, TraceEntry

_SCHEDULES: dict[ScheduleName, str] = {"as_run": "as run", "printed": "as printed"}
_EXAMPLE = (
    "The paper's picture is of an example run that it does not give. The text tells how it begins: four passes "
    "of one link, three of two, three of one. The first drawing is the shortest 3-link search that begins so; "
    "the others are the real runs on the music box, in the schedule behind the paper's tables and in the "
    "printed one. Filled passes learned the link set above them, hollow ones learned nothing."
)


def table_2(studies: Studies) -> Item:
    """Table 2: measured steps per pass and passes per i-link-only search, against the paper's orders."""
    rows = [row for study in studies.both() for row in _cost_rows(study)]
    return Item(
        "table-2",
        "Table 2",
        "The relation among i, number of steps per pass and number of passes in an i-link-only search",
        (
            holds(
                "Steps in a pass are at most of the order N^(2i)",
                all(steps <= bound for _, _, steps, _, bound, *_ in rows),
                "none has more than N^(2i)",
            ),
            holds(
                "Passes in an i-link-only search are at most of the order N^2 / i",
                all(n_passes <= bound for *_, n_passes, bound in rows),
                "none has more than N^2 / i",
            ),
        ),
        text=(
            "The paper states orders, without constants. Measured on the runs behind its tables: the largest "
            "number of steps in a pass and of passes in one search, beside the paper's order with a constant "
            "of one, and the exact largest number of steps, the sets of i links among all N(N-1)/2.",
        ),
        grids=(
            Grid.of(
                "Measured, and the bounds of the paper",
                "run|i#|steps in a pass: ours#|the most there can be#|steps in a pass: paper, N^(2i)#|"
                "passes in a search: ours#|passes in a search: paper, N^2/i#",
                [(n, i, f"{s:,}", f"{m:,}", f"{b:,}", p, f"{q:.1f}") for n, i, s, m, b, p, q in rows],
            ),
        ),
    )


def figure_3(studies: Studies) -> Item:
    """Figure 3: execution chains, of the example as the text tells it and of the music box."""
    examples = dict(_examples())
    begun = [_runs_of(execution_chain(every))[: len(printed.FIGURE_3_PASSES)] for every in examples.values()]
    check = compare(
        "How the example begins: passes of each label",
        printed.FIGURE_3_PASSES,
        begun[0] if begun else (),
        show=lambda runs: ", ".join(f"{n} of {label}" for label, n in runs),
        why="No small search in either schedule begins so.",
    )
    told = "; ".join(
        f"{_SCHEDULES[name]} {counted(singles, 'single link')}, {counted(pairs, 'pair')}, "
        f"{counted(later, 'single link')}"
        for name, singles, pairs, later in examples
    )
    return Item(
        "figure-3",
        "Figure 3",
        "The execution chain of a 3-link search",
        (check,),
        text=(_EXAMPLE, f"What a search that begins so learns, in order: {told}."),
        drawings=tuple(_drawings(studies, "Chain", as_forest=False)),
    )


def figure_4(studies: Studies) -> Item:
    """Figure 4: execution forests."""
    example = next(iter(dict(_examples()).values()), ())
    chain = execution_chain(example)
    parents = execution_forest(chain)
    first = {label: chain.index(label) if label in chain else None for label in (2, 3)}
    (_, ones), (_, twos), _ = printed.FIGURE_3_PASSES
    return Item(
        "figure-4",
        "Figure 4",
        "The execution forest of a 3-link search",
        (
            compare(
                f"Parent of the first {ones} passes labelled 1",
                {"the first pass labelled 2"},
                {_which(parents[place], first) for place in range(len(chain[:ones]))},
                show=_shown,
            ),
            compare(
                f"Parent of the first {twos} passes labelled 2",
                {"the first pass labelled 3"},
                {_which(parents[place], first) for place in range(len(chain))[ones : ones + twos]},
                show=_shown,
            ),
            holds(
                "Each pass not at the top level has one parent: every component is a tree",
                all(_has_all_parents(study) for study in studies.both()),
                "true of the runs on both models, in both schedules",
            ),
        ),
        text=("The same runs as in Figure 3.",),
        drawings=tuple(_drawings(studies, "Forest", as_forest=True)),
    )


def _cost_rows(study: Study) -> Iterator[tuple[str, int, int, int, int, int, float]]:
    """Yield name, i, most steps in a pass, the most there can be, N^(2i), most passes in a search, N^2 / i."""
    n = len(study.variables)
    for cost in costs(study.as_run.passes, n):
        i = cost.lookahead
        mine = [search for search in study.as_run.searches() if search[0].lookahead == i]
        steps = max(one.steps for search in mine for one in search)
        yield study.name, i, steps, cost.most_steps, n ** (2 * i), max(map(len, mine)), n**2 / i


def _examples() -> Iterator[tuple[tuple[ScheduleName, int, int, int], tuple[Pass, ...]]]:
    """Yield for each schedule the shortest 3-link search that begins as the text tells, and what it learns."""
    names: tuple[ScheduleName, ...] = ("printed", "as_run")
    for name in names:
        for singles, pairs, later in product(range(5), repeat=3):
            lookaheads = [1] * singles + [2] * pairs + [1] * later
            # Only the number of links counts here: which ones were learned does not change the passes.
            trace = tuple(TraceEntry("add", i, ((0, 1),) * i, 1.0, 1, 0) for i in lookaheads)
            every = passes(trace, Schedule(name, 3), n_variables=8)
            if _runs_of(execution_chain(every))[:3] == printed.FIGURE_3_PASSES:
                yield (name, singles, pairs, later), every
                break


def _runs_of(chain: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return each label with the number of passes that follow each other with it."""
    return tuple((label, len(list(group))) for label, group in groupby(chain))


def _which(parent: int | None, first: dict[int, int | None]) -> str:
    label = next((label for label, place in first.items() if place is not None and place == parent), None)
    return "another" if label is None else f"the first pass labelled {label}"


def _shown(parents: set[str]) -> str:
    return ", ".join(sorted(parents))


def _has_all_parents(study: Study) -> bool:
    for name in _SCHEDULES:
        chain = execution_chain(study.runs[name].passes)
        parents = execution_forest(chain)
        if any(parent is None and label < max(chain) for label, parent in zip(chain, parents, strict=True)):
            return False
    return True


def _drawings(studies: Studies, kind: str, as_forest: bool) -> Iterator[ExecutionDrawing]:
    music = studies.music_box
    runs = {
        f"{kind} of the paper's example, as far as the text tells it": every
        for _, every in islice(_examples(), 1)
    }
    for name, told in _SCHEDULES.items():
        runs[f"{kind} of the music box, schedule {told}"] = music.runs[name].passes
    for title, every in runs.items():
        chain = execution_chain(every)
        numbered = iter(range(1, len(every) + 1))
        learned = tuple(f"L{next(numbered)}" if one.learned else "" for one in every)
        yield ExecutionDrawing(title, chain, learned, execution_forest(chain) if as_forest else None)
