"""A cache of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.toolchains import registry


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that holds the toolchains; not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert registry.root() == tmp_path / "cache" / "difftvm" / "toolchains"
    return registry.root()
