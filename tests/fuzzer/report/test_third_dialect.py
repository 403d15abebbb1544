"""A dialect that is neither PyTorch's nor ONNX's gives its words and its model to reports by its record alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from records import record

from fuzzer.children.validity import OK, verdict
from fuzzer.findings.record import FindingRecord
from fuzzer.lanes import DIALECT_LANES, TVM_LANES, lanes_of
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.report import repro, sentences
from fuzzer.report.title import plain_title
from generators.dialect import ModuleText, dialect_named
from generators.graph import Case, Graph, Input, Node, TensorType, Value
from generators.torch.dialect import DIALECT, check
from oracles.finding import Kind
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Raised, Ran, Stage

SOURCE = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return (-x0,)
"""


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a dialect whose only operator is a negation, and that an importer reads."""
    module = ModuleType("generators.toy.dialect")
    module.DIALECT = replace(  # type: ignore[attr-defined]
        DIALECT,
        name="toy",
        title="Toy",
        words=replace(DIALECT.words, run="The toy runs this model"),
        check=check,
        source=lambda graph: SOURCE,
        called=lambda graph, node: f"toy.{node.op}",
    )
    monkeypatch.setitem(sys.modules, "generators.toy", ModuleType("generators.toy"))
    monkeypatch.setitem(sys.modules, "generators.toy.dialect", module)
    monkeypatch.setattr("generators.check.NAMES", ("torch", "onnx", "toy"))
    monkeypatch.setattr(Importer.EXPORT, "row", replace(Importer.EXPORT.row, dialect="toy"))
    yield "toy"
    dialect_named.cache_clear()


def negation(dialect: str) -> Case:
    type = TensorType.parse("float32[2]")
    node = Node("neg", ("x0",), {}, (Value("v0", type),))
    graph = Graph((Input(Value("x0", type)),), (node,), ("v0",), dialect=dialect)
    return Case(graph, {"x0": np.ones(2, np.float32)})


def failed_import(case: Case) -> FindingRecord:
    return record(
        case, Kind.REJECTED, TVM_LANES[0], Raised(Stage.IMPORT, "tvm.error.InternalError", "it has no layout")
    )


def test_a_title_and_what_is_expected_are_in_its_words(toy: str) -> None:
    finding = failed_import(negation(toy))
    assert plain_title(finding) == "`from_exported_program` on `toy.neg` fails: it has no layout"
    assert sentences.expected(finding).startswith("The toy runs this model; TVM should import")


def test_the_script_has_its_model(toy: str) -> None:
    script = repro.script(failed_import(negation(toy)))
    assert "\n\nclass Model(torch.nn.Module):\n    def forward(self, x0):\n        return (-x0,)\n" in script
    assert "model = Model().eval()" in script
    assert script.count("import torch\n") == 1


def test_pytorch_runs_its_model(toy: str) -> None:
    assert verdict(negation(toy)) == (OK, "")


class Negating:
    """The reference of a toy whose model is a module of Relax."""

    def supports(self, case: Case, spec: LaneSpec) -> None: ...

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        return Ran((-prepared.case.tensors["x0"],))


def test_its_own_reference_runs_its_module(toy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = replace(dialect_named(toy), source=None, module=lambda graph: ModuleText("class Module: ..."))
    monkeypatch.setattr(sys.modules["generators.toy.dialect"], "DIALECT", record)
    dialect_named.cache_clear()
    references = ModuleType("fuzzer.lanes.toy.references")
    references.lane = lambda gradients: Negating()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fuzzer.lanes.toy.references", references)
    eager = LaneSpec("toy", toy)  # type: ignore[arg-type]
    monkeypatch.setitem(DIALECT_LANES, toy, replace(lanes_of("relax"), judges_of_failures=(eager,)))
    assert verdict(negation(toy)) == (OK, "")
