"""The kernels that modules of cases have, in TVMScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.graph import Expr, TensorType

_ELEMENTWISE: Mapping[str, str] = {"double": "a[{0}] * {two}", "difference": "a[{0}] - b[{0}]"}


def kernel(name: str, kind: str, operands: Sequence[TensorType], result: TensorType) -> list[str]:
    """A PrimFunc that writes into its last parameter. An open size is a variable of its own."""
    types = [*operands, result]
    buffers = [*"ab"[: len(operands)], "c"]
    sizes: dict[Expr, str] = {}
    for size in (size for type in types for size in type.shape if isinstance(size, Expr)):
        sizes.setdefault(size, f"n{len(sizes)}")
    return [
        "@T.prim_func(private=True, s_tir=True)",
        f"def {name}({', '.join(f'{buffer}_handle: T.handle' for buffer in buffers)}):",
        *(f"    {variable} = T.int64()" for variable in sizes.values()),
        *(
            f'    {b} = T.match_buffer({b}_handle, {_shape(t, sizes)}, "{t.dtype}")'
            for b, t in zip(buffers, types, strict=True)
        ),
        *(f"    {line}" for line in _loops(kind, operands[0], sizes)),
    ]


def _shape(type: TensorType, sizes: Mapping[Expr, str]) -> str:
    return f"({', '.join(_extents(type, sizes))}{',' if type.rank == 1 else ''})"


def _extents(type: TensorType, sizes: Mapping[Expr, str]) -> list[str]:
    return [sizes[size] if isinstance(size, Expr) else f"T.int64({size})" for size in type.shape]


def _loops(kind: str, x: TensorType, sizes: Mapping[Expr, str]) -> list[str]:
    """The loops over the elements of the first operand."""
    loops = [f"i{axis}" for axis in range(x.rank)]
    axes = [f"v{axis}" for axis in range(x.rank)]
    grid = f"for {', '.join(loops)} in T.grid({', '.join(_extents(x, sizes))}):"
    remap = f'{", ".join(axes)} = T.axis.remap("{"SR" if kind == "row_sum" else "S" * x.rank}", [{", ".join(loops)}])'
    if x.rank == 1:
        remap = f"v0 = T.axis.spatial({_extents(x, sizes)[0]}, i0)"
    inner = [f"        {line}" for line in _statements(kind, axes, str(x.dtype))]
    return [grid, '    with T.sblock("block"):', f"        {remap}", *inner]


def _statements(kind: str, axes: Sequence[str], dtype: str) -> list[str]:
    at = ", ".join(axes)
    match kind:
        case "turn":
            return [f"c[{', '.join(reversed(axes))}] = a[{at}]"]
        case "row_sum":
            return ["with T.init():", f"    c[{axes[0]}] = T.{dtype}(0)", f"c[{axes[0]}] = c[{axes[0]}] + a[{at}]"]
        case _:
            return [f"c[{at}] = {_ELEMENTWISE[kind].format(at, two=f'T.{dtype}(2)')}"]
