"""Change the code in small ways and count the changes that a test notices.

    python benchmarks/mutants.py [--parts oracles,signature,store,reduction] [--sample 400] [--seed 1]
                                 [--survivors FILE] [--again FILE] [--marks "not tvm and not slow"]

Needs the extra `mutants`. mutmut makes the mutants: another operator, another constant, an argument less, ... It leaves
out annotations, decorators and docstrings; `mutation/made.py` also leaves out text for people. Here the mutants run
with a driver of our own (`mutation/trials.py`), because mutmut's changes nothing outside of functions and in properties
(the tables of targets, passes and patterns), runs all tests of a function and not only those of the changed line, and
stops at tests whose ids have line ends. cosmic-ray starts an interpreter for each mutant.

The tests are the quick ones of `TESTS`. They run in a copy of the files that git knows or does not ignore. `--sample`
is drawn from each part, with the seed; 0 takes all. The interval is Wilson's for 95 %. The survivors are written to a
file with their diffs. `--again` takes the mutants of such a file instead of a sample. Without `--marks`, the quick
tests run alone, a part of those of the gate. `--again FILE --marks "not long and not browser and not programs and not
toolchains"` says which of the survivors the other tests notice.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mutation.made import Mutant

ROOT = Path(__file__).resolve().parents[1]

PARTS = {
    "oracles": ["oracles/*.py"],
    "signature": ["fuzzer/signature/*.py"],
    "store": [
        "fuzzer/campaign/store/store.py",
        "fuzzer/campaign/store/index.py",
        "fuzzer/campaign/store/database.py",
        "fuzzer/campaign/store/trust.py",
        "fuzzer/campaign/store/schema.py",
        "fuzzer/campaign/store/tables.py",
        "fuzzer/campaign/store/rows.py",
        "fuzzer/campaign/store/adoption.py",
        "fuzzer/campaign/store/state.py",
        "fuzzer/campaign/store/counters.py",
        "fuzzer/campaign/store/layout.py",
        "fuzzer/campaign/store/leftovers.py",
        "fuzzer/campaign/store/lock.py",
        "fuzzer/campaign/triage/waiting.py",
        "fuzzer/campaign/triage/waiting_item.py",
        "fuzzer/findings/finding_file.py",
        "fuzzer/findings/finding_doc.py",
    ],
    "reduction": [
        "fuzzer/triage/reduce.py",
        "fuzzer/triage/candidates.py",
        "fuzzer/triage/proposals.py",
        "fuzzer/triage/suspects.py",
        "fuzzer/triage/size.py",
        "fuzzer/triage/combined_steps.py",
    ],
}
"""The files of each part, by whole paths, which `make docs` finds where a file is renamed."""

TABLES = ("oracles/targets.py", "oracles/transforms.py")
"""Files whose rows are not mutated: they are text for a compiler, which only tests with the mark `tvm` start."""

TESTS = (
    "tests/oracles",
    "tests/fuzzer/signature",
    "tests/fuzzer/campaign",
    "tests/fuzzer/findings",
    "tests/fuzzer/triage",
)
MARKS = "not tvm and not exhaustive and not browser and not slow"


def copied(to: Path) -> Path:
    """Copy the files that git knows or does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def interval(killed: int, count: int) -> tuple[float, float]:
    """Return Wilson's interval for a share, for 95 %."""
    z = 1.96
    middle, square = (killed + z * z / 2) / (count + z * z), z * z
    half = z / (count + square) * (killed * (count - killed) / count + square / 4) ** 0.5
    return middle - half, middle + half


