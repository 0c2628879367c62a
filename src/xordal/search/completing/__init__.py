"""How a variable set is completed: as it is, or with fill-in. The only place that asks what is allowed.

There are two ways to complete a set W with i missing links.

**As it is** (:class:`AsItIs`): its own links keep the graph chordal. That is the paper's candidate.

**With fill-in** (:class:`WithFillIn`): its own links would break chordality, and further links, the fill-in,
keep it (:mod:`xordal.graph.fill_in`). There is a fill-in for almost any set, so W must be *admitted* first, by
what its variables say themselves: each two of them that are not linked share more given the rest of W than
alone, by what W on its own would have to gain to be accepted; a pair must share that much. That does not depend
on the graph around W, so each set is asked once. Then there are two tests: W's own links are accepted where
they come in, and all links are accepted together. A candidate ranks by the weaker of the two: however much is
filled in, what calls for it are its own links.

Both do the same jobs for :mod:`xordal.search.best_first`, from cheap to dear: bound the rank of a set, score
it, and judge it; and both know whether what was scored in an earlier graph still stands.
"""
