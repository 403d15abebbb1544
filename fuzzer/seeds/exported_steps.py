"""The steps of an exported program: from the nodes of its graph to calls of the operator table, and to calls of the
exact operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuzzer.seeds.aten_names import in_table_form
from fuzzer.seeds.exact_call import Opaque, exact_call, float_of
from fuzzer.seeds.exported import (
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
from fuzzer.seeds.program import MAX_RANK, Arg, Call, Ref, Step, TopologicalOrder, require_sizes
from fuzzer.seeds.row_of_call import rows_by_function
from generators.graph import TensorType
from generators.torch.in_place import SHARING, changes_operand, changes_others, without_change


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of `operand` in place. Later readers read `result` in place of `operand`. The operand is "" where no
    value is known that has the memory after the change."""

    operand: str
    result: str


class Reader:
    def __init__(self, graph: Graph, where: str) -> None:
        self._graph, self._where = graph, where
        self._sizes = {name: size.number for name, size in graph.sym_int_values.items()}
        self.types = {name: type for name, meta in graph.tensor_values.items() if (type := self._type(name, meta))}
        complex_values = ((name, meta) for name, meta in graph.tensor_values.items() if meta.dtype in COMPLEX)
        self.as_real = {name: type for name, meta in complex_values if (type := _real_view(meta))}
        self._part_of: dict[str, str] = {}  # from a view to the value whose memory it shares
        self._changes: dict[str, _Change] = {}  # from such a value to the last change of its memory
        self._since: dict[str, _Change | None] = {}  # from a view to the last change before the view was made

    def _type(self, name: str, meta: Meta) -> TensorType | None:
        """The type; None where difftvm does not support it: complex or sparse, or a size depends on data."""
        sizes = [size.number for size in meta.sizes]
        require_sizes(name, sizes, self._where)
        if meta.dtype not in DTYPES or meta.layout != STRIDED or None in sizes:
            return None
        return TensorType(DTYPES[meta.dtype], tuple(size for size in sizes if size is not None))

    def steps(self) -> Iterator[Step]:
        """Yield the steps, without nodes that only compute sizes: sizes are known."""
        given = (each.as_tensor.name for each in self._graph.inputs if each.as_tensor)
        order = TopologicalOrder(given, len(self._graph.nodes), self._where)
        for node in self._graph.nodes:
            reads = tuple(name for item in node.inputs for name in tensors_in(item.arg))
            results = tuple(name for item in node.outputs for name in tensors_in(item))
            order.next(node.target, reads, results)
            if results:
                yield self._step(node, results)
            elif changes_others(_operator_of(node)[1]):
                self._lose_operands(node)

    def _step(self, node: Node, results: tuple[str, ...]) -> Step:
        library, rest = _operator_of(node)
        function = rest.partition(".")[0]
        title = rest.removesuffix(".default") if library == "aten" else node.target
        exact = exact_call(node, self.now, self._sizes)
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
            self._change(operands[0], results[0])
        elif operands and (function in SHARING or (step.calls and self._is_view(step.calls[0]))):
            self._share(operands, results)
        return step

    def _is_view(self, call: Call) -> bool:
        return any(row.view for row in rows_by_function().get(in_table_form(call, self.types).function, ()))

    def _share(self, operands: tuple[str, ...], results: tuple[str, ...]) -> None:
        """Record that each result may share memory with its operand: the one at its place, or the first one."""
        wholes = [self._part_of.get(name, name) for name in operands]
        for place, result in enumerate(results):
            whole = wholes[place] if len(wholes) == len(results) else wholes[0]
            self._part_of[result] = whole
            self._since[result] = self._changes.get(whole)

    def _lose_operands(self, node: Node) -> None:
        """Record that operands were changed, nobody knows which ones: no node makes what later readers get."""
        for name in (name for item in node.inputs for name in tensors_in(item.arg)):
            self._changes[self._part_of.get(name, name)] = _Change("", _operator_of(node)[1])

    def _change(self, name: str, result: str) -> None:
        """Record that a value was changed in place: later readers get `result`. Other values that share its memory have
        changed too, but no node computes them (`now`)."""
        whole = self._part_of.get(name, name)
        self._part_of[result] = whole
        self._changes[whole] = self._since[result] = _Change(name, result)

    def _arg(self, arg: Argument) -> Arg:
        match arg:
            case Argument(as_tensor=Tensor(name=name)) | Argument(as_value=Tensor(name=name)):
                return Ref(self.now(name))
            case Argument(as_tensors=list(each)):
                return tuple(Ref(self.now(item.name)) for item in each)
            case Argument(as_optional_tensor=OptionalTensor(as_tensor=item)):
                return Ref(self.now(item.name)) if item else None
            case Argument(as_optional_tensors=list(each)):
                return tuple(Ref(self.now(item.as_tensor.name)) if item.as_tensor else None for item in each)
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

    def now(self, name: str) -> str:
        """The name under which a value is read now. It differs from the value's own name after its memory was changed
        in place. Where another value with the same memory was changed, the name is one that no node makes, which cuts
        the graph."""
        change = self._changes.get(self._part_of.get(name, name))
        if change is None or change is self._since.get(name):
            return name
        if name == change.operand:
            return change.result
        other = f"{name}:{change.result}"
        if name in self.types:
            self.types[other] = self.types[name]
        return other

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
