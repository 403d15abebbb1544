"""What TVM did with a program, as names: operators as imported, passes that changed it, kernels and their loops.

Names say what kind of thing happened, never how often or how large: no sizes, no numbering.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import tvm
from tvm import relax

from fuzzer.lanes.base.bench import Step
from fuzzer.lanes.relax.tir_blocks import block_patterns

MOST = 400
"""Names of one lane; a program of a few operators has some dozens."""

LONGEST = 60
"""Of a kernel's name: what is fused from many operators is called by all of them."""

_NUMBER = re.compile(r"_?\d+(?=$|_)")
_BELOW_RELAX = ("tirx.", "s_tir.")


class Onlooker:
    """Notes names as they come up: what a lane did before it died was done, too."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._seen: dict[str, None] = {}
        self._last: Any = None

    def imported(self, module: Any) -> None:
        self._last = module
        self._see(operators_of(module))

    def instruments(self) -> list[Any]:
        """For a PassContext."""
        return [_Instrument(self)]

    def after(self, name: str, module: Any) -> None:
        if name.startswith(_BELOW_RELAX) or module.same_as(self._last):
            return
        before, self._last = self._last, module
        self._see((f"pass {name}", *kernels_of(module, before)))

    def _see(self, names: Iterable[str]) -> None:
        count = len(self._seen)
        for name in names:
            if len(self._seen) < MOST:
                self._seen[name] = None
        if len(self._seen) > count:
            self._step.note(behaviour=tuple(self._seen))


def operators_of(module: Any) -> list[str]:
    """Relax operators with the dtype and rank of what they give."""
    found: dict[str, None] = {}

    def look(expr: Any) -> None:
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            found[f"relax {expr.op.name} {_type(expr)}"] = None

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return list(found)


def _type(expr: Any) -> str:
    """`float32 3` of a tensor of three dimensions."""
    info = getattr(expr, "ty", None) or getattr(expr, "struct_info_", None)  # as TVM before 0.27 calls it
    return f"{getattr(info, 'dtype', '?')} {getattr(info, 'ndim', '?')}"


def kernels_of(module: Any, before: Any) -> list[str]:
    """Kernels that were not there before: `kernel fused_conv2d_add_relu`, and what their loops are like."""
    old = {var.name_hint for var in before.functions} if before is not None else set()
    names: set[str] = set()
    for var, function in module.functions.items():
        if isinstance(function, tvm.tirx.PrimFunc) and var.name_hint not in old:
            names |= {f"kernel {_NUMBER.sub('', str(var.name_hint))[:LONGEST]}", *block_patterns(function)}
    return sorted(names)


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, onlooker: Onlooker) -> None:
        self._onlooker = onlooker

    def run_after_pass(self, module: Any, info: Any) -> None:
        self._onlooker.after(str(info.name), module)
