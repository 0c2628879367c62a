"""Figures 2 and 7: the learning process, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from xordal.report.drawings import NetworkDrawing
from xordal.report.paper import printed
from xordal.report.paper.checks import Item, compare, holds
from xordal.report.paper.runs import Studies, Study
from xordal.report.paper.wording import Namer, numbers
from xordal.types.varsets import LinkSet


def figure_2(studies: Studies) -> Item:
    """Figure 2: the graph after each i-link-only search that learned something."""
    study = studies.table_1
    run, say = study.as_run, Namer(study.variables)
    learned = [tuple(one.learned for one in search if one.learned) for search in run.searches()]
    added = [tuple(link for links in sets for link in links) for sets in learned if sets]
    lookaheads = [search[0].lookahead for search in run.searches() if search[0].learned]
    titles = [
        f"({panel}) after the {'single' if i == 1 else 'double'}-link search"
        for panel, i in zip("abcdefgh", lookaheads, strict=False)
    ]
    n_links = len(study.model.graph.links)
    return Item(
        "figure-2",
        "Figure 2",
        "The process of learning the model in Table 1",
        (
            compare(
                "Links added in panels (a), (b), (c)",
                printed.FIGURE_2,
                tuple(run.named(links) for links in added),
                show=say.link_sets,
            ),
            compare("It halts with the complete graph, links", n_links, len(run.learned.links)),
            holds("The complete graph is a correct I-map", run.is_i_map, "no dependence is lost"),
        ),
        text=("New links of a panel are heavy. Coloured links of the I-map are dotted.",),
        drawings=tuple(_panels(study, titles, added)),
    )


def figure_7(studies: Studies) -> Item:
    """Figure 7: the music box after each of its seven learned link sets."""
    study = studies.music_box
    run, say = study.as_run, Namer(study.variables)
    added = [entry.links for entry in run.learned.trace]
    titles = [
        f"{step.name}, looking {entry.lookahead} ahead"
        for step, entry in zip(study.steps, run.learned.trace, strict=True)
    ]
    return Item(
        "figure-7",
        "Figure 7",
        "The process of learning the music-box model",
        (
            compare(
                "Link sets L1 to L7 in order",
                tuple(step.links for step in study.steps),
                run.link_sets,
                show=say.link_sets,
            ),
            compare(
                "Links after each step",
                _cumulated(len(step.links) for step in study.steps),
                _cumulated(map(len, added)),
                show=numbers,
            ),
            holds(
                "The algorithm returns the correct I-map",
                run.is_i_map and run.learned.links == study.model.graph.links,
                "the links are those of Figure 6",
            ),
        ),
        text=("New links of a step are heavy. Coloured links of the I-map are dotted.",),
        drawings=tuple(_panels(study, titles, added)),
    )


def _panels(study: Study, titles: Sequence[str], added: Sequence[LinkSet]) -> list[NetworkDrawing]:
    panels, links = [], list[tuple[int, int]]()
    for title, new in zip(titles, added, strict=True):
        links = sorted([*links, *new])
        panels.append(
            NetworkDrawing.of(
                title,
                study.variables,
                links,
                colored=study.truth.colored_links,
                new=new,
                places=study.places,
            )
        )
    return panels


def _cumulated(sizes: Iterable[int]) -> tuple[int, ...]:
    return tuple(accumulate(sizes))
