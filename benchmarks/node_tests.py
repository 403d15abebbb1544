"""Check ONNX's node tests with `difftvm.check`, and compare what it says of each file with the table of a sweep.

    fuzz sweep --dialect onnx --out SWEEP --triage-share 0 --drain 0
    python benchmarks/node_tests.py SWEEP [--status wrong,failed] [--ops 'Conv,test_clip_*'] [--shard 0/4] [--most 100]

`check` agrees with the table where it has no finding on a test that is supported, a finding on one that is wrong or
failed, and where it names what TVM does not support of a test that is unsupported. Each other answer is printed with
its test, then how many tests of each status have which answer, and the CPU seconds.
"""

from __future__ import annotations

import argparse
import fnmatch
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import onnx
from onnx.backend.test.case.node import collect_testcases

import difftvm
from fuzzer.api.checked import NothingRan
from fuzzer.api.shared_fleet import shared_fleet
from fuzzer.evaluation.status import Status
from fuzzer.evaluation.sweep_table import SampleResult, read_table
from generators.graph import Invalid

SHOWN = 240
"""How many characters of an answer are shown."""


class Answer(StrEnum):
    """What a check of a file says."""

    RIGHT = "right"
    NOT_JUDGED = "nothing wrong, no value judged"
    FINDING = "finding"
    PARTLY = "TVM does not support a part of it, and the rest is right"
    NOT_RUN = "TVM does not support it"
    REFUSED = "refused by difftvm"


WANTED = {
    Status.SUPPORTED: {Answer.RIGHT},
    Status.WRONG: {Answer.FINDING},
    Status.FAILED: {Answer.FINDING},
    Status.UNSUPPORTED: {Answer.NOT_RUN, Answer.PARTLY},
}
"""The answers that agree with a status."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=Path, help="the folder of a sweep, or its sweep.json")
    parser.add_argument("--status", default=",".join(map(str, WANTED)), help="the tests with these statuses")
    parser.add_argument("--ops", default="*", metavar="GLOB", help="operators with their versions, or tests")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="each N-th test, from I")
    parser.add_argument("--most", type=int, help="at most N tests")
    options = parser.parse_args()
    first, step = map(int, options.shard.split("/"))
    chosen = list(chosen_of(read_table(options.sweep).results, options.status.split(","), options.ops.split(",")))
    counts = Counter[tuple[Status, Answer]]()
    fleet, began = shared_fleet(), time.process_time()
    files = {test.name: test for test in suite()}
    for key, status in chosen[first::step][: options.most]:
        answer, why = answer_on(files[key.rpartition("/")[2]])
        counts[status, answer] += 1
        if answer not in WANTED[status]:
            print(f"{key}: {status} in the table; {answer}: {' '.join(why.split())[:SHOWN]}", flush=True)
    for (status, answer), count in sorted(counts.items()):
        print(f"{count:5} {status}: {answer}")
    print(f"{sum(counts.values())} tests, {time.process_time() - began + fleet.cpu_seconds:.0f} CPU s")


def chosen_of(results: list[SampleResult], statuses: list[str], globs: list[str]) -> Iterator[tuple[str, Status]]:
    """The tests with one of the statuses, by their keys. The table has one lane."""
    for line in results:
        row, _, name = line.key.rpartition("/")
        ((status, _),) = line.lanes.values()
        if status in statuses and any(fnmatch.fnmatchcase(each, glob) for glob in globs for each in (row, name)):
            yield line.key, status


def suite() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tests overflow and divide by zero
        found: list[Any] = collect_testcases(None)
    return found


def answer_on(test: Any) -> tuple[Answer, str]:
    """What a check of the file of a test says, and its words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{test.name}.onnx"
        onnx.save(test.model, path)
        try:
            checked = difftvm.check(path, inputs_of(test), folder=Path(folder) / "found", reduce=False, weights="own")
        except difftvm.FindingError as error:
            return Answer.FINDING, "; ".join(each.line for each in error.findings)
        except NothingRan as why:
            return Answer.NOT_RUN, str(why)
        except Invalid as why:
            return Answer.REFUSED, str(why)
    if checked.not_confirmed:
        return Answer.NOT_JUDGED, f"not confirmed: {'; '.join(checked.not_confirmed)}"
    if not checked.judged and checked.not_judged:
        return Answer.NOT_JUDGED, "; ".join(checked.not_judged)
    return (Answer.RIGHT, "") if checked.whole else (Answer.PARTLY, "; ".join(checked.not_covered))


def inputs_of(test: Any) -> Mapping[str, Any]:
    """The inputs of a test by their names: arrays, and what `check` refuses, such as a list of arrays."""
    names = [item.name for item in test.model.graph.input]
    return {name: _value(given) for name, given in zip(names, test.data_sets[0][0], strict=True)}


def _value(given: Any) -> Any:
    return onnx.numpy_helper.to_array(given) if isinstance(given, onnx.TensorProto) else given


if __name__ == "__main__":
    main()
