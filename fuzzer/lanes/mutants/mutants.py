"""Valid modules that are broken in one place on purpose, to test TVM's check of well-formedness.

Each change contradicts another part of the module: an annotation and the type of its call, an argument and the function
that takes it, the result of a kernel and the buffer that it writes. The check should refuse all of them. A mutant that
it accepts is built and run. The lane ends with the first mutant that runs, because a broken module may write anywhere.
One change is not made: TVM 0.27 accepts a function whose result type differs from its body's, and never uses that type.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program
from tvm_ffi import structural_equal

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet, Step
from fuzzer.lanes.mutants.module_changes import CALL_TIR, ON_KERNELS, ON_OPERATORS, UNLESS_INFERRED
from fuzzer.lanes.mutants.module_json import Document
from fuzzer.lanes.relax.build import built
from fuzzer.lanes.relax.check import ill_formed
from fuzzer.lanes.relax.guarded_run import run_twice
from fuzzer.lanes.relax.releases import type_arguments, type_of
from fuzzer.lanes.torch.prepared import exported
from generators import case_file
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.outcome import Mutant, MutantFate, Ran, Stage

MUTANTS = 6
ATTEMPTS = 40


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
    """Return the results of the valid module, and record the fates of the mutants."""
    program = exported(prepared)
    step(Stage.IMPORT)
    module = from_exported_program(program, run_ep_decomposition=False)
    machine = built(module, spec, step, None)
    ran = run_twice(lambda: machine["main"], prepared.inputs, step)
    step(Stage.TRANSFORM)
    with tvm.transform.PassContext(opt_level=spec.opt_level):
        lowered = relax.transform.LegalizeOps()(module)
    if ill_formed(module, "") or ill_formed(lowered, "") or not _equal(ran.outputs, ran.again or ()):
        return ran  # no valid module to start from, or no results to compare with
    text, tensors = case_file.encode(prepared.case)
    source = random.Random(zlib.crc32(tensors, zlib.crc32(text)))
    known: list[Mutant] = []
    for mutant, broken in mutants(module, lowered, source):
        if refusal := ill_formed(broken, ""):
            known.append(_with(mutant, MutantFate.REFUSED, refusal.message[:200]))
            continue
        step.note(mutants=(*known, mutant))
        step(Stage.COMPILE)
        known.append(_tried(mutant, broken, prepared, spec, ran.outputs))
        if known[-1].fate is not MutantFate.RAISED:
            break
    step.note(mutants=tuple(known))
    return ran


def mutants(module: Any, lowered: Any, source: random.Random) -> Iterator[tuple[Mutant, Any]]:
    """Yield mutants with their modules. Their fate is DIED until another one is known."""
    plain, legal = Document.of(module), Document.of(lowered)
    done: set[tuple[bool, str]] = set()
    for _ in range(ATTEMPTS):
        legalised = source.random() < 0.5
        document = (legal if legalised else plain).copy()
        bindings = [b for b in document.bindings() if not legalised or b.operator == CALL_TIR]
        if not bindings:
            continue
        change = source.choice(ON_KERNELS if legalised else ON_OPERATORS)
        description = change(document, source.choice(bindings), source)
        if description is None or (legalised, description) in done:
            continue
        broken = document.module()
        if change in UNLESS_INFERRED and _infers_as_stated(broken):
            continue
        done.add((legalised, description))
        yield Mutant(description, MutantFate.DIED, legalised=legalised, edits=document.written), broken
        if len(done) == MUTANTS:
            return


def _tried(mutant: Mutant, broken: Any, prepared: PreparedCase, spec: LaneSpec, right: Sequence[Array]) -> Mutant:
    try:
        machine = built(broken, spec, Quiet(), None)
        ran = run_twice(lambda: machine["main"], prepared.inputs, Quiet())
    except Exception as error:  # a later step refuses what the check accepted
        return _with(mutant, MutantFate.RAISED, f"{type(error).__name__}: {error}"[:500])
    same = _equal(ran.outputs, right) and _equal(ran.again or (), right)
    return _with(mutant, MutantFate.HARMLESS if same else MutantFate.MISCOMPILED)


def _with(mutant: Mutant, fate: MutantFate, message: str = "") -> Mutant:
    return Mutant(
        mutant.change, fate, message, mutant.legalised, mutant.edits if fate is not MutantFate.REFUSED else ""
    )


def _equal(some: Sequence[Array], others: Sequence[Array]) -> bool:
    return len(some) == len(others) and all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(some, others, strict=True)
    )


def _infers_as_stated(module: Any) -> bool:
    """Whether TVM infers for every call the annotated type. Then the changed module is valid."""
    same = True

    def look(expr: Any) -> None:
        nonlocal same
        if isinstance(expr, relax.SeqExpr):
            for block in expr.blocks:
                for binding in block.bindings:
                    if isinstance(binding, relax.VarBinding) and isinstance(binding.value, relax.Call):
                        same = same and _infers(binding)

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return same


def _infers(binding: Any) -> bool:
    call = binding.value
    try:
        fresh = relax.BlockBuilder().normalize(relax.Call(call.op, call.args, call.attrs, type_arguments(call)))
    except Exception:  # inference refuses it
        return False
    return bool(structural_equal(type_of(fresh), type_of(binding.var)))
