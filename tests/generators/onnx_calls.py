"""Calls of rows of ONNX in tests: what a row infers, and whether drawn cases are valid in the checker and both
readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime, file_of, to_proto
from generators import undefined
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Array, Attrs, Case, Profile, TensorType
from generators.onnx.operator import INPUTS, OUTPUTS, NodeForm
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS, ROWS
from generators.onnx.schema import OLDEST, newest_opset


def inferred(row: str, types: str, **given: Any) -> str:
    """The types of the results. What is not given is left out: attributes, the last optional inputs and the optional
    outputs. Raise `Invalid` where the row refuses."""
    op = ROWS[row]
    operands = tuple(map(TensorType.parse, types.split()))
    attrs = {**op.defaults, **given}
    assert isinstance(op.source, NodeForm)
    if INPUTS in op.schema and INPUTS not in given:
        attrs[INPUTS] = next(op.source.patterns(len(operands)))
    if OUTPUTS in op.schema and OUTPUTS not in given:
        attrs[OUTPUTS] = tuple(not each.optional for each in op.source.schema.outputs)
    return " ".join(map(str, op.results(operands, attrs)))


def invalid_case(
    title: str, count: int, judged: Callable[[Attrs], bool] = lambda attrs: True, symbolic: bool | None = None
) -> str:
    """Draw cases of one call of each version of an operator, and return what is wrong with the first that is not
    valid, at any of its sizes. Only calls whose attributes are `judged` are looked at."""
    ops = [op for op in OPS if op.name.rpartition("-")[0] == title]
    for number in range(count):
        op, source = ops[number % len(ops)], NumpySource(7, number)
        assert isinstance(op.source, NodeForm)
        schema = op.source.schema
        opset = source.integer(max(schema.since, OLDEST), min(schema.last or newest_opset(), newest_opset()))
        case = generate(source, Limits(max_nodes=1), [op], profile=Profile.NORMAL, symbolic=symbolic, opset=opset)
        is_judged = all(judged(node.attrs) for node in case.graph.nodes)
        wrong = next(filter(None, map(_fault, case.instances())), "") if is_judged else ""
        if wrong:
            return f"case {number} of {[node.op for node in case.graph.nodes]}: {wrong}"
    return ""


def _fault(case: Case) -> str:
    file = file_of(case)
    model = to_proto(file.model)
    onnx.checker.check_model(model, full_check=True)
    wanted = [f"{type.dtype}{list(type.sizes)}" for type in case.bound.output_types]
    both = [run(model, file.inputs) for run in (by_onnxruntime, by_interpreter)]
    for outputs in both:
        found = [f"{array.dtype}{list(array.shape)}" for array in outputs]
        if found != wanted:
            return f"{found} instead of {wanted}"
    return "" if all(map(_close, *both)) or _is_undefined(case) else "the readers disagree"


def _is_undefined(case: Case) -> bool:
    """Whether onnx does not define some element of a result that inputs alone give."""
    for node in case.bound.nodes:
        if all(name in case.tensors for name in node.args):
            args = [case.tensors[name] for name in node.args]
            wide = tuple(each.astype(np.float64) if each.dtype.kind == "f" else each for each in args)
            results = tuple(value.type for value in node.results)
            call = undefined.Call(wide, case.bound.arg_types(node), results, node.attrs)
            places = [where(call) for _, where in undefined.rows_of(node.op)]
            if any(mask.any() for each in places for mask in (*each.operands.values(), *each.results.values())):
                return True
    return False


def _close(one: Array, other: Array) -> bool:
    a, b = (array.astype(np.float64) for array in (one, other))
    coarse = 0.05 if one.dtype.itemsize == 2 and one.dtype.kind not in "iu" else 1e-3
    return bool(np.allclose(a, b, rtol=coarse, atol=coarse, equal_nan=True))
