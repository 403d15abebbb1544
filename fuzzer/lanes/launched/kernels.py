"""Launch the kernels of a module that TVM's virtual machine runs.

TVM's wheel writes kernels for OpenCL and WebGPU, and has no runtime that launches them. The virtual machine runs on the
processor, in memory of the processor. Its host code looks for each kernel in the modules that it imports, and then
among TVM's global functions: there it finds functions of difftvm, which launch TVM's own text on a device that uses the
same memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm

from fuzzer.lanes.launched import bounds
from fuzzer.lanes.launched.devices import device_named
from fuzzer.lanes.launched.host_code import Signature, signatures
from fuzzer.lanes.launched.launch import BeyondTarget, DeviceLacks, Launch, Memory, Program, Sizes
from fuzzer.lanes.relax.allocation import memory_at
from fuzzer.lanes.relax.compile_only import of_kind
from oracles.targets import Target


@dataclass(slots=True)
class Kernels:
    """The kernels of one module, from their compilation by TVM to their launches.

    signatures  what TVM's lowering says about each kernel
    """

    signatures: dict[str, Signature] = field(default_factory=dict)
    _beyond: str = ""
    _program: Program | None = None
    _failure: BaseException | None = None

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""
        return [_Instrument(self)]

    def before(self, name: str, module: Any) -> None:
        if name.rpartition(".")[2] == "MakePackedAPI":
            self._beyond = self._beyond or bounds.exceeded(module)  # TVM would change the class of an exception
            self.signatures |= signatures(module)

    def load(self, executable: Any, row: Target) -> None:
        """Compile the kernels on the device, and let the host code of the executable find them.

        Raise `BeyondTarget`, `Refused` or `DeviceLacks`; `NoKnownAnswer` where the device is at fault."""
        if self._beyond:
            raise BeyondTarget(self._beyond)
        assert row.written is not None
        kind = str(row.config["kind"])
        text = "".join(each.inspect_source() for each in of_kind(executable.mod, row.written.module))
        _without(executable.mod, row.written.module)
        # the workspaces of host functions are memory of the processor
        tvm.register_global_func(f"device_api.{kind}", tvm.get_global_func("device_api.cpu"), override=True)
        for name, signature in self.signatures.items():
            tvm.register_global_func(name, self._launching(name, signature), override=True)
        if text:
            self._program = device_named(row.device).compiled(text)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Raise the exception of a launch itself, and not what TVM makes of it."""
        try:
            yield
        except Exception:
            if self._failure is None:
                raise
            raise self._failure from None

    def _launching(self, name: str, signature: Signature) -> Any:
        def launch(*arguments: Any) -> None:
            try:
                self._launch(name, signature, arguments)
            except BaseException as error:
                self._failure = error
                raise

        return launch

    def _launch(self, name: str, signature: Signature, arguments: Sequence[Any]) -> None:
        count = len(signature.dtypes)
        given = [
            _memory(name, signature, place, pointer) if dtype is None else np.dtype(dtype).type(pointer)
            for place, (dtype, pointer) in enumerate(zip(signature.dtypes, arguments[:count], strict=True))
        ]
        numbers = {tag: int(size) for tag, size in zip(signature.tags, arguments[count:], strict=True)}
        grid, block = _sizes(numbers, "blockIdx"), _sizes(numbers, "threadIdx")
        if 0 not in (*grid, *block):  # a tensor has no elements
            assert self._program is not None
            self._program.launch(Launch(name, given, grid, block))


def _sizes(numbers: Mapping[str, int], what: str) -> Sizes:
    x, y, z = (numbers.get(f"{what}.{axis}", 1) for axis in "xyz")
    return x, y, z


def _memory(name: str, signature: Signature, place: int, pointer: ctypes.c_void_p) -> Memory:
    """The buffer that a pointer points into: one that difftvm guards, or else one of a known size, as constants that
    TVM makes and the workspaces of host code are."""
    address = int(pointer.value or 0)
    if found := memory_at(address):
        return Memory(*found)
    size = signature.bytes.get(place)
    if size is None:
        raise DeviceLacks(f"argument {place} of {name} has an open size")
    return Memory(np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)))


def _without(module: Any, kind: str) -> None:
    """Take the modules of a kind out of the modules that import them: they cannot launch kernels, and say so."""
    imports = list(module.imports)
    kept = [each for each in imports if each.kind != kind]
    if len(kept) < len(imports):
        module.clear_imports()
        for each in kept:
            module.import_module(each)
    for each in kept:
        _without(each, kind)


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels

    def run_before_pass(self, module: Any, info: Any) -> None:
        self._kernels.before(str(info.name), module)
