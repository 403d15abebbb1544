"""The exceptions with which a lane reports what a compiler, or the program that it compiled, did wrong."""

from __future__ import annotations


class CompilerError(Exception):
    """The code of a lane raises it for a fault of a compiler. Any other exception that our own code raises is a fault
    of difftvm (`fuzzer/children/own_faults.py`)."""


class OtherDtype(CompilerError):
    """A compiled function returned a tensor of another dtype than the model, in a dtype that no case has."""


class NotATensor(CompilerError):
    """A compiled function returned something that is no tensor."""
