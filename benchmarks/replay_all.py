"""Replay every finding of a campaign, and run every repro.py without access to the fuzzer.

    python benchmarks/replay_all.py PATH... [--component tvm] [--jobs 2]

Each path is a campaign or the folder of a finding. Prints a line for each finding when it is done, then how many
replays exit with 77, how many scripts exit with 1, and the median number of operators. Exits with 1 if a replay or
script exits otherwise.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc

BLOCKED = """
import runpy, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("fuzzer", "generators", "oracles"):
            raise ImportError(name + " must not be imported here")

sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def check(folder: Path) -> tuple[FindingDoc, int, int]:
    """The finding, and the exit codes of its replay and of its script."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    replay = subprocess.run([sys.executable, "-m", "fuzzer.cli", "--replay", str(folder)], **quiet)
    with tempfile.TemporaryDirectory() as elsewhere:
        command = [sys.executable, "-P", "-c", BLOCKED, str(folder.resolve() / "repro.py")]
        repro = subprocess.run(command, cwd=elsewhere, **quiet)
    return finding_file.read(folder), replay.returncode, repro.returncode


def _folders(path: Path) -> list[Path]:
    if (path / finding_file.NAME).exists():
        return [path]
    return sorted(file.parent for file in (path / "crashes").glob(f"*/{finding_file.NAME}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--component", default="*")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    docs = {folder: finding_file.read(folder) for path in arguments.paths for folder in _folders(path)}
    chosen = [f for f, doc in docs.items() if arguments.component in ("*", doc.component) and not doc.flaky]
    results = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for doc, replay, repro in pool.map(check, chosen):
            mark = "ok " if (replay, repro) == (77, 1) else "BAD"
            print(f"{mark} replay {replay:3} repro {repro:3} {len(doc.ops)} ops  {doc.slug}", flush=True)
            results.append((doc, replay, repro))
    replays, scripts = (sum(r[i] == code for r in results) for i, code in ((1, 77), (2, 1)))
    ops = statistics.median(len(doc.ops) for doc, _, _ in results) if results else 0
    print(f"{len(results)} findings, {replays} replay with 77, {scripts} scripts exit 1, median of {ops} operators")
    print(f"{sum(doc.flaky for doc in docs.values())} flaky findings left out")
    sys.exit(0 if replays == scripts == len(results) else 1)


if __name__ == "__main__":
    main()
