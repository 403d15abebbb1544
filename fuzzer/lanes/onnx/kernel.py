"""One node as the interpreter of the onnx package computes it in float64: what the truth and the envelope of a case of
ONNX are made of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import onnx
import torch

from fuzzer.lanes.envelope.other_sizes import OtherSizes
from fuzzer.lanes.envelope.program import Kernel, Kernels, Tensors
from fuzzer.lanes.onnx.definitions.wide import in_own_dtype
from fuzzer.lanes.onnx.interpreter import Interpreter
from fuzzer.lanes.onnx.otherwise import IN_HALF, ONE_PASS, WITHOUT_ZEROS, computes_variance, named
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.lanes.onnx.session import NO_KERNEL
from fuzzer.lanes.onnx.widened import FLOATS_TO_DOUBLE, widen
from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from generators.graph import Array, DType, Form, Graph, Input, Node, Value, holds_floats
from generators.onnx.operator import OUTPUTS, NodeForm
from generators.onnx.source import render
from generators.onnx.unlisted import UnlistedForm
from generators.op import Types
from generators.table import TABLE

_NOTHING = np.zeros(0)


def file_of_one(node: Node, graph: Graph, types: Types) -> onnx.ModelProto:
    """A file of this node alone, in the dtypes of the graph. Its operands are inputs."""
    operands = dict(zip(node.args, types, strict=True))
    alone = Graph(
        tuple(Input(Value(name, type)) for name, type in operands.items()),
        (replace(node, form=Form.PLAIN),),
        tuple(value.name for value in node.results),
        graph.dialect,
        opset=graph.opset,
    )
    return to_proto(render(alone, dict.fromkeys(operands, _NOTHING)).model)


class OnnxKernel:
    """A file of one node, whose floats are all float64. An interpreter is made of it once."""

    def __init__(self, node: Node, graph: Graph, types: Types) -> None:
        self._results = node.results
        model = file_of_one(node, graph, types)
        form = TABLE[node.op].source
        assert isinstance(form, NodeForm)
        self._call, self._wanted = form.call(types, node.attrs), node.attrs.get(OUTPUTS)
        self._names, self._dtypes = node.args, [type.dtype.numpy for type in types]
        self.has_variance = computes_variance(self._call)
        self.may_be_in_half = self._call.schema.name in IN_HALF and any(type.dtype is DType.FLOAT16 for type in types)
        self._own = Interpreter(_copied(model)) if self.may_be_in_half else None
        widen(model, FLOATS_TO_DOUBLE)
        self._interpreter = Interpreter(model)

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        feeds = {name: arg.numpy() for name, arg in zip(self._names, args, strict=True)}
        outputs = self._interpreter.run(None, feeds)
        return tuple([_tensor(made, value) for made, value in zip(outputs, self._results, strict=True)])

    def in_half(self, args: Sequence[torch.Tensor]) -> Tensors:
        assert self._own is not None
        with in_own_dtype(), np.errstate(all="ignore"):
            named = zip(self._names, self._dtypes, args, strict=True)
            feeds = {name: arg.numpy().astype(dtype) for name, dtype, arg in named}
            outputs = self._own.run(None, feeds)
        return tuple([_tensor(made, value) for made, value in zip(outputs, self._results, strict=True)])

    def in_one_pass(self, args: Sequence[torch.Tensor], direction: int) -> Tensors:
        outputs = ONE_PASS[self._call.schema.name](self._call, named(self._call, args), direction)
        wanted = self._wanted if isinstance(self._wanted, tuple) else (True,) * len(self._results)
        return tuple([output for output, is_wanted in zip(outputs, wanted, strict=False) if is_wanted])

    def without_zeros(self, args: Sequence[torch.Tensor]) -> Tensors:
        (result,) = self._results
        return (WITHOUT_ZEROS[self._call.schema.name](self._call, named(self._call, args), result.type),)


class UnlistedKernel:
    """A node without a row. The interpreter computes it in float64. Where it cannot, or where float64 gives results of
    other sizes than the node has in its own dtype, onnxruntime computes it in its own dtype, or the interpreter where
    onnxruntime has no kernel."""

    has_variance = may_be_in_half = False

    def __init__(self, node: Node, graph: Graph, types: Types) -> None:
        self._results, self._names = node.results, node.args
        self._dtypes = [type.dtype.numpy for type in types]
        self._own = file_of_one(node, graph, types)
        self._interpreter = _in_double(self._own)

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        return self._by_interpreter(args) or self._in_own_dtype(args)

    def _by_interpreter(self, args: Sequence[torch.Tensor]) -> Tensors | None:
        """The results in float64; None where the interpreter gives none that fit."""
        if self._interpreter is None:
            return None
        feeds = {name: arg.numpy() for name, arg in zip(self._names, args, strict=True)}
        try:
            outputs = self._interpreter.run(None, feeds)
        except Exception:  # whatever numpy raises about a definition that does not expect float64
            return None
        if not all(_fits(made, value) for made, value in zip(outputs, self._results, strict=True)):
            return None
        return tuple([_tensor(made, value) for made, value in zip(outputs, self._results, strict=True)])

    def _in_own_dtype(self, args: Sequence[torch.Tensor]) -> Tensors:
        named = zip(self._names, self._dtypes, args, strict=True)
        feeds = {name: arg.numpy().astype(dtype) for name, dtype, arg in named}
        try:
            outputs = by_onnxruntime(self._own, feeds)
        except NO_KERNEL:
            outputs = by_interpreter(self._own, feeds)
        if not all(_fits(made, value) for made, value in zip(outputs, self._results, strict=True)):
            raise OtherSizes(", ".join(f"{made.dtype}{list(made.shape)}" for made in outputs))
        return tuple([_tensor(made, value) for made, value in zip(outputs, self._results, strict=True)])

    def in_half(self, args: Sequence[torch.Tensor]) -> Tensors:
        raise NotImplementedError("nothing says that the operator may be computed in float16")

    def in_one_pass(self, args: Sequence[torch.Tensor], direction: int) -> Tensors:
        raise NotImplementedError("nothing says that the operator computes a variance")

    def without_zeros(self, args: Sequence[torch.Tensor]) -> Tensors:
        raise NotImplementedError("nothing says that the operator may leave out products with zeros")


def _in_double(model: onnx.ModelProto) -> Interpreter | None:
    """The interpreter of the file with float64 in place of all floats; None where it has no definition of the
    operator."""
    wide = _copied(model)
    widen(wide, FLOATS_TO_DOUBLE)
    try:
        return Interpreter(wide)
    except Exception:  # the interpreter has no error of its own for an operator that it lacks
        return None


def _fits(made: Array, value: Value) -> bool:
    """Whether a result is of the type that it should have; floats may be of any float dtype."""
    dtype, array = value.type.dtype, np.asarray(made)
    right = holds_floats(array) if dtype.is_float else array.dtype == dtype.numpy
    return bool(right) and array.shape == value.type.sizes


def _copied(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _tensor(made: Array, value: Value) -> torch.Tensor:
    """The result. A definition that gives another dtype or shape is wrong."""
    dtype, array = value.type.dtype, np.asarray(made)
    assert holds_floats(array) if dtype.is_float else array.dtype == dtype.numpy, f"{array.dtype} for {value.type}"
    assert array.shape == value.type.sizes, f"{list(array.shape)} for {value.type}"
    array = np.require(array, np.float64 if dtype.is_float else None, ("C", "W"))
    return torch.from_numpy(array.copy() if min(array.strides, default=0) < 0 else array)  # PyTorch has no such strides


@contextmanager
def _quiet() -> Iterator[None]:
    """Division by zero and overflow give infinities and NaN, which are compared."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _kernel(node: Node, graph: Graph, types: Types) -> Kernel:
    is_unlisted = isinstance(TABLE[node.op].source, UnlistedForm)
    return UnlistedKernel(node, graph, types) if is_unlisted else OnnxKernel(node, graph, types)


ONNX = Kernels(_kernel, _quiet)
