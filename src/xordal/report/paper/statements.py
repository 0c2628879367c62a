"""What the text of the paper says about its two models and its search, checked sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from xordal.pi.complexity import bound_on_steps, execution_chain, execution_forest
from xordal.pi.definitions import pi_submodels
from xordal.pi.independence import Independence
from xordal.pi.zoo import modulus
from xordal.report.paper import printed
from xordal.report.paper.checks import Item, compare, holds
from xordal.report.paper.runs import Run, Studies, Study, run
from xordal.report.paper.wording import Namer, numbers
from xordal.types.groups import Submodel
from xordal.types.varsets import members


def sections_2_and_3(studies: Studies) -> Item:
    """Single-link and straightforward search on Table 1."""
    study = studies.table_1
    say = Namer(study.variables)
    single, straight = study.runs["single"], study.runs["straightforward"]
    missed = study.as_run.named(set(study.model.graph.links) - set(straight.learned.links))
    return Item(
        "sections-2-3",
        "Sections 2, 3",
        "What the text says of other searches",
        (
            compare(
                "A single-link search connects only", printed.TABLE_3[0].links,
                single.named(single.learned.links), show=say.links,
            ),
            holds("Its graph is not an I-map", not single.is_i_map, _lost(single)),
            compare(
                "The straightforward multi-link search adds, in order",
                tuple(step.links for step in printed.TABLE_3[:3]), straight.link_sets, show=say.link_sets,
            ),
            compare("It never learns", printed.TABLE_3[3].links, missed, show=say.links),
            holds("Its outcome is not an I-map", not straight.is_i_map, _lost(straight)),
        ),
    )  # fmt: skip


def section_4(studies: Studies) -> Item:
    """Theorem 5 on the paper's models, and where it is silent."""
    music = studies.music_box
    largest = {study.name: _most_colored(study) for study in studies.both()}
    obeyed = [run(s.model, largest[s.name], s.delta_h, "printed").is_i_map for s in studies.both()]
    above = [s for s in music.truth.submodels if len(s.colored_links()) > music.max_links]
    exclusive_or = modulus(variables=3, levels=2)
    embedded = [s for s in exclusive_or.truth().submodels if s.variables.bit_count() < 3]
    alone = run(exclusive_or, 1, 0.0, "printed")
    xor_told = f"exclusive or of two fair bits: {len(embedded)} embedded submodels; ML(1) {_lost(alone)}"
    return Item(
        "section-4",
        "Section 4",
        "Theorem 5",
        (
            holds(
                "If no embedded PI submodel has more than i coloured links, ML with i returns an I-map",
                all(obeyed),
                "; ".join(f"{name}: at most {n} coloured links, ML({n}) does" for name, n in largest.items()),
            ),
            holds(
                "Submodels with more than k coloured links may still be learned",
                bool(above) and music.as_run.is_i_map,
                f"music box: k = {music.max_links}, and N3 with {max(len(s.colored_links()) for s in above)} "
                "of them is learned",
            ),
            holds(
                "The theorem for a PI model without embedded submodels: ML with i = 1 returns an I-map",
                alone.is_i_map,
                xor_told,
                otherwise=xor_told,
                why="The theorem bounds the submodels embedded in the model, which are proper subsets. The "
                "model itself can be a full PI model of three coloured links that no single link reveals. It "
                "must count as one of its own submodels.",
            ),
        ),
    )


def section_5(studies: Studies) -> Item:
    """Section 5: its counting arguments on real runs."""
    factors = {
        k: sum(Fraction(1, prod(range(k - m + 1, k + 1))) for m in range(1, k + 1)) for k in range(1, 21)
    }
    totals = [(s, s.as_run.learned.run.graphs_tested) for s in studies.both()]
    bad = list(_unbalanced(studies.music_box.runs["printed"]))
    return Item(
        "section-5",
        "Section 5",
        "What the complexity analysis says",
        (
            holds(
                "A k-link search takes at most of the order N^(2(k+1)) steps",
                all(n <= bound_on_steps(len(s.variables), s.max_links) for s, n in totals),
                "; ".join(
                    f"{s.name}: {n:,} of {bound_on_steps(len(s.variables), s.max_links):,}" for s, n in totals
                ),
            ),
            holds(
                "The factor 1/k + 1/(k(k-1)) + ... + 1/k! is at most 1",
                all(factor <= 1 for factor in factors.values()),
                f"k = 1 to {max(factors)}: from {max(factors.values())} down to "
                f"{float(min(factors.values())):.3f}",
            ),
            holds(
                "Among the children of a pass, those that learned nothing are no more than those that learned",
                not bad,
                "true of the music box, as printed",
                otherwise=f"music box, as printed: {len(bad)} of the passes with children break this",
                why="Every i-link-only search ends with a pass that learns nothing, so a search that learns "
                "nothing at all is such a pass and no other; that happens after every last success. Counting "
                "one such pass more for each search mends the argument and leaves the orders as they are.",
            ),
        ),
    )


