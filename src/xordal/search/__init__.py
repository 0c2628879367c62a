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
* ``plan`` holds the settings of a run, checked against each other.
* ``schedule`` says which lookahead comes next.
* ``passes`` lists the passes behind a trace.
* ``constraints`` says which links must or must not be learned, and how large cliques may be.
* ``limits`` ends a search that takes too long or too much memory, or that the user ends.
* ``phases`` keeps what is being done now and how long each phase took.
* ``time_left`` estimates how long the scans still take.
* ``driver`` carries the schedule out and writes the trace.
* ``checkpoint`` keeps the trace on disk, so that a search that was killed goes on.
* ``problem`` is what stays the same in all passes, and puts candidates to those who count and decide.
* ``state`` is the present graph, and what has changed in it since any earlier one.
* ``candidate`` is a variable set with its missing links, the chain that adds them, and its gain.
* ``shapes`` says what is known of a set before anything is counted, and which bars follow.
* ``sources`` are where candidates come from.

  * ``scanned`` finds the sets without links by one scan of all sets of their size.
  * ``around`` finds the sets that links of the graph hold together.
  * ``extended`` adds single variables to what ``around`` finds.
  * ``bounded`` keeps the sets that were found, the highest bound first, until they are scored.
  * ``_held`` lists the sets around links by compiled kernels.

* ``completing`` has the two ways to add the links that a set misses.

  * ``as_it_is`` adds these links alone, as the paper does.
  * ``with_fill_in`` adds those that keep the graph chordal too.
  * ``fill_in_rule`` completes sets of three and more by the rule for that.
  * ``_completions`` has its kernels.
  * ``legality`` asks whether constraints and chordality allow a candidate; nobody else does.

* ``best_first`` turns bounded sets into scored ones and these into judged ones, as few as it can.
* ``lookahead`` is one i-link-only search: the sources and both ways put together.
* ``refine`` follows when the schedule has come to its end.

  * ``prune`` takes out links that later ones have made idle.
  * ``local`` improves a score by sequences of links that come and go.
  * ``sequences`` tries these sequences by kernels.
  * ``_sequences`` has these kernels.
  * ``optimum`` knows the best network of a few columns.

* ``numbered`` gives links behind separators numbers, and adds up the steps of many fill-ins.
* ``_numbered`` has its kernels.
* ``collector`` holds Python's collector of garbage back meanwhile.
* ``_masks`` has what kernels ask of a graph.
"""
