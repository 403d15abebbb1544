"""The part of a message by which a `repro.py` recognises its error among other errors of the same type."""

from __future__ import annotations

import re

from fuzzer.signature.messages import readable

LENGTH = 60
"""The largest length of an excerpt, in characters."""
MOST_LINE = 2000
"""How many characters of a line are read. The time to find the parts grows with the square of it."""
SHORTEST = 6
"""Shorter excerpts occur in unrelated messages."""

_VARIABLE_PARTS = re.compile(
    r"0x[0-9a-fA-F]+"  # addresses
    r"|-?\b\d[\d.]*(e[+-]?\d+)?|\d+"  # numbers
    r"|'[^']*'|\"[^\"]*\"|[\w.~+-]*(/[\w.+-]+)+"  # names, files
    r"|\b(lv|gv|inp|args|ax|[xvwb])_?\d*\b|\b[bp]_[a-z]\w*"  # variables
    r"|\bb?float\d*|\bu?int\d*|\bbool\b"
)


def stable_excerpt(message: str) -> str:
    """Return the longest part of the message's first line that is the same in every run, or "" if all are too short.

    The excerpt occurs in `message` character by character.
    """
    line = next((line for line in readable(message).split("\n") if line.strip()), "")[:MOST_LINE]
    pieces = [piece.strip(" ,.:;()[]") for piece in _VARIABLE_PARTS.sub("\0", line).split("\0")]
    # `readable` adds a prefix: "Compilation error: ", or the class of a cause
    verbatim = (piece if piece in message else piece.partition(": ")[2] for piece in pieces)
    longest = max((piece for piece in verbatim if piece in message), key=len, default="")
    excerpt = longest if len(longest) <= LENGTH else longest[:LENGTH].rpartition(" ")[0] or longest[:LENGTH]
    return excerpt if len(excerpt) >= SHORTEST else ""
