"""learn() finds rules of any number of columns, whatever k is, the same way by every path."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import run
from tests.examples import some
from xordal import BIC, Checkpoint, DataError, EntropyDecrement, Limits, SettingsError, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.table import CategoricalTable
from xordal.formats.json import to_json
from xordal.formats.text import network_lines
from xordal.graph.chordal import ChordalGraph
from xordal.learning.beyond_links import _apart, _beyond, beyond_links
from xordal.learning.fitting import fit_network
from xordal.model.estimation import estimate
from xordal.model.ruled import chance_of
from xordal.pi.zoo import music_box
from xordal.rules.beside import rules_beside
from xordal.rules.finding import find_rules
from xordal.types.rules import AdditiveRule
from xordal.types.trace import links_after, single_link_part


def test_columns_that_nothing_holds_together_are_judged_apart() -> None:
    """Two check digits and a parity, of which no column is linked with one of another: as in one network."""
    digits = [linked_digits(1500, 1), linked_digits(1500, 2), parity_table(8, 1500, 0.02, 3)]
    columns = {f"{k}{name}": [of[c] for c in codes.tolist()] for k, part in enumerate(digits)
               for name, of, codes in zip(part.names, part.levels, part.codes, strict=True)}  # fmt: skip
    table = CategoricalTable.from_columns(columns)
    graph = ChordalGraph.empty(table.n_variables).add(learn(table, find_rules=False).links)
    rules = rules_beside(table, 0.05)
    assert len(rules) == 3 and len(list(_apart(table, graph, rules))) == 3
    apart = beyond_links(table, graph, rules, 0.05)
    together = [rule for rule in _beyond(table, graph, rules, 0.05) if rule is not None]
    assert [replace(rule, by_chance=0, log_p_value=0) for rule in apart] == [
        replace(rule, by_chance=0, log_p_value=0) for rule in together
    ]
    assert [rule.by_chance for rule in apart] == pytest.approx([rule.by_chance for rule in together], rel=1e-9)


def parity_table(n_columns: int, n_rows: int, share_broken: float, seed: int) -> CategoricalTable:
    """Return bits of which the first six and the last have an even sum, but for some rows."""
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, 2, (n_rows, n_columns))
    rows[:, -1] = rows[:, :6].sum(axis=1) % 2 ^ (generator.random(n_rows) < share_broken)
    return CategoricalTable.from_rows([f"x{v}" for v in range(n_columns)], rows.tolist())


@pytest.mark.parametrize("share_broken", [0.0, 0.03])
@pytest.mark.parametrize("max_links", [1, 3])
def test_a_parity_of_seven_is_found_with_any_k(max_links: int, share_broken: float) -> None:
    table = parity_table(12, 1500, share_broken, 1)
    learned = learn(table, max_links=max_links)
    assert [rule.variables for rule in learned.rules] == [(0, 1, 2, 3, 4, 5, 11)]
    entry = learned.trace[-1]
    assert (entry.action, entry.links, entry.rule) == ("rule", (), learned.rules[0])
    assert learned.links == links_after(learned.trace) == ()
    assert single_link_part(learned.trace) == ()
    told = to_json(learned)
    assert [rule["variables"] for rule in told["rules"]] == [[f"x{v}" for v in (0, 1, 2, 3, 4, 5, 11)]]  # type: ignore[attr-defined]
    assert told["trace"][-1]["n_broken"] == learned.rules[0].n_broken  # type: ignore[index]
    assert any("of these 7 have the value 1" in line for line in network_lines(learned))
    assert len(fit_network(table, learned).rules) == 1


def test_rules_are_the_same_by_every_path(tmp_path: Path) -> None:
    table = parity_table(9, 800, 0.01, 2)
    paper = {"criterion": EntropyDecrement(0.02), "max_links": 2, "find_rules": True}
    fast, slow = learn(table, **paper), learn(table, engine="reference", **paper)  # type: ignore[arg-type]
    assert fast.rules
    assert fast.trace == slow.trace
    once = learn(table, checkpoint=Checkpoint(tmp_path / "steps.jsonl"))
    again = learn(table, checkpoint=Checkpoint(tmp_path / "steps.jsonl", resume=True))
    assert once.trace == again.trace == learn(table).trace
    weighted = replace(table, weights=np.full(table.codes.shape[1], 2, dtype=np.int64))
    assert [rule.variables for rule in learn(weighted).rules] == [rule.variables for rule in fast.rules]


def test_the_paper_has_no_rules_unless_asked_for() -> None:
    table = parity_table(9, 800, 0.0, 3)
    assert learn(table, criterion=EntropyDecrement(0.02)).rules == ()
    assert learn(table, schedule="single").rules == ()
    assert learn(table, find_rules=False).rules == ()
    assert learn(table, find_groups=False).rules == ()
    assert learn(table, criterion=BIC()).rules != ()
    with pytest.raises(SettingsError, match="find_rules must be True, False or None"):
        learn(table, find_rules="yes")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="Rules are looked for in rows"):
        learn(music_box().joint, find_rules=True)


def test_what_hidden_groups_tell_is_not_told_again() -> None:
    learned = learn(music_box().joint.sample_table(2000, seed=1))
    assert learned.submodels
    assert learned.rules == ()


def test_tables_without_rules_have_none() -> None:
    """Rules have a twentieth of alpha, 0.0025: two of 60 tables would be a chance of one in a hundred."""
    found = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        levels = generator.choice([2, 2, 3, 4], 8)
        skew = [generator.dirichlet(np.full(n, 1.0)) for n in levels]
        rows = np.stack([generator.choice(n, 400, p=p) for n, p in zip(levels, skew, strict=True)], axis=1)
        rows[:, 1] = np.where(generator.random(400) < 0.8, rows[:, 0] % levels[1], rows[:, 1])
        table = CategoricalTable.from_rows([f"x{v}" for v in range(8)], rows.tolist())
        found += len(rules_beside(table, 0.05))
    assert found <= 1


def test_tables_that_cannot_tell_are_left_alone() -> None:
    few = CategoricalTable.from_rows("abc", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
    assert rules_beside(few, 0.05) == ()
    constant = CategoricalTable.from_rows("abc", [(0, 0, 1), (0, 0, 0)] * 50)
    assert rules_beside(constant, 0.05) == ()
    many = CategoricalTable.from_rows("ab", [(row, row % 7) for row in range(10_000)])
    assert rules_beside(many, 0.05) == ()


def test_a_search_that_was_ended_has_no_rules() -> None:
    table = parity_table(12, 1500, 0.0, 1)
    stopped = learn(table, limits=Limits(time_limit=1e-9))
    assert not stopped.run.is_complete
    assert stopped.rules == ()


def test_the_command_tells_and_asks_with_rules(tmp_path: Path) -> None:
    table = parity_table(9, 800, 0.01, 2)
    lines = [",".join(table.names), *(",".join(map(str, row)) for row in table.rows())]
    (tmp_path / "bits.csv").write_text("\n".join(lines) + "\n")

    def said(*arguments: str) -> str:
        return " ".join(run(*arguments, cwd=tmp_path).stdout.split())  # a narrow screen breaks lines

    told = said("learn", "bits.csv", "-o", "net.json")
    assert "Rules: sums that the rows obey" in told
    # No gain stands between the step and its p-value: a rule does not lower the network's entropy as links do.
    assert re.search(r" [0-9]+ [0-9.]*e-[0-9]+ [0-9,]+ rule modulo 2: x0, x1, x2, x3, x4, x5, x8", told)
    assert "gives x" in said("inspect", "net.json")
    assert "breaks rule 1" in said("score", "net.json", "bits.csv", "--top", "3")
    assert "breaks" in run("score", "net.json", "bits.csv", "-o", "-", cwd=tmp_path).stdout.splitlines()[0]
    assert (
        "no place for 1 rule" in run("export", "net.json", "--to", "bif", "-o", "net.bif", cwd=tmp_path).stderr
    )
    assert "Both are in a rule with 5 other columns" in said("inspect", "net.json", "x0", "x8")
    evidence = [part for v in range(6) for part in ("--given", f"x{v}=1")]
    assert "0.98" in said("query", "net.json", "x8", *evidence)
    assert "rules" not in said("learn", "bits.csv", "--no-rules", "--json")
    page = run("report", "net.json", "-o", "page.html", cwd=tmp_path)
    assert page.returncode == 0
    assert "of these 7 have the value 1" in (tmp_path / "page.html").read_text()


@st.composite
def some_rows_of_a_sum(draw: st.DrawFn) -> CategoricalTable:
    """Draw some rows, each counting several times; the last column is often a sum of others."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels, n_columns = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    rows = generator.integers(n_levels, size=(draw(st.integers(4, 60)), n_columns))
    last = rows[:, : draw(st.integers(2, n_columns))].sum(axis=1) % n_levels
    wrong = generator.random(len(rows)) < draw(st.sampled_from([0.0, 0.05, 1.0]))
    last = np.where(wrong, generator.integers(n_levels, size=len(rows)), last)
    weights = generator.integers(1, draw(st.sampled_from([2, 4, 30])), size=len(rows))
    columns = {f"x{k}": column.tolist() for k, column in enumerate([*rows.T, last])}
    return CategoricalTable.from_columns(columns, weights.tolist())


