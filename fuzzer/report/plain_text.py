"""Short pieces of text: a first line, a first letter, a number of bytes."""

from __future__ import annotations

from fuzzer.signature import readable
from fuzzer.system.terminal import printable

LINE = 140
"""The largest number of characters of a quoted message."""


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def cut(text: str, limit: int) -> str:
    """One printable line of at most this many characters, cut between words."""
    line = printable(" ".join(text.split()))
    if len(line) <= limit:
        return line
    head = line[: limit - 3]
    return (head.rpartition(" ")[0] if " " in head[limit // 2 :] else head).rstrip(" :,`(") + " ..."


def first_line(message: str) -> str:
    return next((line for line in map(str.strip, readable(message).split("\n")) if line), "").rstrip(" :")


def size(number: float) -> str:
    """A number of bytes with a decimal unit."""
    for unit, word in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:.1f} {word}"
    return f"{number:.0f} bytes"
