"""One warm process for all scripts that the tests here run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from warm_python import WarmPython


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmPython]:
    process = WarmPython()
    yield process
    process.close()
