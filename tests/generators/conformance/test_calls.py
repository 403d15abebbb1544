"""The calls in the families' tables are accepted and refused as the tables say."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import onnx_calls
import pytest
from eager import in_torch, inferred, types_of

from conformance import families
from generators.graph import Attrs, Form, Invalid
from generators.torch.ops import TABLE

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SEVERAL_RESULTS = dict.fromkeys(
    ("multi_head_attention", "multi_head_attention_mask", "max_pool1d_with_indices", "native_dropout"), 2
)
"""Row -> how many results its refused calls would have, where PyTorch answers otherwise for one."""


def calls(dialect: str, table: str) -> pytest.MarkDecorator:
    """A test for each family that has calls in the table. It lists those that are not as the table says."""
    named = [family for family in families(dialect) if getattr(family, table, ())]
    return pytest.mark.parametrize("family", named, ids=lambda family: family.__name__.rpartition(".")[2])


def offenders(family: ModuleType, table: str, fault: Callable[[str, str, Attrs, str], str]) -> list[str]:
    """The calls of a table with a fault: `fault` says what is wrong, and nothing where nothing is."""
    found = ((call, fault(*call)) for call in getattr(family, table))
    return [f"{op}({types}) {given}: {wrong}" for (op, types, given, _), wrong in found if wrong]


def not_refused(expected: str, infer: Callable[[], str]) -> str:
    """What is wrong where `Invalid` with this part of its message is expected."""
    try:
        return f"gives {infer()}"
    except Invalid as error:
        return "" if expected in str(error) else f"{error}: that does not say {expected!r}"


def by_row(op: str, types: str, given: Attrs) -> str:
    return inferred(op, types_of(types), attrs_of(op, given))


def by_pytorch(
    family: ModuleType, op: str, types: str, given: Attrs, form: Form = Form.PLAIN, count: int | None = None
) -> str:
    results = SEVERAL_RESULTS.get(op, 1) if count is None else count
    return in_torch(op, types_of(types), attrs_of(op, given), form, results, number=getattr(family, "NUMBER", 1))


def attrs_of(op: str, given: Attrs) -> Attrs:
    return {**TABLE[op].defaults, **given}


@calls("torch", "REFUSED")
def test_pytorch_and_the_row_refuse(family: ModuleType) -> None:
    def fault(op: str, types: str, given: Attrs, expected: str) -> str:
        try:
            return f"PyTorch gives {by_pytorch(family, op, types, given)}"
        except getattr(family, "RAISED", (RuntimeError, IndexError)):
            return not_refused(expected, lambda: by_row(op, types, given))

    assert offenders(family, "REFUSED", fault) == []


@calls("torch", "STRICTER")
def test_the_row_refuses_what_pytorch_accepts(family: ModuleType) -> None:
    def fault(op: str, types: str, given: Attrs, expected: str) -> str:
        by_pytorch(family, op, types, given)
        return not_refused(expected, lambda: by_row(op, types, given))

    assert offenders(family, "STRICTER", fault) == []


@calls("torch", "NOT_ASKED")
def test_the_row_refuses(family: ModuleType) -> None:
    def fault(op: str, types: str, given: Attrs, expected: str) -> str:
        return not_refused(expected, lambda: by_row(op, types, given))

    assert offenders(family, "NOT_ASKED", fault) == []


@calls("torch", "RESULTS")
def test_the_row_gives_the_types_of_pytorch_in_every_form(family: ModuleType) -> None:
    def fault(op: str, types: str, given: Attrs, expected: str) -> str:
        operands, attrs = types_of(types), attrs_of(op, given)
        found = {"the row": by_row(op, types, given)}
        for form in (Form.PLAIN, *TABLE[op].forms):
            changes_type = form is Form.INPLACE and (not operands or str(operands[0]) != expected)
            if form is Form.PLAIN or (TABLE[op].expresses(form, operands, attrs) and not changes_type):
                found[form] = by_pytorch(family, op, types, given, form, len(expected.split()))
        wrong = {who: type for who, type in found.items() if type != expected}
        return f"{wrong} instead of {expected}" if wrong else ""

    assert offenders(family, "RESULTS", fault) == []


@calls("onnx", "REFUSED")
def test_the_row_of_onnx_refuses(family: ModuleType) -> None:
    def fault(op: str, types: str, given: Attrs, expected: str) -> str:
        return not_refused(expected, lambda: onnx_calls.inferred(op, types, **given))

    assert offenders(family, "REFUSED", fault) == []


@calls("onnx", "RESULTS")
def test_the_row_of_onnx_gives_types(family: ModuleType) -> None:
    def fault(op: str, types: str, given: Attrs, expected: str) -> str:
        found = onnx_calls.inferred(op, types, **given)
        return "" if found == expected else f"gives {found} instead of {expected}"

    assert offenders(family, "RESULTS", fault) == []


def test_a_fault_is_found() -> None:
    family = ModuleType("family")
    family.REFUSED = (  # type: ignore[attr-defined]
        ("neg", "bool[2]", {}, "bool"),
        ("neg", "bool[2]", {}, "shape"),
        ("neg", "float32[2]", {}, "bool"),
    )
    listed = offenders(
        family, "REFUSED", lambda op, types, given, part: not_refused(part, lambda: by_row(op, types, given))
    )
    assert [each.partition(": ")[0] for each in listed] == ["neg(bool[2]) {}", "neg(float32[2]) {}"]
    assert listed[0].endswith("that does not say 'shape'")
    assert listed[1].endswith("gives float32[2]")
