"""The rows of ONNX that a converter of TVM's importer of ONNX reads: those of its operator, in the versions that the
importer gives to this version of the converter."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.coverage.onnx.features import converter_at, operator_of
from generators.graph import Invalid
from generators.onnx.operator import NodeForm
from generators.onnx.rows import OPS
from generators.onnx.schema import OLDEST, newest_opset
from generators.op import Op

TABLES = ("onnx",)


def rows_of_converter(name: str) -> Iterator[str]:
    """The names of the rows. `name` is a converter without its table: `Softmax 13`."""
    operator, _, version = name.partition(" ")
    for op in OPS:
        if operator_of(op).rpartition(".")[2] == operator and int(version) in _versions(op, operator, int(version)):
            yield op.name


def rows_of_rule(name: str) -> tuple[str, ...]:
    """None: the lanes that compare schedules run cases of PyTorch."""
    return ()


def rows_of_word(word: str) -> Iterator[str]:
    """The rows of operators of this name, written in any case."""
    return (op.name for op in OPS if operator_of(op).rpartition(".")[2].lower() == word)


def _versions(op: Op, operator: str, version: int) -> set[int]:
    """The converters that read a row. Other domains have versions of their own, and those of a converter that the TVM
    of the host lacks are not known: then it is the given one."""
    form = op.source
    assert isinstance(form, NodeForm)
    if form.schema.domain:
        return {version}
    opsets = [opset for opset in range(OLDEST, newest_opset() + 1) if form.schema.in_force(opset)]
    try:
        return {converter_at(operator, opset) for opset in opsets}
    except (KeyError, Invalid):
        return {version}
