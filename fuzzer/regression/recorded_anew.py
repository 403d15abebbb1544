"""A regression corpus with the ends of a later run in the place of those that it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from fuzzer.regression import record
from fuzzer.regression.compare import Change, Changed, expected_ends
from fuzzer.regression.keep import known_failure
from fuzzer.regression.record import Corpus, Description, Entry
from fuzzer.regression.runs import RIGHT, UNSUPPORTED


def write_anew(folder: Path, kept: Corpus, changed: Sequence[Changed], versions: Mapping[str, str]) -> int:
    """Write the corpus as its changed lanes end now, and return how many do. Where none of them ran, nothing is
    written."""
    ran = [each for each in changed if each.change is not Change.MISSING]
    if ran:
        record.write(folder, *recorded_anew(kept, ran, versions), kept.cases)
    return len(ran)


def recorded_anew(
    kept: Corpus, changed: Sequence[Changed], versions: Mapping[str, str]
) -> tuple[Description, list[Entry]]:
    """The description and the entries of a corpus, in which each changed lane ends as it does now. A lane that did not
    run keeps its end. Failures that no lane shows any more are left out. `versions` are those of packages."""
    now = {
        case: {each.lane: each.now for each in some if each.change is not Change.MISSING}
        for case, some in groupby(changed, key=lambda each: each.entry.case)
    }
    entries = [_with_ends(entry, now.get(entry.case, {})) for entry in kept.entries]
    shown = {end for entry in entries for end in entry.fails.values()}
    found = {each.now: known_failure(each.finding) for each in changed if each.finding is not None}
    failures = {**found, **kept.description.failures}
    description = msgspec.structs.replace(
        kept.description,
        versions=dict(versions),
        failures={id: known for id, known in sorted(failures.items()) if id in shown},
    )
    return description, entries


def _with_ends(entry: Entry, now: Mapping[str, str]) -> Entry:
    """The lanes stay in their order."""
    ends = {lane: now.get(lane, end) for lane, end in expected_ends(entry).items()}
    return msgspec.structs.replace(
        entry,
        right=[lane for lane, end in ends.items() if end == RIGHT],
        unsupported=[lane for lane, end in ends.items() if end == UNSUPPORTED],
        fails={lane: end for lane, end in ends.items() if end not in (RIGHT, UNSUPPORTED)},
    )
