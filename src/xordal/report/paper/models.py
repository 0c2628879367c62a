"""The models and their colored I-maps: Table 1 with Figure 1, the music box with Figure 6."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from xordal.pi.definitions import is_embedded_pi, is_partial_pi, pi_submodels, s1_prime
from xordal.pi.independence import Independence
from xordal.pi.joint import Joint
from xordal.report.drawings import NetworkDrawing
from xordal.report.paper import printed
from xordal.report.paper.checks import Grid, Item, compare, holds
from xordal.report.paper.runs import Studies, Study
from xordal.report.paper.wording import Namer
from xordal.types.groups import Submodel
from xordal.types.varsets import VarSet, members


def table_1(studies: Studies) -> Item:
    """Table 1: the joint, its submodels and their partitions."""
    joint = studies.table_1.model.joint
    say = Namer(joint.variables)
    judge = Independence(joint.oracle())
    whole = joint.varset()
    fractions = joint.fractions or {}
    paper = {state: Fraction(p) for state, p in printed.TABLE_1.items()}
    ours = {"".join(state): p for state, p in fractions.items()}
    found = list(pi_submodels(judge, whole))
    embedded = {_names(joint, s.variables) for s in found if is_embedded_pi(judge, s.variables, whole)}
    n_equal = sum(ours.get(state) == p for state, p in paper.items())
    return Item(
        "table-1",
        "Table 1",
        "A model with embedded PI submodels",
        (
            compare("Probabilities equal", len(paper), n_equal, show=lambda n: f"{n} of {len(paper)}"),
            compare(
                "Embedded PI submodels (Definition 3)",
                frozenset(printed.TABLE_1_SUBMODELS.values()),
                frozenset(embedded),
                show=lambda sets: ", ".join(sorted(map(say.variables, sets))),
            ),
            holds("The whole is a partial PI model", is_partial_pi(judge, whole), "Definition 2 is met"),
            compare("Independent subsets it falls into", 3, len(s1_prime(judge, whole) or ())),
        ),
        grids=(_joint_grid(paper, ours), _submodel_grid(joint, found, printed.TABLE_1_SUBMODELS)),
    )


def figure_1(studies: Studies) -> Item:
    """Figure 1: the colored I-map of Table 1."""
    study = studies.table_1
    say = Namer(study.variables)
    joint = study.model.joint
    judge = Independence(joint.oracle())
    part = s1_prime(judge, joint.varset(["d", "a", "c"])) or ()
    return Item(
        "figure-1",
        "Figure 1",
        "Colored I-map of the model in Table 1",
        (
            compare(
                "Black links: those a single-link search connects (section 2)",
                printed.TABLE_3[0].links,
                study.as_run.named(study.truth.black_links),
                show=say.links,
            ),
            compare(
                "Partition of N2",
                frozenset({frozenset("a"), frozenset("dc")}),
                frozenset(_names(joint, block) for block in part),
                show=say.blocks,
            ),
            holds(
                "N2's partition extends to a | d b c (S5)",
                all(judge.is_independent(joint.varset("a"), joint.varset(x)) for x in "dbc"),
                "a is independent of each of d, b, c",
            ),
        ),
        text=("Coloured links are dotted, as the paper draws them; black links are solid.",),
        drawings=(_imap(study, "The colored I-map of Table 1"),),
    )


def figure_6(studies: Studies) -> Item:
    """Figure 6: the colored I-map of the music box and its submodels N1 to N5."""
    study = studies.music_box
    say = Namer(study.variables)
    joint = study.model.joint
    inside = [s for s in study.truth.submodels if s.kind != "conditional"]
    first_stage = printed.TABLE_4[0].links | printed.TABLE_4[1].links
    later = frozenset[frozenset[str]]().union(*(step.links for step in printed.TABLE_4[2:]))
    return Item(
        "figure-6",
        "Figure 6",
        "Colored I-map of the music-box example",
        (
            compare(
                "PI submodels inside a clique of the I-map",
                frozenset(printed.MUSIC_SUBMODELS.values()),
                frozenset(_names(joint, s.variables) for s in inside),
                show=lambda sets: _named_sets(sets, say),
            ),
            compare(
                "Black links: those a single-link search connects",
                first_stage,
                study.as_run.named(study.truth.black_links),
                show=say.links,
            ),
            compare(
                "Coloured links: all others",
                later,
                study.as_run.named(study.truth.colored_links),
                show=lambda links: f"{len(links)}: {say.links(links)}",
            ),
        ),
        grids=(_submodel_grid(joint, inside, printed.MUSIC_SUBMODELS),),
        drawings=(_imap(study, "The colored I-map of the music box"),),
    )


def _imap(study: Study, title: str) -> NetworkDrawing:
    truth = study.truth
    return NetworkDrawing.of(
        title, study.variables, truth.graph.links, colored=truth.colored_links, places=study.places
    )


def _names(joint: Joint, variables: VarSet) -> frozenset[str]:
    return frozenset(joint.variables[v] for v in members(variables))


def _named_sets(sets: frozenset[frozenset[str]], say: Namer) -> str:
    known = {variables: name for name, variables in printed.MUSIC_SUBMODELS.items()}
    return ", ".join(sorted(known.get(variables) or say.variables(variables) for variables in sets))


def _joint_grid(paper: dict[str, Fraction], ours: dict[str, Fraction]) -> Grid:
    """Lay the states out in two halves, d = 0 and d = 1, as the paper does."""
    halves = [["".join(state) for state in product(d, "01", "01", "01")] for d in "01"]
    rows = []
    for pair in zip(*halves, strict=True):
        cells: list[str] = []
        for state in pair:
            cells += [
                f"({','.join(state)})",
                printed.TABLE_1[state],
                f"{float(ours.get(state, Fraction(-1))):.2f}",
            ]
        rows.append(cells)
    half = "(d,a,b,c)|paper#|ours#"
    return Grid.of("The joint distribution", f"{half}|{half}", rows)


def _submodel_grid(joint: Joint, found: list[Submodel], named: dict[str, frozenset[str]]) -> Grid:
    say = Namer(joint.variables)
    name_of = {variables: name for name, variables in named.items()}
    rows = []
    for submodel in found:
        variables = _names(joint, submodel.variables)
        blocks = say.blocks([_names(joint, block) for block in submodel.partition])
        rows.append(
            (
                name_of.get(variables, "the whole" if len(variables) == len(joint.variables) else ""),
                say.variables(variables),
                blocks,
                submodel.kind,
                len(submodel.colored_links()),
                f"{submodel.total_correlation:.6f}",
            )
        )
    heads = "paper's name|variables|independent blocks|kind|coloured links#|total correlation, nats#"
    return Grid.of("PI submodels, computed from the joint", heads, sorted(rows))
