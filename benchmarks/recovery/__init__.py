"""What the default finds and what it does not: simulations with seeds, intervals and tables for the docs.

Each module is a script, ``python -m benchmarks.recovery.false_sets --help``; the tables in docs/benchmarks are
their output. Small versions run in the test suite.
"""
