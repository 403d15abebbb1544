"""The library is stable: each function, class and field that users may name is as `public_surface.txt` records it.

A change of that file is a change for users: it belongs into CHANGELOG.md. To write it again:
`python tests/fuzzer/api/test_public_surface.py`.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import difftvm
import difftvm.strategies
from fuzzer.api.fixture import Difftvm

RECORD = Path(__file__).with_name("public_surface.txt")
FIXTURE = ("cases", "check", "check_backend", "check_pass")
PAGES = [Path(__file__).parents[3] / "docs" / name for name in ("library.md", "passes.md", "pytest.md")]


def surface() -> Iterator[str]:
    """A line for each public name and method of the fixture, and for each field, property and method of a class."""
    for module in (difftvm, difftvm.strategies):
        for name in sorted(module.__all__):
            yield from described(f"{module.__name__}.{name}", getattr(module, name))
    for name in FIXTURE:
        yield f"the fixture difftvm.{name}{inspect.signature(getattr(Difftvm, name))}"


def described(name: str, value: Any) -> Iterator[str]:
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


def test_the_public_surface_is_as_it_is_recorded() -> None:
    assert list(surface()) == RECORD.read_text().splitlines()


def test_each_public_name_is_documented() -> None:
    pages = "\n".join(page.read_text() for page in PAGES)
    for name in difftvm.__all__:
        assert inspect.getdoc(getattr(difftvm, name)), name
        assert re.search(rf"\b{name}\b", pages), name


if __name__ == "__main__":
    RECORD.write_text("".join(f"{line}\n" for line in surface()))
