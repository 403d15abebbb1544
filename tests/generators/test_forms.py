"""Every form of every row says the same as its plain form: bit for bit, for it is the same operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
import torch
from eager import run_case
from rows import each_row

from fuzzer.lanes.base.bench import to_torch
from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Form, Node, Profile
from generators.ops import OPS, TABLE, Op
from generators.random_graph import with_values
from generators.torch_source import render, statements

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

WITH_FORMS = each_row(op for op in OPS if op.forms)
BEFORE = tuple(TABLE[name] for name in ("neg", "logical_not", "add"))
"""What in-place calls may change is the result of an earlier call: numbers, booleans, or a promotion."""
LIMITS = Limits(max_numel=256)
SEEDS, EACH = 800, 3

ROUNDS_OTHERWISE = {
    "multi_head_attention": "the layer with batch_first has one product for keys and values that are one tensor",
    "multi_head_attention_mask": "likewise",
}


def grown(op: Op) -> Iterator[tuple[Builder, Node]]:
    """Small graphs that end in a call of the row; each fourth has NaN and infinities among its numbers."""
    for seed in range(SEEDS):
        profile = Profile.SPECIAL if seed % 4 == 3 else Profile.NORMAL
        builder = Builder(NumpySource(17, seed), LIMITS, profile)
        builder.grow(BEFORE[seed % len(BEFORE)])
        if builder.grow(op, connected=seed % 2 == 0):
            yield builder, builder.nodes[-1]


@cache
def drawn(name: str) -> dict[Form, list[Case]]:
    """The first calls in each form. Operands and results are outputs where that may be."""
    op = TABLE[name]
    found: dict[Form, list[Case]] = {form: [] for form in op.forms}
    for builder, node in grown(op):
        if node.form in found and len(found[node.form]) < EACH:
            case = with_values(builder, f"{name} {node.form}")
            outputs = [value.name for value in node.results]
            kept = [name for name in node.args if name.startswith("v") and node.form is not Form.INPLACE]
            found[node.form].append(replace(case, graph=replace(case.graph, outputs=(*outputs, *kept))))
        if all(len(cases) == EACH for cases in found.values()):
            break
    return found


def plainly(case: Case) -> Case:
    *others, last = case.graph.nodes
    return replace(case, graph=replace(case.graph, nodes=(*others, replace(last, form=Form.PLAIN))))


def identical(a: torch.Tensor, b: torch.Tensor) -> bool:
    """In type and in every bit; one NaN is as good as another."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    holes = a.isnan()
    if not torch.equal(holes, b.isnan()):
        return False
    a, b = a.masked_fill(holes, 0), b.masked_fill(holes, 0)
    return torch.equal(a, b) and torch.equal(a.signbit(), b.signbit())


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    eps = torch.finfo(a.dtype).eps
    return a.dtype == b.dtype and torch.allclose(a, b, rtol=64 * eps, atol=1e3 * eps, equal_nan=True)


def assert_owned(case: Case) -> None:
    """No layer has a parameter left that it made itself."""
    scope: dict[str, type[torch.nn.Module]] = {}
    exec(render(case.graph), scope)
    owned = [to_torch(array) for array in case.owned.values()]
    given = {tensor.data_ptr() for tensor in owned}
    for name, parameter in scope["Model"](*owned).named_parameters():
        assert parameter.data_ptr() in given, f"{name}: {render(case.graph)}"


@pytest.mark.exhaustive
@WITH_FORMS
def test_every_form_is_drawn_and_gives_what_the_plain_one_gives(op: Op) -> None:
    same = close if op.name in ROUNDS_OTHERWISE else identical
    for form, cases in drawn(op.name).items():
        assert cases, f"{form} is not drawn"
        for case in cases:
            check(case)
            check(plainly(case))
            assert_owned(case)
            for a, b in zip(run_case(case), run_case(plainly(case)), strict=True):
                assert same(a, b), f"{render(case.graph)}\n{a}\n{b}"


@pytest.mark.exhaustive
@WITH_FORMS
def test_every_form_is_another_text(op: Op) -> None:
    """For some calls at least, or it would be no form."""
    missing = set(op.forms)
    for builder, node in islice(grown(op), 60):
        types = builder.graph().arg_types(node)
        plain = statements(replace(node, form=Form.PLAIN), node.args)
        for form in sorted(missing):
            written = replace(node, form=form)
            if op.expresses(form, types, node.attrs) and statements(written, node.args, "self.m") != plain:
                missing.remove(form)
        if not missing:
            return
    assert not missing


def test_in_place_calls_are_many() -> None:
    """So that the search above does not look for nothing."""
    assert sum(Form.INPLACE in op.forms for op in OPS) > 120


def test_in_place_calls_change_their_operand_and_give_it_back() -> None:
    """Seen from outside: the first operand and the result are one tensor."""
    for name in ("neg", "add", "clamp", "relu", "index_put", "setitem"):
        (case, *_) = drawn(name)[Form.INPLACE]
        node = case.graph.nodes[-1]
        seen = replace(case, graph=replace(case.graph, outputs=(node.args[0], node.results[0].name)))
        operand, result = run_case(seen)
        assert operand.data_ptr() == result.data_ptr()
