"""Every form of every row gives the results of the plain form, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
import torch
from eager import run_case
from rows import each_row

from fuzzer.lanes.base.arrays import to_torch
from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Form, Node, Profile
from generators.op import Op
from generators.random_graph import with_values
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.source import render, statements

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

WITH_FORMS = each_row(op for op in OPS if op.forms)
BEFORE = tuple(TABLE[name] for name in ("neg", "logical_not", "add"))
"""A call in place may only change the result of an earlier call: of one of these."""
LIMITS = Limits(max_numel=256)
SEEDS, EACH = 800, 3

ROUNDS_OTHERWISE = {
    "multi_head_attention": "with batch_first, the layer computes equal keys and values in one product",
    "multi_head_attention_mask": "as multi_head_attention",
}


def grown(op: Op) -> Iterator[tuple[Builder, Node]]:
    """Yield small graphs that end in a call of the row, and the call. Every fourth graph has NaN and infinities."""
    for seed in range(SEEDS):
        profile = Profile.SPECIAL if seed % 4 == 3 else Profile.NORMAL
        builder = Builder(NumpySource(17, seed), LIMITS, profile)
        builder.grow(BEFORE[seed % len(BEFORE)])
        if builder.grow(op, connected=seed % 2 == 0):
            yield builder, builder.nodes[-1]


@cache
def drawn(name: str) -> dict[Form, list[Case]]:
    """Return the first calls in each form. Their operands and results are outputs where that is allowed."""
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


def in_plain_form(case: Case) -> Case:
    *others, last = case.graph.nodes
    return replace(case, graph=replace(case.graph, nodes=(*others, replace(last, form=Form.PLAIN))))


def identical(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same type and bits. All NaN are equal."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    nans = a.isnan()
    if not torch.equal(nans, b.isnan()):
        return False
    a, b = a.masked_fill(nans, 0), b.masked_fill(nans, 0)
    return torch.equal(a, b) and torch.equal(a.signbit(), b.signbit())


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    eps = torch.finfo(a.dtype).eps
    return a.dtype == b.dtype and torch.allclose(a, b, rtol=64 * eps, atol=1e3 * eps, equal_nan=True)


def assert_owned(case: Case) -> None:
    """Check that every parameter of the model is one of the case's, and none is a layer's own."""
    scope: dict[str, type[torch.nn.Module]] = {}
    exec(render(case.graph), scope)
    owned = [to_torch(array) for array in case.owned.values()]
    of_case = {tensor.data_ptr() for tensor in owned}
    for name, parameter in scope["Model"](*owned).named_parameters():
        assert parameter.data_ptr() in of_case, f"{name}: {render(case.graph)}"


@pytest.mark.exhaustive
@WITH_FORMS
def test_every_form_is_drawn_and_gives_the_results_of_the_plain_form(op: Op) -> None:
    same = close if op.name in ROUNDS_OTHERWISE else identical
    for form, cases in drawn(op.name).items():
        assert cases, f"{form} is not drawn"
        for case in cases:
            check(case)
            check(in_plain_form(case))
            assert_owned(case)
            for a, b in zip(run_case(case), run_case(in_plain_form(case)), strict=True):
                assert same(a, b), f"{render(case.graph)}\n{a}\n{b}"


@pytest.mark.exhaustive
@WITH_FORMS
def test_every_form_has_another_source_text(op: Op) -> None:
    """For at least some calls."""
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


def test_many_rows_have_an_in_place_form() -> None:
    """Otherwise the tests above would compare little."""
    assert sum(Form.INPLACE in op.forms for op in OPS) > 120


def test_in_place_calls_change_and_return_their_operand() -> None:
    for name in ("neg", "add", "clamp", "relu", "index_put", "setitem"):
        (case, *_) = drawn(name)[Form.INPLACE]
        node = case.graph.nodes[-1]
        with_operand = replace(case, graph=replace(case.graph, outputs=(node.args[0], node.results[0].name)))
        operand, result = run_case(with_operand)
        assert operand.data_ptr() == result.data_ptr()
