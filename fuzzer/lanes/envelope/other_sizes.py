"""Results whose sizes depend on numbers."""

from __future__ import annotations

from fuzzer.lanes.base.compiler_error import CompilerError


class OtherSizes(CompilerError, RuntimeError):
    """A result has another type than the case declares: its sizes depend on numbers, or the case is not valid."""
