"""`fuzz minimize` with TVM itself: a planted bug is reduced, in a finding that was saved without reduction, in a case,
and in a model of ONNX."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs_by_hand import Call, case_of
from in_process import completed
from onnx import TensorProto, helper

from fuzzer.campaign.store.store import Store
from fuzzer.commands.minimize import MEASURES, lines
from fuzzer.commands.model_options import open_sizes
from fuzzer.findings import finding_file
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import TVM_LANES
from fuzzer.lanes.model_lanes import LaneChoice
from fuzzer.minimize.minimize import Minimized, read, run
from fuzzer.signature import signature_of
from fuzzer.toolchains.registry import finder
from fuzzer.triage.investigate import Investigated
from fuzzer.triage.size import Size
from generators import case_file
from generators.graph import Case, Invalid
from generators.onnx.schema import newest_opset
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.outcome import Stage

pytestmark = pytest.mark.slow

WRONG_RELU = """
import tvm
from tvm import te


def legalize(builder, call):
    def compute(x):
        return te.compute(x.shape, lambda *i: te.max(x(*i), tvm.tirx.const(1, x.dtype)), name="wrong_relu")

    return builder.call_te(compute, call.args[0])


tvm.ir.register_op_attr("relax.nn.relu", "FLegalize", legalize, level=15)
"""
CALLS: list[Call] = [("v0", "neg", "x0"), ("v1", "relu", "v0"), ("v2", "abs", "v1")]


def whole(calls: list[Call]) -> Case:
    numbers = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    return case_of({"x0": "float32[2,3]"}, calls, calls[-1][0], lambda item: numbers)


def saved(campaign: Path, calls: list[Call]) -> Path:
    """The folder of a finding that was not reduced."""
    finding = Finding(Kind.WRONG_VALUE, Component.TVM, TVM_LANES[0], Stage.RUN, Mismatch(0, "0.0", "1.0"))
    signature, case = signature_of(finding), whole(calls)
    found = Investigated(signature, finding, case, (TVM_LANES[0].name,), 3, 3, case.graph.ops, None)
    with Store(campaign, 1) as store:
        doc = store.save(found, {"tvm": "0"})
    assert doc is not None
    return campaign / "crashes" / doc.slug


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet in which relu returns at least 1."""
    preload = tmp_path_factory.mktemp("preload") / "wrong_relu.py"
    preload.write_text(WRONG_RELU)
    with Fleet(tmp_path_factory.mktemp("fleet"), finder(preload)) as made:
        yield made


def minimized(fleet: Fleet, folder: Path, out: Path, workers: int = 1, lanes: str = "*") -> tuple[Minimized, ...]:
    with Store(out, 1) as store:
        return run(fleet, store, read(folder, LaneChoice(lanes)), workers).minimized


@pytest.mark.tvm
@pytest.mark.long
def test_a_finding_is_reduced_again_and_the_old_one_stays(tmp_path: Path, fleet: Fleet) -> None:
    folder, out = saved(tmp_path / "campaign", CALLS), tmp_path / "minimized"
    before = files(folder)
    (result,) = minimized(fleet, folder, out, workers=2)
    assert (result.kind, result.ops, result.again, result.finished) == ("wrong-value", ("relu",), "3 of 3", True)
    assert (result.before.operators, result.after.operators, result.after.elements) == (3, 1, 1)
    assert result.folder is not None
    assert result.folder.parent == out / "crashes"
    doc, case = finding_file.read_with_case(result.folder)
    assert (doc.ops, doc.found_in, doc.reduction_calls) == (["relu"], ["neg", "relu", "abs"], result.calls)
    assert [item.value.type.sizes for item in case.graph.inputs] == [(1,)]
    assert files(folder) == before
    assert lines(result)[0].startswith(f"wrong-value on {result.lane}: relu; {result.calls} calls")
    assert "operators 3 -> 1" in lines(result)[1]


def test_the_page_explains_each_measure_in_its_order() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reduction.md").read_text()
    rows = re.findall(r"^\| ([a-z ]+) \| `([a-z]+)` \| \S", page, re.M)
    assert [(key, words) for words, key in rows] == list(MEASURES.items())
    assert tuple(MEASURES) == Size._fields


def test_the_lines_of_a_reduction_are_words() -> None:
    before = Size(1, 160, 122, 1, 0, 1, 41, 2584, 82, 41, 121, 400, 112)
    after = Size(0, 1, 4, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0)
    one = Minimized("died", "l", before, after, ("Selu",), 1, 0, (), True, "3 of 3", Path("f"))
    assert lines(one) == (
        "died on l: Selu; 1 call",
        "  whole given models 1 -> 0, operators 160 -> 1, possible plainer operators 122 -> 4, "
        "features of the lane 1 -> 0, inputs 41 -> 1, "
        "elements 2584 -> 1, dimensions 82 -> 1, unusual dtypes 41 -> 1, optional parts 121 -> 0, "
        "numbers in attributes 400 -> 0, complexity of values 112 -> 0",
        "  f",
    )
    ended = replace(one, calls=150, ahead=5, finished=False, after=before)
    assert lines(ended)[:2] == (
        "died on l: Selu; 150 calls, and 5 more that were not needed; stopped at the limit of calls or time",
        "  not smaller than before",
    )


@pytest.mark.tvm
@pytest.mark.long
def test_a_finding_that_does_not_fail_any_more_is_not_saved(tmp_path: Path, fleet: Fleet) -> None:
    folder = saved(tmp_path / "campaign", [("v0", "neg", "x0")])
    (result,) = minimized(fleet, folder, tmp_path / "minimized")
    assert (result.again, result.folder, result.calls) == ("0 of 3", None, 0)
    assert lines(result) == (
        "wrong-value on relax-export-llvm: 0 of 3 runs fail; nothing is saved: it does not always fail",
    )
    assert list((tmp_path / "minimized" / "crashes").iterdir()) == []


