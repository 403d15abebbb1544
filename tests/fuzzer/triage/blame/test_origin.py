"""What TVM ran for a case, and where the blamed function is."""

from __future__ import annotations

import pytest
from graphs_by_hand import case_of

from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.blame.origin import origin_of, place_in_python
from generators.graph import Graph, TensorType
from generators.onnx.model import Attribute, Body
from generators.onnx.model import Node as OnnxNode
from generators.onnx.model import Value as OnnxValue
from generators.onnx.unlisted import call_of
from generators.text_forms import SHORT_TEXT
from oracles.trace import MistypedOperator, Trace

BINARY = "BaseFXGraphImporter._binary_op.convert"
TRACE = Trace(
    converters=(("add.Tensor", BINARY), ("elu.default", "ExportedProgramImporter._elu"), ("Elu", "Elu._impl_v1")),
    legalizations=(("relax.nn.softmax", "_nn_softmax"),),
    lines=("BaseFXGraphImporter._binary_op.convert+3",),
    calls=("relax.add",),
    places=(
        (BINARY, "tvm/base.py:1"),
        ("ExportedProgramImporter._elu", "tvm/exported.py:2"),
        ("Elu._impl_v1", "tvm/onnx.py:3"),
        ("_nn_softmax", "tvm/nn.py:4"),
    ),
)


@pytest.mark.parametrize(
    ("blame", "place"),
    [
        (Blame(Place.FRONTEND, culprit="_binary_op of add"), "tvm/base.py:1"),
        (Blame(Place.FRONTEND, culprit="_elu"), "tvm/exported.py:2"),
        (Blame(Place.FRONTEND, culprit="Elu._impl_v1"), "tvm/onnx.py:3"),
        (Blame(Place.LEGALIZATION, culprit="relax.nn.softmax"), "tvm/nn.py:4"),
        (Blame(Place.FRONTEND, culprit="_add"), ""),
        (Blame(Place.FRONTEND), ""),
        (Blame(Place.PASS, culprit="FuseOps"), ""),
        (Blame(), ""),
    ],
)
def test_the_place_of_the_blamed_function(blame: Blame, place: str) -> None:
    assert place_in_python(blame, TRACE) == place


def test_what_ran_and_what_the_case_needs() -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "softmax", "x0", {"dim": -1}), ("v1", "elu", "v0")], "v1")
    origin = origin_of(case.graph, TRACE)
    assert (origin.lines, origin.calls) == (TRACE.lines, TRACE.calls)
    assert (origin.converter, origin.operator, origin.made, origin.right) == ("", "", "", "")
    assert "dim: int negative" in origin.attributes
    assert not any(attribute.startswith("alpha") for attribute in origin.attributes)


def test_the_first_wrong_type() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    mistyped = MistypedOperator(("mm.default", BINARY), "float32[2]", "int64[2]")
    origin = origin_of(case.graph, Trace(mistyped=mistyped))
    assert (origin.converter, origin.operator) == (BINARY, "mm.default")
    assert (origin.made, origin.right) == ("float32[2]", "int64[2]")


def test_a_node_with_large_graphs_is_not_among_the_attributes() -> None:
    """The text of the attribute `node` is longer than a finding may have."""
    constants = [
        OnnxNode("Constant", (), (f"c{place}",), (Attribute("value_float", value=0.5),)) for place in range(20)
    ]
    node = OnnxNode(
        "If",
        ("x",),
        ("y",),
        (Attribute("then_branch", body=Body(tuple(constants), (OnnxValue("c0", "FLOAT", (2,)),))),),
    )
    call = call_of(node, 0, {"x": TensorType.parse("bool[1]"), "y": TensorType.parse("float32[2]")})
    assert len(str(call.attrs["node"])) > SHORT_TEXT.most
    origin = origin_of(Graph((), (call,), ("y",), "onnx", opset=18), Trace())
    assert [each.partition(":")[0] for each in origin.attributes] == ["op_type", "domain", "version", "takes", "types"]
