"""The exit codes of `fuzz`. This module imports nothing else: the command line needs it before it parses the verb."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """`GONE` is success: nothing fails, or the bug is gone. `WORSE` and `NOT_REACHED` are those of `fuzz diff`
    and `fuzz check`. With
    `DENIED`, a tracker refuses. The others from 70 to 78 are the results of a finding that ran again. `OWN_ERROR` is an
    exception that difftvm does not expect: Python's 1 would say that a build is worse. `NOBODY_READS` is what a shell
    says of a program that SIGPIPE ends."""

    GONE = 0
    WORSE = 1
    NOT_REACHED = 2
    BAD_INPUT = 64
    ENVIRONMENT = 69
    TIMED_OUT = 70
    OUT_OF_MEMORY = 71
    DENIED = 76
    SAME = 77
    DIFFERENT = 78
    OWN_ERROR = 79
    INTERRUPTED = 130
    NOBODY_READS = 141
