"""The exit codes of `fuzz`. Loads nothing: the command line needs them before it knows the verb."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """`GONE` is success: nothing fails, or the bug is gone. 70 to 78 say how a finding came out when it ran again."""

    GONE = 0
    BAD_INPUT = 64
    ENVIRONMENT = 69
    TIMED_OUT = 70
    OUT_OF_MEMORY = 71
    SAME = 77
    DIFFERENT = 78
    INTERRUPTED = 130
