"""Names for what TVM did with a program: imported operators, passes that changed it, kernels and their loops.

A name contains no size and no number, so that programs that differ only in these get the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.comparable import comparable
from fuzzer.lanes.relax.tir_blocks import block_patterns
from fuzzer.toolchains import reached
from oracles.transforms import is_own

MOST = 400
"""The largest number of names of a lane. A program of a few operators has some dozens."""

LONGEST = 60
"""The largest length of a kernel's name. A fused kernel has the names of all its operators."""

_NUMBER = re.compile(r"_?\d+(?=$|_)")
_BELOW_RELAX = ("tirx.", "s_tir.")


class BehaviourRecorder:
    """Record each name at once, so that the names are known of a lane that dies."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._names: dict[str, None] = {}
        self._last: Any = None
        self._given: Any = None

    def imported(self, module: Any) -> None:
        self._last = module
        self._record(operators_of(module))

    def undefined(self, what: str) -> None:
        """Record what made an evaluation of the module end without a result."""
        self._record((f"undefined {what}",))

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""
        return [_Instrument(self)]

    def before(self, name: str, module: Any) -> None:
        """Keep the module that a user's own pass gets. Passes that this pass runs are recorded in between."""
        if is_own(name):
            self._given = comparable(module)

    def after(self, name: str, module: Any) -> None:
        if is_own(name):
            if not tvm_ffi.structural_equal(comparable(module), self._given):  # many make a new module in any case
                self._record((f"pass {name}",))
            return
        if name.startswith(_BELOW_RELAX) or module.same_as(self._last):
            return
        before, self._last = self._last, module
        self._record((f"pass {name}", *kernels_of(module, before)))

    def _record(self, names: Iterable[str]) -> None:
        count = len(self._names)
        for name in names:
            if len(self._names) < MOST:
                self._names[name] = None
        if len(self._names) > count:
            self._step.note(behaviour=tuple(self._names))


def operators_of(module: Any) -> list[str]:
    """Return the Relax operators of a module, with the dtype and the rank of their results."""
    found: dict[str, None] = {}

    def look(expr: Any) -> None:
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            found[f"relax {expr.op.name} {_type(expr)}"] = None

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return list(found)


def _type(expr: Any) -> str:
    """Return for example `float32 3` for a tensor of rank 3."""
    info = getattr(expr, "ty", None) or getattr(expr, "struct_info_", None)  # its name before TVM 0.27
    return f"{getattr(info, 'dtype', '?')} {getattr(info, 'ndim', '?')}"


def kernels_of(module: Any, before: Any) -> list[str]:
    """Return the names of new kernels (`kernel fused_conv2d_add_relu`), and the patterns of their loops."""
    old = {var.name_hint for var in before.functions} if before is not None else set()
    names: set[str] = set()
    for var, function in module.functions.items():
        if isinstance(function, tvm.tirx.PrimFunc) and var.name_hint not in old:
            names |= {f"kernel {_NUMBER.sub('', str(var.name_hint))[:LONGEST]}", *block_patterns(function)}
    return sorted(names)


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, recorder: BehaviourRecorder) -> None:
        self._recorder = recorder

    def run_before_pass(self, module: Any, info: Any) -> None:
        self._recorder.before(str(info.name), module)

    def run_after_pass(self, module: Any, info: Any) -> None:
        reached.note_pass(str(info.name))
        self._recorder.after(str(info.name), module)
