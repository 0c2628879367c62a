"""Hidden groups in samples: which are found, with what certainty, and in what words."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest

from xordal import BIC, CategoricalTable, EntropyDecrement, Learned, Significance, learn
from xordal.counting.oracle import CellCounts
from xordal.formats.json import to_json
from xordal.formats.rules import rule_text
from xordal.formats.text import network_lines
from xordal.pi.rules import find_rule
from xordal.pi.zoo import build, conditional_pi, music_box, parity
from xordal.statistics.bounds import information_bound
from xordal.types.groups import Submodel


def named(learned: Learned) -> dict[frozenset[str], Submodel]:
    assert learned.submodels is not None
    return {frozenset(learned.names(group.variables)): group for group in learned.submodels}


@pytest.mark.parametrize("seed", range(5))
def test_the_submodels_of_a_sample_are_those_of_the_model(seed: int) -> None:
    model = music_box()
    truth = model.truth()
    table = model.joint.sample_table(5000, seed=seed)
    by_size = learn(table)
    # The other two of the five lie inside the parity of the balls and the music, and follow from it.
    listed = {by_size.names(group.variables) for group in by_size.submodels or ()}
    parities = {
        ("ball1", "ball2", "ball3", "music_box"),
        ("light1", "light2", "dog"),
        ("music_box", "dog", "John"),
    }
    assert listed == parities and by_size.n_following >= 2
    assert by_size.colored_links == truth.colored_links
    learned = learn(table, hidden_by="letter")
    assert learned.submodels is not None
    told = {(group.variables, group.partition, group.kind) for group in learned.submodels}
    assert told == {(group.variables, group.partition, group.kind) for group in truth.submodels}
    assert learned.colored_links == truth.colored_links
    for group in learned.submodels:
        assert group.log_p_corrected is not None and group.log_p_corrected < log(0.05)
        assert group.pairwise_bound is not None and 0 < group.pairwise_bound < 0.01


def test_a_conditional_submodel_is_found_in_rows() -> None:
    learned = learn(conditional_pi().joint.sample_table(20_000, seed=1))
    groups = [group for group in learned.submodels or () if group.kind == "conditional"]
    assert [learned.names(group.variables) for group in groups] == [("x", "y", "z")]
    assert [learned.names(group.context) for group in groups] == [("c",)]
    assert groups[0].rule is None
    assert learned.colored_links == ()


@pytest.mark.parametrize("criterion", [EntropyDecrement(0.004), BIC(), Significance(0.001)])
def test_every_criterion_says_what_is_hidden(criterion: EntropyDecrement | BIC | Significance) -> None:
    learned = learn(parity(variables=3).joint.sample_table(2000, seed=0), criterion=criterion)
    group = named(learned)[frozenset({"x1", "x2", "y"})]
    assert group.kind == "full"
    assert group.log_p_corrected is not None and group.log_p_corrected < log(1e-9)
    assert group.share is not None and group.share.low > 0.9
    assert group.rule is not None and group.rule.kind == "parity" and group.rule.holds > 0.9


def test_a_biased_input_leaves_the_group_full_and_says_what_its_parts_share() -> None:
    """The parity of four bits is as biased as the fifth, which is something, but next to nothing."""
    generator = np.random.default_rng(0)
    bits = generator.random((4, 8000)) < np.array([0.5, 0.5, 0.5, 0.6])[:, None]
    columns = {f"b{place}": bit.tolist() for place, bit in enumerate(bits)}
    table = CategoricalTable.from_columns(columns | {"even": (bits.sum(axis=0) % 2 == 0).tolist()})
    learned = learn(table, max_variables=5)
    group = named(learned)[frozenset(table.names)]
    assert group.kind == "full"
    assert group.parts_share == pytest.approx(log(2) + 0.6 * log(0.6) + 0.4 * log(0.4), abs=0.01)
    told = "\n".join(network_lines(learned))
    assert "any 4 of them look nearly independent" in told
    assert "together: 1, 3 or 5 of the 5 columns have the value True, in all rows (5" in told


def test_noise_in_a_clique_is_no_group() -> None:
    learned = learn(music_box().joint.sample_table(400, seed=3))
    assert learned.submodels is not None
    for group in learned.submodels:
        assert group.log_p_value is not None and group.log_p_value < log(0.05)


def cells_of(function: np.ndarray, counts: int = 10) -> CellCounts:
    return CellCounts(function.astype(np.int64), np.full(len(function), counts, dtype=np.int64))


def test_sums_modulo_the_levels_with_signs() -> None:
    grid = np.indices((5, 5)).reshape(2, -1).T
    z = (grid[:, 0] - grid[:, 1] + 3) % 5
    rule = find_rule(cells_of(np.column_stack([grid, z])), (0, 1, 2), [tuple(range(5))] * 3)
    assert rule is not None and rule.is_exact and rule.low > 0.98 and rule.log_p_value < log(1e-9)
    assert (rule.kind, rule.holds) == ("sum", 1.0) and rule.additive is not None
    assert (rule.additive.modulus, rule.additive.remainder, rule.additive.factors) == (5, 2, (1, -1, -1))
    assert rule.additive.n_broken == 0 and all(
        rule.additive.sum_of(cell) == 0 for cell in [(0, 0, 3), (4, 1, 1)]
    )
    assert rule.by_chance == pytest.approx(0.2)


def test_a_function_is_judged_on_rows_left_out() -> None:
    rows = np.array([(a, b, int(a > 0 and b > 0)) for a in (0, 1, 2) for b in (0, 1)])
    levels = [(0, 1, 2), (0, 1), (0, 1)]
    rule = find_rule(cells_of(rows), (4, 7, 9), levels)
    assert rule is not None
    assert (rule.kind, rule.holds, rule.target, rule.is_exact) == ("function", 1.0, 9, True)
    assert rule.by_chance == pytest.approx(2 / 3)
    assert find_rule(cells_of(rows, counts=1), (4, 7, 9), levels) is None  # one row tells nothing of the next


@pytest.mark.parametrize("seed", range(10))
def test_no_function_is_named_where_a_column_is_shuffled(seed: int) -> None:
    """c is a function of a, and b is noise: many cells of b fit by chance, and none is needed."""
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, 6, 400), generator.integers(0, 6, 400)
    c = (a > 2).astype(np.int64)
    cells, counts = np.unique(np.column_stack([a, b, c]), axis=0, return_counts=True)
    found = find_rule(CellCounts(cells, counts), (0, 1, 2), [range(6), range(6), range(2)])
    assert found is None or found.kind == "rates"


def test_the_exact_rule_stands_before_the_weak_one() -> None:
    """Year, month and day determine the weekday always, weekday and the others the month only often."""
    days = np.array([(m, d, (m * 3 + d) % 7) for m in range(12) for d in range(28)])
    cells, counts = np.unique(days, axis=0, return_counts=True)
    rule = find_rule(CellCounts(cells, counts * 20), (0, 1, 2), [range(12), range(28), range(7)])
    assert rule is not None and (rule.target, rule.holds, rule.is_exact) == (2, 1.0, True)


def test_rates_of_a_noisy_group_come_with_intervals() -> None:
    """The line and the supplier together decide how often a part is bad; neither does alone."""
    shares = {(0, 0): 31, (0, 1): 6, (1, 0): 5, (1, 1): 35}
    cells = np.array([(a, b, c) for a, b in shares for c in (0, 1)])
    counts = np.array([count for share in shares.values() for count in (100 - share, share)])
    levels = [("L1", "L2"), ("Acme", "Borg"), ("good", "bad")]
    rule = find_rule(CellCounts(cells, counts), (0, 1, 2), levels)
    assert rule is not None and (rule.kind, rule.target, rule.level) == ("rates", 2, "bad")
    told = rule_text(rule, ["line", "supplier", "part"], target="part")
    assert told.startswith("part = bad in 31 % of L1/Acme (23 to 41), 6 % of L1/Borg (3 to 12)")


def test_rates_of_weights_and_clusters_are_no_surer_than_the_rows() -> None:
    """Equal fractions say what plain rows say, and ten copies of each row, as one cluster, what one does."""
    rng = np.random.default_rng(0)
    line, supplier = rng.integers(0, 2, (2, 600))
    bad = (line ^ supplier) ^ (rng.random(600) < 0.2)
    rows = {"line": line, "supplier": supplier, "bad": bad.astype(int)}
    plain = group_rates(learn(rows))
    assert all(0.05 < high - low < 0.2 for _, low, high in plain)
    of_equal = group_rates(learn(rows, weights=[1.5] * 600))
    assert of_equal == [pytest.approx(one, abs=0.002) for one in plain]
    copies = {name: np.repeat(values, 10) for name, values in rows.items()}
    of_copies = group_rates(learn(copies, cluster=np.repeat(np.arange(600), 10).tolist()))
    assert of_copies == [pytest.approx(one, abs=0.002) for one in plain]
    uneven = group_rates(learn(rows, weights=(0.2 + 2 * rng.random(600)).tolist()))
    assert all(
        high - low > plain_high - plain_low
        for (_, low, high), (_, plain_low, plain_high) in zip(uneven, plain, strict=True)
    )


def group_rates(learned: Learned) -> list[tuple[float, float, float]]:
    (group,) = learned.groups
    assert group.rule is not None and group.rule.kind == "rates"
    return [(rate.share, rate.low, rate.high) for rate in group.rule.rates]


def test_rates_are_of_the_rows_in_which_the_variable_is_known() -> None:
    """A tenth of the parts were never looked at: bad parts are told among those that were."""
    shares = {(0, 0): 31, (0, 1): 6, (1, 0): 5, (1, 1): 35}
    cells = np.array([(a, b, c) for a, b in shares for c in (0, 1, 2)])
    counts = np.array([count for share in shares.values() for count in (100 - share, share, 12)])
    levels = [("L1", "L2"), ("Acme", "Borg"), ("good", "bad", "(missing)")]
    rule = find_rule(CellCounts(cells, counts), (0, 1, 2), levels)
    assert rule is not None and (rule.kind, rule.target, rule.level) == ("rates", 2, "bad")
    assert [round(100 * rate.share) for rate in rule.rates] == list(shares.values())
    paid = [("L1", "L2"), ("Acme", "Borg"), ("yes", "(missing)")]
    kept = cells[:, 2] < 2
    rule = find_rule(CellCounts(cells[kept], counts[kept]), (0, 1, 2), paid)
    assert rule is not None and rule.level == "(missing)"


def test_independent_variables_follow_no_rule() -> None:
    grid = np.indices((2, 2, 2)).reshape(3, -1).T
    assert find_rule(cells_of(grid), (0, 1, 2), [(0, 1)] * 3) is None


def test_json_tells_p_values_bounds_and_rules() -> None:
    told = to_json(learn(build("modulus", {"noise": "1/20"}).joint.sample_table(2000, seed=0)))
    groups: Any = told["submodels"]
    (group,) = groups
    assert group["p_value"] == 0.0 and group["log_p_value"] < -700
    assert 0 < group["pairwise_bound"] < 0.02
    assert group["rule"]["kind"] == "sum"
    assert group["rule"]["holds"] == pytest.approx(0.95, abs=0.02)
    assert sorted(map(abs, group["rule"]["factors"])) == [1, 1, 1]


def test_the_bound_covers_the_truth_at_its_confidence() -> None:
    """Two bits that agree in 53 % of rows: the bound is above what they share in about 95 % of samples."""
    agree = 0.53
    truth = log(2) + agree * log(agree) + (1 - agree) * log(1 - agree)
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        x = generator.random(1000) < 0.5
        y = x ^ (generator.random(1000) > agree)
        counts = np.bincount(2 * x + y, minlength=4).reshape(2, 2)
        shares = counts / 1000
        independent = np.outer(shares.sum(axis=1), shares.sum(axis=0))
        observed = float((shares * np.log(shares / independent)).sum())
        covered += information_bound(observed, 1, 1000) >= truth
    assert covered / 400 > 0.92


def test_many_combinations_are_told_by_those_that_are_surely_high_or_low() -> None:
    """Month and weekday decide how often a flight is late; in January there are next to none."""
    rng = np.random.default_rng(5)
    n = 40_000
    month, weekday = rng.choice(12, n, p=[0.001, *[0.999 / 11] * 11]), rng.integers(0, 7, n)
    is_late = rng.random(n) < np.where((month + weekday) % 3 == 0, 0.4, 0.2)
    cells, counts = np.unique(np.stack([month, weekday, is_late], axis=1), axis=0, return_counts=True)
    levels = [tuple(range(1, 13)), tuple("MTWTFSS"), ("no", "yes")]
    rule = find_rule(CellCounts(cells, counts), (0, 1, 2), levels)
    assert rule is not None and (rule.kind, rule.target, rule.level) == ("rates", 2, "yes")
    assert len(rule.rates) == len(np.unique(cells[:, :2], axis=0)) > 80
    told = rule_text(rule, ["month", "weekday", "late"], target="late")
    assert told.endswith(f"; not shown: {len(rule.rates) - 8} other combinations")
    assert " of 1/" not in told  # of January there are a handful of rows a weekday
    highest = min(sorted(rate.low for rate in rule.rates)[-4:])
    assert f"({100 * highest:.0f} to" in told
