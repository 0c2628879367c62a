"""Options that choose the criterion, the same for every command that learns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xordal.statistics.criterion import Criterion

Alpha = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        show_default="0.05",
        help="Probability, about, of learning any set of links that means nothing, of all looked at.",
    ),
]
DeltaH = Annotated[
    float | None,
    typer.Option(
        "--delta-h",
        min=0.0,
        help="Instead of --alpha, the paper's threshold: learn what lowers the entropy by more, in nats.",
    ),
]
Bic = Annotated[
    bool,
    typer.Option("--bic", help="Instead of --alpha: learn what improves the Bayesian information criterion."),
]
Ebic = Annotated[
    bool, typer.Option("--ebic", help="Instead of --alpha: the extended criterion, stricter with many columns.")
]


def criterion_of(alpha: float | None, delta_h: float | None, bic: bool, ebic: bool) -> Criterion | None:
    """Return the criterion that the options name; None where they name none."""
    from xordal.statistics.criterion import EntropyDecrement
    from xordal.statistics.scores import BIC, EBIC
    from xordal.statistics.significance import Significance

    given = {"--alpha": alpha is not None, "--delta-h": delta_h is not None, "--bic": bic, "--ebic": ebic}
    named = [name for name, is_given in given.items() if is_given]
    if len(named) > 1:
        raise typer.BadParameter(f"give {' or '.join(named)}, not both: each is a criterion of its own.")
    if alpha is not None:
        return Significance(alpha)
    if delta_h is not None:
        return EntropyDecrement(delta_h)
    if bic or ebic:
        return BIC() if bic else EBIC()
    return None
