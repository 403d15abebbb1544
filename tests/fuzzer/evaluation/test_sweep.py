"""The sweep: what its lines and its table say, and the real thing on one operator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import fakes
import msgspec
import pytest
from fakes import ONNXRUNTIME, TORCH, TVM, TVM_ONNX

from fuzzer.cases.expected_results import EXPECTED_NAME, Expected
from fuzzer.evaluation import samples as taking
from fuzzer.evaluation.onnx.allow_list import WHERE
from fuzzer.evaluation.sample_source import source_of
from fuzzer.evaluation.samples import Sample
from fuzzer.evaluation.status import Status
from fuzzer.evaluation.sweep import Sweep
from fuzzer.evaluation.sweep_table import Change, SampleResult, Table, page, read_table
from fuzzer.evaluation.sweep_table import table_of as table_of_dialect
from fuzzer.system.environment import EnvironmentMissing
from generators import case_file
from generators.graph import Invalid
from generators.onnx.source import tensor
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result, Skipped, Stage, Unsupported


def table_of(samples: Sequence[Sample], lines: Iterable[SampleResult]) -> Table:
    return table_of_dialect("torch", samples, lines)


def gather(folder: Path, ops: str | None, samples: int | None) -> list[Sample]:
    return taking.gather(folder, "torch", ops, samples)


SAMPLES = [Sample("add/float32/0"), Sample("add/int64/0"), Sample("fft/float32/0", "a value is complex")]
LINES = [
    SampleResult("add/float32/0", {"lane": (Status.SUPPORTED, "")}),
    SampleResult("add/int64/0", {"lane": (Status.WRONG, "wrong-dtype")}),
]


def test_table() -> None:
    table = table_of(SAMPLES, LINES)
    assert (table.samples, table.done, table.lanes) == (2, 2, ["lane"])
    assert table.totals == {"lane": {Status.SUPPORTED: 1, Status.WRONG: 1}}
    add, fft = table.rows
    assert (add.operator, add.samples, add.reasons) == ("add", 2, {"lane": "wrong-dtype"})
    assert (fft.operator, fft.samples, fft.no_case) == ("fft", 0, {"a value is complex": 1})


def test_page_is_self_contained_and_escapes() -> None:
    lines = [SampleResult("add/float32/0", {"lane": (Status.FAILED, "<script>alert(1)</script>")})]
    text = page(table_of(SAMPLES, lines))
    assert "http" not in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_table_of_a_sweep_that_has_not_begun() -> None:
    table = table_of(SAMPLES, [])
    assert (table.samples, table.done, table.lanes, table.totals) == (2, 0, [], {})
    assert "not run yet" in page(table)


def test_the_commonest_reason_is_reported() -> None:
    statuses = [(Status.FAILED, "rejected"), (Status.UNSUPPORTED, "no int4"), (Status.FAILED, "rejected")]
    lines = [SampleResult(f"add/float32/{i}", {"lane": status}) for i, status in enumerate(statuses)]
    (row,) = table_of([Sample(line.key) for line in lines], lines).rows
    assert row.lanes == {"lane": {Status.FAILED: 2, Status.UNSUPPORTED: 1}}
    assert row.reasons == {"lane": "rejected"}


def test_operators_are_named_by_all_but_dtype_and_number() -> None:
    keys = ("nn.functional.pad_circular/float32/0", "nn.functional.pad_circular/bool/1", "T/bool/0")
    table = table_of([Sample(key) for key in keys], [])
    assert [row.operator for row in table.rows] == ["T", "nn.functional.pad_circular"]


def test_a_torn_line_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "sweep.jsonl").write_text('{"key":"add/float32/0","lanes":{}}\n{"key":"add/int6')
    assert list(Sweep(tmp_path, SAMPLES).lines()) == ["add/float32/0"]


def test_the_line_behind_a_torn_one_is_whole(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, SAMPLES)
    (tmp_path / "sweep.jsonl").write_text('{"key":"add/float32/0","lanes":{}}\n{"key":"add/int6')
    for _ in range(2):
        sweep.watch(1, fakes.CASE, Result({}), [])
    assert list(sweep.lines()) == ["add/float32/0", "add/int64/0"]


RIGHT = fakes.TWO_OUTPUTS
HONEST, WRONG = fakes.correct(RIGHT), fakes.wrong_value(RIGHT)
NO_FINDING = "no reference ran, or the exporter refuses"
NOT_COMPARED = "no reference ran, or the ONNX file is wrong"


@pytest.mark.parametrize(
    ("lane", "outcomes", "expected"),
    [
        (TVM, {TVM: HONEST}, (Status.SUPPORTED, "")),
        (TVM, {TVM: WRONG}, (Status.WRONG, "wrong-value")),
        (TVM, {TVM: fakes.unstable(RIGHT)}, (Status.WRONG, "second-run-differs")),
        (TVM, {TVM: fakes.rejected(Stage.IMPORT)}, (Status.FAILED, "rejected")),
        (TVM, {TVM: fakes.internal_error(Stage.COMPILE)}, (Status.FAILED, "internal-error")),
        (TVM, {TVM: fakes.segfault(Stage.RUN)}, (Status.FAILED, "died")),
        (TVM, {TVM: fakes.hung(Stage.COMPILE)}, (Status.FAILED, "timed-out")),
        (TVM, {TVM: Unsupported(Stage.IMPORT, "no int4")}, (Status.UNSUPPORTED, "no int4")),
        (TVM, {TVM: Skipped("no compiler")}, (Status.UNSUPPORTED, "no compiler")),
        (ONNXRUNTIME, {ONNXRUNTIME: HONEST}, (Status.SUPPORTED, "")),
        (ONNXRUNTIME, {ONNXRUNTIME: WRONG}, (Status.WRONG, "wrong-value")),
        # through ONNX
        (TVM_ONNX, {TVM_ONNX: HONEST, ONNXRUNTIME: HONEST}, (Status.SUPPORTED, "")),
        (TVM_ONNX, {TVM_ONNX: WRONG, ONNXRUNTIME: HONEST}, (Status.WRONG, "wrong-value")),
        (TVM_ONNX, {TVM_ONNX: HONEST, ONNXRUNTIME: WRONG}, (Status.UNJUDGED, NOT_COMPARED)),
        (TVM_ONNX, {TVM_ONNX: HONEST, ONNXRUNTIME: Skipped("bfloat16")}, (Status.UNJUDGED, NOT_COMPARED)),
        (
            TVM_ONNX,
            {TVM_ONNX: fakes.raised(Stage.IMPORT), ONNXRUNTIME: fakes.raised(Stage.LOAD)},
            (Status.UNJUDGED, NO_FINDING),
        ),
        # without references
        (TVM, {TVM: HONEST, TORCH: fakes.raised(Stage.RUN)}, (Status.UNJUDGED, NOT_COMPARED)),
        (TVM, {TVM: fakes.raised(Stage.IMPORT), TORCH: fakes.raised(Stage.RUN)}, (Status.UNJUDGED, NO_FINDING)),
    ],
)
def test_statuses(
    tmp_path: Path, lane: LaneSpec, outcomes: dict[LaneSpec, Outcome], expected: tuple[Status, str]
) -> None:
    """What a line says of a lane; references have no column."""
    result = Result({**fakes.references(*RIGHT), **outcomes})
    sweep = Sweep(tmp_path, SAMPLES)
    sweep.watch(0, fakes.CASE, result, list(judge_all(fakes.CASE, result.outcomes)))
    (line,) = sweep.lines().values()
    assert line.lanes[lane.name] == expected
    assert set(line.lanes) == {each.name for each in outcomes} - {"torch"}


# --- samples with results of their own: node tests of ONNX


KEY = "Neg-13/test_neg"
DOUBLED = Ran(tuple(array * 2 for array in HONEST.outputs))
NODE_TEST = Expected(tuple(map(tensor, HONEST.outputs)), 1e-3, 1e-7)


def swept(folder: Path, outcomes: dict[LaneSpec, Outcome]) -> SampleResult:
    """The line of a sweep through one node test."""
    place = folder / "samples" / KEY.replace("/", "-")
    place.mkdir(parents=True)
    (place / EXPECTED_NAME).write_bytes(msgspec.msgpack.encode(NODE_TEST))
    result = Result({**fakes.references_of_onnx(*RIGHT), **outcomes})
    sweep = Sweep(folder, [Sample(KEY)], "onnx")
    sweep.watch(0, fakes.CASE, result, list(judge_all(fakes.CASE, result.outcomes)))
    (line,) = sweep.lines().values()
    return line


@pytest.mark.parametrize(
    ("outcome", "expected", "found"),
    [
        (HONEST, (Status.SUPPORTED, ""), ""),
        (WRONG, (Status.SUPPORTED, ""), "wrong-value"),  # by less than the tolerance of the test
        (
            DOUBLED,
            (Status.WRONG, "result 0: 4 of 4 elements differ; at [0, 0] is 2.039600133895874, not 1.019800066947937"),
            "wrong-value",
        ),
        (fakes.wrong_dtype(RIGHT), (Status.WRONG, "result 0 is float64, not float32"), "wrong-dtype"),
        (fakes.unstable(RIGHT), (Status.SUPPORTED, ""), "second-run-differs"),
        (fakes.rejected(Stage.IMPORT), (Status.FAILED, "import: ValueError: no"), "rejected"),
        (fakes.hung(Stage.COMPILE), (Status.FAILED, "compile: no result after 30 s"), "timed-out"),
        (Unsupported(Stage.IMPORT, "no int4"), (Status.UNSUPPORTED, "no int4"), ""),
    ],
)
def test_statuses_of_node_tests(tmp_path: Path, outcome: Outcome, expected: tuple[Status, str], found: str) -> None:
    """The results of the test decide, and the finding of the oracles stands beside the status."""
    line = swept(tmp_path, {fakes.TVM_MODEL: outcome})
    assert line.lanes == {"relax-onnx-model-llvm": expected}
    assert line.found == ({"relax-onnx-model-llvm": found} if found else {})


def test_the_results_of_a_node_test_are_right_where_no_reference_runs(tmp_path: Path) -> None:
    line = swept(tmp_path, {fakes.TVM_MODEL: DOUBLED, fakes.ONNX: fakes.raised(Stage.RUN)})
    assert line.lanes["relax-onnx-model-llvm"][0] is Status.WRONG
    assert line.found == {}
    table = table_of_dialect("onnx", [Sample(KEY)], [line])
    assert table.not_right_without_finding == [f"{KEY} in relax-onnx-model-llvm"]
    assert table.right_with_finding == []


def test_a_right_result_with_a_finding_is_listed() -> None:
    line = SampleResult(KEY, {"lane": (Status.SUPPORTED, "")}, {"lane": "aliased-output"})
    assert table_of_dialect("onnx", [Sample(KEY)], [line]).right_with_finding == [f"{KEY} in lane: aliased-output"]
    assert (
        table_of_dialect(
            "torch", [Sample("neg/x/0")], [msgspec.structs.replace(line, key="neg/x/0")]
        ).right_with_finding
        == []
    )


def test_the_page_lists_the_tests_that_are_not_right_with_their_reasons() -> None:
    lines = [
        SampleResult(KEY, {"lane": (Status.UNSUPPORTED, "no <int4>")}),
        SampleResult("Neg-13/test_neg_example", {"lane": (Status.SUPPORTED, "")}),
    ]
    text = page(table_of_dialect("onnx", [Sample(line.key) for line in lines], lines))
    assert "<summary>not right: 1</summary>" in text
    assert 'test_neg: <span class="unsupported">unsupported</span> no &lt;int4&gt;</small>' in text
    of_torch = page(table_of(SAMPLES, LINES))
    assert "not right" not in of_torch


def test_tests_that_are_not_run_are_listed_by_reason() -> None:
    floats, strings = "a value is of the type float8e5m2", "a value is of the type <string>"
    samples = [Sample("A-1/test_a", strings), Sample("B-1/test_b", floats), Sample(KEY), Sample("B-1/test_c", floats)]
    table = table_of_dialect("onnx", samples, [])
    assert list(table.not_run.items()) == [(floats, ["B-1/test_b", "B-1/test_c"]), (strings, ["A-1/test_a"])]
    text = page(table)
    assert "<h2>Not run: 3</h2>" in text
    assert f"<summary>{floats}: 2</summary><p>B-1/test_b, B-1/test_c</p>" in text
    assert "&lt;string&gt;: 1</summary><p>A-1/test_a</p>" in text
    assert "Not run" not in page(table_of_dialect("onnx", [Sample(KEY)], []))


def test_rows_of_onnx_are_versions() -> None:
    samples = [Sample(KEY), Sample("Neg-6/test_neg_old"), Sample("Neg-13-expanded/test_neg_expanded", "no")]
    rows = table_of_dialect("onnx", samples, []).rows
    assert [row.operator for row in rows] == ["Neg-13", "Neg-13-expanded", "Neg-6"]


# --- differences


def lines_of(**lanes: Status) -> list[SampleResult]:
    return [SampleResult(KEY, {name.replace("_at_", "@"): (status, "why") for name, status in lanes.items()})]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (Status.WRONG, Status.SUPPORTED, "newly right"),
        (Status.SUPPORTED, Status.UNSUPPORTED, "newly wrong"),
        (Status.FAILED, Status.WRONG, "otherwise changed"),
        (Status.WRONG, Status.WRONG, None),
    ],
)
def test_what_differs_from_an_earlier_table_is_listed(
    tmp_path: Path, before: Status, after: Status, kind: str | None
) -> None:
    earlier = table_of_dialect("onnx", [Sample(KEY)], lines_of(lane=before))
    (tmp_path / "sweep.json").write_bytes(msgspec.json.encode(earlier))
    assert read_table(tmp_path) == read_table(tmp_path / "sweep.json") == earlier
    table = table_of_dialect("onnx", [Sample(KEY)], lines_of(lane=after), against=read_table(tmp_path))
    expected = [] if kind is None else [Change(KEY, "lane", before, after, "why", kind)]
    assert table.changes == expected
    assert (kind or "newly") in page(table) or kind is None


def test_a_table_of_other_lanes_is_refused() -> None:
    earlier = table_of_dialect("onnx", [Sample(KEY)], lines_of(other=Status.WRONG))
    with pytest.raises(Invalid, match=r"^the earlier table has none of these lanes: it has other$"):
        table_of_dialect("onnx", [Sample(KEY)], lines_of(lane=Status.WRONG), against=earlier)


NO_TABLE = "the earlier table has none of these lanes: it has lane@old, lane@older"


def test_a_table_of_another_release_is_compared_lane_by_lane() -> None:
    samples = [Sample(KEY)]
    earlier = table_of_dialect("onnx", samples, lines_of(lane_at_old=Status.WRONG))
    table = table_of_dialect("onnx", samples, lines_of(lane=Status.SUPPORTED), against=earlier)
    assert table.changes == [Change(KEY, "lane", Status.WRONG, Status.SUPPORTED, "why", "newly right")]
    two = table_of_dialect("onnx", samples, lines_of(lane_at_old=Status.WRONG, lane_at_older=Status.WRONG))
    with pytest.raises(Invalid, match=NO_TABLE):
        table_of_dialect("onnx", samples, lines_of(lane=Status.SUPPORTED), against=two)


@pytest.mark.parametrize("text", ["", "[]", '{"rows": 1}'])
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(Invalid, match=r"t\.json is no table of a sweep: "):
        read_table(tmp_path / "t.json")
    with pytest.raises(Invalid, match="No such file"):
        read_table(tmp_path / "none.json")


def test_releases_are_compared_with_the_first_toolchain() -> None:
    lines = lines_of(lane=Status.SUPPORTED, lane_at_old=Status.WRONG)
    samples = [Sample(KEY)]
    assert table_of_dialect("onnx", samples, lines).changes == []
    for toolchains, lane, kind in (
        (("old", "host"), "lane", "newly right"),
        (("host", "old"), "lane@old", "newly wrong"),
    ):
        (change,) = table_of_dialect("onnx", samples, lines, toolchains=toolchains).changes
        assert (change.lane, change.kind) == (lane, kind)


def test_cases_are_the_samples_that_have_one(tmp_path: Path) -> None:
    samples = [SAMPLES[2], SAMPLES[0], SAMPLES[1]]
    sweep = Sweep(tmp_path, samples)
    for key in ("add/float32/0", "add/int64/0"):
        folder = tmp_path / "samples" / key.replace("/", "-")
        folder.mkdir(parents=True)
        text, tensors = case_file.encode(fakes.CASE)
        (folder / "case.json").write_bytes(text)
        (folder / "tensors.safetensors").write_bytes(tensors)
    origins = [case.origin for index in range(2) if (case := sweep.case(index))]
    assert origins == ["sample add/float32/0", "sample add/int64/0"]
    assert sweep.case(2) is None


class Children:
    """In place of the processes that take samples: what each of them prints, and how it ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ends: tuple[int, bytes]) -> None:
        self.commands: list[list[str]] = []
        self._ends = list(ends)
        monkeypatch.setattr(subprocess, "run", self._run)

    def _run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        self.commands.append(command)
        return subprocess.CompletedProcess(command, *self._ends.pop(0))


