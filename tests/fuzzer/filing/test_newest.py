"""Which TVM is the newest that is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.filing.newest import Newest, newest, order
from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import HOST_NAME, GraphLanguage, Toolchain


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(registry, "host_release", lambda: "0.27.0.post1")
    return tmp_path


def add(name: str, release: str, kind: GraphLanguage = GraphLanguage.RELAX) -> None:
    with registry.new_folder(name):
        registry.save(Toolchain(name, "/opt/python", kind=kind), {"tvm": release})


HERE = Newest(HOST_NAME, "0.27.0.post1")


def test_alone(installed: Path) -> None:
    assert newest() == HERE


@pytest.mark.parametrize("release", ["0.26.0", "0.9.0", "0.27.0", "0.27.0.post1", "a build of mine"])
def test_nothing_newer(installed: Path, release: str) -> None:
    add("other", release)
    assert newest() == HERE


@pytest.mark.parametrize("release", ["0.27.0.post2", "0.28.0.dev3", "0.28.0", "0.100.0"])
def test_newer(installed: Path, release: str) -> None:
    add("other", release)
    add("older", "0.26.0")
    assert newest() == Newest("other", release)


def test_relay_does_not_count(installed: Path) -> None:
    add("relay", "9.9", GraphLanguage.RELAY)
    assert newest() == HERE


def test_what_names_no_release_comes_first() -> None:
    assert order("mine") < order("0.1.dev0")
