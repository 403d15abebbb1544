"""How often is the right place blamed? Faults are planted in a real TVM, one after the other, and looked for.

    python benchmarks/blame.py [--only WORD]

Prints a line for each: what was planted, what was blamed, in how many runs. Then how often the place, the operator, and
the pass, converter or legalization were named right. Exits 1 where the place is right in less than 90 of 100.
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

from planted import PLANTED, bed  # noqa: E402 - where the tests keep them

from fuzzer.signature.blame import NO_BLAME  # noqa: E402

GOAL = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    chosen = [each for each in PLANTED if parser.parse_args().only in each.fault]
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    runs: list[int] = []
    began = time.monotonic()
    with bed() as tvm:
        for planted in chosen:
            seen = tvm.blame(planted)
            told = seen or NO_BLAME
            runs.append(tvm.runs)
            wanted = {"place": planted.place, "operator": planted.operator, "culprit": planted.culprit}
            marks = {key: getattr(told, key) == value for key, value in wanted.items() if value}
            asked.update(marks.keys())
            right.update(key for key, good in marks.items() if good)
            asked[planted.place] += 1
            right[planted.place] += marks["place"]
            verdict = "ok " if all(marks.values()) else "   " if marks["place"] else "BAD"
            where = (
                f"{told.place or '-'} {told.culprit or '-'} at {told.operator or '-'}" if seen else "it does not show"
            )
            print(f"{verdict} {planted.fault}, {planted.lane}: {where} ({tvm.runs} runs)", flush=True)
            if verdict == "BAD":
                print(f"      {told.evidence}")
    for key, count in asked.items():
        print(f"{key:13} {right[key]:3} of {count:3} right, {100 * right[key] / count:5.1f} %")
    print(f"{len(chosen)} faults, {statistics.median(runs)} runs in the median, {time.monotonic() - began:.0f} s")
    sys.exit(0 if right["place"] >= GOAL * asked["place"] else 1)


if __name__ == "__main__":
    main()
