"""Which node of the case's graph an exception is about. Imported in children only.

An importer that walks PyTorch's graph has the node that it translates in a local variable. torch.export records for
each node the line of the model's source that made it. That source has the statements of each node of the case, one
node after the other. TVM's importer of ONNX has the node of the file, whose outputs
have the names of the case's values.
"""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING

from generators import syntax_tree
from generators.dialect import dialect_named
from generators.graph import Case

if TYPE_CHECKING:
    import onnx
    import torch

_LINE_OF_MODEL = re.compile(r'File "<case>", line (\d+)')


def value_pointed_at(error: BaseException, case: Case) -> str:
    """Return the first result of the node of the case's graph that was being translated, or "" if no frame tells it."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        if dialect_named(case.graph.dialect).is_file:
            if (made := node_of_file_in(frame)) is not None and (value := value_written_as(made.output, case)):
                return value
        elif (node := node_in(frame)) is not None:
            return value_of_node(node, case)
    return ""


def node_of_file_in(frame: FrameType) -> onnx.NodeProto | None:
    """Return the node of an ONNX file that a function translates: its variable `node`, or None."""
    onnx, node = sys.modules.get("onnx"), frame.f_locals.get("node")
    return node if onnx and isinstance(node, onnx.NodeProto) else None


def value_written_as(outputs: Iterable[str], case: Case) -> str:
    """Return the first result of the case's node that is written as a node with these outputs, or "". Names of what is
    added to write a node begin with its first result: `t1_shape`, `t1_0_size` (`generators.onnx.source`)."""
    first = {value.name: node.results[0].name for node in case.graph.nodes for value in node.results}
    stems = (name.partition("_")[0] for name in outputs)
    return next((first[stem] for stem in stems if stem in first), "")


def node_in(frame: FrameType) -> torch.fx.Node | None:
    """Return the call in PyTorch's graph that a function translates: its variable `node`, or None."""
    torch = sys.modules.get("torch")  # a worker whose lanes use no PyTorch has not imported it
    node = frame.f_locals.get("node")
    return node if torch and isinstance(node, torch.fx.Node) and node.op.startswith("call_") else None


def value_of_node(node: torch.fx.Node, case: Case) -> str:
    """Return the value whose node has the last line of the model that the node's stack trace has."""
    lines = _LINE_OF_MODEL.findall(str(node.meta.get("stack_trace") or ""))
    return value_made_at(int(lines[-1]), case) if lines else ""


def value_made_at(line: int, case: Case) -> str:
    """Return the first result of the node to which a line of the model's source belongs, "" where there is none. A
    statement that assigns nothing, such as a check, belongs to the next one that assigns a result."""
    source = dialect_named(case.graph.dialect).source
    if source is None:
        return ""
    first = {value.name: node.results[0].name for node in case.graph.nodes for value in node.results}
    statements = [each for each in ast.walk(syntax_tree.parse(source(case.bound))) if isinstance(each, ast.stmt)]
    later = sorted((each for each in statements if each.lineno >= line), key=lambda each: each.lineno)
    return next((first[name] for statement in later for name in _assigned(statement) if name in first), "")


def _assigned(statement: ast.stmt) -> list[str]:
    """Return the variables that a statement assigns, or changes in place."""
    match statement:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target):
            targets = [target]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=method))) if method.endswith("_"):
            targets = [target]
        case _:
            targets = []
    changed = [target.value if isinstance(target, ast.Subscript) else target for target in targets]
    return [each.id for target in changed for each in ast.walk(target) if isinstance(each, ast.Name)]
