"""An executor for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fuzzer.isolate.executor import Executor


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    with Executor(tmp_path_factory.mktemp("lanes") / "scratch") as started:
        yield started
