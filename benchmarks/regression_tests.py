"""Do the regression tests of findings fail today, and pass where the culprit gives the right answer?

    python benchmarks/regression_tests.py [--only WORD] [FOLDER...]

By default for the shipped findings. A test runs in TVM as it is, and again with a preload
(`benchmarks/answering_culprit.py`) in which the converter or the legalization that the finding blames answers with what
PyTorch computes. That is possible where a converter of a PyTorch frontend is at fault, and where the operator whose
legalization is at fault computes the model's result. Prints a line for each finding and a summary. Exits with 1 if a
test does not fail today.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import TORCH_LANES
from fuzzer.report import regression_test
from fuzzer.signature.blame import Place
from fuzzer.toolchains.registry import finder
from generators import tensors_file
from oracles.reference import eager_run

ROOT = Path(__file__).resolve().parent.parent
PRELOAD = ROOT / "benchmarks" / "answering_culprit.py"


def can_be_answered(record: FindingRecord) -> bool:
    shown = record.shown
    blame, lane = shown.doc.blame, shown.doc.lane
    if any(item.role.is_owned for item in shown.case.graph.inputs):
        return False
    converter = (
        blame.place is Place.FRONTEND and not lane.importer.row.reads.is_exported_file and blame.culprit.startswith("_")
    )
    return converter or (blame.place is Place.LEGALIZATION and blame.culprit.startswith("relax."))


def passes_if_answered(fleet: Fleet, record: FindingRecord) -> bool:
    """PyTorch computes the answer in a child. It reaches the script's process as safetensors."""
    shown = record.shown
    eager = eager_run(fleet.run(shown.case, TORCH_LANES).outcomes)
    if eager is None:
        return False
    with tempfile.TemporaryDirectory(prefix="difftvm-") as scratch:
        preload, values = Path(scratch, "preload.py"), Path(scratch, "values.safetensors")
        inputs = {str(n): shown.case.tensors[item.value.name] for n, item in enumerate(shown.case.graph.inputs)}
        values.write_bytes(tensors_file.encode({**inputs, "result": eager.outputs[0]}))
        culprit = shown.doc.blame.culprit.partition(" of ")[0]
        line = f"CULPRIT, VALUES = {culprit!r}, {str(values)!r}"
        preload.write_text(re.sub("^CULPRIT, VALUES = .*", line, PRELOAD.read_text(), count=1, flags=re.M))
        return regression_test.run(fleet.run_script, record, preload).exit_code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="findings whose name contains this")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    folders = options.folders or finding_file.folders_in(ROOT / "crashes")
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as scratch, Fleet(Path(scratch), finder(None)) as fleet:
        for folder in folders:
            if options.only not in folder.name:
                continue
            record = read(folder)
            if not regression_test.has_test(record.doc):
                counted["without a test"] += 1
                continue
            found = ["fails today" if regression_test.fails(fleet.run_script, record) else "DOES NOT FAIL"]
            if can_be_answered(record):
                found.append("passes with the right answer" if passes_if_answered(fleet, record) else "does not pass")
            counted.update(found)
            print(f"{folder.name}: {', '.join(found)}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counted.items()))
    return int(counted["DOES NOT FAIL"] > 0)


if __name__ == "__main__":
    sys.exit(main())
