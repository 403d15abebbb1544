"""`fuzz gen`: the files are the cases, the figures are counted, and no compiler is started."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzer.children.validity import MOST_BYTES
from fuzzer.evaluation.generation import GenerationOptions, run
from fuzzer.isolate.validity import CaseCheck, CaseVerdict, Validity
from fuzzer.system import confinement
from generators import case_file
from generators.builder import Limits
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.graph import Case, Graph, Input, Invalid, Layout, Node, Profile, TensorType, Value
from generators.onnx.random_graph import generate as generate_onnx
from generators.statistics import value_class
from generators.torch.random_graph import generate

pytestmark = pytest.mark.slow

KEYS = {
    "graphs",
    "seconds",
    "operators",
    "operator_dtype_pairs",
    "attribute_classes",
    "valid_rate",
    "finite_rate",
    "nodes_median",
}


def test_the_files_are_the_cases(tmp_path: Path) -> None:
    run(GenerationOptions(5, 3, tmp_path), ask_references=False)
    folders = sorted(tmp_path.iterdir())
    assert [folder.name for folder in folders] == [f"seed3-{index:06d}" for index in range(5)]
    for index, folder in enumerate(folders):
        expected = generate(NumpySource(3, index), Limits())
        assert case_file.digest(case_file.read(folder)) == case_file.digest(expected)


def test_cases_of_a_dialect_are_those_of_its_generator() -> None:
    ops = dialect_named("onnx").drawn()
    found: list[Case] = []
    options = GenerationOptions(5, 3, ops=ops, profile=Profile.EDGE, dialect="onnx")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fuzzer.evaluation.generation.Coverage.add", lambda coverage, case: found.append(case))
        run(options, ask_references=False)
    drawn = [generate_onnx(NumpySource(3, index), options.limits, ops, profile=Profile.EDGE) for index in range(5)]
    assert [case_file.digest(case) for case in found] == [case_file.digest(case) for case in drawn]


@pytest.mark.long
def test_cases_of_onnx_are_checked_in_its_references() -> None:
    options = GenerationOptions(10, 4, ops=dialect_named("onnx").drawn(), dialect="onnx")
    report = run(options, ask_references=True)
    assert (report.valid_rate, report.invalid) == (1.0, ())


def test_again_into_the_same_folder_is_no_harm(tmp_path: Path) -> None:
    for _ in range(2):
        run(GenerationOptions(3, 3, tmp_path), ask_references=False)


def test_another_case_in_the_way_is_kept(tmp_path: Path) -> None:
    run(GenerationOptions(1, 3, tmp_path), ask_references=False)
    path = tmp_path / "seed3-000000" / case_file.JSON_NAME
    path.write_text("{}")
    with pytest.raises(Invalid, match="contains another case"):
        run(GenerationOptions(1, 3, tmp_path), ask_references=False)
    assert path.read_text() == "{}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.long
def test_the_last_line_is_json_with_the_figures(more: list[str]) -> None:
    command = [sys.executable, "-m", "fuzzer.cli", "gen", "--count", "30", "--seed", "2", "--stats", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert set(summary) >= KEYS
    assert summary["graphs"] == 30
    assert summary["valid_rate"] == 1.0
    assert 0 < summary["seconds"] < 10


def test_profile_and_nodes_are_kept_to() -> None:
    report = run(GenerationOptions(20, 1, limits=Limits(2), profile=Profile.EDGE), ask_references=False)
    assert report.coverage.profiles == {"edge": 20}
    assert report.valid_rate is None


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


def one_node(op: str, operand: str, result: str, **attrs: object) -> Case:
    node = Node(op, ("x0",), attrs, (value("v0", result),))  # type: ignore[arg-type]
    graph = Graph((Input(value("x0", operand)),), (node,), ("v0",))
    type = graph.inputs[0].value.type
    return Case(graph, {"x0": np.ones(type.sizes, type.dtype.numpy)})


@pytest.fixture(scope="module")
def judge() -> Iterator[Validity]:
    with Validity() as started:
        yield started


def test_valid(judge: Validity) -> None:
    assert judge(one_node("neg", "float32[2]", "float32[2]")) == CaseCheck(CaseVerdict.OK, "")
    assert judge(one_node("neg", "int8[0]", "int8[0]")) == CaseCheck(CaseVerdict.OK, "")
    assert judge(one_node("neg", "bfloat16[]", "bfloat16[]")) == CaseCheck(CaseVerdict.OK, "")


def test_valid_and_not_finite(judge: Validity) -> None:
    case = one_node("neg", "bfloat16[2]", "bfloat16[2]")
    case.tensors["x0"][1] = np.inf
    assert judge(case) == CaseCheck(CaseVerdict.NOT_FINITE, "")
    assert CaseVerdict.NOT_FINITE.is_valid


def test_what_the_table_refuses_is_invalid(judge: Validity) -> None:
    message = "case/case.json: nodes[0] (neg): declared as float32[3], but gives float32[2]"
    assert judge(one_node("neg", "float32[2]", "float32[3]")) == CaseCheck(CaseVerdict.INVALID, message)
    assert not CaseVerdict.INVALID.is_valid


def test_what_pytorch_refuses_is_invalid(judge: Validity) -> None:
    call = {"call": "torch.bmm(a0, a0)", "types": ("float32[2]",)}
    answer = judge(one_node("torch_call", "float32[2]", "float32[2]", **call))
    assert answer.verdict is CaseVerdict.INVALID
    assert answer.message.startswith("RuntimeError: batch1 must be a 3D tensor")


def test_a_type_that_pytorch_does_not_give(judge: Validity) -> None:
    lying = {"call": "torch.neg(a0)", "types": ("float32[7]",)}
    answer = judge(one_node("torch_call", "float32[1]", "float32[7]", **lying))
    assert answer == CaseCheck(CaseVerdict.WRONG_TYPE, "['float32[1]'] instead of ['float32[7]']")
    assert not CaseVerdict.WRONG_TYPE.is_valid


def test_layouts_are_what_pytorch_sees(judge: Validity) -> None:
    """A transposed tensor has no view of this shape; a contiguous one has."""
    type = value("x0", "float32[2,3]").type
    call = {"call": "torch.Tensor.view(a0, (6,))", "types": ("float32[6]",)}
    plain = one_node("torch_call", "float32[2,3]", "float32[6]", **call)
    turned = replace(plain, graph=replace(plain.graph, inputs=(Input(Value("x0", type), layout=Layout.TRANSPOSED),)))
    assert judge(plain).verdict is CaseVerdict.OK
    assert judge(turned).verdict is CaseVerdict.INVALID


@pytest.mark.long
def test_a_process_that_dies_costs_one_answer() -> None:
    with Validity() as judge:
        judge._child.kill()
        assert judge(one_node("neg", "float32[2]", "float32[2]")) == CaseCheck(
            CaseVerdict.DIED, f"the process ended with status {-signal.SIGKILL}"
        )
        assert judge(one_node("neg", "float32[2]", "float32[2]")) == CaseCheck(CaseVerdict.OK, "")


@pytest.mark.exhaustive
@pytest.mark.long
def test_a_case_that_does_not_end_costs_one_answer() -> None:
    with Validity(seconds=1.0) as judge:
        os.kill(judge._child.pid, signal.SIGSTOP)
        assert judge(one_node("neg", "float32[2]", "float32[2]")) == CaseCheck(
            CaseVerdict.TIMED_OUT, "no answer in 1 s"
        )
        assert not CaseVerdict.TIMED_OUT.is_valid
        judge._seconds = 60.0
        assert judge(one_node("neg", "float32[2]", "float32[2]")) == CaseCheck(CaseVerdict.OK, "")


HALF_A_LINE = """
import sys, time
print("ready", flush=True)
lengths = sys.stdin.buffer.read(16)
sys.stdin.buffer.read(sum(int.from_bytes(each, "little") for each in (lengths[:8], lengths[8:])))
print("[", end="", flush=True)
time.sleep(600)
"""
DEAF = "print('ready', flush=True); import time; time.sleep(600)"


@pytest.mark.parametrize("program", [HALF_A_LINE, DEAF])
def test_a_process_that_stops_in_an_answer_or_takes_no_case_costs_one_answer(program: str) -> None:
    with Validity() as judge:
        judge._child.kill()
        judge._child = subprocess.Popen([sys.executable, "-u", "-c", program], stdin=-1, stdout=-1)
        assert judge._child.stdin is not None
        os.set_blocking(judge._child.stdin.fileno(), False)
        judge._line(time.monotonic() + 120.0)
        judge._seconds = 1.0
        case = one_node("neg", "float32[100000]", "float32[100000]")
        assert judge(case) == CaseCheck(CaseVerdict.TIMED_OUT, "no answer in 1 s")


TRIES_TO_WRITE = """
import sys
from fuzzer.children import validity
validity.prepare = lambda: open(sys.argv[1], "w")
validity.main()
"""


def test_the_process_that_checks_has_limits_and_writes_nothing(tmp_path: Path) -> None:
    with Validity() as judge:
        assert resource.prlimit(judge._child.pid, resource.RLIMIT_DATA) == (MOST_BYTES, MOST_BYTES)
    done = subprocess.run(
        [sys.executable, "-c", TRIES_TO_WRITE, str(tmp_path / "x")], stderr=subprocess.PIPE, text=True
    )
    assert confinement.version() == 0 or "PermissionError" in done.stderr
    assert os.listdir(tmp_path) == ([] if confinement.version() else ["x"])


def test_modules_in_the_current_folder_are_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hashlib", "torch", "fuzzer"):
        (tmp_path / f"{name}.py").write_text("import os\nos._exit(9)\n")
    monkeypatch.chdir(tmp_path)
    with Validity() as judge:
        assert judge(one_node("neg", "float32[2]", "float32[2]")) == CaseCheck(CaseVerdict.OK, "")


def test_rates_count_the_cases_that_pytorch_checked(tmp_path: Path) -> None:
    """Symbolic cases are checked once for each size; only cases of the normal profile are meant to stay finite."""
    checked: list[Case] = []

    class Judge:
        def __enter__(self) -> Judge:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def __call__(self, case: Case) -> CaseCheck:
            checked.append(case)
            return CaseCheck(CaseVerdict.INVALID, "no") if len(checked) == 2 else CaseCheck(CaseVerdict.NOT_FINITE, "")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fuzzer.evaluation.generation.Validity", Judge)
        report = run(GenerationOptions(40, 2), ask_references=True)
    drawn = [generate(NumpySource(2, index)) for index in range(40)]
    assert report.coverage.symbolic == sum(bool(case.graph.symbols) for case in drawn) > 0
    assert [case_file.digest(case) for case in checked] == [
        case_file.digest(i) for case in drawn for i in case.instances()
    ]
    assert report.valid_rate == (len(checked) - 1) / len(checked)
    assert (report.finite_rate, report.invalid) == (0.0, (f"{checked[1].origin}: invalid: no",))


@pytest.mark.parametrize(
    ("attr", "name"),
    [
        (None, "None"),
        (True, "True"),
        ("sum", "sum"),
        (-3, "int negative"),
        (0, "int zero"),
        (1, "int one"),
        (2.5, "float positive"),
        ((), "0 of "),
        ((1, -2), "2 of int negative|int one"),
        ((5,) * 9, "4 of int positive"),
    ],
)
def test_value_classes(attr: object, name: str) -> None:
    assert value_class(attr) == name  # type: ignore[arg-type]
