"""Read a .pt2 file (torch.export.save) as a `Program`, in pure Python: a zip archive with JSON and bytes. Nothing is
unpickled.

The JSON follows `torch/_export/serde/schema.py`. Only the parts that are needed are decoded. Unknown fields are
ignored; a node with an argument of an unknown kind cuts the graph. There are two layouts of the archive:
`*/models/*.json` with raw weights (torch 2.13), and `serialized_exported_program.json` with pickled weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from fuzzer.seeds.archive import Archive
from fuzzer.seeds.aten_names import in_table_form
from fuzzer.seeds.program import MAX_RANK, Arg, Call, Program, Ref, Step, TopologicalOrder, require_sizes
from fuzzer.seeds.row_of_call import rows_by_function
from generators.graph import Array, DType, Invalid, Role, TensorType

T = TypeVar("T")

MAX_JSON = 256 << 20
MAX_CONSTANT = 1 << 20
"""The most bytes of a tensor whose values are read."""

DTYPES = {
    1: DType.UINT8,
    2: DType.INT8,
    3: DType.INT16,
    4: DType.INT32,
    5: DType.INT64,
    6: DType.FLOAT16,
    7: DType.FLOAT32,
    8: DType.FLOAT64,
    12: DType.BOOL,
    13: DType.BFLOAT16,
}
"""The members of the schema's `ScalarType` that difftvm supports."""
STRIDED = 7


class _Hint(msgspec.Struct):
    as_int: int | None = None


class _Expr(msgspec.Struct):
    hint: _Hint | None = None


class _Size(msgspec.Struct):
    """A SymInt or a SymIntArgument: a number, a formula with its value for the example inputs, or a name."""

    as_int: int | None = None
    as_expr: _Expr | None = None
    as_name: str | None = None


class _Tensor(msgspec.Struct):
    name: str


class _Optional(msgspec.Struct):
    as_tensor: _Tensor | None = None
    as_none: bool | None = None


class _Device(msgspec.Struct):
    type: str = ""


class _Argument(msgspec.Struct):
    """An argument: one of the fields is set, or none where the kind is unknown."""

    as_none: bool | None = None
    as_tensor: _Tensor | None = None
    as_tensors: list[_Tensor] | None = None
    as_optional_tensor: _Optional | None = None
    as_optional_tensors: list[_Optional] | None = None
    as_int: int | None = None
    as_ints: list[int] | None = None
    as_float: float | str | None = None
    as_floats: list[float | str] | None = None
    as_string: str | None = None
    as_sym_int: _Size | None = None
    as_sym_ints: list[_Size] | None = None
    as_scalar_type: int | None = None
    as_memory_format: int | None = None
    as_layout: int | None = None
    as_device: _Device | None = None
    as_bool: bool | None = None
    as_bools: list[bool] | None = None


class _Named(msgspec.Struct):
    name: str
    arg: _Argument


class _Node(msgspec.Struct):
    target: str
    inputs: list[_Named]
    outputs: list[_Argument]


class _Meta(msgspec.Struct):
    dtype: int
    sizes: list[_Size]
    strides: list[_Size] = []
    storage_offset: _Size = msgspec.field(default_factory=lambda: _Size(as_int=0))
    layout: int = STRIDED


class _Graph(msgspec.Struct):
    inputs: list[_Argument]
    nodes: list[_Node]
    tensor_values: dict[str, _Meta]
    sym_int_values: dict[str, _Size] = {}


class _Owned(msgspec.Struct):
    arg: _Tensor
    parameter_name: str = ""
    buffer_name: str = ""
    tensor_constant_name: str = ""

    @property
    def name(self) -> str:
        return self.parameter_name or self.buffer_name or self.tensor_constant_name


class _Spec(msgspec.Struct):
    parameter: _Owned | None = None
    buffer: _Owned | None = None
    tensor_constant: _Owned | None = None


class _Signature(msgspec.Struct):
    input_specs: list[_Spec]


class _Module(msgspec.Struct):
    graph: _Graph
    signature: _Signature


class _Exported(msgspec.Struct):
    graph_module: _Module


class _Payload(msgspec.Struct):
    path_name: str
    use_pickle: bool
    tensor_meta: _Meta | None = None


class _Payloads(msgspec.Struct):
    config: dict[str, _Payload]