def drawn(parts: Sequence[str], sample: int, seed: int, again: Path | None) -> dict[str, list[Mutant]]:
    """The mutants of each part that are run, and a line on how many there are."""
    try:
        from mutation.made import mutants_of
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing.name} is not installed: pip install -c constraints.txt -e '.[mutants]' installs it")
    names = set(re.findall(r"^# (\S+:\d+:\d+) ", again.read_text(), re.M)) if again else set()
    chosen = {}
    for part in parts:
        paths = sorted(path.relative_to(ROOT).as_posix() for glob in PARTS[part] for path in ROOT.glob(glob))
        every = [
            mutant
            for path in paths
            for mutant in mutants_of(ROOT, path)
            if mutant.is_in_a_function or path not in TABLES
        ]
        if again:
            chosen[part] = [mutant for mutant in every if mutant.name in names]
        else:
            chosen[part] = random.Random(seed).sample(every, min(sample or len(every), len(every)))
        print(f"{part}: {len(every)} mutants in {len(paths)} files, {len(chosen[part])} run", flush=True)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--sample", type=int, default=400, help="mutants of each part; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--survivors", type=Path, default=Path("survivors.txt"))
    parser.add_argument("--again", type=Path, help="a file of survivors")
    parser.add_argument("--marks", default=MARKS, help="an expression for pytest -m: the tests that run")
    args = parser.parse_args()
    if unknown := set(args.parts.split(",")) - PARTS.keys():
        parser.error(f"{min(unknown)!r} is no part; the parts are {', '.join(PARTS)}")
    chosen = drawn(args.parts.split(","), args.sample, args.seed, args.again)
    part_of = {mutant.path: part for part, mutants in chosen.items() for mutant in mutants}
    mutants = [mutant for each in chosen.values() for mutant in each]
    survivors = args.survivors.resolve()
    start = time.monotonic()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory(prefix="difftvm-mutants-") as folder:
        copy = copied(Path(folder).resolve() / "copy")
        sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
        os.chdir(copy)
        from mutation.trials import Change, Trials, kill_below

        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        atexit.register(kill_below)

        trials = Trials(copy, TESTS, args.marks, sorted(part_of))
        reach = trials.reach()
        print(f"{len(reach.seconds)} tests, {sum(reach.seconds.values()):.0f} s", flush=True)
        changes = [Change(mutant.path, mutant.lines, mutant.source()) for mutant in mutants]
        try:
            with survivors.open("w") as lines:
                for done, (index, verdict) in enumerate(trials.run(changes, reach), 1):
                    mutant = mutants[index]
                    counts[mutant.path][verdict] += 1
                    if verdict == "survived":
                        tests = len(reach.of(mutant.path, mutant.lines))
                        print(f"# {mutant.name} ({tests} tests reach it)\n{mutant.diff()}\n", file=lines, flush=True)
                    if done % 100 == 0:
                        print(f"{done} of {len(mutants)}, {time.monotonic() - start:.0f} s", flush=True)
        finally:  # what is known, where it is stopped
            report(counts, part_of)
    print(f"{time.monotonic() - start:.0f} s; the survivors are in {survivors.name}")


def report(counts: dict[str, Counter[str]], part_of: dict[str, str]) -> None:
    """Print a line for each file and each part. A mutant that is compiled to the same code does not count."""
    print(f"\n{'':36} {'killed':>7} {'timed out':>10} {'survived':>9} {'share':>7}")
    for part in dict.fromkeys(part_of.values()):
        whole: Counter[str] = Counter()
        for path in sorted(path for path in counts if part_of[path] == part):
            whole += counts[path]
            print(row(path, counts[path]))
        print(f"{row(part, whole)}  95 %: {' to '.join(f'{100 * end:.1f}' for end in share(whole)[1])}\n")


def share(counted: Counter[str]) -> tuple[float, tuple[float, float]]:
    killed = counted["killed"] + counted["timed out"]
    count = killed + counted["survived"]
    return (killed / count, interval(killed, count)) if count else (1.0, (0.0, 1.0))


def row(name: str, counted: Counter[str]) -> str:
    killed, late, survived = (counted[verdict] for verdict in ("killed", "timed out", "survived"))
    return f"{name:36} {killed:7} {late:10} {survived:9} {100 * share(counted)[0]:6.1f}%"


if __name__ == "__main__":
    main()
