"""Measure how often blame is right: plant faults in a real TVM, one after the other, and blame each.

    python benchmarks/blame.py [--only WORD]

Prints a line for each fault: what was planted, what was blamed, and the number of runs. Then it prints how often the
place, the operator, and the pass, converter or legalization were right. Exits with 1 if the place is right in less than
90 %.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "fuzzer" / "triage" / "blame")]

from planted import PLANTED, bed  # noqa: E402 - a module of the tests

from fuzzer.signature.blame import NO_BLAME  # noqa: E402

GOAL = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    only = parser.parse_args().only
    chosen = [each for each in PLANTED if only in each.fault]
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    runs: list[int] = []
    began = time.monotonic()
    with bed() as tvm:
        for planted in chosen:
            found = tvm.blame(planted)
            blame = found or NO_BLAME
            runs.append(tvm.runs)
            expected = {"place": planted.place, "operator": planted.operator, "culprit": planted.culprit}
            marks = {key: getattr(blame, key) == value for key, value in expected.items() if value}
            total.update(marks.keys())
            right.update(key for key, good in marks.items() if good)
            total[planted.place] += 1
            right[planted.place] += marks["place"]
            verdict = "ok " if all(marks.values()) else "   " if marks["place"] else "BAD"
            where = (
                f"{blame.place or '-'} {blame.culprit or '-'} at {blame.operator or '-'}"
                if found
                else "it does not fail"
            )
            print(f"{verdict} {planted.fault}, {planted.lane}: {where} ({tvm.runs} runs)", flush=True)
            if verdict == "BAD":
                print(f"      {blame.evidence}")
    for key, count in total.items():
        print(f"{key:13} {right[key]:3} of {count:3} right, {100 * right[key] / count:5.1f} %")
    print(f"{len(chosen)} faults, {statistics.median(runs)} runs (median), {time.monotonic() - began:.0f} s")
    sys.exit(0 if right["place"] >= GOAL * total["place"] else 1)


if __name__ == "__main__":
    main()
