"""Scripts in bare environments: how they end, and what is kept of that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from wheels import index_of

from fuzzer.isolate import bare_script
from fuzzer.isolate.bare_script import BareRun
from fuzzer.isolate.reports import ScriptRun
from fuzzer.toolchains import bare

pytestmark = pytest.mark.slow

WANTED = ("apache-tvm==0.26.0",)
SHOWS = "import os, sys, tvm\nassert 'TVM_NUM_THREADS' not in os.environ\nsys.exit(tvm.ANSWER)\n"


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache and an index of their own. An environment takes five seconds, and most tests share one."""
    folder = tmp_path_factory.mktemp("bare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
        index_of(folder / "wheels", patch, [("apache-tvm", "0.26.0", "tvm", "ANSWER = 1")])
        yield


@pytest.fixture
def steps() -> list[str]:
    """The lines that installations print."""
    return []


def test_a_script_that_shows_its_bug_is_run_once(
    steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert bare_script.known(SHOWS, WANTED) is None, "there is no environment yet"
    run = bare_script.runner(steps.append)
    first = run(SHOWS, WANTED, "llvm")
    record = bare.find(WANTED)
    assert record is not None
    assert first == BareRun(record, ScriptRun(1))
    assert bare_script.known(SHOWS, WANTED) == first
    assert bare_script.known(SHOWS + "\n", WANTED) is None, "another script"
    record.interpreter.unlink()
    assert run(SHOWS, WANTED, "llvm") == first, "it is not run again"
    assert len(steps) == 2


def test_neither_difftvm_nor_what_it_needs_is_there(steps: list[str]) -> None:
    run = bare_script.runner(steps.append)
    assert run("import sys\ntry:\n    import fuzzer\nexcept ImportError:\n    sys.exit(1)\n", WANTED, "llvm").run.shows
    assert run("import sys\ntry:\n    import msgspec\nexcept ImportError:\n    sys.exit(1)\n", WANTED, "llvm").run.shows


def test_only_what_a_script_has_decided_is_kept(steps: list[str]) -> None:
    run = bare_script.runner(steps.append)
    for code, kept in ((0, True), (1, True), (125, False), (3, False)):
        source = f"import sys\nsys.exit({code})\n"
        assert run(source, WANTED, "llvm").run == ScriptRun(code)
        assert (bare_script.known(source, WANTED) is not None) is kept, code


def test_what_cannot_be_read_is_run_again(steps: list[str]) -> None:
    run = bare_script.runner(steps.append)
    source = f"{SHOWS}# read again\n"
    first = run(source, WANTED, "llvm")
    path = max((first.record.folder / bare_script.RUNS).iterdir(), key=lambda each: each.stat().st_mtime_ns)
    for text in ('{"exit_code": 125}', "{", '{"exit_code": "1"}'):
        path.write_text(text)
        assert bare_script.known(source, WANTED) is None
        assert run(source, WANTED, "llvm") == first


RESERVES = """
import mmap, os, sys

sys.excepthook = lambda *error: sys.exit(125)
place = "/dev/shm/" + os.path.basename(os.getcwd())
mmap.mmap(-1, 1 << 44, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE, as AddressSanitizer does
open(place, "w").close()
os.unlink(place)
sys.exit(1)
"""


def test_the_script_of_a_device_has_what_its_driver_needs(steps: list[str]) -> None:
    """Addresses without a bound, and /dev/shm; that of a processor has neither."""
    run = bare_script.runner(steps.append)
    assert run(RESERVES, WANTED, "llvm").run.exit_code == 125
    assert run(RESERVES, WANTED, "cuda -arch=sm_90").run.shows
