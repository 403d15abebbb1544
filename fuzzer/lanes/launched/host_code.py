"""What TVM's lowering says about kernels, between SplitHostDevice and MakePackedAPI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import tirx

from fuzzer.lanes.relax.guard_zones import nbytes

LAUNCH_PARAMS = "tirx.kernel_launch_params"
"""The attribute that only kernels have: what the last arguments of a launch mean, such as `blockIdx.x`."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments with which host code calls a kernel: those of its parameters, then its sizes.

    dtypes  of each parameter; None for a pointer
    tags    what each size means: `blockIdx.x`, `threadIdx.y`, ...
    bytes   by the position of a pointer, the size of its buffer, where that is no open size
    """

    dtypes: Sequence[str | None]
    tags: Sequence[str]
    bytes: Mapping[int, int]


def signatures(module: Any) -> dict[str, Signature]:
    """Return the signatures of the kernels of a module, by name."""
    found: dict[str, dict[int, int]] = {}
    for _, function in module.functions.items():
        for kernel, place, size in _buffers(function) if not is_kernel(function) else ():
            found.setdefault(kernel, {})[place] = size
    return {
        str(var.name_hint): Signature(
            [_dtype(param) for param in function.params],
            [str(tag) for tag in function.attrs[LAUNCH_PARAMS]],
            found.get(str(var.name_hint), {}),
        )
        for var, function in module.functions.items()
        if is_kernel(function)
    }


def is_kernel(function: Any) -> bool:
    return isinstance(function, tirx.PrimFunc) and LAUNCH_PARAMS in (function.attrs or {})


def _dtype(param: Any) -> str | None:
    return str(param.ty.dtype) if hasattr(param.ty, "dtype") else None


def _buffers(function: Any) -> Iterator[tuple[str, int, int]]:
    """Yield a kernel, the position of its argument, and the size in bytes of the buffer that it is. The buffers are
    arguments of the host function, or its own workspaces."""
    sizes: dict[int, int] = {}
    for each in statements(function.body):
        match type(each).__name__:
            case "AllocBuffer" | "DeclBuffer" if size := bytes_of(each.buffer):
                sizes[hash(each.buffer)] = size
            case "Evaluate" if str(getattr(getattr(each.value, "op", None), "name", "")) == "tirx.call_ffi_kernel":
                kernel, *arguments = each.value.args
                for place, argument in enumerate(arguments):
                    parts = getattr(argument, "args", ())
                    if parts and hash(parts[0]) in sizes:
                        yield str(kernel.value), place, sizes[hash(parts[0])]


def bytes_of(buffer: Any) -> int:
    """The size of a buffer; 0 where it is open."""
    if not all(isinstance(size, tirx.IntImm) for size in buffer.shape):
        return 0
    return nbytes([int(size.value) for size in buffer.shape], str(buffer.dtype))


def statements(body: Any) -> Iterator[Any]:
    """Yield a statement of TIR and all statements in it, outermost first."""
    waiting = [body]
    while waiting:
        now = waiting.pop()
        yield now
        match type(now).__name__:
            case "SeqStmt":
                waiting += reversed(list(now.seq))
            case "IfThenElse":
                waiting += [each for each in (now.else_case, now.then_case) if each is not None]
            case "SBlockRealize":
                waiting.append(now.block)
            case _ if getattr(now, "body", None) is not None:
                waiting.append(now.body)