ADD = b'{"at": "add"}\n{"key": "add/float32/0"}\n'
FFT = b'{"at": "fft"}\n{"key": "fft/x/0", "why": "no"}\n'
TAKEN = [Sample("add/float32/0"), Sample("fft/x/0", "no")]


def test_samples_are_gathered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (0, ADD + FFT))
    for _ in range(2):
        assert gather(tmp_path / "new", "add,fft", 3) == TAKEN
    assert gather(tmp_path / "new", None, None) == TAKEN
    (command,) = children.commands
    assert command[1:] == [
        *("-P", "-m", "fuzzer.children.samples", str(tmp_path / "new" / "samples")),
        *("--ops", "add,fft", "--samples", "3", "--after", ""),
    ]


@pytest.mark.parametrize(("ops", "samples"), [("add", None), (None, 2), ("*", 3), ("add,fft", 2)])
def test_a_folder_keeps_the_samples_of_its_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ops: str | None, samples: int | None
) -> None:
    """A request for other samples than those in the folder is refused."""
    Children(monkeypatch, (0, ADD + FFT))
    gather(tmp_path, "add,fft", 3)
    with pytest.raises(Invalid) as error:
        gather(tmp_path, ops, samples)
    assert str(error.value) == (
        f"{tmp_path} holds the samples of --ops 'add,fft' --samples 3: ask for the same, or choose another folder"
    )


