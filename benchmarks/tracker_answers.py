"""Give mutated answers of a tracker to every command that asks one, and watch what it does.

    python benchmarks/tracker_answers.py [--count 500] [--seed 1] [--first 0]

A server on the loopback interface (tests/fuzzer/filing/github_server.py) answers `fuzz file --check`, `--submit`,
`--sync` and the filer of `fuzz run --auto-file`, in turn. One of its answers, or all from one on, are changed as the
seed and the number say (tests/fuzzer/filing/mutated_answers.py). It is a fault if the command

- ends with another exit code than 0, 65, 69 and 76, or prints more than one sentence to stderr, or an exception;
- prints a control character or the token;
- takes more than two minutes;
- asks another server, starts a process, or loads a pickle;
- leaves what the next command, with right answers, cannot finish, or files the finding twice.

Much of the time is spent in waiting for answers that do not come. Prints the runs by what was changed. Exits with 1
where there is a fault.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "fuzzer" / "filing"), str(TESTS / "fuzzer"), str(TESTS), str(TESTS.parent)]

from mutated_runs import CODES, runs  # noqa: E402

from fuzzer.campaign.store.store import Store  # noqa: E402
from fuzzer.filing import draft as drafts  # noqa: E402
from fuzzer.filing.draft import Draft  # noqa: E402
from tests.fuzzer.conftest import raised  # noqa: E402

EACH = 25
"""Runs between two lines about the progress, which go to stderr."""

NEVER = frozenset({"os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "pickle.find_class"})


def finding(folder: Path) -> Draft:
    with Store(folder, 1) as store:
        doc = store.save(raised()[0], {"tvm": "0.27.0"})
    assert doc is not None
    return drafts.read(folder / "crashes" / doc.slug)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER")
    arguments = parser.parse_args()
    events: list[str] = []
    by_kind: dict[str, Counter[int]] = {}
    faults, changed, longest, began = 0, 0, 0.0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="difftvm-answers-") as name:
        os.environ["XDG_STATE_HOME"] = f"{name}/state"  # as `runs` has it: the finding must be one that was made there
        numbers = range(arguments.first, arguments.first + arguments.count)
        tried = runs(arguments.seed, numbers, Path(name), finding(Path(name)))
        before = _megabytes()
        for run in tried:
            if run.number == arguments.first:  # what the first command imports is not meant
                sys.addaudithook(lambda event, given: _note(events, event, given))
            run.faults += events
            events.clear()
            by_kind.setdefault(run.kind, Counter())[run.code] += 1
            longest = max(longest, run.seconds)
            faults += bool(run.faults)
            changed += run.changed
            for fault in run.faults:
                print(f"FAULT --first {run.number}: {run.action}, {run.kind}: {fault}", flush=True)
            if not (run.number + 1) % EACH:
                spent = f"{time.monotonic() - began:.0f} s, {time.process_time():.0f} of CPU"
                print(f"{run.number + 1} runs: {spent}", file=sys.stderr, flush=True)
    codes = sorted(CODES | {code for counts in by_kind.values() for code in counts})
    print(f"{'what is changed':24}{'runs':>8}" + "".join(f"{f'code {code}':>9}" for code in codes))
    for kind, counts in sorted(by_kind.items()):
        print(f"{kind:24}{counts.total():>8}" + "".join(f"{counts[code]:>9}" for code in codes))
    print(
        f"{arguments.count} runs with {changed:,} changed answers in {time.monotonic() - began:.0f} s"
        f" ({time.process_time():.0f} of CPU), {faults} with a fault;"
        f" at most {longest:.1f} s and {_megabytes() - before:.0f} MB more than before"
    )
    sys.exit(1 if faults else 0)


def _note(events: list[str], event: str, given: tuple[Any, ...]) -> None:
    if event in NEVER:
        events.append(f"{event} {given!r}"[:200])


def _megabytes() -> float:
    """The largest memory of this process until now. The server is in it, too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main()