@pytest.mark.slow
@given(some_rows_of_a_sum())
@settings(max_examples=some(25), deadline=None)
def test_rows_that_count_several_times_are_rows_repeated(weighted: CategoricalTable) -> None:
    assert weighted.weights is not None
    codes = np.repeat(weighted.codes, weighted.weights, axis=1)
    repeated = CategoricalTable(weighted.names, weighted.levels, codes)
    one, other = learn(weighted), learn(repeated)
    assert one.trace == other.trace
    assert one.submodels == other.submodels
    try:
        told = find_rules(repeated).rules
    except DataError:
        with pytest.raises(DataError):
            find_rules(weighted)
    else:
        assert find_rules(weighted).rules == told


def test_a_weighted_table_has_the_rules_of_its_rows() -> None:
    rows = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate("abc")}
    weighted = CategoricalTable.from_columns(columns, [7, 6, 4, 9])
    repeated = CategoricalTable.from_rows(list("abc"), weighted.rows())
    assert learn(weighted).trace == learn(repeated).trace
    assert learn(weighted, find_rules=False).trace == learn(repeated, find_rules=False).trace


def linked_digits(n_rows: int, seed: int) -> CategoricalTable:
    """Return five digits of three levels, the first two mostly equal, and their check digit."""
    generator = np.random.default_rng(seed)
    digits = generator.integers(0, 3, (5, n_rows))
    digits[1] = np.where(generator.random(n_rows) < 0.75, digits[0], digits[1])
    check = (digits * np.array([1, 2, 1, 1, 1])[:, None]).sum(axis=0) % 3
    return CategoricalTable.from_rows([f"d{v}" for v in range(6)], np.vstack([digits, check]).T.tolist())


