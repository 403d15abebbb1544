"""Texts that tests hold fixed, so that a change of them is seen in review, and what the installed packages say."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Iterator
from typing import Any

from written_text import Written

import difftvm
import difftvm.strategies
from fuzzer.api.fixture import Difftvm
from generators.case_file import digest
from generators.choice import NumpySource
from generators.torch.motifs import PLAIN_MOTIFS
from generators.torch.ops import OPS, native, size_uses
from generators.torch.random_graph import generate

FIXTURE = ("cases", "check", "check_backend", "check_pass")


def scripts(_: str) -> str:
    """A digest for each lane, over scripts of findings on it. `PYTHONPATH=.:tests:tests/generators python
    tests/script_corpus.py FOLDER` writes the scripts, which `diff -r` compares with those of the version before."""
    import script_corpus

    return "".join(f"{digest}  {lane}\n" for lane, digest in script_corpus.digests().items())


ADDED_ROWS = frozenset(op.name for op in (*native.OPS, *size_uses.OPS))


def same_cases(_: str) -> str:
    """A digest of the first 200 cases of seed 1. Rows and motifs that are added later change which one an index draws,
    and should change nothing else: without those of `ADDED_ROWS`, the cases were the same."""
    ops = tuple(op for op in OPS if op.name not in ADDED_ROWS)
    found = hashlib.sha256()
    for number in range(200):
        found.update(digest(generate(NumpySource(1, number), ops=ops, motifs=PLAIN_MOTIFS)).encode())
    return f"{found.hexdigest()}\n"


def public_surface(_: str) -> str:
    """Each function, class and field that users may name. A change is one for users: CHANGELOG.md names it."""
    return "".join(f"{line}\n" for line in _surface())


def _surface() -> Iterator[str]:
    """A line for each public name and method of the fixture, and for each field, property and method of a class."""
    for module in (difftvm, difftvm.strategies):
        for name in sorted(module.__all__):
            yield from _described(f"{module.__name__}.{name}", getattr(module, name))
    for name in FIXTURE:
        yield f"the fixture difftvm.{name}{inspect.signature(getattr(Difftvm, name))}"


def _described(name: str, value: Any) -> Iterator[str]:
    if not inspect.isclass(value):
        yield f"{name}{inspect.signature(value)}"
        return
    yield f"{name}({', '.join(base.__name__ for base in value.__bases__)})"
    if dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            default = "" if each.default is dataclasses.MISSING else f" = {each.default!r}"
            yield f"    {each.name}: {each.type}{default}"
    for key, member in sorted(vars(value).items()):
        if key.startswith("_") and key != "__init__":
            continue
        if isinstance(member, property):
            yield f"    {key} -> {inspect.signature(member.fget).return_annotation}"  # type: ignore[arg-type]
        elif inspect.isfunction(member) and not (key == "__init__" and dataclasses.is_dataclass(value)):
            yield f"    {key}{inspect.signature(member)}"


def aten(_: str) -> str:
    import aten_operators

    return aten_operators.text()


def onnx(_: str) -> str:
    import onnx_schemas

    return onnx_schemas.text()


def relax(_: str) -> str:
    import relax_schemas

    return relax_schemas.text()


ROWS = (
    Written("same-cases", "tests/generators/same_cases.sha256", same_cases, whole=True),
    Written("public-surface", "tests/fuzzer/api/public_surface.txt", public_surface, whole=True),
    Written("scripts", "tests/fuzzer/report/script_corpus.sha256", scripts, whole=True, marks=("slow", "long")),
    Written("operators-of-aten", "generators/torch/ops/aten.json", aten, whole=True, marks=("slow",)),
    Written("schemas-of-onnx", "generators/onnx/schemas.json", onnx, whole=True, marks=("tvm",)),
    Written("schemas-of-relax", "generators/relax/schemas.json", relax, whole=True, marks=("tvm",)),
)