def section_6(studies: Studies) -> Item:
    """Section 6: its account of the run on the music box."""
    study = studies.music_box
    every, say = study.as_run, Namer(study.variables)
    single = study.runs["single"]
    first = tuple(one.steps for one in every.passes[:2])
    counts = every.graphs_tested
    named = printed.MUSIC_SUBMODELS
    submodels = list(pi_submodels(Independence(study.model.joint.oracle()), study.model.joint.varset()))
    ours = {frozenset(every.learned.names(members(s.variables))) for s in submodels}
    return Item(
        "section-6",
        "Section 6",
        "What the text says of learning the music box",
        (
            compare("Steps of the first two passes", printed.STEPS_OF_FIRST_PASSES, first, show=numbers),
            compare(
                "Steps until the three double links are learned",
                printed.STEPS_OF_DOUBLE_LINKS, counts[4] - counts[1], show="{:,}".format,
            ),
            compare(
                "A single-link search halts with",
                printed.TABLE_4[0].links | printed.TABLE_4[1].links,
                single.named(single.learned.links), show=say.links,
            ),
            holds("Its graph is not an I-map", not single.is_i_map, _lost(single)),
            compare(
                "Embedded PI submodels, by the letter of Definitions 2 and 3",
                len(named), len(submodels), why=_by_the_letter(submodels),
            ),
            holds(
                "N1 and N2 are recursively embedded in N3",
                {named["N1"], named["N2"], named["N3"]} <= ours and named["N1"] | named["N2"] <= named["N3"],
                "all three are PI submodels, and N3 holds the others",
            ),
            holds(
                "After L6 a single-link and a 2-link-only search learn nothing, then a 3-link search learns L7",
                _after(every, 5)[:4] == ((1, False), (1, False), (2, False), (3, True)),
                "passes after L6: " + _told(_after(every, 5)[:4]),
            ),
            holds(
                "Backtracking follows, but no more links are learned",
                not any(learned for _, learned in _after(every, 6)),
                "passes after L7: " + _told(_after(every, 6)),
            ),
        ),
    )  # fmt: skip


def _by_the_letter(submodels: list[Submodel]) -> str:
    sizes = [s.variables.bit_count() for s in submodels]
    by_size = ", ".join(f"{sizes.count(size)} of {size} variables" for size in sorted(set(sizes)))
    return (
        "The definitions ask nothing of the graph. Sets that leave variables out meet them too, such as "
        f"{{ball3, light1, John}} with music_box and dog summed out: {by_size}. The paper's five are those "
        "inside a clique of its I-map (Figure 6)."
    )


def _lost(one: Run) -> str:
    return "loses nothing" if one.is_i_map else f"loses {one.lost:.4f} nats of dependence"


def _most_colored(study: Study) -> int:
    """Return the largest number of coloured links in an embedded submodel."""
    whole = len(study.variables)
    return max(
        len(s.colored_links())
        for s in study.truth.submodels
        if s.kind != "conditional" and s.variables.bit_count() < whole
    )


def _unbalanced(one: Run) -> Iterator[int]:
    """Yield the passes whose children mostly learned nothing."""
    parents = execution_forest(execution_chain(one.passes))
    for place in sorted({parent for parent in parents if parent is not None}):
        learned = [
            child.learned is not None
            for child, parent in zip(one.passes, parents, strict=True)
            if parent == place
        ]
        if 2 * sum(learned) < len(learned):
            yield place


def _after(one: Run, step: int) -> tuple[tuple[int, bool], ...]:
    """Return lookahead and success of every pass after the one that learned entry ``step`` of the trace."""
    links = one.learned.trace[step].links
    place = next(place for place, each in enumerate(one.passes) if each.learned == links)
    return tuple((each.lookahead, each.learned is not None) for each in one.passes[place + 1 :])


def _told(after: tuple[tuple[int, bool], ...]) -> str:
    return ", ".join(f"{i} ({'learns' if learned else 'nothing'})" for i, learned in after)