def test_a_folder_that_does_not_say_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text('{"key": "add/float32/0"}\n')
    with pytest.raises(Invalid, match="does not say which samples it holds"):
        gather(tmp_path, None, None)


def test_an_operator_that_ends_the_child_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that it printed before are kept; the next child begins after them. Torn lines, and lines that libraries
    print, are ignored."""
    crash = b'{"at": "bad"}\nlibrary: hello\n{"key": "bad/int8/0"}\n{"key": "bad/in'
    children = Children(monkeypatch, (-11, ADD + crash), (0, FFT))
    assert gather(tmp_path, None, None) == [
        Sample("add/float32/0"),
        Sample("bad/int8/0"),
        Sample("bad/any/0", "PyTorch's process ended over it (status -11)"),
        Sample("fft/x/0", "no"),
    ]
    assert [command[-1] for command in children.commands] == ["", "bad"]


def test_no_samples_and_samples_that_cannot_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, (0, b""), (1, b""))
    with pytest.raises(Invalid, match=r"^no operator of PyTorch's samples matches 'nosuch'$"):
        gather(tmp_path, "nosuch", 1)
    with pytest.raises(EnvironmentMissing, match=r"could not be taken \(status 1\)"):
        gather(tmp_path, "*", 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.tvm
@pytest.mark.long
def test_a_sweep_stops_goes_on_and_writes_its_table(tmp_path: Path) -> None:
    def sweep(*more: str) -> dict[str, object]:
        command = [sys.executable, "-m", "fuzzer.cli", "sweep", "--out", str(tmp_path / "s"), "--ops", "abs,fft.fft"]
        command += ["--samples", "1", "--lanes", "relax-export-llvm", "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(os.environ), check=True)
        summary: dict[str, object] = json.loads(done.stdout)
        return summary

    first = sweep("--seconds", "0")
    assert first["done"] == 0
    taken = (tmp_path / "s/samples.jsonl").stat()
    second = sweep()
    assert (tmp_path / "s/samples.jsonl").stat().st_mtime_ns == taken.st_mtime_ns, "samples are taken once"
    assert second["samples"] == second["done"]
    assert second["done"] == len((tmp_path / "s/sweep.jsonl").read_text().splitlines()) > 3
    totals: Any = second["totals"]
    (counts,) = (counts for lane, counts in totals.items() if lane == "relax-export-llvm")
    assert sum(counts.values()) == second["done"]
    assert counts["supported"] > 0
    table = json.loads((tmp_path / "s/sweep.json").read_text())
    assert [row["operator"] for row in table["rows"]] == ["abs", "fft.fft"]
    assert table["rows"][1]["samples"] == 0
    assert "abs" in (tmp_path / "s/sweep.html").read_text()


@pytest.mark.parametrize("name", ["asked.json", "samples.jsonl"])
@pytest.mark.parametrize("contents", [b'{"\xff": 1}', b'{"x": ' + b"[" * 5000])
def test_samples_that_are_no_documents_are_refused(tmp_path: Path, name: str, contents: bytes) -> None:
    (tmp_path / "asked.json").write_bytes(b'{"ops": "abs", "samples": 1}')
    (tmp_path / "samples.jsonl").write_bytes(b'{"key": "abs/float32/0", "why": ""}')
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(Invalid, match="choose another folder"):
        gather(tmp_path, None, None)


NODE_TESTS = {
    "Add-14/test_add": (Status.SUPPORTED, "", ""),
    "Attention-23/test_attention_4d": (Status.FAILED, "import: KeyError: 'num_heads'", "internal-error"),
    "BitShift-28/test_bitshift_right_uint8": (Status.SUPPORTED, "", ""),
    "CumSum-14/test_cumsum_1d": (Status.UNSUPPORTED, "CumSum with non-constant axis input is not supported yet.", ""),
    "Dropout-22/test_training_dropout": (Status.WRONG, "result 0: 60 of 60 elements differ; at [0, 0, 0] is", ""),
    "NonMaxSuppression-11/test_nonmaxsuppression_two_classes": (
        Status.WRONG,
        "result 0 has the shape [0, 3], not [4, 3]",
        "wrong-shape",
    ),
    "Not-1/test_not_2d": (Status.SUPPORTED, "", ""),
}
"""What TVM 0.27 does with tests of each kind: the status, the begin of its reason, and the finding."""


@pytest.mark.tvm
@pytest.mark.long
def test_a_sweep_through_node_tests_of_onnx(tmp_path: Path) -> None:
    names = ",".join(key.rpartition("/")[2] for key in NODE_TESTS)
    command = [sys.executable, "-m", "fuzzer.cli", "sweep", "--out", str(tmp_path / "s"), "--dialect", "onnx"]
    command += ["--ops", names, "--triage-share", "0", "--drain", "0", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=dict(os.environ), check=True)
    lane = "relax-onnx-model-llvm"
    assert json.loads(done.stdout) == {
        "samples": 7,
        "done": 7,
        "totals": {lane: {"supported": 3, "failed": 1, "unsupported": 1, "wrong": 2}},
        "without": 0,
        "changes": [],
        "right_with_finding": [],
        "not_right_without_finding": [f"Dropout-22/test_training_dropout in {lane}"],
        "allow_list": {
            "where": WHERE,
            "selected": ["test_add", "test_bitshift_right_uint8", "test_not_2d"],
            "failing": [],
            "lacking": [],
            "ready": [],
            "others": [],
            "outside": [],
        },
        "not_run": {},
    }
    table = read_table(tmp_path / "s")
    assert {line.key for line in table.results} == NODE_TESTS.keys()
    for line in table.results:
        status, begin, found = NODE_TESTS[line.key]
        assert (line.lanes[lane][0], line.found.get(lane, "")) == (status, found), line.key
        assert line.lanes[lane][1].startswith(begin), line.key
    assert table.not_right_without_finding == [f"Dropout-22/test_training_dropout in {lane}"]
    assert table.versions.keys() >= {"tvm", "onnx", "onnxruntime"}
    assert "CumSum-14" in (tmp_path / "s/sweep.html").read_text()


def test_a_dialect_without_samples_is_refused() -> None:
    with pytest.raises(Invalid, match="there are no samples of Relax"):
        source_of("relax")
