"""Parts of programs that change values in place compute what the program computes there."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
from given_by_hand import document

from fuzzer.lanes.torch.given import FlatModule, given_program
from generators.graph import Array, Case, Given, Graph, Input, Invalid, TensorType, Value
from generators.torch.cut_given import cut_given
from generators.torch.given import check_given
from generators.torch.in_place import SHARING, changes_operand, changes_others, in_order

TYPE = TensorType.parse("float32[2,2]")
GIVEN = np.array([[-3, -1], [2, 5]], np.float32)


class Model(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


def chain(x: torch.Tensor) -> torch.Tensor:
    """The program's values: neg, add, relu_, mul_, sin. `neg` and `relu_` have the same memory as `mul_`."""
    y = x.neg()
    more = y + 1
    torch.relu_(y)
    y.mul_(3)
    return y.sin() + more


def targets(part: bytes) -> list[str]:
    return [node["target"].split(".")[3] for node in json.loads(part)["graph_module"]["graph"]["nodes"]]


def cut(function: Callable[[torch.Tensor], object], inputs: str, *outputs: str) -> bytes:
    model = document(Model(function), (torch.ones(2, 2),))
    part, taken = cut_given(model, {inputs: Input(Value("x0", TYPE))}, dict.fromkeys(outputs, TYPE))
    assert taken == ()
    check_given(part)
    return part


def results(part: bytes, name: str) -> tuple[list[Array], Array]:
    """What the part computes of `GIVEN`, and what its input holds after that."""
    graph = Graph((Input(Value("x0", TYPE)),), (), ())
    module = FlatModule(given_program(Case(graph, {"x0": GIVEN}, given=Given(graph, part, {"x0": name}))))
    given = torch.tensor(GIVEN)
    with torch.no_grad():
        return [each.numpy() for each in module(given)], given.numpy()


def test_a_changed_value_is_read_where_it_was_changed() -> None:
    part = cut(chain, "x", "sin")
    assert targets(part) == ["neg", "relu_", "mul_", "sin"]
    (got,), _ = results(part, "x")
    assert np.allclose(got, np.sin(np.maximum(-GIVEN, 0) * 3))


def test_a_part_begins_behind_a_change() -> None:
    part = cut(chain, "relu_", "sin")
    assert targets(part) == ["clone", "mul_", "sin"]
    (got,), given = results(part, "relu_")
    assert np.allclose(got, np.sin(GIVEN * 3))
    assert np.array_equal(given, GIVEN)


def test_a_value_is_returned_as_it_was_before_its_change() -> None:
    part = cut(chain, "x", "neg", "relu_", "mul_")
    assert targets(part) == ["neg", "clone", "relu_", "clone", "mul_"]
    (neg, relu, mul), _ = results(part, "x")
    assert np.array_equal(neg, -GIVEN)
    assert np.array_equal(relu, np.maximum(-GIVEN, 0))
    assert np.array_equal(mul, np.maximum(-GIVEN, 0) * 3)


def test_an_input_of_the_program_is_not_changed_by_a_part() -> None:
    part = cut(lambda x: torch.relu_(x.t()).sin(), "x", "sin")
    assert targets(part) == ["t", "clone", "relu_", "sin"]
    (got,), given = results(part, "x")
    assert np.allclose(got, np.sin(np.maximum(GIVEN.T, 0)))
    assert np.array_equal(given, GIVEN)


def other_part(x: torch.Tensor) -> torch.Tensor:
    y = x.neg()
    torch.relu_(y[0])
    return y.sin()


def view_before(x: torch.Tensor) -> torch.Tensor:
    y = x.neg()
    same = y.view(2, 2)
    torch.relu_(y)
    return same.sin()


@pytest.mark.parametrize("function", [other_part, view_before])
def test_a_value_whose_memory_was_changed_through_another_one_is_in_no_part(
    function: Callable[[torch.Tensor], object],
) -> None:
    with pytest.raises(Invalid, match=r"reads .[a-z]*:relu_., which is no input"):
        cut(function, "x", "sin")


def test_a_part_without_the_change_is_cut() -> None:
    assert targets(cut(other_part, "x", "neg")) == ["neg"]


