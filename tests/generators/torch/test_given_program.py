"""What a given program of PyTorch may have: it is read by code that executes what it names."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from generators.graph import Invalid
from generators.torch.given import check_given, without_texts

TREE = '[1, {"type": "builtins.tuple", "context": "null", "children_spec": []}]'
GOOD: dict[str, Any] = {
    "graph_module": {
        "graph": {
            "nodes": [
                {"target": "torch.ops.aten.relu.default", "inputs": [], "metadata": {}},
                {"target": "torch.ops.aten.linear.default", "inputs": [{"arg": {"as_string": "torch.load"}}]},
                {"target": "torch.ops.higher_order.cond", "inputs": []},
                {"target": "_operator.floordiv", "inputs": []},
            ],
            "tensor_values": {
                "x": {"sizes": [{"as_expr": {"expr_str": "Symbol('s77', positive=True, integer=True)"}}]},
                "y": {"sizes": [{"as_expr": {"expr_str": "Mul(Integer(2), s77) // 3 + Max(1, s77)"}}]},
            },
            "sym_bool_values": {"gt": {"as_expr": {"expr_str": "StrictGreaterThan(Symbol('s77'), Integer(3))"}}},
        },
        "module_call_graph": [{"signature": {"in_spec": TREE, "out_spec": TREE}}],
    },
    "guards_code": [],
    "verifiers": ["TRAINING"],
}


def changed(path: tuple[str | int, ...], value: object) -> bytes:
    document = msgspec.json.decode(msgspec.json.encode(GOOD))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return msgspec.json.encode(document)


NODE = ("graph_module", "graph", "nodes", 0)
FORMULA = ("graph_module", "graph", "tensor_values", "x", "sizes", 0, "as_expr", "expr_str")
SIGNATURE = ("graph_module", "module_call_graph", 0, "signature")


def test_a_program_of_pytorch_passes() -> None:
    check_given(msgspec.json.encode(GOOD))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*NODE, "target"), "torch.load"),
        ((*NODE, "target"), "torch.ops.aten.from_file.default"),
        ((*NODE, "target"), "torch.ops.aten.save.default"),
        ((*NODE, "target"), "torch.ops.aten.relu"),
        ((*NODE, "target"), "torch.ops.aten.relu.default.__globals__"),
        ((*NODE, "target"), "torch.ops.load_library"),
        ((*NODE, "target"), "_operator.attrgetter"),
        ((*NODE, "target"), "_operator.methodcaller"),
        ((*NODE, "target"), "math.__dict__"),
        ((*NODE, "target"), "#custom"),
        ((*NODE, "target"), ["torch.load"]),
        ((*NODE, "target"), None),
        ((*NODE, "metadata"), {"stack_trace": "File /home/me/model.py"}),
        ((*NODE, "inputs"), [{"arg": {"as_custom_obj": {"name": "x"}}}]),
        (FORMULA, "__import__('os').system('true')"),
        (FORMULA, "Symbol('s77').__class__"),
        (FORMULA, "open('/tmp/x')"),
        (FORMULA, "[x for x in y]"),
        (FORMULA, "(lambda: 1)()"),
        (FORMULA, "Symbol('a b')"),
        (FORMULA, "1" * 3000),
        (FORMULA, 3),
        ((*SIGNATURE, "in_spec"), '[1, {"type": "os.system", "context": "null", "children_spec": []}]'),
        ((*SIGNATURE, "out_spec"), "no JSON"),
        ((*NODE, "inputs"), [{"arg": {"as_operator": "torch.load"}}]),
        ((*NODE, "inputs"), [{"name": "x=open('/tmp/x')", "arg": {"as_int": 1}}]),
        ((*NODE, "outputs"), [{"as_tensor": {"name": "x=open('/tmp/x')"}}]),
        ((*NODE, "outputs"), [{"as_tensor": {"name": "lambda"}}]),
        ((*NODE, "inputs"), [{"arg": {"as_sym_int": {"as_name": "a;b"}}}]),
        ((*NODE, "inputs"), [{"arg": {"as_graph": {"name": "f(x)"}}}]),
        ((*NODE, "is_hop_single_tensor_return"), "a(b)"),
        (("graph_module", "graph", "tensor_values", "x=open('/tmp/x')"), {"dtype": 7}),
        (("graph_module", "signature"), {"input_specs": [{"parameter": {"parameter_name": 'w", print(1), "'}}]}),
        ((*SIGNATURE, "forward_arg_names"), ["x=open('/tmp/x')"]),
        ((*SIGNATURE, "in_spec"), '[1, {"type": "builtins.dict", "context": "[\\"a=b()\\"]", "children_spec": []}]'),
        ((*SIGNATURE, "in_spec"), '[1, {"type": ["builtins.dict"], "context": null, "children_spec": []}]'),
        (("guards_code",), ["print(1)"]),
        (("verifiers",), ["os"]),
        (("graph_module", "custom_obj"), {"x": 1}),
    ],
)
def test_what_could_execute_something_is_refused(path: tuple[str | int, ...], value: object) -> None:
    with pytest.raises(Invalid, match=r"^given: "):
        check_given(changed(path, value))


@pytest.mark.parametrize("model", [b"", b"[]", b"\xff", b"[" * 2000])
def test_what_is_no_document_is_refused(model: bytes) -> None:
    with pytest.raises(Invalid, match=r"^given: "):
        check_given(model)


def test_texts_of_the_person_are_left_out() -> None:
    node = {"target": "torch.ops.aten.relu.default", "metadata": {"stack_trace": "File /home/me/model.py"}}
    document = {**GOOD, "graph_module": {"graph": {"nodes": [node]}}, "guards_code": ["x > 1"]}
    left = without_texts(document)
    assert left["graph_module"]["graph"]["nodes"] == [{"target": "torch.ops.aten.relu.default", "metadata": {}}]
    assert left["guards_code"] == []
    check_given(msgspec.json.encode(left))
