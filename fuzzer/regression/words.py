"""Changes of a regression corpus in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fuzzer.findings.headline import headline
from fuzzer.regression.compare import Change, Changed
from fuzzer.regression.known import families
from fuzzer.regression.record import Corpus
from fuzzer.system.terminal import number_of

MOST_PLACES = 3
"""This many lanes are named for each change."""


def grouped(changed: Sequence[Changed], kept: Corpus) -> Iterator[str]:
    """Changes of one kind, those with the same failure together, the most frequent first."""
    if changed[0].change is Change.MISSING:
        for lane, count in Counter(each.lane for each in changed).most_common(MOST_PLACES):
            yield f"  {lane}: {number_of(count, 'case')}"
        return
    groups: dict[tuple[str, str], list[Changed]] = {}
    for each in changed:
        groups.setdefault((each.expected, each.now), []).append(each)
    for members in sorted(groups.values(), key=len, reverse=True):
        yield f"  {number_of(len(members), 'time')}: {in_words(members[0], kept)}"
        for each in members[:MOST_PLACES]:
            yield f"      {each.entry.case} {', '.join(each.entry.ops)}; {each.lane}"


def in_words(each: Changed, kept: Corpus) -> str:
    """What is otherwise, in one line."""
    known = kept.description.failures.get(each.expected)
    family = f" (family {families(kept.description.failures)[each.expected]})" if known else ""
    now = headline(each.finding) if each.finding else each.now or "it did not run"
    match each.change:
        case Change.PASSES if known:
            return f"expected to fail, passes now: {known.title}{family}"
        case Change.OTHERWISE if known:
            return f"expected: {known.title}{family}; now: {now}"
        case Change.REFUSED:
            return "it is not supported any more"
        case _:
            return now
