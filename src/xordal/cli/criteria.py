"""The options that choose the criterion, the same for every command that learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xordal.statistics.criterion import Criterion


@dataclass(frozen=True, slots=True)
class CriterionOptions:
    """What decides whether a set of links is learned: one of these, --alpha where none is given."""

    alpha: Annotated[
        float | None,
        typer.Option(
            show_default="0.05",
            help="Probability, about, that any column that depends on nothing is linked, over all sets "
            "looked at.",
        ),
    ] = None
    fdr: Annotated[
        float | None,
        typer.Option(
            help="Instead of --alpha, to screen many columns: the share, about and on average, of the sets "
            "learned in which a column was not needed.",
        ),
    ] = None
    delta_h: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Instead of --alpha, the paper's threshold: learn what lowers the entropy by more, in nats.",
        ),
    ] = None
    bic: Annotated[
        bool,
        typer.Option(
            "--bic", help="Instead of --alpha: learn what improves the Bayesian information criterion."
        ),
    ] = False
    ebic: Annotated[
        bool,
        typer.Option("--ebic", help="Instead of --alpha: the extended criterion, stricter with many columns."),
    ] = False
    bdeu: Annotated[
        bool,
        typer.Option(
            "--bdeu",
            help="Instead of --alpha: the Bayesian score with a uniform prior worth one row; slow on many "
            "columns.",
        ),
    ] = False

    def criterion(self) -> Criterion | None:
        """Return the criterion that the options name; None where they name none."""
        from xordal.statistics.criterion import EntropyDecrement
        from xordal.statistics.scores import BIC, EBIC, BDeu
        from xordal.statistics.significance import Significance

        given: dict[str, Criterion] = {}
        if self.alpha is not None:
            given["--alpha"] = Significance(self.alpha)
        if self.fdr is not None:
            given["--fdr"] = Significance(self.fdr, control="fdr")
        if self.delta_h is not None:
            given["--delta-h"] = EntropyDecrement(self.delta_h)
        if self.bic:
            given["--bic"] = BIC()
        if self.ebic:
            given["--ebic"] = EBIC()
        if self.bdeu:
            given["--bdeu"] = BDeu()
        if len(given) > 1:
            raise typer.BadParameter(f"give {' or '.join(given)}, not both: each is a criterion of its own.")
        return next(iter(given.values()), None)
