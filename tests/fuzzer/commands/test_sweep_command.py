"""What `fuzz sweep` prints of a table."""

from __future__ import annotations

from fuzzer.commands.sweep import SHOWN, lines_of
from fuzzer.evaluation.samples import Sample
from fuzzer.evaluation.status import Status
from fuzzer.evaluation.sweep_table import SampleResult, Table, table_of

SAMPLES = [
    Sample("Add-14/test_add"),
    Sample("Elu-22/test_elu"),
    Sample("Exp-13/test_exp"),
    Sample("Pow-15/test_pow"),
    Sample("Pow-15/test_pow_types"),
    Sample("Cast-28/test_cast_INT4_to_INT8", "a value is of the type int4, which no case can hold"),
]
STATUSES = (Status.SUPPORTED, Status.SUPPORTED, Status.FAILED, Status.SUPPORTED, Status.UNSUPPORTED)


def results(statuses: tuple[Status, ...]) -> list[SampleResult]:
    return [
        SampleResult(sample.key, {"lane": (status, "why")}) for sample, status in zip(SAMPLES, statuses, strict=False)
    ]


def table(against: Table | None = None) -> Table:
    return table_of("onnx", SAMPLES, results(STATUSES), against=against)


def test_the_terminal_shows_what_is_right_newly_wrong_and_outside_of_the_list_of_tvm() -> None:
    before = table_of("onnx", SAMPLES, results((Status.SUPPORTED,) * 3 + (Status.WRONG,) * 2))
    assert list(lines_of(table(before))) == [
        "lane                 1 failed, 3 supported, 1 unsupported",
        "newly wrong: Exp-13/test_exp in lane: now failed: why",
        "changes: 1 newly right, 1 newly wrong, 1 otherwise changed; the table lists them",
        "of the 2 tests that TVM's own list selects, not right: 1",
        "of all others, right: 2; 1 more prefixes select 1 of them",
        "1 samples have no case; the table says why",
    ]


def test_samples_of_pytorch_have_no_list() -> None:
    found = table_of("torch", [Sample("add/float32/0")], [SampleResult("add/float32/0", {"lane": (Status.WRONG, "w")})])
    assert list(lines_of(found)) == ["lane                 1 wrong"]


def test_json_has_the_tests_that_the_list_of_tvm_lacks() -> None:
    shown = {name: getattr(table(), name) for name in SHOWN}
    assert shown["allow_list"].outside == ["test_elu", "test_pow"]
    assert shown["not_run"] == {SAMPLES[5].why: [SAMPLES[5].key]}
    assert (shown["samples"], shown["done"], shown["without"]) == (5, 5, 1)
