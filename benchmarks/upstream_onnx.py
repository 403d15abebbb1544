"""Can cases of ONNX show the bugs of TVM's importer that others reported?

    python benchmarks/upstream_onnx.py [--count 200] [--seed 1] [--runs 8] [--only NUMBERS] [--all]
                                       [--toolchain NAME,NAME] [--markdown]

For each bug of `upstream_onnx.toml`, draws cases of its operators, and counts those that have its form. For a bug
without a fix in a release, the lane runs up to `--runs` cases of the form in children. With --all, all bugs run. In a
toolchain other than `host`, which may lack their fixes, all bugs run too. The verdicts:

    shown      the lane fails as the report says
    otherwise  it fails in another way
    passes     its result is right
    refused    TVM says that it does not support something
    skipped    the lane does not take the case
    unjudged   the references do not agree

Prints a line for each bug with the first message of each count, and the totals; with --markdown, the rows of the table
in docs/dialects.md. Exits with 1 if a bug has no case of its form and no reason for that.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from upstream_forms import REFUSED, Bug, directed, has_form, in_toolchain, upstream

from fuzzer.isolate.fleet import Fleet
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST_NAME
from fuzzer.triage.reproduce import as_run_on, observe
from generators.graph import Case
from oracles.finding import Component
from oracles.outcome import Raised, Ran, Skipped, Unsupported
from oracles.reference import witnesses_disagree

SHOWN, OTHERWISE, PASSES, SKIPPED, UNJUDGED = "shown", "otherwise", "passes", "skipped", "unjudged"
VERDICTS = (SHOWN, OTHERWISE, PASSES, REFUSED, SKIPPED, UNJUDGED)


@dataclass(slots=True)
class Row:
    """What is known of a bug: how many drawn cases have its form, and how often which verdict came in a toolchain."""

    bug: Bug
    drawn: int
    found: dict[str, Counter[str]] = field(default_factory=dict)

    def is_shown(self, toolchain: str) -> bool:
        return self.found.get(toolchain, Counter())[SHOWN] > 0

    def verdicts(self, toolchain: str) -> str:
        found = self.found.get(toolchain, Counter())
        return ", ".join(f"{found[what]} {what}" for what in VERDICTS if found[what]) or "-"


def verdict(fleet: Fleet, bug: Bug, case: Case, toolchain: str) -> tuple[str, str]:
    """What the lane does with a case of the form, and its message."""
    lane = in_toolchain(bug, toolchain)
    observation = observe(fleet.run, as_run_on(lane, case), lane)
    outcomes = observation.result.outcomes
    if not observation.valid or witnesses_disagree(outcomes):
        return UNJUDGED, ""
    finding, outcome = observation.finding, outcomes.get(lane)
    if finding is not None:
        message = " ".join(finding.evidence.message.split()) if isinstance(finding.evidence, Raised) else ""
        meant = finding.component is Component.TVM and bug.is_shown_by(finding.kind, message)
        return SHOWN if meant else OTHERWISE, f"{finding.kind}: {message}"
    match outcome:
        case Ran():
            return PASSES, ""
        case Unsupported(_, reason):
            return SHOWN if bug.is_shown_by(REFUSED, reason) else REFUSED, " ".join(reason.split())
        case Skipped(reason, False):
            return SKIPPED, reason
        case _:
            raise RuntimeError(f"#{bug.number}: {lane.name} in {toolchain} neither ran nor failed: {outcome}")


def run(fleet: Fleet, row: Row, cases: Sequence[Case], toolchain: str, tell: bool) -> None:
    messages: dict[str, str] = {}
    row.found[toolchain] = Counter()
    for case in cases:
        what, message = verdict(fleet, row.bug, case, toolchain)
        row.found[toolchain][what] += 1
        messages.setdefault(what, message)
    if tell:
        print(f"      {toolchain}: {row.verdicts(toolchain)}", flush=True)
        for what, message in messages.items():
            if message:
                print(f"        {what}: {message[:160]}", flush=True)


def markdown(row: Row, toolchains: Sequence[str]) -> str:
    bug = row.bug
    drawn = str(row.drawn) if not bug.why_not else f"none: {bug.why_not}"
    link = f"[{bug.number}](https://github.com/apache/tvm/issues/{bug.number})"
    cells = (link, bug.title, bug.reported, bug.fixed or "-", drawn, *map(row.verdicts, toolchains))
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="cases that are drawn for each bug")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=8, help="cases of the form that run; 0 for none")
    parser.add_argument("--only", default="", metavar="NUMBERS", help="comma-separated numbers of bugs")
    parser.add_argument("--all", action="store_true", help="also run bugs that are fixed")
    parser.add_argument("--toolchain", default=HOST_NAME, metavar="NAMES", help="comma-separated")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    chosen = {int(number) for number in options.only.split(",") if number}
    toolchains, rows = options.toolchain.split(","), list[Row]()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as scratch, Fleet(Path(scratch), finder(None)) as fleet:
        for bug in upstream().bug:
            if chosen and bug.number not in chosen:
                continue
            cases = [case for case in directed(bug, options.count, options.seed) if has_form(bug, case)]
            rows.append(Row(bug, len(cases)))
            if not options.markdown:
                why = f" ({bug.why_not})" if bug.why_not else ""
                print(f"#{bug.number} {len(cases)} of {options.count}: {bug.title}{why}", flush=True)
            for toolchain in toolchains if cases and options.runs else ():
                if toolchain != HOST_NAME or options.all or not bug.fixed:
                    run(fleet, rows[-1], list(islice(cases, options.runs)), toolchain, not options.markdown)
            if options.markdown:
                print(markdown(rows[-1], toolchains), flush=True)
    return report(rows, toolchains)


def report(rows: Sequence[Row], toolchains: Sequence[str]) -> int:
    drawn = sum(row.drawn > 0 for row in rows)
    missing = [row.bug.number for row in rows if not row.drawn and not row.bug.why_not]
    reasons = len(rows) - drawn - len(missing)
    print(f"{len(rows)} bugs: the form of {drawn} is drawn, of {reasons} not, with a reason")
    for toolchain in toolchains:
        ran = [row for row in rows if toolchain in row.found]
        print(f"{toolchain}: {len(ran)} run, {sum(row.is_shown(toolchain) for row in ran)} shown")
    if missing:
        print(f"not drawn, without a reason: {', '.join(map(str, missing))}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
