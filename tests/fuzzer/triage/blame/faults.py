"""Faults in a real TVM, for tests of blame: executed in the zygote by `--preload`, which plants none.

A child plants the one whose name stands in the file `planted` beside this one, before its first lane: one zygote serves
them all. A name is `place thing how`: `frontend _flip wrong`, `pass tirx.StorageRewrite wrong`, `codegen c exp wrong`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx, topi
from tvm.relax.frontend.onnx import onnx_frontend
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

from fuzzer.lanes.relax_lane import RelaxLane

PLANTED = Path(__file__).with_name("planted")

honest_run = RelaxLane.run
planted: list[str] = []

SMALL = 1.00002
"""What a small fault multiplies by: a hundred times what rounding may do to one operator in float32."""


def run_with_fault(self: Any, prepared: Any, spec: Any, step: Any) -> Any:
    name = PLANTED.read_text().strip()
    if name and not planted:
        planted.append(name)
        place, *words = name.split()
        PLACES[place](*words)
    return honest_run(self, prepared, spec, step)


def stop(how: str) -> None:
    if how == "raise":
        raise ValueError("planted on purpose")
    if how == "die":
        os.abort()


# -- frontend: a converter


def called(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Under the name that a traceback would show."""
    function.__code__ = function.__code__.replace(co_name=name.rpartition(".")[2], co_qualname=name)
    return function


def frontend(name: str, how: str) -> None:
    owner, _, method = name.rpartition(".")
    if owner:
        return onnx_converter(owner, method, how)
    honest = getattr(ExportedProgramImporter, method)

    def convert(self: Any, node: Any) -> Any:
        stop(how)
        return changed(self.block_builder, honest(self, node), how)

    setattr(ExportedProgramImporter, method, called(f"BaseFXGraphImporter.{method}", convert))
    return None


def onnx_converter(owner: str, method: str, how: str) -> None:
    kind = getattr(onnx_frontend, owner)
    honest = getattr(kind, method)

    def convert(cls: Any, bb: Any, inputs: Any, attr: Any, params: Any) -> Any:
        stop(how)
        return changed(bb, bb.normalize(honest(bb, inputs, attr, params)), how)

    setattr(kind, method, classmethod(called(f"{owner}.{method}", convert)))


def changed(builder: Any, result: Any, how: str) -> Any:
    match how:
        case "dtype":
            return builder.emit(relax.op.astype(result, "float64"))
        case "shape":
            return builder.emit(relax.op.expand_dims(result, 0))
        case "small":
            return builder.emit(relax.op.multiply(result, relax.const(SMALL, str(result.ty.dtype))))
        case _:
            return builder.emit(relax.op.add(result, relax.const(1, str(result.ty.dtype))))


# -- legalization: FLegalize of an operator


def legalization(name: str, how: str) -> None:
    honest = tvm.ir.Op.get(name).get_attr("FLegalize")

    def legalize(builder: Any, call: Any) -> Any:
        stop(how)
        result = builder.emit(honest(builder, call))
        if how == "outside":
            return builder.call_te(shifted, result)
        if how == "small":
            return builder.call_te(lambda x: topi.multiply(x, tirx.const(SMALL, x.dtype)), result)
        return builder.call_te(lambda x: topi.add(x, tirx.const(1, x.dtype)), result)

    tvm.ir.register_op_attr(name, "FLegalize", legalize, level=15)


def shifted(x: Any) -> Any:
    """Each element's neighbour, of the last one too."""
    return tvm.te.compute(x.shape, lambda *at: x(*at[:-1], at[-1] + 1), name="shifted")


# -- pass


def pass_(name: str, how: str, only: str = "") -> None:
    """A pass of Relax's or of kernels', which adds one to what the kernels store, or to those called `only` alone."""
    space, _, plain = name.rpartition(".")
    home = {"": relax.transform, "relax": relax.transform, "tirx": tirx.transform, "s_tir": s_tir.transform}[space]
    honest = getattr(home, plain)

    def make(*args: Any, **options: Any) -> Any:
        one = honest(*args, **options)

        def run(module: Any, context: Any) -> Any:
            stop(how)
            return one_more(one(module), only, how)

        return tvm.transform.module_pass(run, opt_level=0, name=str(one.info.name))

    setattr(home, plain, make)


def one_more(module: Any, only: str, how: str) -> Any:
    """Stores of float32 store one more, or a little more, in the kernels whose name contains `only`."""

    def store(stmt: Any) -> Any:
        value = stmt.value
        if str(value.ty.dtype) != "float32":
            return stmt
        more = value * tirx.const(SMALL, "float32") if how == "small" else value + tirx.const(1, "float32")
        return tirx.BufferStore(stmt.buffer, more, stmt.indices)

    kernels = {
        var: tvm_ffi.structural_map(function, [(tirx.BufferStore, store)])
        for var, function in module.functions.items()
        if isinstance(function, tirx.PrimFunc) and only in var.name_hint
    }
    module = module.clone()
    for var, function in kernels.items():
        module[var] = function
    return module


# -- codegen: what target.build.<kind> is given


def codegen(kind: str, only: str, how: str) -> None:
    honest = tvm.get_global_func(f"target.build.{kind}")

    def build(module: Any, target: Any) -> Any:
        stop(how)
        return honest(one_more(module, only, how), target)

    tvm.register_global_func(f"target.build.{kind}", build, override=True)


# -- runtime: the virtual machine


def runtime(name: str, how: str) -> None:
    honest = relax.VirtualMachine.__getitem__

    def get(self: Any, key: str) -> Any:
        function = honest(self, key)

        def call(*args: Any) -> Any:
            stop(how)
            return [tvm.runtime.tensor(each.numpy() + 1) for each in list_of(function(*args))]

        return call

    relax.VirtualMachine.__getitem__ = get


def list_of(result: Any) -> list[Any]:
    return [result] if hasattr(result, "numpy") else list(result)


PLACES: dict[str, Callable[..., None]] = {
    "frontend": frontend,
    "legalization": legalization,
    "pass": pass_,
    "codegen": codegen,
    "runtime": runtime,
}

RelaxLane.run = run_with_fault
