"""Which lines of TVM's Python convert a node, and which functions legalize its operators.

Two findings of one cause run the same lines there. Lines are counted from the first one of their function, so that they
can be compared between releases.
"""

from __future__ import annotations

import re
import sys
from types import CodeType, FrameType
from typing import Any

_FRONTEND, _KERNELS = "/tvm/relax/frontend/", re.compile(r"/tvm/(relax/transform/legalize_ops|topi)/")
DISPATCHERS = frozenset({"_translate_fx_graph", "from_fx", "_translate_exported_graph", "_convert_operator"})
"""Functions of the importers that look up the converter of an operator in a table, and call it. What they and their
callers run is the same for all models."""

MOST_CALLERS = 24
"""How many callers of a function are looked at to find a dispatcher."""

MOST = 400
"""The largest number of lines that are recorded."""


class ExecutedLines:
    """Lines of converters, such as `_linear+7`, and functions of kernels, such as `topk`, as they first ran."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}
        self._wanted: dict[CodeType, bool] = {}
        self._other: Any = None
        """Who traced before: a debugger, or coverage.py, whose measurement goes on afterwards."""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def start(self) -> None:
        self._other = sys.gettrace()
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(self._other)

    def _called(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        if code not in self._wanted:
            self._wanted[code] = _FRONTEND in code.co_filename or _KERNELS.search(code.co_filename) is not None
        if not self._wanted[code] or len(self._lines) >= MOST:
            return None
        if _FRONTEND not in code.co_filename:
            self._lines[_name(code)] = None
            return None
        return self._line if _is_below_a_dispatcher(frame) else None

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            self._lines[f"{_name(frame.f_code)}+{frame.f_lineno - frame.f_code.co_firstlineno}"] = None
        return self._line


def _name(code: CodeType) -> str:
    return code.co_qualname.replace(".<locals>", "")


def _is_below_a_dispatcher(frame: FrameType) -> bool:
    caller = frame.f_back
    for _ in range(MOST_CALLERS):
        if caller is None:
            return False
        code = caller.f_code
        if code.co_name in DISPATCHERS and code.co_qualname != code.co_name:  # a method: `from_fx` is a function too
            return True
        caller = caller.f_back
    return False
