"""Scans on a graphics processor: a filter in one-bit matrix products, then exact counts.

A scan goes through four hands, and each is a module:

1. :mod:`columns` lays columns out as bit planes, in slots, each with the two numbers that make its variable's
   planes an orthonormal basis.
2. :mod:`screening` looks at all sets of some first variables and returns those whose bound reaches the bar. It
   has the proof that nothing else can reach it, and what is allowed for rounding. :mod:`fours` does the same
   for sets of four binary columns.
3. :mod:`measuring` takes the full tables of these, in whole numbers, and measures them in double precision.
4. :mod:`scan` cuts a scan into ranges of first variables, raises the floor of a scan for the best, makes
   buffers larger where they overflow, and goes on with the processor where the device fails.

Whoever multiplies is an :class:`~xordal.counting.gpu.engine.Engine`:
:class:`~xordal.counting.gpu.cupy_engine.CupyEngine` runs the CUDA sources;
:class:`~xordal.counting.gpu.mirror.Mirror` is the same in NumPy, tile by tile, for tests on machines without a
GPU. :class:`~xordal.counting.gpu.oracle.GpuOracle` is the backend.
"""
