"""How often a rule would hold by chance, and whether it holds more often than that.

*By chance.* Were the columns independent, the sum of their values would follow from their own distributions
by convolution. Columns that depend on each other pair by pair can make a sum constant too, and no rule of
all of them is needed for that. So a rule must beat more: it is cut into two parts in many ways, each part
keeps its own distribution of sums as the data have it, and the two are taken as independent. The largest
share over all cuts counts. So does a column that is independent of the rest given the level of one other
column: a chain of dependent pairs is no rule either. A level that most rows have, or a rule of fewer
columns plus a column that hardly matters, holds as often by one of those cuts, and so is no rule.

A rule modulo 7 of digits below 7 leaves few sums, and so the sum itself, and the sum modulo any other number,
is the same in most rows. So of two rules of the same columns the one that more rows break must hold more
often than the better one makes it: some column matters to it beyond that, and it would hold less often were
the column independent of the rest within the levels that the better rule does not tell apart. And it must
hold more often than all better rules that it is connected with make it (drawn.py).

*How sure.* With that share q, the number of rows in which one given rule holds is at most binomial. There are
many rules: C(N, m) sets of m columns; each column of numbers enters by a weight or by a function, so two for
each of those; and p values for each unknown, where a multiple of a rule is the same rule. The tail of the
binomial is multiplied by all of them, by the number of moduli tried, and by m (m + 1), whose inverses add up to
one over all m: a union bound, whatever was looked at on the way.

*How much.* A rule must also settle at least half of what chance leaves open.

*Not another function.* The larger of two numbers is no sum of functions of them, and yet some sums come near
it in some levels. What breaks such a sum is no error: cell by cell, the other columns tell the last one better
than the sum does. A sum that leaves much open and is told better so is no rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, inf, lgamma, log, log1p, prod

import numpy as np
from numpy.typing import NDArray

from xordal.rules.candidate import UNKNOWN, Candidate, Values, residues, weight_of
from xordal.rules.coding import blanks_of, is_blank, numbers_of, some_rows
from xordal.rules.drawn import share_obeyed
from xordal.rules.sums import Sums

_MOST_ROWS = 5_000  # rows from which distributions of sums are taken
_MOST_CELLS = 2_000  # of a rule's columns, up to which equal rows are counted first
_ALL_CUTS = 8  # columns up to which every cut into two parts is tried
_PAIR_CUTS = 24  # columns up to which parts of one and two columns are tried
_MOST_TERMS = 200_000  # of the binomial tail; they fall off geometrically
_VALUES_OF_WHOLE_NUMBERS = 45  # whole numbers from -22 to 22 are told apart (relations.py)
SETTLED = 0.5
"""Share of what chance leaves open that a rule must settle."""
_SURELY_A_SUM = 0.85
"""Share of what chance leaves open from which on a rule is taken as it is, although another function may fit
better: (sum mod 11) mod 10 settles 0.9, and so do the days of the week of a leap year and a common one. Not so
modulo 2 and in whole numbers: "one or the other" comes as near to a sum as the two are rarely together."""
_MOST_TOLD_BY_CELLS = 8  # columns of a rule that are looked at cell by cell; of more, no two rows share a cell


@dataclass(frozen=True, slots=True)
class Evidence:
    """How often a rule is broken, how often it would hold by chance, and how sure it is.

    ``n_rows`` are the rows that can obey or break it: those that miss no value in its columns.
    """

    n_rows: int
    n_broken: int
    by_chance: float
    log_p_value: float

    def is_rule(self, alpha: float) -> bool:
        """Whether it is significant, and settles enough of what chance leaves open."""
        return self.log_p_value <= log(alpha) and self.settled > SETTLED

    @property
    def settled(self) -> float:
        """The share of what chance leaves open that the rule settles."""
        if self.by_chance >= 1:
            return 0.0
        return (1 - self.n_broken / self.n_rows - self.by_chance) / (1 - self.by_chance)


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What evidence is measured against: the table and the rules that are in question.

    ``n_moduli`` is how many moduli are tried.
    """

    codes: NDArray[np.int32]
    levels: Sequence[Sequence[Hashable]]
    weights: NDArray[np.int64] | None
    n_moduli: int
    _known: dict[Candidate, Evidence] = field(default_factory=dict)
    _numbers: dict[int, list[int | None]] = field(default_factory=dict)
    _cells: dict[tuple[int, ...], tuple[Values, NDArray[np.float64]]] = field(default_factory=dict)
    blanks: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Look for the level that missing values are."""
        object.__setattr__(self, "blanks", blanks_of(self.levels))

    @property
    def n_rows(self) -> int:
        """Number of rows, repeated ones included."""
        return int(self.codes.shape[1] if self.weights is None else self.weights.sum())

    def n_broken(self, candidate: Candidate) -> int:
        """Return how many rows break a rule; one that misses a value in its columns does not."""
        broken = ~candidate.is_obeyed(self.codes)
        if (blank := is_blank(self.blanks, candidate.variables, self.codes)) is not None:
            broken &= ~blank
        return self._counted(broken)

    def _n_told(self, candidate: Candidate) -> int:
        """Return how many rows miss no value in the columns of a rule."""
        blank = is_blank(self.blanks, candidate.variables, self.codes)
        return self.n_rows if blank is None else self._counted(~blank)

    def _counted(self, rows: NDArray[np.bool_]) -> int:
        return int(rows.sum() if self.weights is None else self.weights[rows].sum())

    def evidence(self, candidate: Candidate, given: Sequence[Candidate] = ()) -> Evidence:
        """Return what the rows say of a candidate, beyond what better rules of its columns explain."""
        if not given and candidate in self._known:
            return self._known[candidate]
        n_broken = self.n_broken(candidate)
        n_rows = self._n_told(candidate)
        if given:
            by_chance = max(self.evidence(candidate).by_chance, self._by_better(candidate, given))
        else:
            by_chance = self._by_chance(candidate)
        log_p = log_tail(n_rows - n_broken, n_rows, by_chance) + self.log_rules(candidate)
        found = Evidence(n_rows, n_broken, by_chance, min(log_p, 0.0))
        if not given:
            self._known[candidate] = found
        return found

    def settles(self, candidate: Candidate) -> bool:
        """Whether a candidate settles enough of what the quickest cuts leave open."""
        codes = self.codes
        if (blank := is_blank(self.blanks, candidate.variables, codes)) is not None:
            codes = codes[:, ~blank]
            if not codes.size:
                return False
        terms, known = candidate.terms(codes)
        sums = Sums(terms, candidate.constant, candidate.modulus, None)
        holds = float((sums.is_zero & known).mean())
        for place in range(len(terms)):
            by_chance = sums.agreement((place,))
            if holds - by_chance <= SETTLED * (1 - by_chance):
                return False
        return True

    def is_another_function(self, candidate: Candidate) -> bool:
        """Whether a column follows from the others clearly better by some other function than by the sum.

        In each cell of the other columns, a row's value is told to be the commonest of the other rows there.
        Rows that are alone in their cell are told by the sum.
        """
        m = len(candidate.variables)
        is_sure = candidate.modulus > 2 and self.evidence(candidate).settled > _SURELY_A_SUM
        if m > _MOST_TOLD_BY_CELLS or is_sure:
            return False
        columns, weights = self._some_rows(candidate.variables)
        terms, known = replace(candidate, variables=tuple(range(m))).terms(columns)
        columns, terms = columns[:, known], terms[:, known]
        often = np.ones(columns.shape[1]) if weights is None else weights[known]
        is_broken = residues(terms.sum(axis=0) + candidate.constant, candidate.modulus) != 0
        n_broken = float(often[is_broken].sum())
        for place in range(m):
            cell = _numbered([columns[other] for other in range(m) if other != place])
            n_alone_broken, n_wrong = _told_by_others(cell, terms[place], often, is_broken)
            if n_alone_broken + n_wrong < n_broken / 2:
                return True
        return False

    def log_rules(self, candidate: Candidate) -> float:
        """Return the logarithm of the number of rules that a candidate is one of, weighted by their order."""
        m, n = len(candidate.variables), len(self.levels)
        p = candidate.modulus or _VALUES_OF_WHOLE_NUMBERS
        unknowns, n_numeric = 1, 0
        for variable, values in zip(candidate.variables, candidate.functions, strict=True):
            known, numbers = values != UNKNOWN, self._numbers_of(variable)
            is_number = [number is not None for number in numbers]
            n_numbers = int((known & is_number).sum())
            n_numeric += n_numbers > 2  # fewer are any function by a weight alone
            weight = weight_of(self.levels[variable], values, candidate.modulus, numbers)
            unknowns += int(known.sum()) - (1 if weight is None else n_numbers - 1)
        ways = log(comb(n, m)) + n_numeric * log(2) + unknowns * log(p) - log(p - 1)
        if not candidate.modulus:  # the constant can be any sum that a row has
            ways += log(max(self.n_rows / p, 1))
        return ways + log(m * (m + 1) * self.n_moduli)

    def _numbers_of(self, variable: int) -> list[int | None]:
        """Return the levels of a column as numbers."""
        if variable not in self._numbers:
            self._numbers[variable] = numbers_of(self.levels[variable])
        return self._numbers[variable]

    def _some_rows(self, variables: Sequence[int]) -> tuple[Values, NDArray[np.float64] | None]:
        """Return some columns of at most so many rows, and row weights; equal rows once where cells are few."""
        key = tuple(variables)
        if key in self._cells:
            return self._cells[key]
        rows = some_rows(self.codes.shape[1], _MOST_ROWS)
        columns = self.codes[list(variables)][:, rows].astype(np.int64)
        weights = None if self.weights is None else self.weights[rows].astype(np.float64)
        sizes = tuple(len(self.levels[v]) for v in variables)
        if prod(sizes) > _MOST_CELLS:
            return columns, weights
        counts = np.bincount(np.ravel_multi_index(tuple(columns), sizes), weights=weights)
        cells = np.flatnonzero(counts)
        found = np.stack(np.unravel_index(cells, sizes)), counts[cells].astype(np.float64)
        self._cells[key] = found  # the same columns come again and again, modulo one prime after the other
        return found

    def _terms(self, candidate: Candidate) -> tuple[Values, Values, NDArray[np.float64] | None]:
        """Return the columns of a rule in some rows without unknown values, the values, and row weights."""
        columns, weights = self._some_rows(candidate.variables)
        terms, known = replace(candidate, variables=tuple(range(len(columns)))).terms(columns)
        if not known.all():
            columns, terms = columns[:, known], terms[:, known]
            weights = weights if weights is None else weights[known]
        return columns, terms, weights

    def _by_chance(self, candidate: Candidate) -> float:
        """Return how often a rule would hold, were its columns independent of each other by some cut."""
        columns, terms, weights = self._terms(candidate)
        if not columns.size:
            return 1.0
        sums = Sums(terms, candidate.constant, candidate.modulus, weights)
        best = max(sums.independent(), *(sums.agreement(part) for part in _cuts(len(terms))))
        if 3 <= len(terms) <= _PAIR_CUTS:
            best = max(best, *sums.agreements_within_each(columns))
        return min(best, 1.0)

    def _by_better(self, candidate: Candidate, given: Sequence[Candidate]) -> float:
        """Return how often better rules make it hold."""
        columns, terms, weights = self._terms(candidate)
        if not columns.size:
            return 1.0
        rows = some_rows(self.codes.shape[1], _MOST_ROWS)
        best = share_obeyed(candidate, given, self.codes[:, rows])
        if same := [rule for rule in given if rule.variables == candidate.variables]:
            sums = Sums(terms, candidate.constant, candidate.modulus, weights)
            best = max(best, min(_within_classes(sums, columns, same)))
        return min(best, 1.0)


def _within_classes(sums: Sums, columns: Values, same: Sequence[Candidate]) -> Iterator[float]:
    """Yield how often a rule holds if a column is independent of the rest within what better rules tell of it.

    Where these tell all levels of a column apart, as any rule does of two levels, that is as often as in the
    data, and says nothing: only if it is so for each column are the better rules what makes the sum constant.
    """
    for place in range(len(columns)):
        classes = np.stack([rule.functions[place] for rule in same], axis=1)
        group = np.unique(classes, axis=0, return_inverse=True)[1].reshape(-1)
        yield sums.agreement_within(group[columns[place]], place)


def _numbered(columns: Sequence[Values]) -> Values:
    """Return the number of each row's combination of values, of those that occur."""
    found = np.zeros(columns[0].shape, dtype=np.int64)
    for column in columns:
        values = np.unique(column, return_inverse=True)[1]
        found = np.unique(found * (values.max(initial=0) + 1) + values, return_inverse=True)[1]
    return found