def test_what_follows_from_links_and_other_rules_is_not_told() -> None:
    """Where the first two digits are equal, their part of the sum is 0, and the rest obeys a rule alone."""
    table = linked_digits(4000, 1)
    learned = learn(table)
    assert learned.links == ((0, 1),)
    assert [rule.variables for rule in learned.rules] == [(0, 1, 2, 3, 4, 5)]
    assert [rule.variables for rule in find_rules(table, moduli=[3])] == [(0, 1, 2, 3, 4, 5)]
    whole = learned.rules[0]
    values = [(0, 1, 2), (0, 1, 2), (0, 1, 2), (0, 2, 1)]
    terms = sum(np.array(of)[table.codes[v]] for v, of in zip((2, 3, 4, 5), values, strict=True))
    n_broken = int((terms % 3 != 0).sum())
    part = AdditiveRule((2, 3, 4, 5), 3, tuple(values), 0, 4000, n_broken, 0.34, -1000.0)
    assert part.holds > 0.75
    graph = ChordalGraph.empty(6).add(learned.links)
    assert beyond_links(table, graph, [whole, part], 0.0025) == (whole,)
    assert beyond_links(table, graph, [part], 0.0025) == (part,)  # by itself it is one


def test_by_chance_is_what_the_links_give() -> None:
    """Both halves of a parity of six are noisy chains: no column but the network tells how often it holds."""
    generator = np.random.default_rng(2)
    rows = generator.integers(0, 2, (3000, 6))
    for v in (1, 2, 4, 5):
        rows[:, v] = np.where(generator.random(3000) < 0.8, rows[:, v - 1], rows[:, v])
    table = CategoricalTable.from_rows([f"x{v}" for v in range(6)], rows.tolist())
    graph = ChordalGraph.empty(6).add([(0, 1), (1, 2), (3, 4), (4, 5)])
    values = ((0, 1),) * 4
    n_broken = int((rows[:, [0, 2, 3, 5]].sum(axis=1) % 2).sum())
    rule = AdditiveRule((0, 2, 3, 5), 2, values, 0, 3000, n_broken, 0.5, -400.0)
    assert rule.holds > 0.65
    network = estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=0)
    drawn = network.sample(200_000, seed=1).codes[[0, 2, 3, 5]].sum(axis=0) % 2 == 0
    assert chance_of(network, rule) == pytest.approx(drawn.mean(), abs=0.005)
    assert chance_of(network, rule) == pytest.approx(rule.holds, abs=0.03)
    assert beyond_links(table, graph, [rule], 0.0025) == ()
    better = replace(rule, n_broken=300, log_p_value=-1080.0)  # 24 nats for all the rules there are
    (told,) = beyond_links(table, graph, [better], 0.0025)
    assert told.by_chance == chance_of(network, rule) and better.log_p_value < told.log_p_value < -10


def test_rules_of_wide_tables_are_found() -> None:
    """Nearly every row is among those looked at: any that came twice would let false solutions in front."""
    generator = np.random.default_rng(3)
    rows = generator.integers(0, 2, (900, 700))
    rows[:, -1] = rows[:, :7].sum(axis=1) % 2
    table = CategoricalTable.from_rows([f"b{v}" for v in range(700)], rows.tolist())
    assert [rule.variables for rule in rules_beside(table, 0.05)] == [(0, 1, 2, 3, 4, 5, 6, 699)]
