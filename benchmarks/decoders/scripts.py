"""What is written from the files of a finding: its script, its regression test and its reports."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from mutations import Form
from script_payloads import EVIDENCE, OF_TORCH, SHIPPED, copied, programs, sign, with_evidence

from decoders.base import ROOT, Document, Target, scratch
from fuzzer.findings import finding_file, natural_file, record
from generators import case_file

_OURS = ("fuzzer/templates/repro", "fuzzer/report", "fuzzer/cases", "generators", "oracles")
_VALUE = re.compile(r"[a-z]{1,8}_?[0-9]{1,6}|test_\w+")


def _written_from(finding: Callable[[Path], Path], name: str, data: bytes) -> object:
    """Write everything from a finding, in which one file has these contents."""
    folder = _folder_of(finding)
    kept = {each: (folder / each).read_bytes() for each in (name, finding_file.NAME)}
    try:
        (folder / name).write_bytes(data)
        if name == case_file.JSON_NAME:
            sign(folder)
        made = programs(record.read(folder))
        for program in made:
            assert not (unknown := _names(program) - _known_names()), f"these became code: {sorted(unknown)[:5]}"
        return made
    finally:
        for each, contents in kept.items():
            (folder / each).write_bytes(contents)


@cache
def _folder_of(finding: Callable[[Path], Path]) -> Path:
    """A folder with the finding, which is made once."""
    return finding(scratch() / f"script-{_folder_of.cache_info().misses}")


def _names(program: str) -> set[str]:
    """The names that a program reads or binds, without those of values. Attributes of ONNX are names of arguments."""
    found: set[str | None] = set()
    for node in ast.walk(ast.parse(program)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                found.update(name.split("."))
    return {name for name in found if name and not _VALUE.fullmatch(name)}


@cache
def _known_names() -> frozenset[str]:
    """The words of the code that writes scripts."""
    files = [path for folder in _OURS for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".j2")]
    return frozenset(word for path in files for word in re.findall(r"\w+", path.read_text()))


def _findings() -> Iterator[bytes]:
    for kind in EVIDENCE:
        yield (with_evidence(kind, scratch() / f"seed-{kind}") / finding_file.NAME).read_bytes()


def _document(slug: str, name: str) -> Document:
    seeds = [ROOT / "crashes" / slug / name]
    return Document(
        Form.JSON,
        partial(_written_from, partial(copied, slug), name),
        seeds=lambda: (path.read_bytes() for path in seeds),
    )


_, OF_FILE, OF_ONNX = SHIPPED
SCRIPTS = Target(
    "scripts",
    {
        "finding": Document(
            Form.JSON,
            partial(_written_from, partial(with_evidence, "raised"), finding_file.NAME),
            seeds=_findings,
        ),
        "case of torch": _document(OF_TORCH, case_file.JSON_NAME),
        "case of onnx": _document(OF_ONNX, case_file.JSON_NAME),
        "natural": _document(OF_ONNX, natural_file.NAME),
        "onnx": _document(OF_FILE, record.ONNX),
    },
)
