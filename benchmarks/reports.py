"""Write the reports of every finding of a campaign again, and check their scripts: length, format and exit code.

    python benchmarks/reports.py DIR [--component tvm] [--jobs 2] [--no-run]

The findings in DIR/crashes are not changed; the scripts are written to a new folder. For each finding it prints the
lines of the script, its exit code, whether ruff's formatter would change it, seconds and the title. Then it prints the
median length, and how many scripts exit with 1. Exits with 1 if ruff would change a script, or if a script does not
exit with 1.
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
class ScriptCheck:
    slug: str
    title: str
    lines: int
    code: int | None
    formatted: bool
    seconds: float


def check(record: FindingRecord, folder: Path, runs: bool) -> ScriptCheck:
    path = folder / f"{record.doc.slug}.py"
    script = repro.script(record)
    path.write_text(script)
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--diff", "-q", str(path)]
    formatted = subprocess.run(ruff, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    began, code = time.monotonic(), None
    if runs:
        code = run(path)
    return ScriptCheck(
        record.doc.slug, issue.title(record), script.count("\n"), code, formatted, time.monotonic() - began
    )


def run(path: Path) -> int | None:
    """Run a script where difftvm cannot be imported. Return its exit code, or None at the time limit."""
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
    arguments = parser.parse_args()
    folders = [path.parent for path in sorted((arguments.campaign / "crashes").glob(f"*/{finding_file.NAME}"))]
    records = [record for record in map(read, folders) if arguments.component in ("", record.doc.component)]
    out = Path(tempfile.mkdtemp(prefix="reports-"))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda record: check(record, out, not arguments.no_run), records))
    for row in rows:
        style = "ok" if row.formatted else "RUFF"
        print(f"{row.lines:4} lines  exit {row.code}  {style:4}  {row.seconds:5.1f} s  {row.slug}\n{'':12}{row.title}")
    flaky = {record.doc.slug for record in records if record.doc.flaky}
    wrong = [
        row for row in rows if (row.code != 1 and not arguments.no_run and row.slug not in flaky) or not row.formatted
    ]
    median, longest = statistics.median(row.lines for row in rows), max(row.lines for row in rows)
    shown, plain = sum(row.code == 1 for row in rows), sum(row.formatted for row in rows)
    print(
        f"{len(rows)} scripts ({len(flaky)} of flaky findings) in {out}: median {median:.0f} lines, longest {longest};"
    )
    print(f"{shown} exit with 1, {plain} are formatted as ruff does it")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