def read(path: Path) -> Program:
    """Read a file. Raise `Invalid` with one line that describes what is wrong and where. Memory and time are not
    bounded here; `pt2_file` calls this in a child with limits."""
    with Archive(path) as archive:
        model = _model(archive, path)
        exported = _decoded(archive.read(model, MAX_JSON), _Exported, f"{path}: {model}")
        module = exported.graph_module
        owned = [
            (each, role)
            for spec in module.signature.input_specs
            for each, role in (
                (spec.parameter, Role.PARAM),
                (spec.buffer, Role.BUFFER),
                (spec.tensor_constant, Role.BUFFER),
            )
            if each is not None
        ]
        reader = _Reader(module.graph, str(path))
        steps = tuple(reader.steps())
        names = {each.name: each.arg.name for each, _ in owned}
        constants = dict(_constants(archive, model, names, path))
    roles = {each.arg.name: role for each, role in owned}
    return Program(path.stem, steps, reader.types, roles, constants)


def _model(archive: Archive, path: Path) -> str:
    if "serialized_exported_program.json" in archive.names:
        return "serialized_exported_program.json"
    found = sorted(name for name in archive.names if name.endswith(".json") and name.split("/")[-2:-1] == ["models"])
    if not found:
        raise Invalid(f"{path}: no exported program in it (a file of torch.export.save has models/model.json)")
    return found[0]


def _decoded(text: bytes, type: type[T], where: str) -> T:
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}: {' '.join(str(error).split())}") from None


class _Opaque(Exception):
    """An argument that no row accepts. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of `operand` in place. Later readers read `result` in place of `operand`."""

    operand: str
    result: str


class _Reader:
    def __init__(self, graph: _Graph, where: str) -> None:
        self._graph, self._where = graph, where
        self._sizes = {name: _number(size) for name, size in graph.sym_int_values.items()}
        self.types = {name: type for name, meta in graph.tensor_values.items() if (type := self._type(name, meta))}
        self._part_of: dict[str, str] = {}  # from a view to the value whose memory it shares
        self._changes: dict[str, _Change] = {}  # from such a value to the last change of its memory
        self._since: dict[str, _Change | None] = {}  # from a view to the last change before the view was made

    def _type(self, name: str, meta: _Meta) -> TensorType | None:
        """The type; None where difftvm does not support it: complex or sparse, or a size depends on data."""
        sizes = [_number(size) for size in meta.sizes]
        require_sizes(name, sizes, self._where)
        if meta.dtype not in DTYPES or meta.layout != STRIDED or None in sizes:
            return None
        return TensorType(DTYPES[meta.dtype], tuple(size for size in sizes if size is not None))

    def steps(self) -> Iterator[Step]:
        """Yield the steps, without nodes that only compute sizes: sizes are known."""
        given = (each.as_tensor.name for each in self._graph.inputs if each.as_tensor)
        order = TopologicalOrder(given, len(self._graph.nodes), self._where)
        for node in self._graph.nodes:
            reads = tuple(dict.fromkeys(name for item in node.inputs for name in _tensors(item.arg)))
            results = tuple(name for item in node.outputs for name in _tensors(item))
            order.next(node.target, reads, results)
            if results:
                yield self._step(node, results)

    def _step(self, node: _Node, results: tuple[str, ...]) -> Step:
        library, _, rest = node.target.removeprefix("torch.ops.").partition(".")
        function = rest.partition(".")[0]
        title = rest.removesuffix(".default") if library == "aten" else node.target
        if library != "aten":
            return Step(title, results, why_not="is not a function of PyTorch's own")
        in_place = function.endswith("_") and not function.endswith("__")
        function = function.removesuffix("_") if in_place else function
        try:
            args = {item.name: self._arg(item.arg) for item in node.inputs}
        except _Opaque as why:
            return Step(title, results, why_not=str(why))
        step = Step(title, results, (Call(function, args, results),))
        operand = node.inputs[0].arg.as_tensor if node.inputs else None
        if operand and in_place:
            self._change(operand.name, results[0])
        elif operand and any(
            row.view for row in rows_by_function().get(in_table_form(step.calls[0], self.types).function, ())
        ):
            whole = self._part_of.get(operand.name, operand.name)
            self._part_of |= dict.fromkeys(results, whole)
            self._since |= dict.fromkeys(results, self._changes.get(whole))
        return step

    def _is_view(self, call: Call) -> bool:
        return any(row.view for row in rows_by_function().get(in_table_form(call, self.types).function, ()))

    def _change(self, name: str, result: str) -> None:
        """Record that a value was changed in place: later readers get `result`. Other values that share its memory have
        changed too, but no node computes them (`_ref`)."""
        whole = self._part_of.get(name, name)
        self._part_of[result] = whole
        self._changes[whole] = self._since[result] = _Change(name, result)

    def _arg(self, arg: _Argument) -> Arg:
        match arg:
            case _Argument(as_tensor=_Tensor(name=name)):
                return self._ref(name)
            case _Argument(as_tensors=list(each)):
                return tuple(self._ref(item.name) for item in each)
            case _Argument(as_optional_tensor=_Optional(as_tensor=item)):
                return self._ref(item.name) if item else None
            case _Argument(as_optional_tensors=list(each)):
                return tuple(self._ref(item.as_tensor.name) if item.as_tensor else None for item in each)
            case _Argument(as_bool=bool(value)) | _Argument(as_int=int(value)) | _Argument(as_string=str(value)):
                return value
            case _Argument(as_float=float() | str() as value):
                return _float(value)
            case _Argument(as_floats=list(values)):
                return tuple(map(_float, values))
            case _Argument(as_ints=list(values)) | _Argument(as_bools=list(values)):
                return tuple(values)
            case _Argument(as_sym_int=_Size() as size):
                return self._size(size)
            case _Argument(as_sym_ints=list(sizes)):
                return tuple(map(self._size, sizes))
            case _Argument(as_scalar_type=int(code)):
                if code not in DTYPES:
                    raise _Opaque("has a dtype that difftvm does not support")
                return DTYPES[code].value
            case _Argument(as_device=_Device()) | _Argument(as_layout=int()) | _Argument(as_memory_format=int()):
                return None
            case _Argument(as_none=bool()):
                return None
        raise _Opaque("has an argument that is not a tensor, a number or a string")

    def _ref(self, name: str) -> Ref:
        """The name under which a value is read now. It differs from the value's own name after its memory was changed
        in place. Where another value with the same memory was changed, the name is one that no node makes, which cuts
        the graph."""
        change = self._changes.get(self._part_of.get(name, name))
        if change is None or change is self._since.get(name):
            return Ref(name)
        if name == change.operand:
            return Ref(change.result)
        other = f"{name}:{change.result}"
        if name in self.types:
            self.types[other] = self.types[name]
        return Ref(other)

    def _size(self, size: _Size) -> int:
        known = self._sizes.get(size.as_name) if size.as_name else _number(size)
        if known is None:
            raise _Opaque("has a size that depends on data")
        return known


