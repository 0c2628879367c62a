"""What lies between two vertices of a chordal graph: the separators on the path from one to the other.

The cliques that hold x and those that hold y are subtrees of the junction tree, and every minimal separator of
x and y is a separator on the path between the two (Blair & Peyton 1993). Of the separators on that path, the
minimal ones are those that hold no other.
"""

from __future__ import annotations

from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import junction_tree
from xordal.types.varsets import VarSet, members


class _Tree:
    """The junction tree of one component."""

    __slots__ = ("between", "cliques", "parents", "separators", "top")

    def __init__(self, graph: ChordalGraph, component: VarSet) -> None:
        tree = junction_tree(graph, component)
        self.cliques, self.separators, self.parents = tree.cliques, tree.separators, tree.parents
        self.between: dict[tuple[int, int], list[VarSet]] = {}  # what was asked for already
        self.top: dict[int, int] = {}  # the clique nearest to the root of those that hold a vertex
        for place, (clique, separator) in enumerate(zip(tree.cliques, tree.separators, strict=True)):
            for v in members(clique & ~separator):
                self.top[v] = place


class SeparatorPaths:
    """The separators between the vertices of one graph, a component worked out when it is first asked for.

    Parameters
    ----------
    graph
        The graph.
    before
        The paths of an earlier graph: of components that are still the same nothing is worked out again.
    ends
        The ends of all links that have come or gone since; both graphs are compared where they are not given.
    """

    def __init__(
        self, graph: ChordalGraph, before: SeparatorPaths | None = None, ends: VarSet | None = None
    ) -> None:
        self.graph = graph
        self._trees: dict[VarSet, _Tree] = {}
        if before is not None:
            self._trees = before._trees.copy()
            for v in members(ends) if ends is not None else graph.ends_of_change(before.graph):
                for changed in (before.graph.components[v], graph.components[v]):
                    self._trees.pop(changed, None)

    def _tree(self, v: int) -> _Tree:
        component = self.graph.components[v]
        if component not in self._trees:
            self._trees[component] = _Tree(self.graph, component)
        return self._trees[component]

    def separators(self, x: int, y: int) -> list[VarSet]:
        """Return the separators on the path from x to y, two vertices of one component that are not linked.

        Examples
        --------
        >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
        >>> [members(s) for s in SeparatorPaths(path).separators(3, 0)]
        [(2,), (1,)]
        """
        tree = self._tree(x)
        if (x, y) not in tree.between:
            tree.between[x, y] = _path(tree, x, y)
        return tree.between[x, y]

    def minimal(self, x: int, y: int) -> list[VarSet]:
        """Return the minimal separators of x and y, on the path from x to y.

        Examples
        --------
        >>> fan = ChordalGraph.empty(4).add([(0, 1), (1, 2), (1, 3), (2, 3)])
        >>> [members(s) for s in SeparatorPaths(fan).minimal(0, 3)]
        [(1,)]
        """
        # What two separators on a path have in common, all between them have too. So where one holds another,
        # it holds the nearest one that is minimal among those before it, or the other way round.
        found: list[VarSet] = []
        for s in self.separators(x, y):
            if found and not found[-1] & ~s:
                continue
            while found and not s & ~found[-1]:
                found.pop()
            found.append(s)
        return found


def _path(tree: _Tree, x: int, y: int) -> list[VarSet]:
    """Return the separators between the cliques of x and those of y."""
    cliques, separators, parents = tree.cliques, tree.separators, tree.parents
    at_x, at_y = tree.top[x], tree.top[y]
    from_x: list[VarSet] = []
    from_y: list[VarSet] = []
    # A parent comes before its children, so the later of the two cliques is never above the other.
    while at_x != at_y and not cliques[at_x] >> y & 1 and not cliques[at_y] >> x & 1:
        later, passed = (at_x, from_x) if at_x > at_y else (at_y, from_y)
        above = parents[later]
        assert above is not None, "x and y are in one component"
        passed.append(separators[later])
        if later == at_x:
            at_x = above
        else:
            at_y = above
    return from_x + from_y[::-1]
