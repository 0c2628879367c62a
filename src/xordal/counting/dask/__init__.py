"""Counting on a cluster: a Dask client, any of them, sums the counts of row blocks or splits scans.

Dask is no engine here. What a worker does with the part it is given is what one machine does with the whole: an
inner counter counts a range of row blocks, or a scan looks at the sets that begin with some variables. All that
is new is who does which part, and what happens when a worker dies:

* **Files.** They are listed and read by workers, a part of a file by one task. Codes and levels come back, in
  the order of the files, and are packed here, as if this process had read them.
* **Rows.** A table that is too large for a worker is counted by ranges of blocks. A task is told the folder,
  the range and the variable sets; it maps its blocks from disk and counts, and the counts of all ranges are
  added up in a tree.
* **Sets.** A table that fits is mapped by every worker whole. A scan is split by the first variables of the
  sets; each worker returns what can reach the bar. A scan for the best so many keeps the best of each worker,
  which hold the best of all; ties are settled by the search, by the rule that settles them on one machine. So
  the answer does not depend on how many workers there are.

Tasks depend on nothing but files and their arguments. When a worker dies, Dask gives its tasks to another, and
that one reads or maps the same files: nothing is lost, and nothing counted twice, since a range is part of one
sum. Data scattered to a worker would die with it. A task during which four workers died is given up by
Dask (``allowed-failures``), because it may be what kills them; here it is asked for anew a few times, since
machines that are taken away are no fault of a task, and then refused with a message.

Workers must see the folder with the packed table: by a shared file system (``XORDAL_CACHE`` names the folder).
Where they do not, a table of moderate size is sent to each of them, also to those that come later.

``backend.py`` is what users name, ``cluster.py`` sends tasks and outlives workers, ``reading.py`` reads files
by them, ``tasks.py`` is what counts on workers, and ``oracles.py`` what answers the search.
"""
