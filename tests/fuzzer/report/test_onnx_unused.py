"""What no output of an ONNX file needs is left out of a report, if the failure does not depend on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fakes import TVM_ONNX
from graphs_by_hand import case_of
from records import record

from fuzzer.isolate.reports import ScriptRun
from fuzzer.report import issue, own_script, sentences
from fuzzer.report.onnx_unused import operator_at_fault, without_unused
from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.investigate import Investigated, Sighting
from generators.onnx.model import Attribute, Node, OnnxModel, Tensor, Value
from oracles.finding import Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Stage

Make = Callable[..., tuple[Investigated, Sighting]]

VERSIONS = {"tvm": "0.27.0"}
ONES = Tensor("INT64", (1,), b"\1\0\0\0\0\0\0\0")
UNUSED = Node("Constant", (), ("shape",), (Attribute("value_ints", (1,)),))
READS_UNUSED = Node("Shape", ("shape",), ("size",))
ABS = Node("Abs", ("x0",), ("magnitude",))
TILE = Node("Tile", ("magnitude", "repeats"), ("y",))
FILE = OnnxModel(
    9,
    {"": 20},
    (Value("x0", "FLOAT", (1,)), Value("x1", "FLOAT", (1,))),
    (Value("y", "FLOAT", (1,)),),
    (UNUSED, READS_UNUSED, ABS, TILE),
    {"repeats": ONES, "left over": ONES},
)
AT_CONSTANT = Blame(Place.FRONTEND, "tile", "Constant._impl_v13")


def test_nodes_and_initializers_that_no_output_needs_are_left_out() -> None:
    smaller = without_unused(FILE)
    assert smaller.nodes == (ABS, TILE)
    assert smaller.initializers == {"repeats": ONES}
    assert (smaller.inputs, smaller.outputs) == (FILE.inputs, FILE.outputs)


def test_nodes_of_the_operator_that_fails_stay_with_what_they_read() -> None:
    assert without_unused(FILE, kept="Constant").nodes == (UNUSED, ABS, TILE)
    assert without_unused(FILE, kept="Shape").nodes == FILE.nodes


def test_a_file_that_has_nothing_unused_stays_as_it_is() -> None:
    smaller = without_unused(FILE)
    assert without_unused(smaller) == smaller


def test_the_operator_at_fault_is_one_of_the_file() -> None:
    assert operator_at_fault(FILE, "Constant._impl_v13") == "Constant"
    assert operator_at_fault(FILE, "Pool._impl_v1") == ""
    assert operator_at_fault(None, "Constant._impl_v13") == ""


class Scripts:
    """Scripts that show the bug while they have `needed` in them."""

    def __init__(self, needed: str) -> None:
        self.needed = needed
        self.runs: list[bool] = []

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self.runs.append(self.needed in source)
        return ScriptRun(1 if self.runs[-1] else 0)


def confirmed(make: Make, blame: Blame) -> Investigated:
    finding = record(case_of({"x0": "float32[1]", "x1": "float32[1]"}, [("v0", "add", "x0 x1")], "v0"),
                     Kind.REJECTED, TVM_ONNX, Raised(Stage.IMPORT, "ValueError", "no value in Constant"))  # fmt: skip
    return replace(make()[0], finding=finding.finding, case=finding.case, onnx=FILE, blame=blame)


def test_a_finding_keeps_what_its_outputs_need(make: Make) -> None:
    scripts = Scripts('"Tile"')
    saved = own_script.with_own_script(scripts.run_script, confirmed(make, Blame()), VERSIONS)
    assert saved.onnx == without_unused(FILE)
    assert (saved.script, scripts.runs) == (ScriptRun(1), [True])


def test_an_unused_node_stays_if_the_script_shows_nothing_without_it(make: Make) -> None:
    scripts = Scripts('"Shape"')
    saved = own_script.with_own_script(scripts.run_script, confirmed(make, Blame()), VERSIONS)
    assert saved.onnx == FILE
    assert (saved.script, scripts.runs) == (ScriptRun(1), [False, True])


def test_an_unused_node_stays_if_its_converter_is_at_fault(make: Make) -> None:
    scripts = Scripts("value_ints")
    saved = own_script.with_own_script(scripts.run_script, confirmed(make, AT_CONSTANT), VERSIONS)
    assert saved.onnx == without_unused(FILE, kept="Constant")
    assert (saved.script, scripts.runs) == (ScriptRun(1), [True])


def test_the_title_names_the_operator_at_which_the_importer_stops() -> None:
    case = case_of({"x0": "float32[1]", "x1": "float32[1]"}, [("v0", "add", "x0 x1")], "v0")
    evidence = Raised(Stage.IMPORT, "ValueError", "no value in Constant")
    title = issue.title(record(case, Kind.REJECTED, TVM_ONNX, evidence, onnx=FILE, blame=AT_CONSTANT))
    assert title == "[Bug][Relax][Frontend][ONNX] `from_onnx` on `Constant` fails: no value in Constant"


def test_a_report_with_the_exported_file_names_no_call_of_pytorch() -> None:
    case = case_of({"x0": "float32[1]", "x1": "float32[1]"}, [("v0", "add", "x0 x1")], "v0")
    blame = Blame(Place.FRONTEND, "add")
    evidence = Mismatch(0, "1", "2")
    assert sentences.culprit(record(case, Kind.WRONG_VALUE, TVM_ONNX, evidence, onnx=FILE, blame=blame)) == (
        "the frontend"
    )
    assert sentences.culprit(record(case, Kind.WRONG_VALUE, TVM_ONNX, evidence, blame=blame)) == (
        "the frontend, at `torch.add`"
    )
