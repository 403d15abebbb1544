"""Numbers of a given model that are smaller than a byte (`generators.graph.Given.small`)."""

from __future__ import annotations

from generators.graph import Case

BYTE = 8
"""The bits of the smallest number that numpy and TVM keep alike."""


def not_fed(case: Case) -> str:
    """Why a compiled model is not run on the inputs of a case, for example "TVM takes no array of numpy for its input x
    of int4"; "" where it is."""
    given = case.given
    for name in case.inputs if given else ():
        dtype = given.small.get(name, "") if given else ""
        if dtype and bits_of(dtype) < BYTE:
            assert given is not None
            return f"TVM takes no array of numpy for its input {given.names[name]!r} of {dtype}"
    return ""


def has_parts_of_bytes(case: Case) -> bool:
    """Whether the given model has values of which numpy and TVM keep several in a byte differently: it runs in TVM's
    own memory, as a user runs it."""
    return case.given is not None and any(bits_of(dtype) < BYTE for dtype in case.given.small.values())


def bits_of(dtype: str) -> int:
    """The bits of a number of one of `SMALL_DTYPES`: those in its name."""
    return int(next(letter for letter in dtype if letter.isdigit()))
