"""Where would a second oracle object, once the first one is answered?

    python benchmarks/second_oracles.py [--only WORD] [--most N] [FOLDER...]

By default for the shipped findings. Each finding's case runs once more in its lane and in the lanes that judge it. All
oracles judge the lane, and not only up to the first that objects. Prints a line for each finding: the kind of the first
objection, what the finding says besides (`also`, `follows`), and the kinds of the later objections. The summary counts
findings by these. A lane without a result has nothing that a later oracle could judge: it is counted apart. Exits with
1 if a finding does not show any more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.isolate.fleet import Fleet
from fuzzer.toolchains.registry import finder
from fuzzer.triage.reproduce import as_run_on, judged_by, judged_run
from fuzzer.triage.undisturbed import undisturbed
from oracles.finding import Kind, Mismatch
from oracles.judge import objections
from oracles.outcome import IllFormed, Ran

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Judged:
    """What the oracles say of the lane of a finding: the kinds of their objections, in their order; whether the lane
    gave a result; and what the evidence of the first objection says besides it."""

    kinds: tuple[Kind, ...]
    has_result: bool
    besides: str

    @property
    def words(self) -> str:
        if not self.kinds:
            return "it does not show"
        first, *later = self.kinds
        besides = f", with {self.besides}" if self.besides else ""
        then = ", ".join(later) or ("nothing" if self.has_result else "no result to judge")
        return f"{first}{besides}; then {then}"


def judged(fleet: Fleet, record: FindingRecord) -> Judged:
    """Run the lane of the finding and the lanes that judge it, and ask all oracles."""
    lane = record.doc.lane
    case = as_run_on(lane, record.case)
    outcomes = judged_run(undisturbed(fleet.run), case, judged_by(lane)).outcomes
    found = [each for each in objections(case, outcomes) if each.lane == lane]
    return Judged(
        tuple(dict.fromkeys(each.kind for each in found)),
        isinstance(outcomes.get(lane), Ran),
        _besides(record.doc.evidence.evidence),
    )


def _besides(evidence: object) -> str:
    match evidence:
        case Mismatch(also=also):
            return also
        case IllFormed(follows=follows):
            return follows
        case _:
            return ""


def summary(all_judged: list[Judged]) -> list[str]:
    """How many findings have a second objection, and which kinds follow which."""
    shown = [each for each in all_judged if each.kinds]
    results = [each for each in shown if each.has_result]
    second = [each for each in shown if each.kinds[1:]]
    pairs = Counter(f"{each.kinds[0]}, then {', '.join(each.kinds[1:])}" for each in second)
    return [
        f"{len(all_judged)} findings, {len(shown)} show, {len(results)} of them with a result",
        f"a second oracle objects: {len(second)}; the finding names a second symptom: "
        f"{sum(bool(each.besides) for each in shown)}",
        *(f"  {count} {words}" for words, count in pairs.most_common()),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="findings whose name contains this")
    parser.add_argument("--most", type=int, metavar="N", help="the first N findings of the folders")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders that hold findings")
    options = parser.parse_args()
    parents = options.folders or [ROOT / "crashes"]
    folders = (each for parent in parents for each in finding_file.folders_in(parent) if options.only in each.name)
    done: list[Judged] = []
    with tempfile.TemporaryDirectory(prefix="difftvm-") as scratch, Fleet(Path(scratch), finder(None)) as fleet:
        for folder in islice(folders, options.most):
            done.append(judged(fleet, read(folder)))
            print(f"{folder.name}: {done[-1].words}", flush=True)
    print(*summary(done), sep="\n")
    return 0 if all(each.kinds for each in done) else 1


if __name__ == "__main__":
    sys.exit(main())
