"""A pytest plugin: the process of the tests does not wait until the disk has what it writes. Only a loss of power would
show the difference, and no test makes one. The 6,900 calls of fsync(2) of the quick tests took a third of their time.
Child processes wait as ever."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from fuzzer.campaign.store import database

SYNCHRONOUS = database.SYNCHRONOUS
"""That of the product."""


def _checked(descriptor: int) -> None:
    os.fstat(descriptor)  # one that is not open is an error as before


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", _checked)
        patch.setattr(database, "SYNCHRONOUS", "OFF")
        yield
