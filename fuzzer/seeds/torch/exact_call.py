"""A node of an exported program as a call of its own operator, as text (`generators.torch.ops.calls`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from fuzzer.seeds.torch.exported import (
    LAYOUTS,
    MEMORY_FORMATS,
    NAMES,
    POSITIONAL,
    Argument,
    Complex,
    Device,
    Graph,
    GraphArgument,
    Named,
    Node,
    OptionalTensor,
    Size,
    Tensor,
    tensors_in,
)
from fuzzer.seeds.torch.program import Exact
from generators.torch.in_place import changes_operand, without_change
from generators.torch.ops.aten import PREFIX
from generators.torch.ops.calls import CONTROL_FLOW

MOST_NESTED = 8
"""How deep branches may be in branches."""

Sizes = Mapping[str, int | None]
Name = Callable[[str], str]


class Opaque(Exception):
    """An argument that cannot be written. The message gives the reason."""


def float_of(value: float | str) -> float:
    """A float. JSON has no infinities, so that they are strings here."""
    try:
        return float(value)
    except ValueError:
        raise Opaque(f"has the number {value!r}") from None


def exact_call(node: Node, now: Name, sizes: Sizes) -> Exact | None:
    """The call of the node's own operator, which changes no operand. `now` says under which name a value is read now.
    Return None where an argument cannot be written."""
    operands: list[str] = []

    def operand(name: str) -> str:
        known = now(name)
        if known not in operands:
            operands.append(known)
        return f"a{operands.index(known)}"

    writer = _Writer(operand, sizes)
    try:
        function, call = writer.call(node)
    except Opaque:
        return None
    places = [place for place, _ in _results(node)] if _gives_several(node) else None
    return Exact(function, call, tuple(operands), tuple(writer.branches), None if places is None else tuple(places))


def _gives_several(node: Node) -> bool:
    """Whether the call gives a tuple or a list."""
    if len(node.outputs) != 1 or node.outputs[0].as_tensors is not None:
        return True
    return node.target in CONTROL_FLOW and not node.is_hop_single_tensor_return


def _results(node: Node) -> Iterator[tuple[int, str]]:
    """The names of the values that the node makes, with their places in what the call gives."""
    if len(node.outputs) == 1 and (each := node.outputs[0].as_tensors) is not None:
        yield from ((place, item.name) for place, item in enumerate(each))
        return
    yield from ((place, name) for place, arg in enumerate(node.outputs) for name in tensors_in(arg))


class _Writer:
    """Writes the calls of one function: of the program, or of a branch."""

    def __init__(self, operand: Name, sizes: Sizes, depth: int = 0) -> None:
        self._operand, self._sizes, self._depth = operand, sizes, depth
        self.branches: list[str] = []

    def call(self, node: Node) -> tuple[str, str]:
        """The function, and its call."""
        target = node.target
        name, _, overload = target.removeprefix(PREFIX).partition(".")
        if target.startswith(PREFIX) and changes_operand(name):
            target = f"{PREFIX}{without_change(name)}.{overload}"
        args = ", ".join(filter(None, map(self._argument, node.inputs)))
        return target, f"{target}({args})"

    def _argument(self, given: Named) -> str:
        """The argument; \"\" where it is left out: it is at its default, or names the processor."""
        positional = given.kind == POSITIONAL or not given.name
        if not positional and (given.arg.as_none or given.arg.as_device):
            return ""
        text = self._text(given.arg)
        return text if positional else f"{given.name}={text}"

    def _text(self, arg: Argument) -> str:
        match arg:
            case Argument(as_tensor=Tensor(name=name)) | Argument(as_value=Tensor(name=name)):
                return self._operand(name)
            case Argument(as_tensors=list(each)):
                return self._list(self._operand(item.name) for item in each)
            case Argument(as_optional_tensor=OptionalTensor(as_tensor=item)):
                return self._operand(item.name) if item else "None"
            case Argument(as_optional_tensors=list(each)):
                return self._list(self._operand(item.as_tensor.name) if item.as_tensor else "None" for item in each)
            case Argument(as_bool=bool(value)) | Argument(as_int=int(value)) | Argument(as_string=str(value)):
                return repr(value)
            case Argument(as_float=float() | str() as value):
                return _float_text(value)
            case Argument(as_floats=list(values)):
                return self._list(map(_float_text, values))
            case Argument(as_complex=Complex() as number):
                return f"complex({_float_text(number.real)}, {_float_text(number.imag)})"
            case Argument(as_ints=list(values)) | Argument(as_bools=list(values)):
                return self._list(map(repr, values))
            case Argument(as_int_lists=list(lists)):
                return self._list(self._list(map(repr, values)) for values in lists)
            case Argument(as_sym_int=Size() as size):
                return self._size(size)
            case Argument(as_sym_ints=list(sizes)):
                return self._list(map(self._size, sizes))
            case Argument(as_graph=GraphArgument(graph=Graph() as graph)):
                return self._branch(graph)
            case Argument(as_none=bool()):
                return "None"
            case _:
                return _constant(arg)

    def _list(self, items: Iterator[str]) -> str:
        return f"[{', '.join(items)}]"

    def _size(self, size: Size) -> str:
        known = self._sizes.get(size.as_name) if size.as_name else size.number
        if known is None:
            raise Opaque("has a size that depends on data")
        return str(known)

    def _branch(self, graph: Graph) -> str:
        """Write a branch or the body of a loop as a function, and return its name."""
        if self._depth == MOST_NESTED:
            raise Opaque(f"has branches in branches, more than {MOST_NESTED} deep")
        taken = [name for arg in graph.inputs for name in tensors_in(arg)]
        names = {name: f"p{index}" for index, name in enumerate(taken)}

        def known(name: str) -> str:
            if name not in names:
                raise Opaque("has a branch that reads what it is not given")
            return names[name]

        own = _Writer(known, self._sizes, self._depth + 1)
        own.branches = self.branches
        lines = []
        for index, node in enumerate(graph.nodes):
            lines.append(f"    t{index} = {own.call(node)[1]}")
            several = _gives_several(node)
            names |= {name: f"t{index}[{place}]" if several else f"t{index}" for place, name in _results(node)}
        results = [known(name) for arg in graph.outputs for name in tensors_in(arg)]
        name = f"f{len(self.branches)}"
        alone = graph.is_single_tensor_return and len(results) == 1
        returned = results[0] if alone else f"({', '.join(results)}{',' * (len(results) == 1)})"
        self.branches.append(
            "\n".join(
                [f"def {name}({', '.join(f'p{i}' for i in range(len(taken)))}):", *lines, f"    return {returned}"]
            )
        )
        return name


def _float_text(value: float | str) -> str:
    number = float_of(value)
    return repr(number) if math.isfinite(number) else f"float('{number}')"


def _constant(arg: Argument) -> str:
    """A constant of torch, or the processor."""
    match arg:
        case Argument(as_device=Device(type="cpu")):
            return "'cpu'"
        case Argument(as_scalar_type=int(code)) if code in NAMES:
            return f"torch.{NAMES[code]}"
        case Argument(as_layout=int(code)) if code in LAYOUTS:
            return f"torch.{LAYOUTS[code]}"
        case Argument(as_memory_format=int(code)) if code in MEMORY_FORMATS:
            return f"torch.{MEMORY_FORMATS[code]}"
    raise Opaque("has an argument that cannot be written")
