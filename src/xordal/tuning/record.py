"""What a tuning tried, as a record for model files and ``learn --json``, and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from xordal.model.smoothing import smoothing_text
from xordal.tuning.trials import Trial

Json = dict[str, object]


def record(trials: Sequence[Trial], best: Trial, held_out: Mapping[str, int]) -> Json:
    """Return all that was tried: rows held out, the settings chosen, and every trial in its order."""
    return {
        "held_out": dict(held_out),
        "chosen": trial_to_json(best),
        "tried": [trial_to_json(trial) for trial in trials],
    }


def trial_to_json(trial: Trial) -> Json:
    """Return one trial; null for a log-likelihood of minus infinity."""
    return {
        "max_links": trial.max_links,
        "penalty": trial.penalty,
        "smoothing": smoothing_text(trial.smoothing),
        "log_likelihood": _finite(trial.log_likelihood),
        "standard_error": _finite(trial.standard_error),
        "links": trial.n_links,
        "parameters": trial.n_parameters,
    }


def tuning_lines(trials: Sequence[Trial], best: Trial) -> list[str]:
    """Return a table of what was tried: for each k and penalty the best smoothing, the chosen one marked."""
    lines = [f"   k  penalty  {'smoothing':>11}  {'held-out log-likelihood':>23}  {'links':>8}  parameters"]
    groups: dict[tuple[int, float], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.max_links, trial.penalty), []).append(trial)
    for together in groups.values():
        top = best if best in together else max(together, key=lambda trial: trial.log_likelihood)
        mark = "*" if top is best else " "
        lines.append(
            f" {mark} {top.max_links}  {top.penalty:7g}  {smoothing_text(top.smoothing):>11}  "
            f"{top.log_likelihood:13.4f} +- {top.standard_error:.4f}  {top.n_links:8,.0f}  "
            f"{top.n_parameters:10,.0f}"
        )
    return lines


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
