"""The tracker's token. It is read from the environment or a file, and sent in one header of each request."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NoReturn

from fuzzer.system import secrets
from fuzzer.system.environment import EnvironmentMissing
from generators.graph import Invalid

VARIABLES = ("DIFFTVM_GITHUB_TOKEN", "GITHUB_TOKEN")
"""The environment variables of the token. The first that is set is used."""

REDACTED = "<token>"


class Secret:
    """A string that cannot be printed, formatted, copied or pickled by accident."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return REDACTED

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret stays in its process")

    def reveal(self) -> str:
        """The string itself, for the request's header."""
        return self._text

    def is_in(self, text: str) -> bool:
        return self._text in text

    def hidden_in(self, text: str) -> str:
        """`text` without the secret. A server's message may repeat what it was sent."""
        return text.replace(self._text, REDACTED)


def of_user(file: Path | None) -> Secret:
    """Read the token from the file, if one is given, or from the environment.

    Raise `EnvironmentMissing` if there is none, `Invalid` if the file cannot be used.
    """
    found = from_environment()  # always: the token must not stay in the environment
    if file is not None:
        return from_file(file)
    if found is None:
        raise EnvironmentMissing(f"no token: set {VARIABLES[0]}, or name a file with --token-file")
    return found


def from_environment() -> Secret | None:
    """The token that the environment had when the command began. It is removed from the environment."""
    secrets.remove_from_environment()
    found = [text for name in VARIABLES if (text := secrets.pop(name).strip())]
    return Secret(_checked(found[0], "the environment's token")) if found else None


def from_file(path: Path) -> Secret:
    """Read the token from a file of one line that other users cannot read."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path}: {getattr(error, 'strerror', None) or 'not a text'}") from None
    if mode & 0o077:
        raise Invalid(f"{path}: others may read it (mode {mode:03o}); `chmod 600` it, and consider a new token")
    secrets.remember(text)
    return Secret(_checked(text, str(path)))


def _checked(text: str, where: str) -> str:
    """Check the form of a token. The message does not repeat the text, which may be a password."""
    if not text.isascii() or not text.isprintable() or len(text.split()) != 1:
        raise Invalid(f"{where}: a token is one word of printable characters")
    return text
