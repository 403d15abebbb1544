"""Measure the share of a campaign's CPU time that its supervisor takes, and for what.

    python benchmarks/supervisor.py [--seed 1] [--tests 300] [--workers 2] [--no-triage] [--repeats 1]
                                    [--against PATH] [--parts]

Runs `fuzz run` of this checkout from nothing for N tests, and prints the CPU seconds of its supervisor, of the
lanes of tests and of triage, and of the rest: the zygotes, their start included. With --against, the checkout at PATH
runs after it, each time; with --repeats, the medians come last. Two campaigns of one seed and number of tests have
the same cases only as far as guidance has learnt the same, so the line also has CPU seconds per test.

With --parts, the threads of the supervisor are sampled (`sampled/sampling.py`): CPU seconds by task, by work, and by
function with what it calls. Sampling itself takes some per cent of the supervisor's time, which is listed apart.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from campaign_files import counted_in, cpu_seconds_of_tests
from child_campaign import BEFORE_CHECKOUT, ROOT, ended_cpu_seconds, last_line, raise_on_signals, require_checkout
from child_campaign import running as running_campaign

from fuzzer.system.processes import own_cpu_seconds

SAMPLED, FILE = ROOT / "benchmarks" / "sampled", "DIFFTVM_SAMPLED"
EVERY_SECONDS = 0.5
THIS, AGAINST = "this", "against"

TASKS: Mapping[str, str] = {
    "fuzzer/campaign/cases/guidance.py:Guidance.case": "draw the case",
    "fuzzer/campaign/test/tiers.py:run_test": "run and judge the lanes of a test",
    "fuzzer/campaign/test/judging.py:judged": "judge the test",
    "fuzzer/campaign/triage/triage.py:Triage.add": "put sightings into the queue",
    "fuzzer/campaign/cases/guidance.py:Guidance.learn": "learn from the test",
    "fuzzer/campaign/test/one_test.py:Tests._run": "count and commit the test",
    "fuzzer/campaign/triage/scopes.py:Scopes.work": "scope",
    "fuzzer/campaign/triage/triage.py:Triage.work": "investigate",
    "fuzzer/campaign/run/loop.py:Campaign._supervise": "save and report the run",
    "fuzzer/cli.py:main": "start and end",
}
"""What a thread does, by the innermost of these functions on its stack."""

WORK: Mapping[str, str] = {
    "generators/": "graphs and cases",
    "oracles/": "oracles",
    "fuzzer/isolate/": "processes and messages",
    "fuzzer/system/": "processes and messages",
    "fuzzer/campaign/store/": "store",
    "fuzzer/campaign/lanes/": "choice of lanes",
    "fuzzer/campaign/test/": "choice of lanes",
    "fuzzer/signature/": "signatures",
    "fuzzer/findings/": "findings",
    "fuzzer/report/": "reports",
    "fuzzer/triage/": "triage",
}
"""What the innermost function on a stack works on, by the beginning of its place."""

OTHERS, SAMPLER = "others", "sampler"

Samples = list[tuple[list[str], float]]


class Cost(NamedTuple):
    """CPU seconds of a campaign, and the number of its tests."""

    tests: int
    supervisor: float
    lanes: float
    triage: float
    zygotes: float

    @property
    def total(self) -> float:
        return sum(self[1:])

    def line(self) -> str:
        parts = (
            f"{name} {seconds:.1f} s ({seconds / self.total:.1%})"
            for name, seconds in zip(NAMES, self[1:], strict=True)
        )
        each = 1000 * self.supervisor / max(1, self.tests)
        return f"{self.tests} tests, {self.total:.1f} CPU s: {', '.join(parts)}; supervisor {each:.1f} ms per test"


NAMES = ("supervisor", "tests", "triage", "zygotes")


def cost(checkout: Path, seed: int, options: argparse.Namespace, folder: Path) -> Cost:
    """Run a campaign in the new directory `folder`. Exit where it fails."""
    folder.mkdir(parents=True)
    words = ["run", "--campaign", folder, "--seed", seed, "--tests", options.tests, "--workers", options.workers]
    words += ["--drain", 0, *(["--triage-share", 0] if options.no_triage else [])]
    before, supervisor, log = ended_cpu_seconds(), 0.0, folder.with_suffix(".log")
    with running_campaign(checkout, words, folder.parent, log) as process:
        while process.poll() is None:
            supervisor = max(supervisor, own_cpu_seconds(process.pid))
            time.sleep(EVERY_SECONDS)
        if process.returncode:
            sys.exit(f"{checkout}: the campaign ends with exit code {process.returncode}: {last_line(log)}")
    total, tally = ended_cpu_seconds() - before, counted_in(folder).tally
    lanes, triage = cpu_seconds_of_tests(folder) or 0.0, tally.triage_cpu_seconds or 0.0
    return Cost(tally.tests, supervisor, lanes, triage, max(0.0, total - supervisor - lanes - triage))


def medians(costs: Sequence[Cost]) -> Cost:
    return Cost(costs[0].tests, *(statistics.median(each) for each in list(zip(*costs, strict=True))[1:]))


# Parts


def task_of(stack: Sequence[str]) -> str:
    return next((TASKS[place] for place in reversed(stack) if place in TASKS), _alone(stack))


def work_of(stack: Sequence[str]) -> str:
    place = stack[-1] if stack else ""
    return next((name for beginning, name in WORK.items() if place.startswith(beginning)), _alone(stack))


def _alone(stack: Sequence[str]) -> str:
    return SAMPLER if list(stack) == [SAMPLER] else OTHERS


def parts(samples: Samples, functions: int = 40) -> list[str]:
    """Lines: CPU seconds and share by task, by work, and by function with what it calls."""
    by_task, by_work, by_function = (defaultdict[str, float](float) for _ in range(3))
    for stack, seconds in samples:
        by_task[task_of(stack)] += seconds
        by_work[work_of(stack)] += seconds
        for function in stack:
            by_function[function] += seconds
    total = sum(seconds for _, seconds in samples)
    lines = [f"{total:.1f} CPU s of the supervisor were sampled"]
    for title, counted in (("task", by_task), ("work", by_work), ("function, with what it calls", by_function)):
        lines += ["", title]
        for name, seconds in sorted(counted.items(), key=lambda item: -item[1])[:functions]:
            lines.append(f"{seconds:8.2f} s {seconds / total:6.1%}  {name}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-triage", action="store_true")
    parser.add_argument("--repeats", type=int, default=1, help="each with the next seed")
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--functions", type=int, default=40, help="how many lines --parts prints of each kind")
    options = parser.parse_args()
    raise_on_signals()
    checkouts = {THIS: ROOT, **({AGAINST: options.against.resolve()} if options.against else {})}
    for checkout in checkouts.values():
        require_checkout(checkout)
    folder, costs = Path(tempfile.mkdtemp(prefix="difftvm-")), dict[str, list[Cost]]()
    for seed in range(options.seed, options.seed + options.repeats):
        for version, checkout in checkouts.items():
            file = folder / f"{version}-{seed}.json"
            if options.parts:
                os.environ |= {BEFORE_CHECKOUT: str(SAMPLED), FILE: str(file)}
            found = cost(checkout, seed, options, folder / f"{version}-{seed}")
            costs.setdefault(version, []).append(found)
            print(f"seed {seed} {version}: {found.line()}", flush=True)
            if options.parts:
                print(
                    "",
                    *parts(msgspec.json.decode(file.read_bytes(), type=Samples), options.functions),
                    "",
                    sep="\n",
                    flush=True,
                )
    for version, each in costs.items():
        if len(each) > 1:
            print(f"medians {version}: {medians(each).line()}")


if __name__ == "__main__":
    main()
