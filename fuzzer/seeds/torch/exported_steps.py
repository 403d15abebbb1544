"""The steps of an exported program: from the nodes of its graph to calls of the operator table, and to calls of the
exact operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fuzzer.seeds.bounds import MAX_RANK, TopologicalOrder, require_sizes
from fuzzer.seeds.torch.aten_names import in_table_form
from fuzzer.seeds.torch.exact_call import Opaque, exact_call, float_of
from fuzzer.seeds.torch.exported import (
    COMPLEX,
    DTYPES,
    STRIDED,
    Argument,
    Device,
    Graph,
    Meta,
    Node,
    OptionalTensor,
    Size,
    Tensor,
    tensors_in,
)
from fuzzer.seeds.torch.memory import Memory
from fuzzer.seeds.torch.program import Arg, Call, Ref, Step
from fuzzer.seeds.torch.row_of_call import rows_by_function
from generators.graph import TensorType
from generators.torch.in_place import SHARING, changes_operand, changes_others, without_change


class Reader:
    def __init__(self, graph: Graph, where: str) -> None:
        self._graph, self._where = graph, where
        self._sizes = {name: size.number for name, size in graph.sym_int_values.items()}
        self.types = {name: type for name, meta in graph.tensor_values.items() if (type := self._type(name, meta))}
        complex_values = ((name, meta) for name, meta in graph.tensor_values.items() if meta.dtype in COMPLEX)
        self.as_real = {name: type for name, meta in complex_values if (type := _real_view(meta))}
        self._memory = Memory(self.types)

    def _type(self, name: str, meta: Meta) -> TensorType | None:
        """The type; None where difftvm does not support it: complex or sparse, or a size depends on data."""
        sizes = [size.number for size in meta.sizes]
        require_sizes(name, sizes, self._where)
        if meta.dtype not in DTYPES or meta.layout != STRIDED or None in sizes:
            return None
        return TensorType(DTYPES[meta.dtype], tuple(size for size in sizes if size is not None))

    def read(self, returned: Iterable[str]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
        """Return the steps, without nodes that only compute sizes: sizes are known. Also return under which names these
        values are read at the end."""
        steps = list(self._steps())
        now = tuple(map(self._memory.now, returned))
        return (*steps, *self._memory.take_steps()), now

    def _steps(self) -> Iterator[Step]:
        given = (each.as_tensor.name for each in self._graph.inputs if each.as_tensor)
        order = TopologicalOrder(given, len(self._graph.nodes), self._where)
        for node in self._graph.nodes:
            reads = tuple(name for item in node.inputs for name in tensors_in(item.arg))
            results = tuple(name for item in node.outputs for name in tensors_in(item))
            order.next(node.target, reads, results)
            if results:
                step = self._step(node, results)
                yield from self._memory.take_steps()
                yield step
            elif changes_others(_operator_of(node)[1]):
                self._lose_operands(node)

    def _step(self, node: Node, results: tuple[str, ...]) -> Step:
        library, rest = _operator_of(node)
        function = rest.partition(".")[0]
        title = rest.removesuffix(".default") if library == "aten" else node.target
        exact = exact_call(node, self._memory.now, self._sizes)
        if library != "aten":
            return Step(title, results, why_not="is not a function of PyTorch's own", exact=exact)
        if changes_others(rest):
            self._lose_operands(node)
            return Step(title, results, why_not="changes values in a way that is not followed")
        in_place = changes_operand(function)
        function = without_change(function) if in_place else function
        try:
            args = {item.name: self._arg(item.arg) for item in node.inputs}
        except Opaque as why:
            step = Step(title, results, why_not=str(why), exact=exact)
        else:
            step = Step(title, results, (Call(function, args, results),), exact=exact)
        operands = tuple(tensors_in(node.inputs[0].arg)) if node.inputs else ()
        if operands and in_place:
            self._memory.change(operands[0], results[0])
        elif operands and (function in SHARING or (step.calls and self._is_view(step.calls[0]))):
            for place, result in enumerate(results):
                self._memory.view(operands[place if len(operands) == len(results) else 0], result, step)
        return step

    def _is_view(self, call: Call) -> bool:
        return any(row.view for row in rows_by_function().get(in_table_form(call, self.types).function, ()))

    def _lose_operands(self, node: Node) -> None:
        """Record that operands were changed, nobody knows which ones."""
        for name in (name for item in node.inputs for name in tensors_in(item.arg)):
            self._memory.lose(name)

    def _arg(self, arg: Argument) -> Arg:
        match arg:
            case Argument(as_tensor=Tensor(name=name)) | Argument(as_value=Tensor(name=name)):
                return Ref(self._memory.now(name))
            case Argument(as_tensors=list(each)):
                return tuple(Ref(self._memory.now(item.name)) for item in each)
            case Argument(as_optional_tensor=OptionalTensor(as_tensor=item)):
                return Ref(self._memory.now(item.name)) if item else None
            case Argument(as_optional_tensors=list(each)):
                return tuple(Ref(self._memory.now(item.as_tensor.name)) if item.as_tensor else None for item in each)
            case Argument(as_bool=bool(value)) | Argument(as_int=int(value)) | Argument(as_string=str(value)):
                return value
            case Argument(as_float=float() | str() as value):
                return float_of(value)
            case Argument(as_floats=list(values)):
                return tuple(map(float_of, values))
            case Argument(as_ints=list(values)) | Argument(as_bools=list(values)):
                return tuple(values)
            case Argument(as_sym_int=Size() as size):
                return self._size(size)
            case Argument(as_sym_ints=list(sizes)):
                return tuple(map(self._size, sizes))
            case Argument(as_scalar_type=int(code)):
                if code not in DTYPES:
                    raise Opaque("has a dtype that difftvm does not support")
                return DTYPES[code].value
            case Argument(as_device=Device()) | Argument(as_layout=int()) | Argument(as_memory_format=int()):
                return None
            case Argument(as_none=bool()):
                return None
        raise Opaque("has an argument that is not a tensor, a number or a string")

    def _size(self, size: Size) -> int:
        known = self._sizes.get(size.as_name) if size.as_name else size.number
        if known is None:
            raise Opaque("has a size that depends on data")
        return known


def _operator_of(node: Node) -> tuple[str, str]:
    """The library of the operator, and its name with the overload."""
    library, _, rest = node.target.removeprefix("torch.ops.").partition(".")
    return library, rest


def _real_view(meta: Meta) -> TensorType | None:
    """The type of the real view of a complex tensor; None where it is not strided, or where a size depends on data."""
    sizes = [size.number for size in meta.sizes]
    if meta.layout != STRIDED or None in sizes or len(sizes) >= MAX_RANK:
        return None
    return TensorType(COMPLEX[meta.dtype], (*(size for size in sizes if size is not None), 2))
