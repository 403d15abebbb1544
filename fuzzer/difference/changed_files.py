"""`--changed PATH...`: what the files of a change of TVM are called in what lanes record.

A Python file has functions, whose calls are noted. A C++ file registers passes and operators: lanes record the passes
that ran, and the operators of the imported module. Code generators and runtimes belong to targets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from fuzzer.difference.python_changes import Functions, functions_in
from fuzzer.toolchains.reached import PASS
from generators.graph import Invalid

OPERATOR, TARGET, RUNTIME = "operator", "target", "runtime"
"""Parts: an operator of an imported module, a target that a lane compiled for, and what runs the compiled model."""

_PYTHON, _CPP = (".py",), (".cc", ".h", ".c", ".cu", ".cpp", ".hpp", ".mm")
_PROSE, _UNBUILT = (".md", ".rst"), {"tests", "docs"}
_STRING = re.compile(r'"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)"')
_REGISTERS = re.compile(r"RELAX_REGISTER_\w*OP\w*\(\s*\"?(\w+)")
_FOLDERS = (
    # a folder or the beginning of a file's name below src/, and the families of targets whose code it makes
    ("target/llvm/", ("llvm",)),
    ("backend/llvm/", ("llvm",)),
    ("target/source/codegen_c.", ("c", "cuda")),
    ("target/source/codegen_c_", ("c",)),
    ("target/source/codegen_cuda", ("cuda",)),
    ("target/cuda/", ("cuda",)),
    ("backend/cuda/", ("cuda",)),
)


@dataclass(slots=True)
class Named:
    """What files are called in what lanes record.

    functions  of Python files
    parts      `pass FuseOps`, `operator relax.nn.conv2d`, `target llvm`, `runtime`
    untraced   files that leave no trace, in words
    unbuilt    files that no build of TVM has: tests, documents, scripts
    """

    functions: Functions = field(default_factory=dict)
    parts: set[str] = field(default_factory=set)
    untraced: list[str] = field(default_factory=list)
    unbuilt: list[str] = field(default_factory=list)


def named_by(paths: Sequence[Path], tvm: Path) -> Named:
    """What these files are called. `tvm` is the folder of the patched package. Raise `Invalid` for a file of it that is
    no Python."""
    found = Named()
    for path in paths:
        below = _below(path, "python/tvm/", "tvm/")
        if path.suffix in _PYTHON and below is not None:
            names = _functions(tvm / below, path)
            if names:
                found.functions[below] = names
            else:
                found.untraced.append(
                    f"{path} {'has no function' if names == [] else 'is not in the patched toolchain'}"
                )
        elif _is_unbuilt(path):
            found.unbuilt.append(str(path))
        elif path.suffix in _CPP:
            parts = set(_parts(path))
            found.parts |= parts
            if not parts:
                found.untraced.append(f"{path} registers no pass and no operator, and belongs to no target")
        else:
            found.untraced.append(f"{path} is neither Python nor C++")
    if len(found.unbuilt) == len(paths):
        found.untraced.append("the named files, which are part of no build")
    return found


def _is_unbuilt(path: Path) -> bool:
    """Whether no build of TVM has the file, which is none of its Python package."""
    return path.suffix in (*_PYTHON, *_PROSE) or not _UNBUILT.isdisjoint(path.parts[:-1])


def _functions(file: Path, path: Path) -> list[str] | None:
    """The functions of a file; None where it is not there: the change deletes it, or the installation leaves it out."""
    try:
        return functions_in(file)
    except FileNotFoundError:
        return None
    except (OSError, SyntaxError) as error:
        raise Invalid(f"--changed {path}: {file}: {getattr(error, 'strerror', None) or error}") from None


def _below(path: Path, *folders: str) -> str | None:
    """The path relative to the first of these folders that it has."""
    text = f"/{path.as_posix()}"
    for folder in folders:
        if f"/{folder}" in text:
            return text.rpartition(f"/{folder}")[2]
    return None


def _parts(path: Path) -> Iterator[str]:
    """The parts of a C++ file, by its text where it is here, its name and its folder."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for name in _STRING.findall(text):
        if name.startswith(("relax.", "tirx.", "tir.")) and ".transform." not in name:
            yield f"{OPERATOR} {name}"
        yield f"{PASS} {name.rpartition('.')[2]}"
    for name in _REGISTERS.findall(text):
        yield f"{OPERATOR} relax.{name}"
    below = _below(path, "src/", "include/tvm/") or path.name
    if "transform/" in below:
        yield f"{PASS} {_camel_case(PurePosixPath(below).stem)}"
    if below.startswith("runtime/"):
        yield RUNTIME
    for begin, families in _FOLDERS:
        if below.startswith(begin):
            yield from (f"{TARGET} {family}" for family in families)


def _camel_case(stem: str) -> str:
    """`fuse_ops` is the file of the pass FuseOps."""
    return "".join(word[:1].upper() + word[1:] for word in stem.split("_"))
