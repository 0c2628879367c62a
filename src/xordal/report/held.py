"""What of a network held in new rows, in words and as JSON: ``xordal check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Protocol

from xordal.checking import Checked, CheckedGroup, CheckedLink, CheckedRule, Verdict
from xordal.errors import counted
from xordal.formats.shown import beside, shown
from xordal.formats.text import link_text, p_text

_ORDER: tuple[Verdict, ...] = ("gone", "undecided", "held")


class _Finding(Protocol):
    @property
    def verdict(self) -> Verdict: ...


def check_to_json(found: Checked) -> dict[str, object]:
    """Return all findings as plain lists, numbers and strings; those of the old rows are called ``before``."""
    return {
        "n_rows": found.n_rows,
        "n_left_out": found.n_left_out,
        "links": [asdict(link) | {"p_corrected": link.p_corrected} for link in found.links],
        "groups": [asdict(group) | {"p_corrected": group.p_corrected} for group in found.groups],
        "rules": [asdict(rule) | {"p_corrected": rule.p_corrected} for rule in found.rules],
    }


_LINKS = "Links: nats that the two share in the new rows, given the rest of their clique"
_GROUPS = "Hidden groups: the share of what they have in common that no pair shows, in the new rows"
_RULES = "Rules: the share of new rows in which they hold"


def check_lines(found: Checked, most: int | None) -> list[str]:
    """Return what held, of each kind at most so many findings, those that are gone first."""
    left_out = f"; {found.n_left_out:,} left out, a value missing or never seen" if found.n_left_out else ""
    lines = [f"{counted(found.n_rows, 'new row')}{left_out}"]
    lines += _section(_LINKS, found.links, [_link(link) for link in found.links], most)
    lines += _section(_GROUPS, found.groups, [_group(group) for group in found.groups], most)
    lines += _section(_RULES, found.rules, [_rule(rule) for rule in found.rules], most)
    return [*lines, "", "Intervals are of 95 %; p is corrected for all findings of a kind."]


def _section(title: str, findings: Sequence[_Finding], told: Sequence[str], most: int | None) -> Iterator[str]:
    if not findings:
        return
    numbers = {verdict: sum(one.verdict == verdict for one in findings) for verdict in _ORDER}
    yield from ("", title)
    yield "  " + ", ".join(f"{numbers[verdict]} {verdict}" for verdict in reversed(_ORDER) if numbers[verdict])
    order = sorted(range(len(told)), key=lambda place: _ORDER.index(findings[place].verdict))
    yield from (f"  {findings[place].verdict:<9}  {told[place]}" for place in order[:most])
    if most is not None and len(told) > most:
        yield f"  and {len(told) - most} others; --all shows them"


def _link(link: CheckedLink) -> str:
    given = f", given {', '.join(map(shown, link.given))}" if link.given else ""
    return (
        f"{link_text(link.variables)}: {link.low:.4f} to {link.high:.4f} ({link.before:.4f} in the old rows), "
        f"{p_text(link.log_p_corrected)}{given}"
    )


def _group(group: CheckedGroup) -> str:
    given = f", given {', '.join(map(shown, group.context))}" if group.context else ""
    before = "" if group.before is None else f" ({100 * group.before.estimate:.0f} % in the old rows)"
    share = f"{100 * group.share.low:.0f} to {100 * group.share.high:.0f} %{before}"
    p_value = p_text(group.log_p_corrected)
    return f"{beside(group.variables)}: {share}, {p_value}{given}"


def _rule(rule: CheckedRule) -> str:
    p_value = p_text(rule.log_p_corrected)
    if rule.kind == "rates":
        told = {"gone": "old and new rates differ", "held": "old and new rates do not differ"}
        words = told.get(rule.verdict, "too few new rows to tell")
        return f"{rule.told}, in each combination: {words}, {p_value}"
    share = f"{100 * rule.low:.1f} to {100 * rule.high:.1f} % ({100 * rule.before:.1f} % in the old rows)"
    return f"{rule.told}: {share}, {p_value}"
