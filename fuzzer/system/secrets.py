"""Secrets in the user's environment.

A command removes them from its environment before it starts another process, and children do not inherit them. A secret
may have a name that no list knows. So /proc shows blanks in the place of all values, and other processes of the user
may not read the memory of the command, whatever the environment has. Secrets in what a child
sends, and in files of a campaign, are replaced by asterisks. The reason: a lane runs programs that a fuzzer drew, and
what it prints or raises goes into a report that may be published.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Mapping
from urllib.parse import unquote

from fuzzer.system import processes

_NAME = re.compile(
    r"(^|_)(TOKEN|SECRETS?|(PG)?PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|AUTH|PAT|JWT|DSN|(API)?KEY)(_|$)", re.I
)
_NO_SECRETS = frozenset({"PWD", "SSH_AUTH_SOCK"})
_IN_URL = re.compile(r"://(?:[^/?#\s@:]*:)?([^/?#\s@]+)@")
"""The password in a URL, or the user where there is no password: it is a token then."""

SHORTEST = 8
"""In characters. A shorter value is removed from the environment but not blanked: many texts contain it by chance."""

_removed: dict[str, str] = {}
_moved: dict[str, str] = {}
_needles: set[bytes] = set()


def is_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return name not in _NO_SECRETS and _NAME.search(name) is not None


def remove_from_environment() -> None:
    """Remove all secrets from this process's environment, blank all values where /proc shows them, and keep other
    processes from reading the memory of this one. A URL with a password, as of a proxy or of a package index, stays for
    the libraries that read it here."""
    processes.forbid_reading()
    for name, text in list(os.environ.items()):
        _blank_in_memory(name, text)
        if is_secret(name):
            _removed[name] = text
            del os.environ[name]
            if not os.path.isabs(text):  # a file that has a secret, or a folder
                remember(text)
        for password in passwords_in(text):
            remember(password)


def passwords_in(text: str) -> list[str]:
    """The passwords in the URLs of a text, as they stand there and as they are meant."""
    return [each for password in _IN_URL.findall(text) for each in dict.fromkeys((password, unquote(password)))]


def remember(text: str) -> None:
    """Blank this secret from now on, in what children send and in files."""
    if len(text.strip()) >= SHORTEST:
        _needles.update({text.strip().encode(), json.dumps(text.strip())[1:-1].encode()})


def pop(name: str) -> str:
    """Return the value of a removed variable and forget it: the next call returns an empty text."""
    return _removed.pop(name, "")


def removed(prefix: str = "") -> Mapping[str, str]:
    """The variables that were removed, for a program that needs them: an installer, or Ray."""
    return {name: text for name, text in _removed.items() if name.startswith(prefix)}


def longest() -> int:
    """The size of the longest secret in bytes. A part of a text is blanked together with this many bytes before it."""
    return max(map(len, _needles), default=0)


def blanked(data: bytes) -> bytes:
    """Return the data with each byte of a secret replaced by an asterisk."""
    for needle in _needles:
        data = data.replace(needle, b"*" * len(needle))
    return data


def _blank_in_memory(name: str, text: str) -> None:
    """Move the value of a variable out of the memory that /proc/PID/environ shows: overwrite it there, and set it
    anew."""
    if _moved.get(name) == text:
        return
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    if address := getenv(os.fsencode(name)):
        ctypes.memset(address, ord(" "), len(ctypes.string_at(address)))
    os.environ[name] = _moved[name] = text
