"""Settings of all tests: where packages are found, and a Hypothesis that draws the same examples in every run. And one
zygote of the host's compilers for all tests that need no other."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from fuzzer.isolate.executor import Executor
    from fuzzer.isolate.fleet import Fleet

# first, because `import generators` would otherwise find the folder tests/generators
sys.path.insert(0, str(Path(__file__).parents[1]))

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # tests import onnxruntime, and some fork

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit it: a finding that one saves counts as made here in all
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="difftvm-tests-state-")
    atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

gc.disable()  # until all tests are collected: what the modules make while they are imported stays

settings.register_profile(
    "exact",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("exact")


pytest_plugins = ["parts", "outcome_log", "cpu_seconds", "gate_rules", "unsynced"]


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


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The compilers of the host, and of each toolchain that is installed. A zygote takes 4 CPU seconds to start."""
    from fuzzer.isolate.fleet import BackendKey, Fleet
    from fuzzer.toolchains.registry import find
    from fuzzer.toolchains.toolchain import HOST_NAME

    with Fleet(tmp_path_factory.mktemp("fleet") / "scratch", find) as started:
        started.backend(BackendKey(HOST_NAME))  # now, because a test may change the environment
        yield started


@pytest.fixture(scope="session")
def executor(fleet: Fleet) -> Executor:
    """The zygote of the host."""
    from fuzzer.isolate.executor import Executor
    from fuzzer.isolate.fleet import BackendKey
    from fuzzer.toolchains.toolchain import HOST_NAME

    started = fleet.backend(BackendKey(HOST_NAME))
    assert isinstance(started, Executor)
    return started
