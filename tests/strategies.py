"""Hypothesis strategies: random chordal graphs and random categorical tables."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from xordal.data.table import CategoricalTable
from xordal.graph.chordal import ChordalGraph
from xordal.types.varsets import Link


@st.composite
def chordal_graphs(draw: st.DrawFn, min_vertices: int = 1, max_vertices: int = 9) -> ChordalGraph:
    """Every chordal graph can come out: each new vertex is joined to a subset of a clique, then relabelled."""
    n = draw(st.integers(min_vertices, max_vertices))
    cliques: list[list[int]] = [[]]
    links: list[Link] = []
    for v in range(n):
        clique = draw(st.sampled_from(cliques))
        near = [u for u in clique if draw(st.booleans())]
        links += [(u, v) for u in near]
        cliques.append([*near, v])
    label = draw(st.permutations(range(n)))
    renamed = [(min(label[u], label[v]), max(label[u], label[v])) for u, v in links]
    return ChordalGraph.empty(n).add(renamed)


@st.composite
def neighbour_masks(draw: st.DrawFn, max_vertices: int = 8) -> list[int]:
    """Any graph, chordal or not."""
    n = draw(st.integers(1, max_vertices))
    masks = [0] * n
    for u in range(n):
        for v in range(u + 1, n):
            if draw(st.booleans()):
                masks[u] |= 1 << v
                masks[v] |= 1 << u
    return masks


@st.composite
def _column(draw: st.DrawFn, n_rows: int, earlier: Sequence[list[int]]) -> list[int]:
    """A constant, random levels, or a function of earlier columns with some noise: XOR and modulus sums."""
    kind = draw(st.sampled_from(["constant", "random", "random", "copy", "sum"]))
    if kind == "constant":
        return [0] * n_rows
    levels = draw(st.integers(2, 4))
    noise = draw(st.lists(st.integers(0, levels - 1), min_size=n_rows, max_size=n_rows))
    if kind == "random" or not earlier:
        return noise
    parents = draw(
        st.lists(st.sampled_from(earlier), min_size=1, max_size=1 if kind == "copy" else 3, unique_by=id)
    )
    flipped = draw(st.sets(st.integers(0, n_rows - 1), max_size=2))
    total = [sum(values) % levels for values in zip(*parents, strict=True)]
    return [noise[row] if row in flipped else value for row, value in enumerate(total)]


@st.composite
def tables(draw: st.DrawFn, min_variables: int = 2, max_variables: int = 7) -> CategoricalTable:
    """Tables of 2-7 variables with 1-4 levels: constant columns, repeated rows, modulus sums, ties."""
    n_variables = draw(st.integers(min_variables, max_variables))
    n_rows = draw(st.integers(1, 24))
    columns: list[list[int]] = []
    for _ in range(n_variables):
        columns.append(draw(_column(n_rows, columns)))
    repeats = draw(st.integers(1, 3))
    return CategoricalTable.from_columns({f"v{v}": column * repeats for v, column in enumerate(columns)})