@pytest.mark.tvm
@pytest.mark.long
def test_a_case_without_a_finding_is_reduced_for_the_failure_of_its_lane(tmp_path: Path, fleet: Fleet) -> None:
    for name, data in zip((case_file.JSON_NAME, case_file.TENSORS_NAME), case_file.encode(whole(CALLS)), strict=True):
        (tmp_path / name).write_bytes(data)
    (result,) = minimized(fleet, tmp_path, tmp_path / "out", lanes="relax-export-llvm")
    assert (result.kind, result.ops) == ("wrong-value", ("relu",))


def relus(path: Path, count: int) -> Path:
    """A model of sums, with one Relu in it, whose values stay small."""
    node, names = helper.make_node, ["x", *(f"n{place}" for place in range(count))]
    nodes = [
        node("Relu", [one], [other]) if place == count * 2 // 3 else node("Sub", ["x", one], [other])
        for place, (one, other) in enumerate(pairwise(names))
    ]
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(nodes, "g", [value], [helper.make_empty_tensor_value_info(names[-1])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.tvm
@pytest.mark.long
def test_a_model_of_onnx_is_reduced_to_the_node_that_fails(tmp_path: Path, fleet: Fleet) -> None:
    path = relus(tmp_path / "net.onnx", 300)
    (result,) = minimized(fleet, path, tmp_path / "out", lanes="relax-onnx-model-llvm")
    assert (result.kind, result.ops, result.again, result.finished) == ("wrong-value", ("Relu",), "3 of 3", True)
    assert (result.before.operators, result.after.operators) == (300, 1)
    assert result.folder is not None
    doc, case = finding_file.read_with_case(result.folder)
    assert doc.lane.name.startswith("relax-onnx-model-")
    assert (case.graph.dialect, case.graph.opset) == ("onnx", newest_opset())


@pytest.mark.tvm
@pytest.mark.long
def test_where_nothing_fails_the_lanes_are_named_and_the_nodes_without_a_row(tmp_path: Path) -> None:
    path = relus(tmp_path / "net.onnx", 3)
    model = onnx.load(path)
    model.graph.node.append(helper.make_node("NonZero", ["x"], ["places"]))
    onnx.save(model, path)
    command = [sys.executable, "-m", "fuzzer.cli", "minimize", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (
        78,
        [
            "no lane fails on it",
            "  1 lane with the right result: relax-onnx-model-llvm",
            "  6 of 6 elements are judged",
            "next: python -m fuzzer.cli lanes",
        ],
    )
    assert "net: 3 of 4 nodes have a row; as they are in the file: NonZero (1 time)" in done.stderr


@pytest.mark.parametrize(
    ("name", "contents", "says"),
    [
        ("none.onnx", None, "no such file"),
        ("bad.onnx", b"\x80\x04", "is no ONNX file, or only the beginning of one"),
        ("empty.onnx", b"", "has no nodes, or is no ONNX file"),
    ],
)
def test_a_file_that_is_no_model_is_bad_input(
    tmp_path: Path, refusal: Callable[..., str], name: str, contents: bytes | None, says: str
) -> None:
    if contents is not None:
        (tmp_path / name).write_bytes(contents)
    assert refusal(tmp_path / name) == f"fuzz: {tmp_path / name}: {says}\n"


def test_a_model_that_onnxruntime_refuses_is_bad_input(tmp_path: Path, refusal: Callable[..., str]) -> None:
    """Its other nodes are not judged without the one that does not fit."""
    path = relus(tmp_path / "net.onnx", 3)
    model = onnx.load(path)
    model.graph.node.append(helper.make_node("Gemm", ["x", "n2"], ["y"]))
    onnx.save(model, path)
    printed = refusal(path)
    assert printed.startswith(f"fuzz: {path}: onnxruntime refuses the model: ")
    assert "Op (Gemm) [ShapeInferenceError] Dimension mismatch" in printed
    assert printed.endswith("; nothing of it is judged until that is corrected\n")
    assert printed.count("\n") == 1


def test_lanes_of_a_model_are_those_of_its_dialect(tmp_path: Path, refusal: Callable[..., str]) -> None:
    path = relus(tmp_path / "net.onnx", 3)
    why = "no lane of cases of onnx matches 'relax-export-*'; `fuzz lanes` lists them"
    assert refusal(path, "--lanes", "relax-export-*") == f"fuzz: {why}\n"
    assert [lane.name for lane in read(path).lanes] == ["relax-onnx-model-llvm"]
    assert [lane.name for lane in read(path, LaneChoice("*")).lanes] == ["relax-onnx-model-llvm", "relax-onnx-model-c"]


@pytest.fixture
def refusal(readers_here: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What `fuzz minimize` says with these arguments, which are bad input."""

    def refused(*arguments: object) -> str:
        done = completed(monkeypatch, "minimize", *arguments)
        assert (done.returncode, done.stdout) == (64, "")
        return done.stderr

    return refused


def test_a_folder_without_finding_and_case_is_bad_input(tmp_path: Path, refusal: Callable[..., str]) -> None:
    says = "not the folder of a finding: there is no finding.json in it"
    assert refusal(tmp_path) == f"fuzz: {tmp_path}: {says}\n"
    assert list(tmp_path.iterdir()) == []


def test_sizes_are_read_by_name() -> None:
    assert open_sizes("n=7, input[0]=3") == {"n": 7, "input[0]": 3}
    assert open_sizes(None) == {}


@pytest.mark.parametrize("text", ["n", "n=", "=3", "n=-1", "n=2,,"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is no size; write N=7,M=3"):
        open_sizes(text)
