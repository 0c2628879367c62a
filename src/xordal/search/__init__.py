"""The search: where graph, entropies and decisions meet.

Theory of operation
-------------------
The paper's algorithm starts from no links and adds *link sets*: ``lookahead(1)`` adds the best single link as
long as one is good enough, ``lookahead(2)`` the best two at once, and so on up to k; after each success it goes
back to single links (:mod:`~xordal.search.schedule`). Each pass tests every set of i missing links. We get the
same answer from far less work, by four ideas.

**Variable sets, not link sets.** A legal set of i links is the set of all links that some variable set W misses
(:mod:`~xordal.search.candidate`). There are few enough of these to look at all of them once.

**Three places to look.** The links of the graph hold some of the variables of W together; the others stand
alone. Where all stand alone, a scan of all sets of that size finds W, and its gain never changes
(:mod:`~xordal.search.sources.scanned`). Where all are held together, W is found by looking around links
(:mod:`~xordal.search.sources.around`). Where some are held together and some stand alone, by both
(:mod:`~xordal.search.sources.extended`). Each of these *sources* is told what changed in the graph and answers
with the sets that may matter now.

**Two ways to complete W.** Its own links may keep the graph chordal, or need a fill-in
(:mod:`~xordal.search.completing`). Both ways use the same three sources; they differ in what "held together"
means.

**Best first.** A source gives each set an upper bound on its rank. Exact gains and p-values are worked out only
for sets that may be the best (:mod:`~xordal.search.best_first`). What waits stays for the next pass.

One change of the graph is described once, by :mod:`~xordal.search.state`, and handed to everybody; nobody else
remembers a graph. So a link that is learned, or taken out, costs what lies around it and no more.

Example: the exclusive-or of a, b, c beside a link d - e. ``lookahead(1)`` and ``lookahead(2)`` find nothing.
``lookahead(3)`` scans all triples; {a, b, c} has the highest bound, is scored, judged and learned. It also
looks at d - e plus one variable of another component (two links) and finds that nothing is shared.

Map
---
* ``plan``: the settings of a run, checked against each other.
* ``schedule``: which lookahead comes next; ``passes`` replays it from a trace.
* ``constraints``, ``limits``: what may be learned, and for how long.
* ``driver``: carries the schedule out and writes the trace; ``checkpoint`` keeps it on disk.
* ``problem``: who counts and who decides; candidates put to them.
* ``state``: the present graph, and what has changed since any earlier one.
* ``candidate``: a variable set, its missing links, its chain, its gain.
* ``shapes``: what is known before anything is counted, and the bars that follow.
* ``sources``: where candidates come from (``scanned``, ``around``, ``extended``), waiting as ``bounded`` sets.
* ``completing``: ``as_it_is`` or ``with_fill_in``; ``legality`` asks what the rules allow.
* ``best_first``: from bounded to scored to judged.
* ``lookahead``: one i-link-only search, sources and ways put together.
* ``refine``: after the schedule, ``prune`` takes idle links out, ``local`` improves scores by sequences of
  moves, ``sequences`` tries them by kernels, ``optimum`` knows the best network of few columns.
* ``_masks``: graphs as kernels read them.
"""
