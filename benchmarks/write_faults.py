"""Let each write of a short campaign fail once, in turn, and check that nothing is lost.

    python benchmarks/write_faults.py [--errors ENOSPC,EIO,EDQUOT,EROFS,short] [--tests 3] [--every 1] [--first 1]
                                      [--merge]

One run counts the calls with which the supervisor changes files of the campaign (`faulty_disk.c` lists them). Then the
call with each number fails once, in a campaign of its own: with this error, or after half of its bytes (`short`). With
`--every N`, each N-th call. With `--merge`, it is `fuzz merge` of that campaign.

The run must pause and go on, or end with a documented exit code and a sentence that names the file or the disk; never
with a traceback. Where it ended, or left an unfinished file, it is continued without a fault. Then all folders must be
whole, the index sound, and all that the same tests show without a fault must be there. Exits with 1 where one of these
does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from faulty_disk import ERRORS, Run, campaign, fuzz, last_line, on_a_faulty_disk
from kill import Left, incomplete, left_in, missed, unsound

from fuzzer.system.exit_codes import Exit

ENDS = (0, Exit.BAD_INPUT, Exit.ENVIRONMENT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errors", default=",".join(ERRORS))
    parser.add_argument("--tests", type=int, default=3)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--merge", action="store_true")
    options = parser.parse_args()
    errors = options.errors.split(",")
    if not set(errors) <= set(ERRORS):
        parser.error(f"--errors: of {', '.join(ERRORS)}")
    work = on_a_faulty_disk()
    whole, faulty = work / "whole" / "campaign", work / "faulty" / "campaign"
    for folder in (whole, faulty):
        folder.parent.mkdir()

    def run(at: int = 0, fault: str = "EIO") -> Run:
        if options.merge:
            return fuzz(faulty, "merge", whole, "--into", faulty, at=at, fault=fault)
        return campaign(faulty, options.tests, at, fault)

    campaign(whole, options.tests)
    expected, counted = left_in(whole), run()
    print(f"{len(counted.calls)} calls; exit code {counted.code}", flush=True)
    bad = faults = 0
    for error in errors:
        ends: Counter[str] = Counter()
        for number in range(options.first, len(counted.calls) + 1, options.every):
            shutil.rmtree(faulty, ignore_errors=True)
            first, lines = _tried(run, number, error, faulty, expected)
            faults, bad = faults + 1, bad + bool(lines)
            ends[f"with exit code {first.code}" if first else "without an end"] += 1
            for line in lines:
                failed = first.calls[number - 1] if first and len(first.calls) >= number else None
                name = f"{failed.letter} {failed.path.relative_to(faulty)}" if failed else "?"
                print(f"BAD {error} at call {number} ({name}): {line}", flush=True)
        codes = ", ".join(f"{times} {end}" for end, times in sorted(ends.items()))
        print(f"{error}: {ends.total()} faults; {codes}", flush=True)
    print(f"{faults} faults, {bad} did harm")
    shutil.rmtree(work)
    sys.exit(1 if bad else 0)


def _tried(
    run: Callable[[int, str], Run], number: int, error: str, folder: Path, expected: Left
) -> tuple[Run | None, list[str]]:
    """The run whose call `number` failed, or None where it hung, and what is wrong."""
    first = None
    try:
        first = run(number, error)
        ended = first.code == 0 and not _left_over(folder)
        last = first if ended else run(0, error)
        return first, list(_wrong(folder, expected, first, last))
    except TimeoutError as hangs:
        return first, [str(hangs)]


def _wrong(folder: Path, expected: Left, first: Run, last: Run) -> Iterator[str]:
    """What is wrong with a command that met a fault, and with what it and its continuation left."""
    if first.code not in ENDS or "Traceback" in first.output:
        yield f"exit code {first.code}: {last_line(first.output)}"
    if last.code:
        yield f"continued with exit code {last.code}: {last_line(last.output)}"
        return
    left = left_in(folder)
    yield from incomplete(folder, left.folders)
    yield from unsound(folder)
    yield from missed(expected, left)
    gone = expected.folders.saved.keys() - left.folders.saved.keys()
    if gone and not left.folders.waiting:
        yield f"not found: {', '.join(sorted(gone))}"
    yield from (f"{path.relative_to(folder)} is left" for path in _left_over(folder))


def _left_over(folder: Path) -> list[Path]:
    """Unfinished files and folders. The next run deletes them."""
    return list(folder.rglob(".tmp-*"))


if __name__ == "__main__":
    main()
