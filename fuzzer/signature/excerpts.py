"""The piece of a message by which a script of a report tells the same error from others of its type."""

from __future__ import annotations

import re

from fuzzer.signature.messages import readable

LENGTH = 60
SHORTEST = 6

_CHANGES = re.compile(
    r"0x[0-9a-fA-F]+"  # addresses
    r"|-?\b\d[\d.]*(e[+-]?\d+)?|\d+"  # numbers
    r"|'[^']*'|\"[^\"]*\"|[\w.~+-]*(/[\w.+-]+)+"  # names, files
    r"|\b(lv|gv|inp|args|ax|[xvwb])_?\d*\b|\b[bp]_[a-z]\w*"  # variables
    r"|\bb?float\d*|\bu?int\d*|\bbool\b"
)


def stable_excerpt(message: str) -> str:
    """The longest piece of the message's first line that is the same in every run; "" where none is long enough. The
    message holds it letter by letter."""
    line = next((line for line in readable(message).split("\n") if line.strip()), "")
    pieces = [piece.strip(" ,.:;()[]") for piece in _CHANGES.sub("\0", line).split("\0")]
    whole = (
        piece if piece in message else piece.rpartition(": ")[2] for piece in pieces
    )  # "Compilation error: " is ours
    longest = max((piece for piece in whole if piece in message), key=len, default="")
    piece = longest if len(longest) <= LENGTH else longest[:LENGTH].rpartition(" ")[0] or longest[:LENGTH]
    return piece if len(piece) >= SHORTEST else ""
