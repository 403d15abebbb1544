"""Lanes in words: which fail, and which give no result because that is normal."""

from __future__ import annotations

from snapshots import FAILING, SOUND

from fuzzer.watching.health import LaneHealth
from fuzzer.watching.lane_lines import LaneCounts, failing_lines, lines, newest, summary

IDLE = LaneHealth("relax-fx-llvm", {"unsupported": 37, "skipped": 3}, {})
BROKEN = LaneHealth("relax-onnx-c", {"raised": 2, "unsupported": 38}, {})
WHOLE = LaneHealth("torch", {"ran": 40}, {"ran": 900})
EVERY = newest([FAILING, SOUND, IDLE, BROKEN, WHOLE])


def test_a_lane_that_fails_has_a_line_with_what_it_gave_before() -> None:
    assert list(failing_lines([FAILING, SOUND, WHOLE])) == [
        "!! relax-export-c: 4 results in its newest 40 runs, 95% before; 36 raised"
    ]


def test_a_lane_without_a_supported_case_is_normal() -> None:
    assert summary(EVERY) == (
        "3 of 5 lanes give results; 1 far fewer than before; 1 had only unsupported cases, which is normal"
    )
    assert summary(newest([WHOLE])) == "1 of 1 lane give results"
    assert summary([]) == ""


def test_those_with_the_fewest_results_come_first_and_those_without_a_failure_have_no_line() -> None:
    assert list(lines(EVERY, 9)) == [
        "!! relax-export-c             results in 4 of 40: 36 raised",
        "   relax-onnx-c               results in 0 of 40: 38 unsupported, 2 raised",
        "   relax-export-llvm          results in 38 of 40: 2 unsupported",
        "   relax-fx-llvm              results in 0 of 40: 37 unsupported, 3 skipped (normal)",
    ]
    assert list(lines(EVERY, 1))[1:] == ["   and 3 more lanes without a result now and then; --json has all"]


def test_tvm_is_not_blamed_for_the_errors_of_a_reference() -> None:
    names = ("onnx-reference", "relax-onnx-llvm", "relax-onnx-c")
    (reference, tvm, why, other) = lines([LaneCounts(name, {"raised": 5}, False) for name in names], 3)
    assert reference.endswith("raised an error for 5 of 5 models, without TVM")
    assert tvm.endswith("TVM raised an error for 5 of 5 models")
    assert why == "                              (such failures are looked for)", "once is enough"
    assert other.endswith("TVM raised an error for 5 of 5 models")
