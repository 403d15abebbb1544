"""How many random cases run kernel by kernel on a device of the processor, why the others do not, and false alarms.

    python benchmarks/launched.py [--count 1000] [--seed 1] [--lanes GLOBS] [--dialect onnx] [--nodes 6] [--workers 2]

Each case runs in the references of its dialect, in the plain lane for llvm and in the given lanes, and where one of
these fails in the lanes that judge it. It prints for each lane how many cases ran, on how many of these the lane for
llvm is right, the reasons of the others, its CPU seconds, and each finding on a case on which the lane for llvm is
right, with the component at fault: a bug of TVM's GPU code or of the driver, or a false alarm. Exits with 1 where TVM
is blamed for one. A lane whose driver is not installed is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import lanes_of, select
from fuzzer.lanes.base.availability import runs_by_kernels
from fuzzer.system.devices import KINDS
from fuzzer.triage.reproduce import settled
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.graph import Case, Invalid
from generators.limits import Limits
from oracles.finding import Component, Finding
from oracles.judge import judge_all
from oracles.lane import SCHEDULES, LaneSpec
from oracles.outcome import Outcome, Ran, Result, why_no_result
from oracles.targets import target_named

LANES = "relax-*-opencl,relax-*-webgpu"


@dataclass(slots=True)
class Counts:
    ran: int = 0
    right: int = 0
    cpu: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    failed_everywhere: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def of_tvm(self) -> int:
        return sum(found.component is Component.TVM for found in self.findings)


def cases(dialect: str, seed: int, count: int, nodes: int) -> Iterator[tuple[int, Case]]:
    for number in range(count):
        try:
            of = dialect_named(dialect)
            case = of.draw(NumpySource(seed, number), Limits(nodes), of.drawn()).case()
        except Invalid:
            continue
        yield number, next(iter(case.instances()))


def reason_of(outcome: Outcome) -> str:
    """Why the lane did not run, without numbers."""
    return re.sub(r"\d+", "N", why_no_result(outcome) or "compiled only").replace("\n", " ")[:150]


def examine(
    executor: Executor, number: int, case: Case, plain: LaneSpec, lanes: Sequence[LaneSpec], counts: dict[str, Counts]
) -> None:
    common = executor.run(case, (*lanes_of(case.graph.dialect).judges, plain)).outcomes
    failed = any(found.lane == plain for found in judge_all(case, common))
    for lane in lanes:
        result, count = executor.run(case, (lane,)), counts[lane.name]
        count.cpu += result.cpu_seconds
        outcome = result.outcomes[lane]
        if isinstance(outcome, Ran):
            count.ran += 1
            count.right += not failed
        else:
            count.reasons[reason_of(outcome)] += 1
        judged = settled(executor.run, case, Result({**common, lane: outcome})).outcomes
        for each in judge_all(case, judged):
            if each.lane == lane and failed:
                count.failed_everywhere += 1
            elif each.lane == lane:
                count.findings.append(each)
                print(f"{number} {lane}: {described(each)}", flush=True)


def described(finding: Finding) -> str:
    return f"{finding.component} {finding.kind} {finding.stage} {finding.evidence}".replace("\n", " ")[:700]


def is_available(lane: LaneSpec) -> bool:
    """Whether the lane needs no driver, or its driver is installed. Say what is missing."""
    if lane.variant == SCHEDULES or runs_by_kernels(lane):
        return True
    kind = KINDS[target_named(lane.target).device]
    print(f"{lane} is left out: there is no {kind.words}: {kind.lacks()}", file=sys.stderr)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lanes", default=LANES)
    parser.add_argument("--dialect", default="torch")
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    lanes = [lane for lane in select(options.lanes, options.dialect) if is_available(lane)]
    counts: dict[str, Counts] = defaultdict(Counts)
    drawn = list(cases(options.dialect, options.seed, options.count, options.nodes))
    with tempfile.TemporaryDirectory() as folder, Executor(Path(folder) / "lanes") as executor:
        plain = lanes_of(options.dialect).screening[0]
        with ThreadPoolExecutor(options.workers) as pool:
            for done in [pool.submit(examine, executor, *each, plain, lanes, counts) for each in drawn]:
                done.result()
    for name, count in counts.items():
        total = count.ran + count.reasons.total()
        share, seconds = 100 * count.ran / total, count.cpu / total
        print(f"{name}: {count.ran} of {total} cases ran ({share:.1f} %), {seconds:.2f} CPU s each")
        print(f"  {count.right} of those that ran are right on llvm")
        for reason, times in count.reasons.most_common():
            print(f"  {times:4} {reason}")
        others = len(count.findings) - count.of_tvm
        print(
            f"  {count.failed_everywhere} findings on cases that fail on llvm too; on others: {count.of_tvm} of TVM,"
            f" {others} of drivers"
        )
    return 1 if any(count.of_tvm for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
