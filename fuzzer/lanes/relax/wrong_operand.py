"""The call whose converter gave a wrong type to an operand of the node at which an importer raised.

An importer of TVM keeps the Relax value of each node that it has translated. Where one that the failing node reads has
another type than the model has for it, the converter that made it is at fault, and not the one that raised. Imported in
children only.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from tvm import relax

from fuzzer.lanes.base.pointed import node_in, node_of_file_in, value_of_node, value_written_as
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.converted_types import type_of_value, types_in
from generators.graph import Case
from oracles.outcome import WrongOperand

T = TypeVar("T")


@contextmanager
def wrong_operand_noted(case: Case, step: Step) -> Iterator[None]:
    """Note `Facts.wrong_operand` where the importer that runs inside raises."""
    try:
        yield
    except Exception as error:
        if found := wrong_operand(error, case):
            step.note(wrong_operand=found)
        raise


def wrong_operand(error: BaseException, case: Case) -> WrongOperand | None:
    """Return the first value with a wrong type on the way to the node at which the importer raised. None where all
    operands are right, and where no frame tells it."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        importer: Any = frame.f_locals.get("self")
        if (node := node_in(frame)) is not None:
            return _in_program(node, getattr(importer, "env", {}), case)
        if (written := node_of_file_in(frame)) is not None and hasattr(importer, "_nodes"):
            return _in_file(value_written_as(written.output, case), importer._nodes, case)
    return None


def _in_program(failing: torch.fx.Node, made: Mapping[Any, Any], case: Case) -> WrongOperand | None:
    """`made` are the importer's Relax values by node. Nodes of one call of the case are one."""

    def types(node: torch.fx.Node) -> tuple[str, str]:
        return _type(made.get(node)), type_of_value(node.meta.get("val"))

    origin = _first_wrong(failing, lambda node: node.all_input_nodes, types)
    value = value_of_node(origin, case) if origin is not None else ""
    if origin is None or value in ("", value_of_node(failing, case)):
        return None
    return _described(value, *types(origin))


def _in_file(failing: str, made: Mapping[str, Any], case: Case) -> WrongOperand | None:
    """`made` are the importer's Relax values by name."""
    graph = case.bound
    makers = {value.name: node for node in graph.nodes for value in node.results}

    def types(name: str) -> tuple[str, str]:
        type = graph.types[name]
        return _type(made.get(name)) if name in makers else "", f"{type.dtype}{list(type.sizes)}"

    origin = _first_wrong(failing, lambda name: makers[name].args if name in makers else (), types)
    return _described(makers[origin].results[0].name, *types(origin)) if origin is not None else None


def _type(made: object) -> str:
    """The type of a Relax value, or of the first field of a tuple; "" where it is not known."""
    return types_in(made)[0] if isinstance(made, relax.Expr) else ""


def _described(value: str, made: str, right: str) -> WrongOperand:
    return WrongOperand(value, made.partition("[")[0] != right.partition("[")[0])


def _first_wrong(failing: T, operands: Callable[[T], Iterable[T]], types: Callable[[T], tuple[str, str]]) -> T | None:
    """Follow operands of a wrong type back to one whose own operands are right. `types` are what the importer made and
    what is right, "" where one is not known."""

    def is_wrong(each: T) -> bool:
        made, right = types(each)
        return bool(made and right) and made != right

    found, at = None, failing
    while (wrong := next((each for each in operands(at) if is_wrong(each)), None)) is not None:
        found = at = wrong
    return found