def test_all_operators_of_pytorch_that_return_the_memory_of_an_operand_are_known() -> None:
    found = set()
    for schema in torch._C._jit_get_all_schemas():
        operands = [each.alias_info for each in schema.arguments if each.alias_info]
        shares = operands and not any(each.is_write for each in operands)
        if schema.name.startswith("aten::") and shares and any(each.alias_info for each in schema.returns):
            found.add(schema.name.removeprefix("aten::"))
    not_exported = {"__getitem__", "_unwrap_optional"}  # of TorchScript alone
    assert found - not_exported <= SHARING
    assert found


def test_all_operators_of_pytorch_that_change_a_tensor_are_known() -> None:
    """Those of a list, such as `_foreach_add_`, and of a tensor that a caller gives for the result, too."""
    lacking, others = set(), set()
    for schema in torch._C._jit_get_all_schemas():
        name, overload = schema.name.removeprefix("aten::"), schema.overload_name or "default"
        changed = [each.type for each in schema.arguments if each.alias_info and each.alias_info.is_write]
        found = changes_operand(name) or changes_others(f"{name}.{overload}")
        if schema.name.startswith("aten::") and any(str(each) in TENSORS for each in changed) and not found:
            lacking.add(f"{name}.{overload}")
        if schema.name.startswith("aten::") and found and not schema.is_mutable:
            others.add(f"{name}.{overload}")
    assert lacking <= NOT_EXPORTED
    assert others <= {"_no_grad_embedding_renorm_.default"}  # it changes its operand without saying so


TENSORS = ("Tensor", "Optional[Tensor]", "List[Tensor]")
NOT_EXPORTED = {
    "record_stream.default",
    "retain_grad.default",
    "_flash_attention_forward_no_dropout_inplace.default",
    *(f"{name}.t" for name in ("append", "insert", "pop", "Delete", "clear", "_set_item", "reverse", "extend")),
    *(f"{name}.Tensor" for name in ("clear", "remove", "sort", "setdefault", "update", "_set_item", "popitem")),
}


@pytest.mark.slow
def test_the_memory_of_many_values_is_followed_in_time_that_grows_with_them() -> None:
    """Each node shares memory with the one before: sets of values that are joined are not written anew each time."""
    nodes = [
        {
            "target": "torch.ops.aten.view.default",
            "inputs": [{"name": "self", "arg": {"as_tensor": {"name": f"v{number}"}}, "kind": 1}],
            "outputs": [{"as_tensor": {"name": f"v{number + 1}"}}],
        }
        for number in range(50_000)
    ]
    relu = {**nodes[-1], "target": "torch.ops.aten.relu_.default", "outputs": [{"as_tensor": {"name": "r"}}]}
    assert in_order([*nodes, relu]).changes["r"].shared == {f"v{number}" for number in range(50_001)}


def several(x: torch.Tensor) -> torch.Tensor:
    y = x.neg()
    torch._foreach_add_([y], 1.0)
    return y.sin()


def into_another(x: torch.Tensor) -> torch.Tensor:
    y = x.neg()
    torch.sin(x, out=y)
    return y + 1


@pytest.mark.parametrize(("function", "output"), [(several, "sin"), (into_another, "add")])
def test_a_change_that_is_not_followed_is_refused(
    function: Callable[[torch.Tensor], torch.Tensor], output: str
) -> None:
    with pytest.raises(Invalid, match="changes values in a way that is not followed"):
        cut(function, "x", output)


def test_an_assignment_with_an_operator_is_followed() -> None:
    def shifted(x: torch.Tensor) -> torch.Tensor:
        y = x.to(torch.int32)
        more = y + 1
        y <<= 1
        return y + more

    part = cut_given(
        document(Model(shifted), (torch.ones(2, 2),)),
        {"x": Input(Value("x0", TYPE))},
        {"to": TensorType.parse("int32[2,2]"), "add_1": TensorType.parse("int32[2,2]")},
    )[0]
    (before, after), _ = results(part, "x")
    assert before.tolist() == GIVEN.astype(np.int32).tolist()
    assert after.tolist() == (GIVEN.astype(np.int32) * 3 + 1).tolist()
