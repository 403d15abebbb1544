"""A limit of open files is no fault of the files: nobody is advised to delete them."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.campaign.plan import aim
from fuzzer.campaign.store import filing_progress, state


@pytest.mark.parametrize(
    ("name", "read"), [(aim.NAME, aim.read), (filing_progress.NAME, filing_progress.read), (state.NAME, state.read)]
)
def test_too_many_open_files(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    (tmp_path / name).write_text("{}")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limit[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            read(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
