"""Reads every finding of a campaign as today's code reports it: how long its script is, and whether it tells the truth.

    python benchmarks/reports.py DIR [--component tvm] [--jobs 2] [--no-run]

DIR/crashes holds the findings; nothing in them is changed. The scripts are written anew to a folder of their own. For
each finding it prints: lines of the script, its exit code, whether ruff's formatter leaves it as it is, seconds, title.
Then the median, and how many exit with 1. Exits 1 where ruff would change a script, or a script does not exit with 1.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue, repro

SECONDS = 300


@dataclass(frozen=True, slots=True)
class Row:
    slug: str
    title: str
    lines: int
    code: int | None
    formatted: bool
    seconds: float


def look(record: FindingRecord, folder: Path, runs: bool) -> Row:
    path = folder / f"{record.doc.slug}.py"
    script = repro.script(record)
    path.write_text(script)
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--diff", "-q", str(path)]
    formatted = subprocess.run(ruff, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    began, code = time.monotonic(), None
    if runs:
        code = run(path)
    return Row(record.doc.slug, issue.title(record), script.count("\n"), code, formatted, time.monotonic() - began)


def run(path: Path) -> int | None:
    """In a folder from which nothing of difftvm can be imported; None where it does not come back."""
    command = [sys.executable, "-P", str(path)]
    with (path.parent / f"{path.stem}.log").open("w") as log:
        try:
            done = subprocess.run(command, stdout=log, stderr=log, cwd=path.parent, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
    return done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--component", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-run", action="store_true")
    asked = parser.parse_args()
    folders = [path.parent for path in sorted((asked.campaign / "crashes").glob(f"*/{finding_file.NAME}"))]
    records = [record for record in map(read, folders) if asked.component in ("", record.doc.component)]
    out = Path(tempfile.mkdtemp(prefix="reports-"))
    with ThreadPoolExecutor(asked.jobs) as pool:
        rows = list(pool.map(lambda record: look(record, out, not asked.no_run), records))
    for row in rows:
        style = "ok" if row.formatted else "RUFF"
        print(f"{row.lines:4} lines  exit {row.code}  {style:4}  {row.seconds:5.1f} s  {row.slug}\n{'':12}{row.title}")
    flaky = {record.doc.slug for record in records if record.doc.flaky}
    wrong = [row for row in rows if (row.code != 1 and not asked.no_run and row.slug not in flaky) or not row.formatted]
    median, longest = statistics.median(row.lines for row in rows), max(row.lines for row in rows)
    shown, plain = sum(row.code == 1 for row in rows), sum(row.formatted for row in rows)
    print(
        f"{len(rows)} scripts ({len(flaky)} of flaky findings) in {out}: median {median:.0f} lines, longest {longest};"
    )
    print(f"{shown} exit with 1, {plain} are as ruff leaves them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
