"""Print the findings of a folder as a table: what reduction and blame gave for each, and what that cost.

    python benchmarks/findings.py [crashes] [--component tvm]

The columns are: operators before and after reduction, calls of the predicate, CPU seconds for confirmation and
reduction, the blame, the releases that fail, and lines of the script. The medians follow. Nothing is run.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.record import read
from fuzzer.report import repro


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("crashes"))
    parser.add_argument("--component", default="")
    arguments = parser.parse_args()
    records = [read(path.parent) for path in sorted(arguments.folder.glob(f"*/{finding_file.NAME}"))]
    records = [record for record in records if arguments.component in ("", record.doc.component)]
    print("| finding | operators | calls | CPU s | blame | releases that fail | lines |")
    print("|---|---|---|---|---|---|---|")
    lines = []
    for record in records:
        doc, lines = record.doc, [*lines, repro.script(record).count("\n")]
        place = " ".join(filter(None, (doc.blame.place, doc.blame.culprit or doc.blame.operator))) or "not found"
        fail = ", ".join(release for release, verdict in doc.releases.verdicts if verdict == "fails")
        numbers = f"{len(doc.found_in)} -> {len(doc.ops)} | {doc.reduction_calls} | {doc.cpu_seconds:.1f}"
        print(f"| {doc.slug} | {numbers} | {place} | {fail} | {lines[-1]} |")
    if not records:
        print(f"no findings in {arguments.folder}")
        return
    docs = [record.doc for record in records]
    print(f"{len(docs)} findings; medians: operators {statistics.median(len(doc.ops) for doc in docs):g}", end=", ")
    print(f"calls {statistics.median(doc.reduction_calls for doc in docs):g}", end=", ")
    print(f"CPU {statistics.median(doc.cpu_seconds for doc in docs):.1f} s, {statistics.median(lines):g} lines")
    print(f"blamed: {sum(doc.blame.place is not None for doc in docs)} of {len(docs)}")


if __name__ == "__main__":
    main()
