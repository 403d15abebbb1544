"""The types that converters of TVM's importers give to values, compared with those that the model has for them.

The nodes of an exported program have PyTorch's types. The values of the file of a case of ONNX have the names of the
case, whose graph has their types.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
import tvm
from tvm import relax

from fuzzer.lanes.base.pointed import node_of_file_in, value_of_node
from fuzzer.lanes.relax import releases
from generators.graph import Case
from oracles.trace import MistypedOperator, Translation

if TYPE_CHECKING:
    import onnx


def node_of(frame: FrameType) -> torch.fx.Node | None:
    """Return the node that a converter of PyTorch's graphs translates, or None."""
    nodes = (value for value in frame.f_locals.values() if isinstance(value, torch.fx.Node))
    node = next(nodes, None)
    return node if node is not None and node.op.startswith("call_") else None


def mistyped_in_program(frame: FrameType, result: object, by: Translation, case: Case) -> MistypedOperator | None:
    """Return the first result of a converter that has another type than the node of an exported program.

    by  the operator and the function, which has returned `result`
    """
    node = node_of(frame)
    expected = node.meta.get("val") if node is not None else None
    if node is None or expected is None or not isinstance(result, relax.Var):
        return None
    is_tuple = isinstance(expected, tuple | list)
    for index, (made, other) in enumerate(zip(types_in(result), expected if is_tuple else [expected], strict=False)):
        right = type_of_value(other)
        if right and made not in ("", right) and not (is_tuple and not _reads(node, index)):
            return MistypedOperator(by, made, right, value_of_node(node, case))
    return None


def type_of_value(value: object) -> str:
    """For example float32[2, 3], of a tensor that torch.export has made up for a node; "" for other values, and where a
    size is open."""
    sizes = list(value.shape) if isinstance(value, torch.Tensor) else None
    if sizes is None or not all(isinstance(size, int) for size in sizes):
        return ""
    return f"{str(value.dtype).removeprefix('torch.')}{sizes}"  # type: ignore[attr-defined]


def _reads(node: torch.fx.Node, index: int) -> bool:
    """Whether something reads this result of a node with several results."""
    return any(user.target is not operator.getitem or user.args[1] == index for user in node.users)


_IMPORTERS = ("_convert_operator", "_construct_nodes", "_convert_subgraph")
"""Methods of the importer of ONNX. One of them calls a converter, and then `BlockBuilder.normalize`, which gives a type
to what the converter returned."""


class TypesOfFile:
    """The types of the values in the graph of a case of ONNX that something reads, and the operators that compute
    them."""

    def __init__(self, case: Case) -> None:
        graph = case.bound
        read = {*graph.outputs, *(name for node in graph.nodes for name in node.args)}
        self._right = {name: f"{type.dtype}{list(type.sizes)}" for name, type in graph.types.items() if name in read}
        self._titles = {value.name: node.title for node in graph.nodes for value in node.results}

    def mistyped(self, frame: FrameType, result: object, converters: Sequence[Translation]) -> MistypedOperator | None:
        """Return the first operand or result of a node of the file that has another type than in the case's graph.

        frame       of a function that has returned `result`. Only the function is looked at that gives a type to what
                    a converter returned
        converters  the operators that were translated, and the functions, in order
        """
        caller = frame.f_back
        if frame.f_code.co_name != "normalize" or caller is None or caller.f_code.co_name not in _IMPORTERS:
            return None
        node = node_of_file_in(caller) or (node_of_file_in(caller.f_back) if caller.f_back else None)
        if node is None or not isinstance(result, relax.Expr):
            return None
        wrong = self._operand(caller, node, converters)
        return wrong or self._first(zip(node.output, types_in(result), strict=False), converters)

    def mistyped_operand(self, frame: FrameType, converters: Sequence[Translation]) -> MistypedOperator | None:
        """Return the first operand that has another type than in the case's graph, of the node whose converter is
        called: it may stop there.

        frame  of the converter
        """
        caller = frame.f_back
        above = caller.f_back if caller is not None else None
        if caller is None or above is None or caller.f_code.co_name != _IMPORTERS[0]:
            return None
        node = node_of_file_in(above)
        return self._operand(caller, node, converters) if node is not None else None

    def _operand(
        self, caller: FrameType, node: onnx.NodeProto, converters: Sequence[Translation]
    ) -> MistypedOperator | None:
        known = caller.f_locals["self"]._nodes  # the results of an If get no type from `normalize`
        return self._first(((name, operand_type(known[name])) for name in node.input if name in known), converters)

    def _first(
        self, made_types: Iterable[tuple[str, str]], converters: Sequence[Translation]
    ) -> MistypedOperator | None:
        for name, made in made_types:
            if made not in ("", self._right.get(name, made)):
                return MistypedOperator(self._converter_of(name, converters), made, self._right[name], name)
        return None

    def _converter_of(self, name: str, converters: Sequence[Translation]) -> Translation:
        """Return the converter that was called last for the operator that computes a value. An operator may be written
        as several nodes of the file."""
        title = self._titles.get(name, "Constant")
        return next((each for each in reversed(converters) if each[0] == title), (title, ""))


def operand_type(operand: Any) -> str:
    """The type of what stands for a tensor of the file. A node in a branch may have become a tuple."""
    fields = getattr(releases.type_of(operand), "fields", None)
    return type_text(releases.type_of(operand)) if fields is None else f"a tuple of {len(fields)}"


def types_in(result: Any) -> list[str]:
    """The types of a Relax expression: those of its fields where it is a tuple."""
    type = releases.type_of(result)
    return [type_text(each) for each in getattr(type, "fields", [type])]


def type_text(type: Any) -> str:
    """For example float32[2, 3]; "" for the type of something else than a tensor, and where a size is not known."""
    shape = getattr(type, "shape", None)
    sizes = getattr(shape, "values", None)
    if sizes is None or not all(isinstance(size, int | tvm.tirx.IntImm) for size in sizes):
        return ""
    return f"{type.dtype}{[int(size) for size in sizes]}"
