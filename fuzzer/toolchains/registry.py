"""The toolchains of this user, each in a folder with `toolchain.json`."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from shlex import quote

import msgspec

from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.files import write_atomically
from fuzzer.toolchains import installation
from fuzzer.toolchains.preload import read as read_preload
from fuzzer.toolchains.toolchain import HOST, HOST_NAME, GraphLanguage, Toolchain
from generators.graph import Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain

FORMAT = 1
NAME = "toolchain.json"
_NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,60}")


class ToolchainRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of `toolchain.json`.

    versions  what the interpreter reported when the toolchain was added
    size      bytes of what was installed for it
    """

    format: int
    name: str
    kind: GraphLanguage
    python: str
    environment: dict[str, str]
    versions: dict[str, str]
    size: int

    @property
    def toolchain(self) -> Toolchain:
        return Toolchain(self.name, self.python, self.environment, self.kind)


def root() -> Path:
    """`$XDG_CACHE_HOME/difftvm/toolchains`, where the variable is not set `~/.cache/difftvm/toolchains`."""
    return installation.cache() / "toolchains"


def names() -> list[str]:
    """The names of the installed toolchains, also of those whose record cannot be read."""
    return sorted(path.parent.name for path in root().glob(f"*/{NAME}"))


def read(name: str) -> ToolchainRecord:
    """The record of a toolchain. Raise `Invalid` where there is none of this name, or where it cannot be read."""
    path = root() / _checked(name) / NAME
    try:
        record = msgspec.json.decode(read_plain(path, MOST_DOCUMENT), type=ToolchainRecord)
    except FileNotFoundError:
        raise Invalid(f"there is no toolchain {name!r}; `fuzz toolchain list` lists them") from None
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; `fuzz toolchain remove {quote(name)}` removes it") from None
    if record.format != FORMAT or record.name != name:
        raise Invalid(
            f"{path}: no record of {name!r} in format {FORMAT}; `fuzz toolchain remove {quote(name)}` removes it"
        )
    return record


def find(name: str) -> Toolchain:
    """The toolchain of this name. The release of the host means the host. Raise `EnvironmentMissing`."""
    if is_host(name):
        return HOST
    if name not in names():
        raise EnvironmentMissing(
            f"there is no toolchain {name!r} here; `fuzz toolchain add {quote(name)}` may install it"
        )
    try:
        return read(name).toolchain
    except Invalid as error:
        raise EnvironmentMissing(str(error)) from None


def finder(preload: Path | None) -> Callable[[str], Toolchain]:
    """`find`, for toolchains that execute a file first. Raise `Invalid` where the file is missing or not Python."""
    if preload is None:
        return find
    preloaded = read_preload(preload)
    return lambda name: replace(find(name), preload=preloaded)


def is_host(name: str) -> bool:
    return name in (HOST_NAME, host_release())


def host_release() -> str | None:
    """The release of TVM in the host; None where pip did not install it."""
    try:
        return importlib.metadata.version("apache-tvm")
    except importlib.metadata.PackageNotFoundError:
        return None


@contextmanager
def new_folder(name: str) -> Iterator[Path]:
    """An empty folder for a new toolchain. It is removed again where `save` was not called. Raise `Invalid` where the
    name exists already or is not a valid name."""
    if is_host(name):
        raise Invalid(f"{name!r} is the toolchain that difftvm itself runs in; it is always there")
    folder = root() / _checked(name)
    with _locked():
        if (folder / NAME).exists():
            raise Invalid(f"there is a toolchain {name!r} already; `fuzz toolchain remove {quote(name)}` removes it")
        with installation.new_folder(folder, NAME):
            yield folder


def save(toolchain: Toolchain, versions: Mapping[str, str]) -> ToolchainRecord:
    """Write `toolchain.json`, which completes the installation."""
    folder = root() / toolchain.name
    size = sum(path.lstat().st_size for path in folder.rglob("*"))
    environment = dict(toolchain.environment)
    record = ToolchainRecord(
        FORMAT, toolchain.name, toolchain.kind, toolchain.python, environment, dict(versions), size
    )
    write_atomically(folder / NAME, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    return record


def remove(name: str) -> None:
    """Remove a toolchain. Raise `Invalid` where there is none of this name."""
    folder = root() / _checked(name)
    with _locked():
        try:
            (
                folder / NAME
            ).unlink()  # without it the folder counts as interrupted, and the next installation removes it
        except FileNotFoundError:
            raise Invalid(f"there is no toolchain {name!r}; `fuzz toolchain list` lists them") from None
        shutil.rmtree(folder)


def _locked() -> AbstractContextManager[None]:
    return installation.locked(root(), "another `fuzz toolchain`")


def _checked(name: str) -> str:
    if not _NAMES.fullmatch(name):
        raise Invalid(f"{name!r} is not a name for a toolchain: use letters, digits and . _ + -")
    return name
