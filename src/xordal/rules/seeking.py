"""The search itself, for each modulus and each way in which columns enter.

Solutions are found, the sparse ones among them, and of those the ones that are rules and follow from no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import (
    FEWEST_VOTES,
    MOST_SWEEPS,
    UNKNOWN,
    Candidate,
    from_solution,
    voted,
)
from xordal.rules.coding import Coding, is_blank, some_rows
from xordal.rules.drawn import connected
from xordal.rules.elimination import Effort, Solutions, solutions
from xordal.rules.evidence import SETTLED, Evidence, Judge, log_tail
from xordal.rules.meeting import FEWEST, MOST_ROWS, noisy_parities
from xordal.rules.plain import inverses
from xordal.rules.relations import LARGE_PRIME, as_whole_numbers, in_whole_numbers, with_constant
from xordal.rules.screening import promising
from xordal.rules.span import Span
from xordal.rules.sparse import Basis, sparse_basis

_VOTING_ROWS = 20_000
_SCREENING_ROWS = 1_000
_PATIENCE = 30  # solutions in a row that are none after which no more are looked at
_BEYOND_CHANCE = 1e-6  # p-value at which a rule holds where those that it follows from do not
_CLEAN = 0.01  # share of broken rows up to which no other rule can be what makes a sum constant
_LIKE = 0.01  # difference in the share of broken rows that makes no other class
_MOST_MET_IN_BRIEF = (
    100  # binary columns up to which learning seeks noisy parities, in some hundredths of a second
)
_MOST_WHOLE = 600  # unknowns up to which relations of whole numbers are sought by elimination


@dataclass(slots=True)
class Sought:
    """What a search has found: rules of three or more columns, and pairs of columns that go together."""

    rules: list[Candidate] = field(default_factory=list)
    pairs: list[Candidate] = field(default_factory=list)


def seek(
    table: CategoricalTable,
    codings: Sequence[Coding],
    primes: Sequence[int],
    effort: Effort,
    judge: Judge,
    alpha: float,
    generator: np.random.Generator,
) -> Sought:
    """Return the rules of a table modulo each of the primes and of whole numbers, and the pairs."""
    seeker = _Seeker(table, effort, judge, alpha, generator)
    usable = [_shuffled(table, coding.usable(table.codes), generator) for coding in codings]
    n_whole = [0] * len(codings)
    for modulus in (0, *primes):
        for place, coding in enumerate(codings):
            if modulus == 0 and coding.n_unknowns > _MOST_WHOLE:
                continue
            n_solutions = seeker.look(coding, usable[place], modulus, n_whole[place])
            if modulus == 0:
                n_whole[place] = n_solutions
    return seeker.best()


def _shuffled(
    table: CategoricalTable, rows: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return rows in random order; of those that count often the most come early."""
    if table.weights is None:
        return generator.permutation(rows)
    return rows[np.argsort(generator.exponential(size=len(rows)) / table.weights[rows])]


