"""Wheels with one module, and a package index that has only them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest


def add_wheel(folder: Path, package: str, version: str, module: str = "", source: str = "") -> None:
    """Write a wheel of a package with a module of this source."""
    name = package.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    with ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
        if module:
            wheel.writestr(f"{module}.py", source)


def index_of(folder: Path, monkeypatch: pytest.MonkeyPatch, wheels: Sequence[tuple[str, ...]] = ()) -> Path:
    """Let pip find, by its environment, nothing but these wheels of the folder, which is made."""
    folder.mkdir()
    for wheel in wheels:
        add_wheel(folder, *wheel)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder
