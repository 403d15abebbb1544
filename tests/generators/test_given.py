"""A case that has the model of a person: which changes keep it, and how it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generators.case_file import decode, digest, encode
from generators.check import check
from generators.graph import Case, Given, Graph, Input, Invalid, Node, TensorType, Value
from generators.renumber import renumbered

TYPE = TensorType.parse("float32[2,n]")
PROGRAM = b'{"graph_module": {"graph": {"nodes": [{"target": "torch.ops.aten.relu.default", "metadata": {}}]}}}'


def case(model: bytes = PROGRAM, names: dict[str, str] | None = None, name: str = "x0") -> Case:
    type = TYPE.bind({"n": 3})
    graph = Graph((Input(Value(name, type)),), (Node("relu", (name,), {}, (Value("v0", type),)),), ("v0",))
    given = Given(graph, model, {name: "input"} if names is None else names, open=True)
    return Case(graph, {name: np.zeros((2, 3), np.float32)}, given=given)


def test_other_numbers_keep_it_and_another_graph_does_not() -> None:
    plain = case()
    assert replace(plain, tensors={"x0": np.ones((2, 3), np.float32)}).given is plain.given
    assert replace(plain, graph=replace(plain.graph)).given is None
    assert Case(plain.graph, plain.tensors).given is None


def test_a_case_at_its_own_sizes_keeps_it() -> None:
    bound = case().at({})
    assert bound.given is not None
    assert bound.given.graph is bound.graph


def test_new_names_of_values_keep_it_under_the_new_names() -> None:
    renamed = renumbered(case(name="y7"))
    assert renamed.given is not None
    assert (renamed.given.names, renamed.given.model, renamed.given.open) == ({"x0": "input"}, PROGRAM, True)


def test_it_is_stored_with_the_tensors() -> None:
    text, tensors = encode(case())
    assert json.loads(text)["given"] == {"names": {"x0": "input"}, "open": True}
    again = decode(text, tensors)
    assert again.given is not None
    assert (again.given.model, again.given.names, again.given.open) == (PROGRAM, {"x0": "input"}, True)
    assert encode(again) == (text, tensors)
    assert digest(case()) != digest(replace(case(), given=None))


def test_the_dtypes_of_the_model_are_stored_where_the_graph_has_wider_ones() -> None:
    plain = case(name="y7")
    assert plain.given is not None
    small = replace(plain, given=replace(plain.given, small={"v0": "float8_e5m2"}))
    renamed = renumbered(small)
    assert renamed.given is not None
    assert renamed.given.small == {"v0": "float8_e5m2"}
    text, tensors = encode(renamed)
    again = decode(text, tensors).given
    assert again is not None
    assert again.small == renamed.given.small
    for name, dtype, why in (
        ("v0", "int4", "float32 does not hold 'int4'"),
        ("v0", "float32", "float32 does not hold 'float32'"),
        ("v9", "int4", "there is no value 'v9'"),
    ):
        changed = json.loads(text)
        changed["given"]["small"] = {name: dtype}
        with pytest.raises(Invalid, match=why):
            decode(json.dumps(changed).encode(), tensors)


def test_a_case_without_one_is_stored_as_before() -> None:
    text, tensors = encode(replace(case(), given=None))
    assert "given" not in json.loads(text)
    assert decode(text, tensors).given is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda doc: doc.pop("given"), "one of its two parts is missing"),
        (lambda doc: doc["given"]["names"].update(x9="y"), "'x9' is no input"),
        (lambda doc: doc["given"].update(model="x"), "unknown field `model`"),
    ],
)
def test_what_does_not_fit_is_refused(change: Callable[[Any], object], why: str) -> None:
    text, tensors = encode(case())
    doc = json.loads(text)
    change(doc)
    with pytest.raises(Invalid, match=why):
        decode(json.dumps(doc).encode(), tensors)


def test_a_case_is_checked_with_its_model() -> None:
    check(case())
    with pytest.raises(Invalid, match=r"target may not be 'torch\.hub\.load'"):
        check(case(b'{"graph_module": {"graph": {"nodes": [{"target": "torch.hub.load"}]}}}'))
