"""The keys of JSON that users and the dashboard read stay, also where the field of the class has another name."""

from __future__ import annotations

import json

import msgspec

from fuzzer.campaign.store.state import State
from fuzzer.coverage.measure import Failure
from fuzzer.coverage.question import Way
from fuzzer.dashboard.data import FindingRow
from fuzzer.evaluation.false_alarms import Alarm
from fuzzer.evaluation.founding_cases import Check
from fuzzer.evaluation.toolchain_check import LaneCheck
from fuzzer.watching.status import Status


def keys(value: object) -> set[str]:
    return set(json.loads(msgspec.json.encode(value)))


def test_the_keys_of_a_failure_of_a_coverage_run() -> None:
    assert keys(Failure("relu", Way.ONNX, True, "SIGSEGV")) == {"op", "way", "died", "told", "count"}


def test_the_keys_of_a_false_alarm() -> None:
    alarm = Alarm(1, "torch-layout", "tvm", "wrong-value", ("relu",), "float32", "1.0 instead of 2.0", 9.0)
    assert keys(alarm) == {"test", "lane", "blamed", "kind", "ops", "dtype", "told", "ratio"}


def test_the_keys_of_the_check_of_a_lane() -> None:
    assert keys(LaneCheck("relax-export-c", True, "")) == {"lane", "passed", "told"}


def test_the_keys_of_the_check_of_a_founding_case() -> None:
    check = Check("loop", {}, "relax-export-c", "host", "result", "unsupported", False)
    assert keys(check) == {"case", "sizes", "lane", "toolchain", "expected", "seen", "ok"}


def test_the_key_of_the_number_of_tests_that_met_a_finding() -> None:
    state = State(1, found={"0a": 3})
    assert msgspec.json.decode(b'{"seed": 1, "seen": {"0a": 3}}', type=State) == state
    assert json.loads(msgspec.json.encode(state))["seen"] == {"0a": 3}
    for struct, name in ((Status, "found"), (FindingRow, "tests")):
        names = {field.name: field.encode_name for field in msgspec.structs.fields(struct)}
        assert {name: key for name, key in names.items() if name != key} == {name: "seen"}
