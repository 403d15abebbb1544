"""Secrets in the user's environment. A command takes them out of it before it starts anything: what children inherit
does not have them, and /proc shows blanks in their place. What a child sends all the same is blanked.

A lane runs programs that a fuzzer drew, and what it prints or raises goes into a report that may be published.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Iterable, Mapping

_NAME = re.compile(
    r"(^|_)(TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|(API|ACCESS|PRIVATE|SIGNING)_KEY)(_|$)", re.I
)
SHORTEST = 8
"""Characters. A shorter value is taken out of the environment, but not blanked: it stands in many texts by chance."""

_held: dict[str, str] = {}
_needles: set[bytes] = set()


def is_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return _NAME.search(name) is not None


def take() -> None:
    """Take all secrets out of this process's environment, and blank them where /proc shows them."""
    for name in filter(is_secret, list(os.environ)):
        _held[name] = text = os.environ[name]
        _blank_in_memory(name)
        del os.environ[name]
        if len(text.strip()) >= SHORTEST:
            _needles.update({text.strip().encode(), json.dumps(text.strip())[1:-1].encode()})


def handed_over(name: str) -> str:
    """The variable's value, once: the next call gets an empty text, as if there were no such variable."""
    return _held.pop(name, "")


def held(prefix: str = "") -> Mapping[str, str]:
    """The variables that were taken out, for a program that needs them: an installer, or Ray."""
    return {name: text for name, text in _held.items() if name.startswith(prefix)}


def blanked(data: bytes) -> bytes:
    """The same number of bytes, with an asterisk for each byte of a secret."""
    for needle in _needles:
        data = data.replace(needle, b"*" * len(needle))
    return data


def without_secrets(environment: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What a child may inherit of an environment."""
    return {name: text for name, text in environment if not is_secret(name)}


def _blank_in_memory(name: str) -> None:
    """unsetenv(3) forgets where the text is, and leaves it in the memory that /proc/PID/environ shows."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    if place := getenv(name.encode()):
        ctypes.memset(place, ord(" "), len(ctypes.string_at(place)))