def _told_by_others(
    cell: Values, values: Values, often: NDArray[np.float64], is_broken: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return how many rows that are alone in their cell break a rule, and of how many the others tell wrong."""
    n_values = int(values.max(initial=0) - values.min(initial=0)) + 1
    keys, place = np.unique(cell * n_values + (values - values.min(initial=0)), return_inverse=True)
    counts, of = np.bincount(place, weights=often), keys // n_values
    in_cell = np.bincount(of, weights=counts)
    order = np.lexsort((-counts, of))
    first = np.searchsorted(of, np.arange(len(in_cell)))
    second = np.append(counts[order], 0.0)[first + 1]
    second[np.append(first[1:], len(of)) == first + 1] = 0.0
    is_commonest = np.zeros(len(of), dtype=bool)
    is_commonest[order[first]] = True
    others = np.where(is_commonest, second[of], counts[order[first]][of])
    wrong = np.where(counts - 1 > others, 0.0, np.where(counts - 1 == others, 0.5, 1.0))
    shares = in_cell[of] > 1
    is_alone = in_cell[cell] == 1
    return float(often[is_alone & is_broken].sum()), float((counts * wrong)[shares].sum())


def _cuts(m: int) -> Iterator[tuple[int, ...]]:
    """Yield one part of each cut of m columns that is tried."""
    largest = m // 2 if m <= _ALL_CUTS else 2 if m <= _PAIR_CUTS else 1
    for size in range(1, largest + 1):
        for part in combinations(range(m), size):
            if 2 * size < m or 0 in part:
                yield part


def log_tail(n_obeyed: int, n_rows: int, chance: float) -> float:
    """Return the logarithm of the chance that a binomial number reaches a value.

    Examples
    --------
    >>> round(log_tail(10, 10, 0.5) / log(0.5), 6), log_tail(0, 10, 0.5)
    (10.0, 0.0)
    """
    if n_obeyed <= n_rows * chance or chance >= 1:
        return 0.0
    if chance <= 0:
        return -inf
    first = (
        lgamma(n_rows + 1) - lgamma(n_obeyed + 1) - lgamma(n_rows - n_obeyed + 1)
        + n_obeyed * log(chance) + (n_rows - n_obeyed) * log1p(-chance)
    )  # fmt: skip
    later = np.arange(n_obeyed, min(n_rows, n_obeyed + _MOST_TERMS), dtype=np.float64)
    steps = np.log((n_rows - later) / (later + 1)) + log(chance) - log1p(-chance)
    return min(first + float(np.log1p(np.exp(np.cumsum(steps)).sum())), 0.0)
