"""Check the code that TVM writes for a target that cannot run here, with a real compiler, linker or validator."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fuzzer.lanes.base.availability import checker_of, node_package
from fuzzer.lanes.base.compiler_error import CompilerError
from oracles.targets import CodeChecker, Target, WrittenCode

SECONDS = 30.0
"""The limit for a checker. One that takes longer is ignored."""
NEXT_KERNEL = re.compile(r"^// Function: \w+\n//-+\n", re.M)


class Refused(CompilerError):
    """A checker refuses the code that TVM wrote."""

    __module__ = "fuzzer.lanes.written"  # the name in findings that are saved


def look(executable: Any, row: Target) -> None:
    """Raise `Refused` with the output of the checker. Do nothing where no checker is installed."""
    checker = checker_of(row)
    if row.written is None or checker is None:
        return
    folder = Path(tempfile.mkdtemp())
    for number, module in enumerate(of_kind(executable.mod, row.written.module)):
        for path in _files(module, row.written, folder / f"written{number}"):
            ask(checker, path)


def ask(checker: CodeChecker, path: Path) -> None:
    program = str(shutil.which(checker.program))
    values = {"{file}": str(path), "{package}": str(node_package(checker.package, program))}
    command = [program, *(values.get(each, each) for each in checker.arguments)]
    # in the folder of the file, because some checkers write other files there
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=path.parent, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return
    if done.returncode != 0:
        raise Refused(f"Compilation error, {checker.program} on {path.suffix}:\n{done.stdout}{done.stderr}")


def of_kind(module: Any, kind: str) -> Iterator[Any]:
    """Yield the runtime modules of a kind: the module and all that it imports."""
    if module.kind == kind:
        yield module
    for each in module.imports:
        yield from of_kind(each, kind)


def _files(module: Any, written: WrittenCode, stem: Path) -> Iterable[Path]:
    if written.suffix == ".o":
        path = stem.with_suffix(".o")
        module.write_to_file(str(path))
        return [path]
    source = module.inspect_source()
    parts = [part for part in NEXT_KERNEL.split(source) if part.strip()] if written.each else [source]
    return [_file(stem.with_name(f"{stem.name}_{number}{written.suffix}"), part) for number, part in enumerate(parts)]


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
