"""A token: it comes from the environment or from a file, and goes into one header of a request, nowhere else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NoReturn

from fuzzer.system import secrets
from fuzzer.system.environment import EnvironmentMissing
from generators.graph import Invalid

VARIABLES = ("DIFFTVM_GITHUB_TOKEN", "GITHUB_TOKEN")
"""The first that is set counts."""

REDACTED = "<token>"


class Secret:
    """A text that does not show itself: not when it is printed, formatted, compared in a test, copied or pickled."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return REDACTED

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret stays in its process")

    def reveal(self) -> str:
        """For the one header."""
        return self._text

    def is_in(self, text: str) -> bool:
        return self._text in text

    def hidden_in(self, text: str) -> str:
        """What a server says may hold what it was sent."""
        return text.replace(self._text, REDACTED)


def of_user(file: Path | None) -> Secret:
    """From the file, or the environment. Raise `EnvironmentMissing` where there is none, `Invalid` where the file is no
    place for one."""
    found = from_environment()  # in any case: it must not stay there
    if file is not None:
        return from_file(file)
    if found is None:
        raise EnvironmentMissing(f"no token: set {VARIABLES[0]}, or name a file with --token-file")
    return found


def from_environment() -> Secret | None:
    """The token that the environment had when the command began; it is not there any more."""
    secrets.remove_from_environment()
    found = [text for name in VARIABLES if (text := secrets.pop(name).strip())]
    return Secret(_checked(found[0], "the environment's token")) if found else None


def from_file(path: Path) -> Secret:
    """One line in a file that nobody else may read."""
    try:
        with path.open() as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path}: {getattr(error, 'strerror', None) or 'not a text'}") from None
    if mode & 0o077:
        raise Invalid(f"{path}: others may read it (mode {mode:03o}); `chmod 600` it, and think of a new token")
    return Secret(_checked(text, str(path)))


def _checked(text: str, where: str) -> str:
    """Without repeating it: what is no token may be a password."""
    if not text.isascii() or not text.isprintable() or len(text.split()) != 1:
        raise Invalid(f"{where}: a token is one word of printable characters")
    return text
