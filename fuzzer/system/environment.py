"""The exception for something that the machine lacks."""

from __future__ import annotations

from typing import ClassVar

from fuzzer.system.exit_codes import Exit


class EnvironmentMissing(Exception):
    """A program, a package or a device that difftvm needs is missing or does not start. The message names it.

    exit  the exit code of a command that ends with it
    """

    exit: ClassVar[Exit] = Exit.ENVIRONMENT


class MachineLacks(EnvironmentMissing):
    """The machine lacked something for a moment, as free space on the disk, memory or processes, so that something had
    no result, which is no evidence. The message names it. The same may succeed later."""
