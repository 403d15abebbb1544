"""Record real failures: `python tests/fuzzer/signature/record.py --ops 'GLOB' --count N`, or `--finding crashes/x ...`.

Runs small cases through lanes (or takes saved findings), and writes what fails to records/, one file a bug. A failure
whose signature a file has already is added there if something about it is new (other operators, types, lane, release),
up to `MOST` of them. **Read what was written before you commit it**: that two failures share a file says that
they are one bug, that they do not says that they are two. Where today's code has this wrong, mend the code, or move the
record by hand: then the tests fail until the code is mended.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from recording import FOLDER, Bug, Call, RecordedFailure, paths, read, write

from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import StoredEvidence
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.lanes import LANES, select
from fuzzer.signature import failure_location, is_difftvm_frame, skeleton
from fuzzer.signature.blame import NO_BLAME, Blame
from fuzzer.toolchains.lanes import in_toolchains
from fuzzer.toolchains.registry import find
from fuzzer.triage.investigate import sightings
from fuzzer.triage.reproduce import judged_run
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.torch.ops import OPS
from generators.torch.random_graph import generate
from oracles.finding import Evidence, Finding, Mismatch
from oracles.judge import judge_all
from oracles.lane import Engine
from oracles.outcome import NO_FACTS, Died, Frame, Raised, TimedOut

MOST = 4
"""The largest number of failures that are recorded for one bug."""
ENOUGH = 1200
"""Characters of a message, where its skeleton is not beyond them."""
INNER = 6
"""The number of frames that are kept where only the innermost ones identify the bug."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finding", type=Path, nargs="*", default=[], metavar="DIR", help="saved findings")
    parser.add_argument("--ops", default="*", metavar="GLOB")
    parser.add_argument("--count", type=int, default=1, help="cases of each operator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lanes", metavar="GLOB", help="those of every test by default")
    parser.add_argument("--toolchain", default="host", metavar="NAME")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    bugs = {path: read(path) for path in paths(options.out)}
    for failure in map(saved, options.finding) if options.finding else fresh(options):
        keep(failure, bugs, options.out)


def keep(failure: RecordedFailure, bugs: dict[Path, Bug], out: Path) -> None:
    signature = failure.signature
    path = next((path for path, bug in bugs.items() if bug.identity.id == signature.id), None)
    path = path or out / f"{signature.kind}-{_words(signature.skeleton) or failure.calls[-1].op}-{signature.id}.txt"
    bug = bugs.setdefault(path, Bug(signature, []))
    if len(bug.failures) < MOST and all(_circumstances(failure) != _circumstances(other) for other in bug.failures):
        bug.failures.append(failure)
        write(path, bug)
        print(f"{path.name}: {len(bug.failures)}", flush=True)


def _circumstances(failure: RecordedFailure) -> object:
    return [(call.op, call.types) for call in failure.calls], failure.lane, failure.tvm


def _words(text: str) -> str:
    return "-".join(re.findall(r"[a-z_]{3,}", text.lower()))[:40].strip("-")


def saved(folder: Path) -> RecordedFailure:
    doc, case = finding_file.read_with_case(folder)
    finding = Finding(doc.kind, doc.component, doc.lane, doc.identity.stage, doc.evidence.evidence)
    triage = Triage(doc.identity.where, doc.identity.by, doc.blame)
    tvm = doc.versions.get(f"tvm@{doc.lane.toolchain}", doc.versions["tvm"])
    return recorded_failure(case, finding, doc.lane.name, tvm, triage)


def fresh(options: argparse.Namespace) -> Iterator[RecordedFailure]:
    """What fails of cases of one operator each, one failure of each signature and case."""
    chosen = select(options.lanes) if options.lanes else LANES
    with Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), find) as executor:
        lanes = in_toolchains(chosen, (find("host"), find(options.toolchain)))
        lanes = tuple(lane for lane in lanes if lane.engine is not Engine.TVM or lane.toolchain == options.toolchain)
        tvm = executor.backend(BackendKey(options.toolchain)).versions["tvm"]
        for index in range(options.count):
            for op in (op for op in OPS if any(fnmatchcase(op.name, glob) for glob in options.ops.split(","))):
                origin = f"seed {options.seed} test {index} of {op.name}"
                case = generate(NumpySource(options.seed, index), Limits(1), (op,), origin)
                found = judge_all(case, judged_run(executor.run, case, lanes).outcomes)
                for sighting in sightings(found):
                    for lane in sighting.lanes:
                        yield recorded_failure(case, sighting.finding, lane.name, tvm, Triage())


class Triage(msgspec.Struct):
    """What is added to a final signature."""

    where: str = ""
    by: str = ""
    blame: Blame = NO_BLAME


def recorded_failure(case: Case, finding: Finding, lane: str, tvm: str, triage: Triage) -> RecordedFailure:
    types = case.graph.types
    calls = [
        Call(node.title, [v.name for v in node.results], list(node.args), [str(types[name]) for name in node.args])
        for node in case.graph.nodes
    ]
    evidence = StoredEvidence.of(_smaller(finding.evidence))
    return RecordedFailure(
        case.origin,
        tvm,
        lane,
        finding.kind,
        finding.component,
        finding.stage,
        evidence,
        calls,
        list(case.graph.outputs),
        triage.where,
        triage.by,
        triage.blame,
    )


def _smaller(evidence: Evidence) -> Evidence:
    """Without what no signature reads: facts of the lane, frames of difftvm, folders of this machine, long dumps."""
    match evidence:
        case Raised(message=message, frames=frames):
            anonymous = [replace(frame, file=_anonymous(frame.file)) for frame in frames if not is_difftvm_frame(frame)]
            return replace(evidence, message=_cut(_anonymous(message)), frames=_inner(anonymous), facts=NO_FACTS)
        case Died(log=log):
            return replace(evidence, log=_anonymous(log)[-ENOUGH:], facts=NO_FACTS)
        case TimedOut():
            return replace(evidence, facts=NO_FACTS)
        case Mismatch():
            return replace(evidence, worst=None)
        case _:
            return evidence


def _anonymous(text: str) -> str:
    return re.sub(r"(/[\w.+-]+)+/(site-packages|fuzzer|lib/python3\.\d+)/", r"/\2/", text)


def _inner(frames: list[Frame]) -> tuple[Frame, ...]:
    """The innermost, with all that say something."""
    count = INNER
    while failure_location(frames[-count:]) != failure_location(frames):
        count += 1
    return tuple(frames[-count:])


def _cut(message: str) -> str:
    """The shortest beginning, by powers of two, that has the whole message's skeleton."""
    length = ENOUGH
    while skeleton(message[:length]) != skeleton(message):
        length *= 2
    return message[:length]


if __name__ == "__main__":
    main()
