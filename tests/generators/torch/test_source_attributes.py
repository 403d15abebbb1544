"""Attributes reach the rendered source through their kinds alone, as literals: no text of a file becomes code."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import torch
from rows import SMALL, builders, each_row

from generators.builder import Builder
from generators.check import check
from generators.choice import NumpySource
from generators.graph import (
    DTYPE_NAMES,
    Attr,
    Attrs,
    Case,
    Form,
    Graph,
    Input,
    Invalid,
    Node,
    TensorType,
    Value,
)
from generators.op import Types
from generators.torch.ops import TABLE, Op
from generators.torch.random_graph import generate
from generators.torch.source import constructor, statements

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


CODE = (
    "0); __import__('os').abort(",
    "float32) or __import__('os').abort(",
    "__import__('os').abort()",
    "none'); __import__('os').abort(('",
    'mean"); __import__("os").abort(("',
    "ij->ij'); __import__('os').abort(('",
    "ij->ij\n__import__('os').abort()",
    "0]; __import__('os').abort(); x0[0",
    "1:__import__('os').abort()",
    "{0.__class__}",
    "{1}.__class__",
    "{1} if {1} else __import__('os')",
    "{0}",
    "{args}",
    "{out}",
    "[0, x0]",
    "[lambda: 0]",
    "x0.data",
    "tanh\n",
    "float32\n",
    "same\n",
    "inf\n",
    "...\n",
    "{1}\n",
    "0\n",
    "'",
    '"',
    "\\",
    "#",
)
"""No kind accepts any of these, nor a list with one of them."""

PLAUSIBLE: tuple[Any, ...] = (
    *("", "0", "٣", "x0", "None", "True", "float32", "torch", "nan", "inf", "-inf", "sum"),
    *("...", "{1}", "[0, 1]", "1:2", "ab->b", "same"),
    *(True, 1, 2**63, 1.5, -0.0, float("nan"), float("inf"), 10**400, None),
    *((), ((0,),), ((),), (None,), (float("nan"),), (1, 2), (0.5, True)),
)
"""Some kinds accept some of these, and write them as literals."""

ATTACKS: tuple[Attr, ...] = (
    *CODE,
    *(("0", text) for text in CODE),
    *PLAUSIBLE,
    *((text,) for text in PLAUSIBLE if isinstance(text, str)),
)

WITH_ATTRIBUTES = each_row(op for op in TABLE.values() if op.schema)


def drawn(op: Op) -> tuple[Types, Attrs]:
    if op.name == "torch_call":  # never drawn
        return (TensorType.parse("float32[2]"),), {"call": "torch.sin(a0)", "types": ("float32[2]",)}
    builder = next(b for b in (Builder(NumpySource(0, i), SMALL) for i in range(100)) if b.grow(op))
    node = builder.nodes[-1]
    return builder.graph().arg_types(node), node.attrs


def text_of(op: Op, types: Types, attrs: Attrs, form: Form = Form.PLAIN) -> str:
    results = tuple(Value(f"v{i}", type) for i, type in enumerate(op.results(types, attrs)))
    args = tuple(f"a{i}" for i in range(len(types)))
    node = Node(op.name, args, attrs, results, form)
    return "\n".join([*constructor(node, args, types, "self.m0"), *statements(node, args, "self.m0")])


NAMES = {"torch", "F", "self"} | {"float", "range", "sum", "abs"} | {"_", "i", "x", "y", "part"}
"""The names in sources besides operands and results: modules, builtins, and local names of statements."""


def unexpected_names(text: str) -> set[str]:
    """Return the names and private attributes in a source that are not expected."""
    parts = list(ast.walk(ast.parse(text)))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    private = {part.attr for part in parts if isinstance(part, ast.Attribute) and part.attr.startswith("_")}
    operands = {name for name in names if re.fullmatch("[av][0-9]+", name)}
    return (names - operands - NAMES) | (private - {"_higher_order_ops", "_assert_async"})


@pytest.mark.exhaustive
@WITH_ATTRIBUTES
def test_an_attribute_outside_its_schema_is_refused_before_rendering(op: Op) -> None:
    types, attrs = drawn(op)
    for key, kind in op.schema.items():
        refused = 0
        for attack in ATTACKS:
            if kind.accepts(attack):
                assert is_literal(kind.render(attack)), (key, attack)
                with suppress(Invalid):  # the message is about another key, or about the operands
                    assert unexpected_names(text_of(op, types, {**attrs, key: attack})) == set(), (key, attack)
                continue
            refused += 1
            with pytest.raises(Invalid) as error:
                op.results(types, {**attrs, key: attack})
            assert str(error.value) == f"{key} must be {kind.description}, not {attack!r}"
        assert refused >= 2 * len(CODE)


def test_no_kind_accepts_code() -> None:
    kinds = {id(kind): kind for op in TABLE.values() for kind in op.schema.values()}
    assert len(kinds) > 40
    for kind in kinds.values():
        for text in CODE:
            for attack in (text, (text,), (text, text), (0, text), ("0", text), ("...", text), ("{1}", text)):
                assert not kind.accepts(attack), (kind.description, attack)


def is_literal(text: str) -> bool:
    """Whether a text is a literal, a dtype of torch, or an infinity."""
    tree = ast.parse(text, mode="eval").body
    dtypes = re.fullmatch(r"torch\.([a-z0-9]+)", text)
    if (dtypes and dtypes[1] in DTYPE_NAMES) or text in ('float("inf")', 'float("-inf")'):
        return True
    parts = (ast.Constant, ast.Tuple, ast.Load, ast.UnaryOp, ast.USub)
    return all(isinstance(part, parts) for part in ast.walk(tree))


@pytest.mark.exhaustive
@WITH_ATTRIBUTES
def test_a_file_with_code_in_an_attribute_is_refused(op: Op) -> None:
    if op.name == "torch_call":
        types, attrs = drawn(op)
        node = Node(op.name, ("x0",), attrs, (Value("v0", types[0]),))
        graph = Graph((Input(Value("x0", types[0])),), (node,), ("v0",))
        case = Case(graph, {"x0": torch.zeros(2).numpy()})
    else:
        case = generate(NumpySource(0), SMALL, [op], symbolic=False)
    check(case)
    index, node = next((i, n) for i, n in enumerate(case.graph.nodes) if n.op == op.name)
    for key in op.schema:
        attacked = replace(node, attrs={**node.attrs, key: CODE[0]})
        nodes = (*case.graph.nodes[:index], attacked, *case.graph.nodes[index + 1 :])
        with pytest.raises(Invalid, match=rf"^nodes\[{index}\] \({op.name}\): {key} must be "):
            check(replace(case, graph=replace(case.graph, nodes=nodes)))


SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), **{name: getattr(torch, name) for name in DTYPE_NAMES}}
"""Attributes whose text is no string literal in the source."""


@pytest.mark.exhaustive
@WITH_ATTRIBUTES
def test_drawn_attributes_render_as_literals(op: Op) -> None:
    nodes = [builder.nodes[-1].attrs for builder in builders(op, 20)] or [drawn(op)[1]]
    for attrs in nodes:
        for key, kind in op.schema.items():
            attr, text = attrs[key], kind.render(attrs[key])
            assert is_literal(text), text
            value = eval(text, {"__builtins__": {}, "torch": torch, "float": float})
            if value != attr:
                assert isinstance(attr, str)
                assert value == SPECIAL[attr], text
            else:
                assert repr(value) == repr(attr)


@pytest.mark.exhaustive
@each_row()
def test_sources_name_only_torch_and_their_operands(op: Op) -> None:
    for builder in builders(op, 6, seed=15):
        node = builder.nodes[-1]
        types = builder.graph().arg_types(node)
        for form in (Form.PLAIN, *op.forms):
            if op.expresses(form, types, node.attrs):
                assert unexpected_names(text_of(op, types, node.attrs, form)) == set(), form
