"""Versions outside of what was tried are named."""

from __future__ import annotations

from importlib import metadata

import pytest

from fuzzer.system.tried_versions import untried


def test_what_the_project_is_tested_with_was_tried() -> None:
    assert untried() == []


def test_another_version_and_a_missing_package_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    version = {"torch": "2.15.0+cu130", "onnx": "1.23.9", "numpy": "2.4.0rc1"}
    needed = ["torch<2.14,>=2.13", "onnx<1.24,>=1.23", "ray>=2; extra == 'cluster'", "no-such-package", "numpy>=2.3"]
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: version.get(name) or real(name))
    monkeypatch.setattr(metadata, "requires", lambda name: needed)
    assert untried() == [
        "torch 2.15.0+cu130 was not tried, <2.14,>=2.13 was",
        "no-such-package is not installed",
    ]


def test_a_folder_that_was_never_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert untried() == ["difftvm is not installed, so it is not known which versions were tried"]