class _Seeker:
    """One search: what it looks at, and what it has found."""

    def __init__(
        self,
        table: CategoricalTable,
        effort: Effort,
        judge: Judge,
        alpha: float,
        generator: np.random.Generator,
    ) -> None:
        self.table, self.effort, self.judge, self.alpha = table, effort, judge, alpha
        self.generator = generator
        self.span = Span(table)
        self.sought = Sought()

    def look(self, coding: Coding, rows: NDArray[np.int64], modulus: int, n_whole: int) -> int:
        """Look for rules modulo a prime, 0 for whole numbers; return how many solutions all rows taken have.

        ``n_whole`` is how many of those come from whole numbers and hold modulo everything. Where some of whole
        numbers hold in the rows taken, and not in most of the others, the answer is 0: modulo a prime the same
        sum may hold in more, as a parity does of two flags that are rarely set together.
        """
        p = modulus or LARGE_PRIME
        of_all, of_most = solutions(coding, self.table.codes, rows, p, self.effort, self.generator)
        if modulus and len(of_all) <= n_whole:
            of_all_new = of_all[:0]
        else:
            of_all_new = of_all
        vectors, judged, is_taken = of_all[:0], set[bytes](), True
        found = [(0.0, vector) for vector in of_all_new] + self._screened(coding, of_most, modulus, rows)
        if modulus == 2 and not coding.by_numbers and not self.effort.exact:
            found += self._noisy_parities(coding, rows)
        for more in _classes(found):
            vectors = np.concatenate([vectors, more])
            for vector in sparse_basis(vectors, coding.variable, p, self.generator):
                if vector.tobytes() not in judged:
                    self.effort.check()
                    judged.add(vector.tobytes())
                    is_taken &= self._judge(coding, vector, modulus)
        return len(of_all) if is_taken else 0

    def _noisy_parities(self, coding: Coding, rows: NDArray[np.int64]) -> list[tuple[float, NDArray[np.int64]]]:
        """Return parities of few binary columns that hold in most rows, and by what share they are broken.

        They were counted in thousands of rows, and are not screened by fewer: of those that nearly a quarter of
        the rows break, that would lose one in four.
        """
        unknowns = coding.of_binary_columns()
        if len(unknowns) < FEWEST or (self.effort.is_brief and len(unknowns) > _MOST_MET_IN_BRIEF):
            return []
        bits = coding.bits(self.table.codes, rows[:MOST_ROWS])[unknowns]
        found = []
        for columns in noisy_parities(bits, self.effort.largest_parity, self.generator, self.effort.check):
            vector = np.zeros(coding.n_unknowns, dtype=np.int64)
            vector[unknowns[list(columns)]] = 1
            odd = float(np.bitwise_xor.reduce(bits[list(columns)]).mean())
            vector[0] = odd > 0.5
            found.append((min(odd, 1 - odd), vector))
        return found

    def _screened(
        self, coding: Coding, vectors: Solutions, modulus: int, rows: NDArray[np.int64]
    ) -> list[tuple[float, NDArray[np.int64]]]:
        """Return the solutions of most rows that could be rules, and by what share of the rows they are broken.

        Their values are put to a vote of some rows.
        """
        p = modulus or LARGE_PRIME
        if not len(vectors):
            return []
        codes = np.ascontiguousarray(self.table.codes[:, rows[:_SCREENING_ROWS]])
        vectors = promising(coding, vectors, codes, p)
        if self.effort.is_compiled and modulus:
            self.effort.check()
            return _screened_compiled(coding, vectors, p, codes)
        few = Judge(codes, self.judge.levels, None, 1)
        basis, n_failed = Basis(coding.n_unknowns, p), 0
        found: list[tuple[float, NDArray[np.int64]]] = []
        for vector in vectors:
            self.effort.check()
            if basis.spans(vector):
                continue
            candidate = self._candidate(coding, vector, modulus, codes)
            if candidate is not None and len(candidate.variables) > 1 and few.settles(candidate):
                solution = _vector(coding, candidate, vector)
                basis.add(solution)
                found.append((few.n_broken(candidate) / codes.shape[1], solution))
                n_failed = 0
            else:
                n_failed += 1
                if n_failed == _PATIENCE:
                    break
        return found

    def _candidate(
        self, coding: Coding, vector: NDArray[np.int64], modulus: int, codes: NDArray[np.int32]
    ) -> Candidate | None:
        if not modulus:
            whole = in_whole_numbers(vector)
            return None if whole is None else with_constant(from_solution(coding, whole, 0), codes)
        candidate = from_solution(coding, vector, modulus)
        return voted(candidate, codes, blanks=coding.blanks, only_unknown=_only_unknown(coding))

    def _judge(self, coding: Coding, vector: NDArray[np.int64], modulus: int) -> bool:
        """Take a solution as a rule if it is one and is new; return whether it is one or follows from some."""
        codes = self.table.codes
        if codes.shape[1] > _VOTING_ROWS:
            codes = codes[:, some_rows(codes.shape[1], _VOTING_ROWS)]
        candidate = self._candidate(coding, vector, modulus, codes)
        if candidate is None or len(candidate.variables) < 2:
            return False
        reasons = self.span.reasons(candidate)
        if reasons and not self._breaking(candidate, reasons).any():
            return True  # it follows, however often it would hold by chance
        evidence = self.judge.evidence(candidate)
        if not evidence.is_rule(self.alpha):
            return False
        follows = self._follows(candidate, evidence.by_chance, reasons)
        return follows or self._take(candidate, evidence, modulus)

    def _take(self, candidate: Candidate, evidence: Evidence, modulus: int) -> bool:
        """Take a rule that follows from none, unless it is another function or a variation of a better rule."""
        if len(candidate.variables) == 2:
            self.sought.pairs.append(candidate)
            self.span.add(candidate)
            return True
        if modulus and (whole := as_whole_numbers(candidate, self.table, evidence)) is not None:
            candidate = whole
        if self.judge.is_another_function(candidate):
            return False
        if (similar := self.span.variation(candidate)) is not None:
            if self.judge.n_broken(candidate) >= self.judge.n_broken(similar):
                return True
            self.span.remove(similar)
            self.sought.rules.remove(similar)
        self.span.add(candidate)
        self.sought.rules.append(candidate)
        return True

    def _follows(
        self, candidate: Candidate, by_chance: float, reasons: Sequence[Candidate] | None = None
    ) -> bool:
        """Whether a rule follows from others found, and holds no more often than chance where those are broken.

        A rule modulo 7 of small numbers makes their sum itself the same in many rows. That equation is found
        first, the rule modulo 7 follows from it, and yet holds in all the rows that break the equation.
        """
        if self._is_explained(
            candidate, by_chance, self.span.reasons(candidate) if reasons is None else reasons
        ):
            return True
        like = (rule for rule in self.span.near(candidate) if candidate.modulus and not rule.modulus)
        return any(self._is_explained(candidate, by_chance, [rule]) for rule in like)

    def _is_explained(self, candidate: Candidate, by_chance: float, reasons: Sequence[Candidate]) -> bool:
        """Whether a rule holds no more often than chance in rows that break the rules it comes from."""
        if not reasons:
            return False
        broken = self._breaking(candidate, reasons)
        obeyed = candidate.is_obeyed(self.table.codes)[broken]
        return log_tail(int(obeyed.sum()), len(obeyed), by_chance) > log(_BEYOND_CHANCE)

    def _breaking(self, candidate: Candidate, reasons: Sequence[Candidate]) -> NDArray[np.bool_]:
        """Return which rows break some of the rules that one comes from, and miss no value."""
        broken = ~np.all([rule.is_obeyed(self.table.codes) for rule in reasons], axis=0)
        used = sorted({v for rule in (candidate, *reasons) for v in rule.variables})
        if (blank := is_blank(self.judge.blanks, used, self.table.codes)) is not None:
            broken &= ~blank
        return np.asarray(broken)

    def best(self) -> Sought:
        """Return what was found, without rules that follow from better ones or that those explain."""
        kept: list[Candidate] = []
        self.span = self.span.emptied()  # an equation may have been found after what follows from it
        for known in (*self.sought.pairs, *(rule for rule in self.sought.rules if not rule.modulus)):
            self.span.add(known)
        better = self.span.emptied()
        for candidate in sorted(
            self.sought.rules, key=lambda rule: (self.judge.n_broken(rule), len(rule.variables))
        ):
            self.effort.check()
            by_chance = self.judge.evidence(candidate).by_chance
            if candidate.modulus and self._follows(candidate, by_chance):
                continue
            if any(self._is_explained(candidate, by_chance, [rule]) for rule in better.near(candidate)):
                continue
            given = better.within(candidate)
            if self.judge.n_broken(candidate) > _CLEAN * self.judge.n_rows:
                given += connected(candidate, kept)
            if self.judge.evidence(candidate, given).is_rule(self.alpha):
                kept.append(candidate)
                better.add(candidate)
                self.span.add(candidate)
        return Sought(kept, self.sought.pairs)


