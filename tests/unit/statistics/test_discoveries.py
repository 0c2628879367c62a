"""The false discovery rate: what is accepted is self-consistent, and the level rises only as it may."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.oracle.plain import plain_search
from tests.strategies import tables
from xordal import CategoricalTable, Checkpoint, Significance, learn
from xordal.errors import SettingsError
from xordal.search.schedule import Schedule
from xordal.statistics.discoveries import beta, n_accepted
from xordal.statistics.weights import Weights

FDR = Significance(0.2, control="fdr")


def pairs(seed: int, n_pairs: int = 8, n_rows: int = 150) -> CategoricalTable:
    generator = np.random.default_rng(seed)
    x, other = generator.integers(2, size=(2, n_pairs, n_rows))
    y = np.where(generator.random(x.shape) < generator.uniform(0.2, 0.5, size=(n_pairs, 1)), x, other)
    columns = np.concatenate([x, y])
    return CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})


@pytest.mark.parametrize("n_variables", [2, 3, 5, 20, 100])
def test_beta_is_that_of_some_shares_that_sum_to_one(n_variables: int) -> None:
    """nu(r) = (beta(r) - beta(r - 1)) / r, from the definition."""
    most = comb(n_variables, 2)
    at = [Fraction(0), *(Fraction(beta(r, n_variables)).limit_denominator(10**6) for r in range(1, most + 1))]
    nu = [(at[r] - at[r - 1]) / r for r in range(1, most + 1)]
    assert min(nu) >= 0
    assert sum(nu) <= 1 + Fraction(1, 10**4)


@pytest.mark.parametrize("seed", range(6))
def test_all_that_is_accepted_is_below_the_level_of_so_many(seed: int) -> None:
    table = pairs(seed)
    learned = learn(table, max_links=1, criterion=FDR, find_rules=False)
    factor = beta(n_accepted(learned.trace), table.n_variables)
    weights = Weights(table.n_variables, 1, 2)
    for entry in learned.trace:
        if entry.action == "add" and not entry.fill_in:
            assert entry.log_p_value is not None
            level = log(0.2) + log(factor) + weights.log_weight(2, 1, 0)
            assert entry.log_p_value <= level + 1e-9


def test_more_is_found_where_there_is_much() -> None:
    counts = np.array(
        [
            [
                len(learn(pairs(seed, 40, 250), max_links=1, criterion=c, find_rules=False).links)
                for seed in range(5)
            ]
            for c in (Significance(0.05), Significance(0.05, control="fdr"))
        ]
    )
    assert (counts[1] >= counts[0]).all()
    assert counts[1].sum() > counts[0].sum()


@settings(max_examples=some(60))
@given(tables(max_variables=5), st.integers(1, 3))
def test_same_trace_by_the_letter(table: CategoricalTable, k: int) -> None:
    criterion = Significance(0.6, control="fdr")
    learned = learn(table, max_links=k, criterion=criterion, find_rules=False)
    plain = plain_search(table, Schedule("printed", k), criterion, fill_in=True, prune=True)
    assert (learned.trace, learned.run.graphs_tested) == (plain.trace, plain.graphs_tested)


def test_same_trace_where_the_level_rises() -> None:
    risen = 0
    for seed in range(4):
        table = pairs(seed, 5, 80)
        learned = learn(table, max_links=2, criterion=FDR, find_rules=False)
        plain = plain_search(table, Schedule("printed", 2), FDR, fill_in=True, prune=True)
        assert (learned.trace, learned.run.graphs_tested) == (plain.trace, plain.graphs_tested)
        risen += n_accepted(learned.trace) > 1
    assert risen > 1


def test_a_search_that_is_resumed_goes_the_same_way(tmp_path: Path) -> None:
    table = pairs(3)
    whole = learn(table, criterion=FDR, find_rules=False)
    learn(table, criterion=FDR, find_rules=False, checkpoint=Checkpoint(tmp_path / "done"))
    lines = (tmp_path / "done").read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        (tmp_path / "part").write_bytes(b"".join(lines[:kept]))
        again = learn(
            table, criterion=FDR, find_rules=False, checkpoint=Checkpoint(tmp_path / "part", resume=True)
        )
        assert (again.trace, again.run.graphs_tested) == (whole.trace, whole.run.graphs_tested)


def test_settings() -> None:
    assert FDR.to_json() == {"name": "Significance", "alpha": 0.2, "seed": 0, "control": "fdr"}
    with pytest.raises(SettingsError, match="'fwer' or 'fdr'"):
        Significance(control="fdx")  # type: ignore[arg-type]
