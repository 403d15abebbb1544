"""torch.export decomposes programs alike with and without the caches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
from torch._subclasses import fake_impls  # noqa: E402
from torch.export import exported_program  # noqa: E402
from torch.export.exported_program import _split_decomp_table_to_cia_and_python_decomp, default_decompositions  # noqa: E402

from fuzzer.lanes.base.prepared_case import PreparedCase  # noqa: E402
from fuzzer.lanes.base.step import Quiet  # noqa: E402
from fuzzer.lanes.torch.decompositions import forget_decompositions, overriding, remember_decompositions  # noqa: E402
from fuzzer.lanes.torch.prepared import exported  # noqa: E402
from generators.choice import NumpySource  # noqa: E402
from generators.torch.random_graph import generate  # noqa: E402

ORIGINAL = exported_program._override_composite_implicit_decomp
RULES = fake_impls.op_implementations_dict


def overrides(without: str = "") -> dict[Any, Any]:
    table = default_decompositions()
    for op in [op for op in table if without and str(op) == without]:
        del table[op]
    return dict(_split_decomp_table_to_cia_and_python_decomp(table.materialize())[0])


def state_while_overridden(override: Any, what: dict[Any, Any]) -> dict[str, list[str]]:
    """By operator, the keys of its kernels while it is overridden, and whether it has a rule for fake tensors."""
    with override(what):
        return {str(op): [*sorted(map(str, op.py_kernels)), str(op in RULES)] for op in what}


def test_cached_overrides_have_the_same_tables_during_and_after_the_override() -> None:
    rules, what = dict(RULES), overrides()
    kernels = {op: dict(op.py_kernels) for op in what}
    quick = overriding(ORIGINAL, RULES)
    first = state_while_overridden(quick, what)
    assert dict(RULES) == rules
    for again in (overrides(), what):
        assert state_while_overridden(quick, again) == first
        assert {op: dict(op.py_kernels) for op in what} == kernels
        assert dict(RULES) == rules
    assert len(first) > 300


def test_other_overrides_are_not_taken_from_the_cache() -> None:
    sizes: list[int] = []

    def original(what: Any) -> Any:
        sizes.append(len(what))
        return ORIGINAL(what)

    quick = overriding(original, RULES)
    kept = overrides("aten.linear.default")
    state_while_overridden(quick, overrides())
    state_while_overridden(quick, kept)
    state_while_overridden(quick, overrides())
    state_while_overridden(quick, overrides("aten.linear.default"))
    assert sizes == [len(kept), len(kept)]


def test_the_cache_is_not_used_where_kernels_have_changed() -> None:
    quick, what = overriding(ORIGINAL, RULES), overrides()
    op = next(iter(what))
    state_while_overridden(quick, what)
    op.py_kernels[torch._C.DispatchKey.CPU] = print
    try:
        state_while_overridden(quick, what)
        assert op.py_kernels[torch._C.DispatchKey.CPU] is print
    finally:
        del op.py_kernels[torch._C.DispatchKey.CPU]


def test_an_error_during_an_override_restores_the_tables() -> None:
    quick, what = overriding(ORIGINAL, RULES), overrides()
    kernels, rules = {op: dict(op.py_kernels) for op in what}, dict(RULES)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), quick(what):
            raise ZeroDivisionError
        assert {op: dict(op.py_kernels) for op in what} == kernels
        assert dict(RULES) == rules


@pytest.mark.parametrize("index", [pytest.param(n, marks=pytest.mark.long) if n % 4 else n for n in range(12)])
def test_programs_are_decomposed_alike_with_and_without_the_cache(
    index: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    case = generate(NumpySource(9, index))

    def decomposed() -> str:
        try:
            return str(exported(PreparedCase(case, Quiet())).graph)
        except Exception as error:  # what torch.export does not take, it does not take either way
            return type(error).__name__

    plain = decomposed()
    quick = overriding(ORIGINAL, RULES)
    monkeypatch.setattr(exported_program, "_override_composite_implicit_decomp", quick)
    assert [decomposed(), decomposed()] == [plain, plain]


def attributes_of_torch() -> dict[str, object]:
    modules = [torch._ops, torch._export.utils, torch.export.decomp_utils, exported_program]
    return {f"{module.__name__}.{name}": value for module in modules for name, value in vars(module).items()}


def test_the_caches_replace_these_attributes_of_torch_and_no_others_and_put_them_back() -> None:
    before = attributes_of_torch()
    remember_decompositions()
    during = attributes_of_torch()
    forget_decompositions()
    assert {name for name, value in during.items() if value is not before[name]} == {
        "torch._ops.Callable",
        "torch._export.utils._collect_all_valid_cia_ops",
        "torch._export.utils._collect_all_valid_cia_ops_for_aten_namespace",
        "torch.export.decomp_utils._collect_all_valid_cia_ops",
        "torch.export.decomp_utils._collect_all_valid_cia_ops_for_aten_namespace",
        "torch.export.exported_program._collect_all_valid_cia_ops",
        "torch.export.exported_program._override_composite_implicit_decomp",
    }
    after = attributes_of_torch()
    assert {name for name, value in after.items() if value is not before[name]} == set()