def _only_unknown(coding: Coding) -> bool:
    """Whether a vote leaves values as they are that are known: of columns that all enter by a weight."""
    return coding.by_numbers and not coding.is_between


def _screened_compiled(
    coding: Coding, vectors: Solutions, p: int, codes: NDArray[np.int32]
) -> list[tuple[float, NDArray[np.int64]]]:
    """Do what ``_Seeker._screened`` does with promising solutions, by compiled code."""
    from xordal.rules import _screening

    levels = coding.as_levels
    layout = (
        levels.start, levels.first, levels.is_known, levels.place, levels.unknown,
        levels.factor.astype(np.int64), levels.reference, np.array(coding.blanks),
    )  # fmt: skip
    rules = (
        _only_unknown(coding), coding.by_numbers, MOST_SWEEPS, FEWEST_VOTES, SETTLED, _PATIENCE, UNKNOWN,
    )  # fmt: skip
    found, n_broken = np.empty_like(vectors), np.empty(len(vectors), np.int64)
    n = _screening.screen(vectors, codes, layout, p, inverses(p), rules, found, n_broken)
    shares = (n_broken[:n] / codes.shape[1]).tolist()
    return list(zip(shares, found[:n], strict=True))


def _classes(found: list[tuple[float, NDArray[np.int64]]]) -> list[Solutions]:
    """Return solutions in classes of like shares of broken rows, to be judged one after the other.

    Taken together, a rule without exception plus one that a quarter of the rows breaks would be a smaller rule
    that a quarter breaks, and take the place of the first. Sums of three rules are still in one class with
    them, so that the small ones are found.
    """
    classes: list[list[NDArray[np.int64]]] = []
    most = -1.0
    for share, vector in sorted(found, key=lambda each: each[0]):
        if share > most:
            classes.append([])
            most = 3 * share + _LIKE
        classes[-1].append(vector)
    return [np.array(vectors) for vectors in classes]


def _vector(coding: Coding, candidate: Candidate, vector: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a candidate as a solution again; its constant is left to the vote, as it needs no unknown."""
    if coding.by_numbers or not candidate.modulus:
        return vector
    found = np.zeros(coding.n_unknowns, dtype=np.int64)
    constant, at = candidate.constant, 1
    values_of = dict(zip(candidate.variables, candidate.functions, strict=True))
    for variable, array in enumerate(coding.values):
        width = array.shape[1]
        if width and variable in values_of:
            values = np.where(values_of[variable] == UNKNOWN, 0, values_of[variable])
            unknown = array.any(axis=1)
            reference = int(values[np.argmax(~unknown & coding.is_coded[variable])])
            constant += reference
            found[at : at + width] = (values[unknown] - reference) % candidate.modulus
        at += width
    found[0] = constant % candidate.modulus
    return found