def _number(size: _Size) -> int | None:
    if size.as_int is not None:
        return size.as_int
    return size.as_expr.hint.as_int if size.as_expr and size.as_expr.hint else None


def _float(value: float | str) -> float:
    """A float. JSON has no infinities, so that they are strings here."""
    try:
        return float(value)
    except ValueError:
        raise _Opaque(f"has the number {value!r}") from None


def _tensors(arg: _Argument) -> Iterator[str]:
    match arg:
        case _Argument(as_tensor=_Tensor(name=name)):
            yield name
        case _Argument(as_tensors=list(each)):
            yield from (item.name for item in each)
        case _Argument(as_optional_tensor=_Optional(as_tensor=_Tensor(name=name))):
            yield name
        case _Argument(as_optional_tensors=list(some)):
            yield from (item.as_tensor.name for item in some if item.as_tensor)


# --- numbers


def _constants(archive: Archive, model: str, names: dict[str, str], path: Path) -> Iterator[tuple[str, Array]]:
    """Yield the integer and boolean tensors of the model that the archive stores as raw bytes. Pickled tensors are not
    read."""
    root = model.rpartition("models/")[0]
    for kind, listed in (("weights", "model_weights_config"), ("constants", "model_constants_config")):
        config = f"{root}data/{kind}/{Path(model).stem}{listed.removeprefix('model')}.json"
        if config not in archive.names:
            continue
        payloads = _decoded(archive.read(config, MAX_JSON), _Payloads, f"{path}: {config}")
        for name, payload in payloads.config.items():
            member, meta = f"{root}data/{kind}/{payload.path_name}", payload.tensor_meta
            if name not in names or payload.use_pickle or meta is None or member not in archive.names:
                continue
            dtype = DTYPES.get(meta.dtype)
            if dtype is None or dtype.is_float or archive.size(member) > MAX_CONSTANT:
                continue
            array = _array(archive.read(member, MAX_CONSTANT), dtype, meta)
            if array is not None:
                yield names[name], array


def _array(data: bytes, dtype: DType, meta: _Meta) -> Array | None:
    """The tensor where it is contiguous and fills its storage; None otherwise."""
    sizes = [_number(size) for size in meta.sizes]
    strides = [_number(size) for size in meta.strides]
    if None in sizes or len(sizes) > MAX_RANK:
        return None
    shape = [size for size in sizes if size is not None]
    count = math.prod(shape)
    plain = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if strides != plain or _number(meta.storage_offset) != 0 or len(data) != count * dtype.numpy.itemsize:
        return None
    return np.frombuffer(data, np.uint8 if dtype is DType.BOOL else dtype.numpy).astype(dtype.numpy).reshape(shape)
