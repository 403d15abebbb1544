"""Check the suspects of sightings that wait against full investigations of them.

    python benchmarks/suspected.py CAMPAIGN [--most 300] [--jobs 2]

Each sighting in CAMPAIGN/waiting that TVM is blamed for is confirmed and reduced, as triage does it. A suspect is right
where the operators of the reduced case are among its operators; one that was seen, where the reduced case has that
operator. Nothing in the campaign is changed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzer.campaign.store.layout import WAITING
from fuzzer.campaign.triage import waiting_item
from fuzzer.isolate.fleet import Fleet
from fuzzer.toolchains.registry import find
from fuzzer.triage.investigate import confirm_and_reduce
from fuzzer.triage.suspect import Certainty, Suspect
from generators.table import TABLE
from oracles.finding import Component


def is_right(suspect: Suspect, reduced: tuple[str, ...]) -> bool:
    """Whether the reduced case has no operator that is not suspected, or has the one that was seen. A reducer may have
    put a plainer operator in its place."""
    suspected = {each for operator in suspect.operators for each in (operator, *plainer(operator))}
    if suspect.certainty is Certainty.SEEN:
        return not suspected.isdisjoint(reduced)
    return set(reduced) <= suspected


def plainer(operator: str) -> list[str]:
    """The operators that may replace this one in a reduction, one after the other."""
    found: list[str] = []
    row = TABLE.get(operator)
    while row and row.plainer and row.plainer not in found:
        found.append(row.plainer)
        row = TABLE.get(row.plainer)
    return found


def measured(fleet: Fleet, item: waiting_item.Item) -> tuple[Certainty, bool | None, str]:
    """How sure the suspect was, whether it was right (None: the failure is flaky), and a line about it."""
    case, sighting = item.read()
    found = confirm_and_reduce(fleet, case, sighting)
    reduced = tuple(node.title for node in found.case.graph.nodes)
    right = None if found.flaky else is_right(item.suspect, reduced)
    line = f"{item.name}: {', '.join(item.suspect.operators) or 'nothing'}; reduced to {', '.join(reduced)}"
    return item.suspect.certainty, right, line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    waiting = waiting_item.read_all(arguments.campaign / WAITING)
    items = [item for item in waiting if item.key.component is Component.TVM][: arguments.most]
    counted: Counter[tuple[Certainty, bool | None]] = Counter()
    with (
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")) / "scratch", find) as fleet,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        for certainty, right, line in pool.map(lambda item: measured(fleet, item), items):
            counted[certainty, right] += 1
            if right is False:
                print(f"{certainty}, wrong: {line}")
    for certainty in Certainty:
        of = [counted[certainty, answer] for answer in (True, False, None)]
        print(f"{certainty:13} {of[0]:4} right {of[1]:4} wrong {of[2]:4} flaky")
    judged = sum(counted[certainty, answer] for certainty in Certainty for answer in (True, False))
    named = sum(counted[certainty, True] for certainty in (Certainty.SEEN, Certainty.ONE_OF))
    print(f"{named} of {judged} suspects are right ({named / max(judged, 1):.0%}), {len(items)} sightings")


if __name__ == "__main__":
    main()
