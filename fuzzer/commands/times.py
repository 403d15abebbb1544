"""Lengths of time and moments, as a user writes them: 90, 2m, 1.5h; and 2h for two hours ago, or a date."""

from __future__ import annotations

import re
import time
from datetime import datetime

import typer

from generators.graph import Invalid

SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
"""The seconds of each unit."""

_LENGTH = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>s|m|min|h|d)?")


def seconds(text: str) -> float:
    """The seconds of a length of time. Raise `Invalid` where the text is none."""
    found = _LENGTH.fullmatch(text.strip())
    if not found:
        raise Invalid(f"{text!r} is no length of time; write 90, 90s, 2m, 1.5h or 1d")
    return float(found["number"]) * SECONDS[found["unit"] or "s"]


def as_written(length: float) -> str:
    """The seconds of a default, as a user writes them: 90s, 2m, 1.5h."""
    unit = next((each for each in ("d", "h", "m") if length >= SECONDS[each]), "s")
    return f"{length / SECONDS[unit]:g}{unit}"


def parsed_seconds(text: str | float) -> float:
    """The seconds of an option. Raise `BadParameter` where the text is no length of time."""
    if not isinstance(text, str):
        return text
    try:
        return seconds(text)
    except Invalid as error:
        raise typer.BadParameter(str(error)) from None


def moment(text: str) -> float:
    """The Unix time of a date and time of this machine's clock, or so long ago. Raise `Invalid` where it is neither."""
    if _LENGTH.fullmatch(text.strip()):
        return time.time() - seconds(text)
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except ValueError:
        raise Invalid(
            f"{text!r} is no time; write 2h or 3d for so long ago, or 2026-11-28, or 2026-11-28T14:00"
        ) from None
