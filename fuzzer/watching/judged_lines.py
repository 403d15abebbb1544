"""How much of a campaign's results is judged, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.campaign.store.judged_counts import FEW_FLOATS, JudgedCounts
from fuzzer.watching.formatting import number_of

REASONS_SHOWN = 3


def judged_lines(found: JudgedCounts) -> Iterator[str]:
    """Yield a line for the elements and one for the tests that show little; none where nothing was counted."""
    if found.elements:
        most = sorted(found.unjudged.items(), key=lambda item: (-item[1], item[0]))[:REASONS_SHOWN]
        reasons = "".join(f"; {count / found.elements:.2%} not: {reason}" for reason, count in most)
        yield f"{found.judged:,} of {found.elements:,} elements are judged{reasons}"
    if found.with_floats:
        parts = (
            (found.no_float, "no float is judged"),
            (found.few_floats, f"at most {FEW_FLOATS} are judged"),
            (found.equal_floats, "all judged ones are equal"),
        )
        shares = ", ".join(f"in {count} {what}" for count, what in parts if count)
        tests = f"{number_of(found.with_floats, 'test')} with floats in their results"
        yield f"{tests}: {shares or 'in each, several different ones are judged'}"
