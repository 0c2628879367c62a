"""Every set of a few columns looked at by itself, and the bounds that make it quick.

A scan asks one question of all sets of m columns: what do they share that no smaller set shows? It learns no
network. The search (:mod:`xordal.search`) asks scanners the same way, so what both need lives here; the search
imports nothing else of this package.

* ``scan_table`` - ``scan()``: any data in, the best sets out.
* ``ranking`` - the best sets of one size, kept while a scanner goes through all of them.
* ``trees`` - what pairs explain of a set: the best tree of its pairs, a bound that scans and search share.
* ``cost`` - how many sets a scan or a search looks at, and about how long that takes.
"""

from xordal.scanning.ranking import RankedSet, RankProgress
from xordal.scanning.scan_table import ScanInterrupted, Scanned, scan
from xordal.types.choices import RankBy

__all__ = ["RankBy", "RankProgress", "RankedSet", "ScanInterrupted", "Scanned", "scan"]
