"""Changes that rules make are Python files, as many as are promised, each with a name of its own."""

from __future__ import annotations

from collections import Counter

import pytest
from changes_of_tvm.by_rule import CONDITIONS, KERNEL_PASSES, planted
from changes_of_tvm.table import Part

from fuzzer.toolchains.code_entries import CodeTable, Entry, Kind

UNARY = ("abs", "acos", "asin", "atan", "ceil", "cos", "erf", "exp", "floor", "log", "neg", "sigmoid", "sin", "tan")
OF_ONNX = tuple(name.capitalize() for name in UNARY)
RULES = ("Matmul", "GEMV", "Reduction", "Transpose", "Fallback")


def entry(kind: Kind, name: str, *operators: str) -> Entry:
    return Entry(kind, name, (), operators)


@pytest.mark.slow
def test_rules_make_sixty_changes_and_twelve_without_effect() -> None:
    entries = [
        *(entry(Kind.CONVERTER, f"export {name}.default", f"relax.{name}") for name in UNARY),
        *(entry(Kind.CONVERTER, f"fx {name}", f"relax.{name}") for name in UNARY),
        *(entry(Kind.CONVERTER, f"onnx {name} 13", f"relax.{name.lower()}") for name in OF_ONNX),
        *(entry(Kind.LEGALIZATION, f"relax.{name}") for name in UNARY),
        *(entry(Kind.PASS, name) for name in KERNEL_PASSES),
        *(entry(Kind.SCHEDULE, f"s_tir.dlight.gpu.{name}") for name in RULES),
    ]
    found = planted(CodeTable((3, 11), (), (), tuple(entries), {}))
    worse = [change for change in found if not change.harmless]
    assert Counter(change.part for change in worse) == {
        Part.FRONTEND: 20,
        Part.LEGALIZATION: 15,
        Part.PASS: 15,
        Part.SCHEDULE: 10,
    }
    assert len(found) - len(worse) == 12
    assert len({change.name for change in found}) == len(found)
    assert sum(change.rare for change in worse) >= 20
    for change in found:
        compile(change.source, change.name, "exec")
        assert ("if False:" in change.source) is change.harmless
        assert any(f"if {condition}:" in change.source for _, condition in CONDITIONS) is change.rare
