"""Check that kernels keep the bounds of their target: threads of a block, and memory that a block shares."""

from __future__ import annotations

from math import prod
from typing import Any

from tvm import tirx

from fuzzer.lanes.launched.host_code import bytes_of, is_kernel, statements

THREADS, SHARED = "max_num_threads", "max_shared_memory_per_block"
"""The attributes of a target: the most threads of a block, and the most bytes that a block shares."""


def exceeded(module: Any) -> str:
    """Say what the first kernel of a module needs more of than its target has; "" where none does.

    module  as SplitHostDevice leaves it. Sizes that are open count as nothing.
    """
    kernels = ((str(var.name_hint), function) for var, function in module.functions.items() if is_kernel(function))
    return next(filter(None, (_exceeded(name, kernel) for name, kernel in kernels)), "")


def _exceeded(name: str, kernel: Any) -> str:
    target = kernel.attrs["target"]
    words = ((THREADS, "threads in a block"), (SHARED, "bytes that its blocks share"))
    for needed, (attribute, what) in zip(needs(kernel), words, strict=True):
        most = int(target.attrs[attribute]) if attribute in target.attrs else needed
        if needed > most:
            return f"kernel {name} has {needed} {what}, and {target.kind.name} has at most {most}"
    return ""


def needs(kernel: Any) -> tuple[int, int]:
    """Return how many threads a block of the kernel has, and how many bytes it shares."""
    extents, shared = dict[str, int](), 0
    for each in statements(kernel.body):
        if isinstance(each, tirx.AttrStmt) and each.attr_key == "thread_extent" and isinstance(each.value, tirx.IntImm):
            extents[str(each.node.thread_tag)] = int(each.value.value)
        elif type(each).__name__ == "AllocBuffer" and str(each.buffer.scope()).startswith("shared"):
            shared += bytes_of(each.buffer)
    return prod(extent for tag, extent in extents.items() if tag.startswith("threadIdx.")), shared
