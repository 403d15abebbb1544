"""Settings of all tests: where packages are found, and a Hypothesis that draws the same examples in every run."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# first, because `import generators` would otherwise find the folder tests/generators
sys.path.insert(0, str(Path(__file__).parents[1]))

os.environ.setdefault("OMP_NUM_THREADS", "1")

gc.disable()  # until all tests are collected: what the modules make while they are imported stays

settings.register_profile(
    "exact",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("exact")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test where a program that its `programs` markers name is missing; the reason names the program."""
    names = [str(name) for marker in item.iter_markers("programs") for name in marker.args]
    if missing := [name for name in names if shutil.which(name) is None]:
        pytest.skip(f"not on PATH: {', '.join(missing)}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave the items and modules of the collection out of later garbage collections: there are a million objects."""
    gc.collect()
    gc.freeze()
    gc.enable()
