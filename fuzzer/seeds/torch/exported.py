"""An exported program as torch.export.save writes it down: the parts of `torch/_export/serde/schema.py` that are
needed. Unknown fields are ignored."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from generators.graph import DType
from generators.torch.given import DTYPE_CODES

DTYPES = {code: dtype for dtype, code in DTYPE_CODES.items()}
STRIDED = 7
COMPLEX = {9: DType.FLOAT16, 10: DType.FLOAT32, 11: DType.FLOAT64}
"""The complex members, and the dtype of the parts of each."""
QUANTIZED = {-1: "qint8", -2: "quint8", -3: "qint32"}
"""Dtypes that the schema does not have. No file has these numbers."""
NAMES = {
    **{code: dtype.value for code, dtype in DTYPES.items()},
    9: "complex32",
    10: "complex64",
    11: "complex128",
    **QUANTIZED,
}
"""The names in `torch` of all dtypes that an argument may be."""
LAYOUTS = {1: "sparse_coo", 2: "sparse_csr", STRIDED: "strided"}
MEMORY_FORMATS = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}


class Hint(msgspec.Struct):
    as_int: int | None = None


class Expr(msgspec.Struct):
    """A formula of sizes, as sympy writes it, and its value for the example inputs."""

    expr_str: str = ""
    hint: Hint | None = None


class Size(msgspec.Struct):
    """A SymInt or a SymIntArgument: a number, a formula with its value for the example inputs, or a name."""

    as_int: int | None = None
    as_expr: Expr | None = None
    as_name: str | None = None

    @property
    def number(self) -> int | None:
        """The number, for the example inputs; None where the file has none."""
        if self.as_int is not None:
            return self.as_int
        return self.as_expr.hint.as_int if self.as_expr and self.as_expr.hint else None


class Flag(msgspec.Struct):
    """A SymBoolArgument."""

    as_bool: bool | None = None
    as_name: str | None = None


class Real(msgspec.Struct):
    """A SymFloatArgument."""

    as_float: float | str | None = None
    as_name: str | None = None


class Complex(msgspec.Struct):
    """A complex number."""

    real: float | str
    imag: float | str


class Tensor(msgspec.Struct):
    name: str


class OptionalTensor(msgspec.Struct):
    as_tensor: Tensor | None = None
    as_none: bool | None = None


class Device(msgspec.Struct):
    type: str = ""
    index: int | None = None


class Argument(msgspec.Struct):
    """An argument: one of the fields is set, or none where the kind is unknown. `as_value` is a number that the program
    computes; no file has it."""

    as_value: Tensor | None = None

    as_none: bool | None = None
    as_tensor: Tensor | None = None
    as_tensors: list[Tensor] | None = None
    as_optional_tensor: OptionalTensor | None = None
    as_optional_tensors: list[OptionalTensor] | None = None
    as_int: int | None = None
    as_ints: list[int] | None = None
    as_float: float | str | None = None
    as_floats: list[float | str] | None = None
    as_complex: Complex | None = None
    as_string: str | None = None
    as_sym_int: Size | None = None
    as_sym_ints: list[Size] | None = None
    as_sym_bool: Flag | None = None
    as_sym_float: Real | None = None
    as_scalar_type: int | None = None
    as_memory_format: int | None = None
    as_layout: int | None = None
    as_device: Device | None = None
    as_bool: bool | None = None
    as_bools: list[bool] | None = None
    as_int_lists: list[list[int]] | None = None
    as_graph: GraphArgument | None = None


class GraphArgument(msgspec.Struct):
    """A branch of a conditional."""

    name: str
    graph: Graph | None = None


POSITIONAL = 1


class Named(msgspec.Struct):
    """An argument, and how it is given. Files of older versions do not say how."""

    name: str
    arg: Argument
    kind: int | None = None


class Node(msgspec.Struct):
    """`is_hop_single_tensor_return`: a call of a branch or the like gives a tensor, not a tuple with one tensor."""

    target: str
    inputs: list[Named]
    outputs: list[Argument]
    is_hop_single_tensor_return: bool | None = None


class Meta(msgspec.Struct):
    dtype: int
    sizes: list[Size]
    strides: list[Size] = []
    storage_offset: Size = msgspec.field(default_factory=lambda: Size(as_int=0))
    layout: int = STRIDED


class Graph(msgspec.Struct):
    """`is_single_tensor_return`: it is a branch or the like, and gives a tensor, not a tuple with one tensor."""

    inputs: list[Argument]
    nodes: list[Node]
    tensor_values: dict[str, Meta]
    outputs: list[Argument] = []
    sym_int_values: dict[str, Size] = {}
    is_single_tensor_return: bool = False


class Owned(msgspec.Struct):
    arg: Tensor
    parameter_name: str = ""
    buffer_name: str = ""
    tensor_constant_name: str = ""

    @property
    def name(self) -> str:
        return self.parameter_name or self.buffer_name or self.tensor_constant_name


class UserInput(msgspec.Struct):
    arg: Argument


class ConstantInput(msgspec.Struct):
    """A number, a text or None among the inputs, which the program does not read."""

    name: str = ""


class Spec(msgspec.Struct):
    user_input: UserInput | None = None
    constant_input: ConstantInput | None = None
    parameter: Owned | None = None
    buffer: Owned | None = None
    tensor_constant: Owned | None = None


class UserOutput(msgspec.Struct):
    arg: Argument


class OutputSpec(msgspec.Struct):
    """A result, or another thing, such as the new value of a buffer."""

    user_output: UserOutput | None = None


class Signature(msgspec.Struct):
    input_specs: list[Spec]
    output_specs: list[OutputSpec] = []


class GraphModule(msgspec.Struct):
    graph: Graph
    signature: Signature


class Range(msgspec.Struct):
    """The smallest and the largest number of an open size."""

    min_val: int | None = None
    max_val: int | None = None


class Exported(msgspec.Struct):
    """`range_constraints`: by the names of the symbols."""

    graph_module: GraphModule
    range_constraints: dict[str, Range] = {}


class Payload(msgspec.Struct):
    path_name: str
    use_pickle: bool
    tensor_meta: Meta | None = None


class Payloads(msgspec.Struct):
    config: dict[str, Payload]


def tensors_in(arg: Argument) -> Iterator[str]:
    """The names of the values in an argument."""
    match arg:
        case Argument(as_tensor=Tensor(name=name)) | Argument(as_value=Tensor(name=name)):
            yield name
        case Argument(as_tensors=list(each)):
            yield from (item.name for item in each)
        case Argument(as_optional_tensor=OptionalTensor(as_tensor=Tensor(name=name))):
            yield name
        case Argument(as_optional_tensors=list(some)):
            yield from (item.as_tensor.name for item in some if item.as_tensor)
