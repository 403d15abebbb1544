"""Which node of the case's graph an exception is about. Imported in children only.

An importer that walks PyTorch's graph has the node that it translates in a local variable. torch.export records for
each node the line of the model's source that made it, and that source has one statement for each node of the case.
"""

from __future__ import annotations

import re
import sys
import traceback
from types import FrameType
from typing import TYPE_CHECKING

from generators.graph import Case
from generators.torch_source import render

if TYPE_CHECKING:
    import torch

_LINE_OF_MODEL = re.compile(r'File "<case>", line (\d+)')


def value_pointed_at(error: BaseException, case: Case) -> str:
    """Return the first result of the node of the case's graph that was being translated, or "" if no frame tells it."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        if (node := node_in(frame)) is not None:
            return _value_of(node, case)
    return ""


def node_in(frame: FrameType) -> torch.fx.Node | None:
    """Return the call in PyTorch's graph that a function translates: its variable `node`, or None."""
    torch = sys.modules.get("torch")  # a worker whose lanes use no PyTorch has not imported it
    node = frame.f_locals.get("node")
    return node if torch and isinstance(node, torch.fx.Node) and node.op.startswith("call_") else None


def _value_of(node: torch.fx.Node, case: Case) -> str:
    """Return the value that is computed in the last line of the model that the node's stack trace has."""
    lines = _LINE_OF_MODEL.findall(str(node.meta.get("stack_trace") or ""))
    source = render(case.bound).splitlines()
    if not lines or not 0 < int(lines[-1]) <= len(source):
        return ""
    computed = {value.name for call in case.graph.nodes for value in call.results}
    return next((name for name in re.findall(r"\w+", source[int(lines[-1]) - 1]) if name in computed), "")
