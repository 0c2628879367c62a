"""Definitions 1-3: full, partial and embedded pseudo-independent models (section 2), condition by condition.

The partition of S1' is not unique (two blocks that are dependent together may be one); the finest is taken, the
connected components of pairwise dependence. Its blocks are always generally dependent: were a block the union
of two independent parts, no pair across them could depend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from xordal.pi.independence import Independence
from xordal.types.groups import Submodel
from xordal.types.varsets import EMPTY, VarSet, members, varset

Partition = tuple[VarSet, ...]


def s1(judge: Independence, N: VarSet) -> bool:
    r"""(S1) For each X in N, variables in N \ {X} are marginally independent."""
    return all(judge.are_marginally_independent(N & ~(1 << x)) for x in members(N))


def s1_prime(judge: Independence, N: VarSet) -> Partition | None:
    """(S1') The finest partition of N into k >= 2 pairwise independent, generally dependent blocks, or None."""
    partition = judge.components(N)
    return partition if len(partition) >= 2 else None


def s2(judge: Independence, N: VarSet) -> bool:
    """(S2) Variables in N are collectively dependent."""
    return judge.are_collectively_dependent(N)


def s4(judge: Independence, part: VarSet) -> bool:
    """(S4) N' forms a partial PI model."""
    return is_partial_pi(judge, part)


def s5(judge: Independence, partition: Partition, N: VarSet) -> bool:
    """(S5) The partition extends into N: no chain of pairwise dependences in N joins two of its blocks."""
    return _extends(partition, judge.components(N))


def is_full_pi(judge: Independence, N: VarSet) -> bool:
    """Definition 1: at least three variables, S1 and S2."""
    return N.bit_count() >= 3 and s1(judge, N) and s2(judge, N)


def is_partial_pi(judge: Independence, N: VarSet) -> bool:
    """Definition 2: at least three variables, S1' and S2. A full PI model is one, of single-variable blocks."""
    return N.bit_count() >= 3 and s1_prime(judge, N) is not None and s2(judge, N)


def is_embedded_pi(judge: Independence, part: VarSet, N: VarSet) -> bool:
    """Definition 3: N' is a proper subset of generally dependent N, with S4 and S5."""
    if part & ~N or part == N or not judge.are_generally_dependent(N) or not s4(judge, part):
        return False
    return s5(judge, judge.components(part), N)


def pi_submodels(judge: Independence, N: VarSet) -> Iterator[Submodel]:
    """Yield every PI submodel of the model over N, small ones first.

    A domain that falls into independent parts is taken part by part: S5 asks of pairs, which no other part
    can touch.
    """
    yield from submodels_among(judge, apart(judge, N, judge.components(N), range(3, N.bit_count() + 1)))


def apart(
    judge: Independence, inside: VarSet, domain: Partition, sizes: Iterable[int]
) -> Iterator[tuple[VarSet, Partition]]:
    """Yield the sets among some variables that are PI submodels if they are collectively dependent.

    They fall into pairwise independent blocks (S1') that extend into the domain (S5).

    Parameters
    ----------
    judge
        Decides dependence.
    inside
        The variables, for example those of one clique.
    domain
        The components of pairwise dependence of the whole domain, into which partitions must extend.
    sizes
        Numbers of variables to look at.
    """
    for part in _parts(inside, sizes):
        partition = s1_prime(judge, part)
        if partition is not None and _extends(partition, domain):
            yield part, partition


def submodels_among(judge: Independence, sets: Iterable[tuple[VarSet, Partition]]) -> Iterator[Submodel]:
    """Yield the PI submodels among sets that fall :func:`apart`."""
    for part, partition in sets:
        if s2(judge, part):
            is_full = len(partition) == part.bit_count() and s1(judge, part)
            yield Submodel(part, partition, "full" if is_full else "partial", judge.total_correlation(part))


def _parts(inside: VarSet, sizes: Iterable[int]) -> Iterator[VarSet]:
    for size in sizes:
        yield from map(varset, combinations(members(inside), size))


def _extends(partition: Partition, domain: Partition) -> bool:
    """Whether no component of the domain's pairwise dependence meets two blocks."""
    return all(sum(1 for block in partition if block & part) <= 1 for part in domain)


def conditional_pi_submodels(judge: Independence, inside: VarSet, sizes: Iterable[int]) -> Iterator[Submodel]:
    """Yield the conditional PI submodels among some variables, in the order of the sizes.

    A kind the paper does not name: given a context C, three or more variables are independent across blocks
    pair by pair and collectively dependent; variables and context together, whose number ``sizes`` bounds,
    are collectively dependent but no PI set themselves, and no smaller context, the empty one included, does.
    """
    found: list[Submodel] = []
    for whole in _parts(inside, sizes):
        if not judge.are_collectively_dependent(whole) or len(judge.components(whole)) >= 2:
            continue  # not held together, or a PI set itself
        for context in _parts(whole, range(1, whole.bit_count() - 2)):
            submodel = _given(judge, VarSet(whole & ~context), context)
            if submodel and not any(_explains(smaller, submodel) for smaller in found):
                found.append(submodel)
                yield submodel


def _given(judge: Independence, part: VarSet, context: VarSet) -> Submodel | None:
    partition = judge.components(part, given=context)
    if len(partition) < 2 or not judge.are_collectively_dependent(part, given=context):
        return None
    if len(judge.components(part)) >= 2 and judge.are_collectively_dependent(part):
        return None  # a PI set without any context
    shared = judge.total_correlation(part, given=context)
    return Submodel(part, partition, "conditional", shared, context)


def _explains(smaller: Submodel, larger: Submodel) -> bool:
    """Whether a submodel already found stands for another: the same variables, in part of the context."""
    return smaller.variables == larger.variables and smaller.context & ~larger.context == EMPTY
