"""Bare environments: Python with the packages that a script names, as pip installs them for everybody, and no difftvm.

A toolchain has the versions of the host in everything but TVM. A reader of a report has what pip chooses. So a script
is run in such an environment before it is sent to anybody. An environment is made once for each list of requirements
and version of Python, beside the toolchains, in `~/.cache/difftvm/bare`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from fuzzer.system import telemetry
from fuzzer.system.files import write_atomically
from fuzzer.toolchains import installation
from fuzzer.toolchains.install import Tell, pip, virtual_environment
from generators.graph import Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain

FORMAT = 1
NAME = "bare.json"
_TOOLS = ("pip", "setuptools")
_OF_THE_USER = ("PYTHON", "TVM_", "TORCH", "PYTORCH_", "ORT_", "ONNX", "LD_PRELOAD", "VIRTUAL_ENV", "CONDA_")
"""How the names of variables begin with which a user changes Python, TVM or a framework."""


class BareRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of `bare.json`.

    python        the version of the interpreter
    requirements  what pip was asked for
    packages      the version of each package that pip installed
    """

    format: int
    python: str
    requirements: tuple[str, ...]
    packages: dict[str, str]

    @property
    def folder(self) -> Path:
        return folder_of(self.requirements)

    @property
    def interpreter(self) -> Path:
        return self.folder / "venv" / "bin" / "python"


def root() -> Path:
    return installation.cache() / "bare"


def folder_of(requirements: Sequence[str]) -> Path:
    """The folder of the environment with these requirements and this version of Python."""
    text = "\n".join((platform.python_version(), *requirements))
    return root() / hashlib.sha256(text.encode()).hexdigest()[:16]


def find(requirements: Sequence[str]) -> BareRecord | None:
    """The environment with these requirements; None where there is none. Raise `Invalid` where its record cannot be
    read."""
    path = folder_of(requirements) / NAME
    remedy = f"delete {path.parent}, and it is made again"
    try:
        record = msgspec.json.decode(read_plain(path, MOST_DOCUMENT), type=BareRecord)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}; {remedy}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; {remedy}") from None
    if record.format != FORMAT or record.requirements != tuple(requirements):
        raise Invalid(f"{path}: no record of {' '.join(requirements)} in format {FORMAT}; {remedy}")
    return record


def environment(requirements: Sequence[str], tell: Tell) -> BareRecord:
    """Return the environment with these requirements, which is made at the first call: a few minutes, and 1.3 GB with
    torch. Raise `NotOffered` where pip finds no such version, and `EnvironmentMissing` where it reaches no index."""
    if found := find(requirements):
        return found
    with installation.locked(root(), "another installation of a bare environment"):
        if found := find(requirements):
            return found
        with installation.new_folder(folder_of(requirements), NAME) as folder:
            python = virtual_environment(folder, sys.executable, tell)
            tell(f"installing {' '.join(requirements)} as pip gives them: once, and it takes minutes ...")
            pip(python, *requirements)
            record = BareRecord(FORMAT, platform.python_version(), tuple(requirements), _installed(folder))
            write_atomically(folder / NAME, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
            return record


def variables(ours: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of a script there: those of `ours` with which no user changes Python, TVM or a
    framework."""
    kept = {name: text for name, text in ours.items() if not name.startswith(_OF_THE_USER)}
    return {**kept, **telemetry.OFF}


def _installed(folder: Path) -> dict[str, str]:
    site = [str(path) for path in folder.glob("venv/lib/python*/site-packages")]
    found = {each.name: each.version for each in importlib.metadata.distributions(path=site)}
    return {name: found[name] for name in sorted(found, key=str.lower) if name not in _TOOLS}
