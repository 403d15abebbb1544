"""What a traceback of pytest leaves out: the frames of this package, where the exception is an answer and no error."""

from __future__ import annotations

from typing import Any

from generators.graph import Invalid


def is_answer(error: Any) -> bool:
    """Whether pytest hides a frame, of which it asks with its `ExceptionInfo`: the exception says what was found, or
    what is wrong with the arguments. Modules name this function `__tracebackhide__`."""
    return isinstance(error.value, AssertionError | Invalid)
