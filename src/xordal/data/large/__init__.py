"""Tables larger than memory: read batch by batch, packed on disk once, and mapped into memory from there.

The way of a row: :mod:`files` lists what there is to read, :mod:`batches` reads some hundred thousand rows at a
time, :mod:`gather` numbers the levels as they appear and writes the numbers to disk, :mod:`pack` puts the
levels in their order, applies what the user wants (missing values, bins, rare levels) and writes the columns as
codes and as bits, :mod:`store` is the format of those files and :mod:`cache` the folder that keeps them.

With a cluster, its workers read the batches (``counting/dask/reading.py``); the rest of the way is the same.

What comes out is an ordinary :class:`~xordal.data.table.CategoricalTable`, equal to the bit to the one that is
read in memory. Its codes lie in a file that is mapped into memory, and its ``blocks`` tell where its bits are.
"""
