"""Whether the variables and families of a Bayesian network fit together: what its constructor refuses.

Networks from files are checked piece by piece as they are read, with the place in the file
(:mod:`xordal.formats.draft`); this is for those made in Python, which would else be written to files that
nobody can read back.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xordal.errors import DataError

if TYPE_CHECKING:
    from xordal.model.directed import Family

ROUNDING = 0.01
"""By how much the probabilities of a row may miss one: three thirds of two digits sum to 0.99."""


def check_network(
    variables: Sequence[str], levels: Sequence[Sequence[Hashable]], families: Sequence[Family]
) -> None:
    """Refuse a network whose parts do not fit together.

    Raises
    ------
    DataError
        If names or levels are there twice, a family is missing or in another place, or a table has another
        shape, rows that do not sum to one, or something that is no probability.
    """
    if len(set(variables)) < len(variables):
        raise DataError("Two variables have the same name. Give each a name of its own.")
    if len(levels) != len(variables) or [f.variable for f in families] != list(range(len(variables))):
        raise DataError("Each variable must have its levels and one family, in the order of the variables.")
    for name, known, family in zip(variables, levels, families, strict=True):
        if not known or len(set(known)) < len(known):
            raise DataError(f"The variable {name!r} must have levels that are all different.")
        is_known = all(0 <= p < len(variables) for p in family.parents)
        if not is_known or len({family.variable, *family.parents}) <= len(family.parents):
            raise DataError(f"The parents of {name!r} must be numbers of other variables, all different.")
        shape = tuple(len(levels[v]) for v in (*family.parents, family.variable))
        if np.shape(family.chances) != shape:
            told = f"{np.shape(family.chances)} instead of {shape}: levels of the parents, then its own"
            raise DataError(f"The table of {name!r} has the shape {told}.")
        off_one = np.abs(family.chances.sum(axis=-1) - 1)
        if not (family.chances >= 0).all() or not (off_one <= ROUNDING + 1e-9).all():
            raise DataError(f"The table of {name!r} must hold probabilities, in rows that sum to 1.")
