"""Ray's own clusters of several nodes on this machine: they find what one store finds, and what dies loses nothing.

The campaigns are real, their lanes are made by hand (`simulated_node.py`); that nodes run real compilers is one test.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import simulated_node

from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store import lock
from fuzzer.campaign.store.index import Index
from fuzzer.cluster import assignment
from fuzzer.cluster.remote import connected
from fuzzer.findings import finding_file
from fuzzer.system.environment import EnvironmentMissing

ray_cluster = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed: pip install 'difftvm[cluster]'")

pytestmark = [pytest.mark.tvm, pytest.mark.long]

DRIVER = """
import sys
from pathlib import Path
from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.cluster.driver import ClusterOptions
from fuzzer.commands.run_cluster import run_on_cluster
address, folder, tests, pace, *program = sys.argv[1:]
folder = Path(folder)
arguments = ("--pace", pace)
nodes = folder / "nodes"
limits = RunLimits(tests=int(tests))
options = ClusterOptions(address, nodes, limits, 2, arguments, tuple(program), poll_seconds=0.3)
run_on_cluster(options, folder, 1, True)
"""

QUICK = {"gcs_rpc_server_reconnect_timeout_s": 2, "health_check_period_ms": 500, "health_check_failure_threshold": 3}
"""That a node or the head has gone is noticed within seconds."""


@contextmanager
def cluster() -> Iterator[Any]:
    """A head that computes nothing, and two nodes of one CPU."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    arguments = {"num_cpus": 0, "include_dashboard": False, "_system_config": QUICK}
    made = ray_cluster.Cluster(initialize_head=True, head_node_args={**arguments, "object_store_memory": 80_000_000})
    try:
        yield made
    finally:
        made.shutdown()


def add_node(made: Any) -> Any:
    return made.add_node(num_cpus=1, object_store_memory=80_000_000)


def driver(address: str, folder: Path, tests: int, pace: float) -> subprocess.Popen[str]:
    words = [address, str(folder), str(tests), str(pace), sys.executable, simulated_node.__file__]
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, messages = process.communicate(timeout=120)
    assert process.returncode == 0, messages
    return dict(json.loads(out), messages=messages)


def signatures(folder: Path) -> set[str]:
    return {finding_file.read(path).signature for path in (folder / "crashes").iterdir()}


def numbers_of(folder: Path) -> list[int]:
    """The numbers of the tests that the nodes of a driver have done, sorted."""
    numbers: set[int] = set()
    for path in (folder / "nodes").glob("*/index.sqlite"):
        with Index(path.parent, writes=False) as read:
            numbers |= {int(str(number)) for (number,) in read.rows(tuple, "SELECT DISTINCT number FROM tests")}
    return sorted(numbers)


def brought_together(folder: Path) -> bool:
    """Whether the driver has all findings of its nodes, and their counters as they are."""
    with Index(folder, writes=False) as mine:
        counters = {campaign: each for campaign, _, each in mine.origins()[1:]}
    theirs = {}
    for node in (folder / "nodes").iterdir():
        with Index(node, writes=False) as read:
            theirs |= {campaign: counters for campaign, _, counters in read.origins()}
        assert signatures(node) <= signatures(folder)
    return counters == theirs


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def progress(folder: Path) -> int:
    stored = assignment.read(folder)
    return min(stored.next_tests) if stored else 0


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What one campaign finds in the same tests."""
    folder = tmp_path_factory.mktemp("alone")
    simulated_node.run(folder, Share(end=60))
    return signatures(folder)


def test_two_nodes_find_what_one_store_finds_though_one_is_killed(tmp_path: Path, alone: set[str]) -> None:
    with cluster() as made:
        nodes = [add_node(made), add_node(made)]
        process = driver(made.address, tmp_path, 60, 0.15)
        wait_for(lambda: progress(tmp_path) > 10)
        made.remove_node(nodes[0], allow_graceful=False)
        summary = ended(process)
    assert "its updates are kept, another node continues its share" in summary["messages"]
    assert numbers_of(tmp_path) == list(range(60))
    assert brought_together(tmp_path)
    assert signatures(tmp_path) == alone
    assert (summary["tests"], summary["given_up"], len(summary["findings"])) == (60, [], len(alone))
    of_nodes = [path for path in (tmp_path / "nodes").iterdir() if (path / "index.sqlite").exists()]
    assert len(of_nodes) == 2
    merge(of_nodes, tmp_path / "again")
    assert signatures(tmp_path / "again") == alone, "the nodes' own stores have it all as well"


def test_a_driver_and_a_head_that_are_killed_lose_nothing(tmp_path: Path, alone: set[str]) -> None:
    """A driver is killed, the head of its successor, and a third one ends cleanly; the fourth does the rest."""
    with cluster() as made:
        add_node(made)
        add_node(made)
        first = driver(made.address, tmp_path, 100, 0.15)
        wait_for(lambda: progress(tmp_path) > 4)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        second = driver(made.address, tmp_path, 100, 0.15)
        wait_for(lambda: progress(tmp_path) > 12)
        made.head_node.kill_gcs_server()
        _, messages = second.communicate(timeout=120)
        assert second.returncode != 0, messages
    assert 12 < progress(tmp_path) < 100
    with cluster() as made:
        add_node(made)
        add_node(made)
        third, before = driver(made.address, tmp_path, 100, 0.15), progress(tmp_path)
        wait_for(lambda: progress(tmp_path) > before + 8)
        third.send_signal(signal.SIGTERM)
        assert "stopping" in ended(third)["messages"]
        for node in (tmp_path / "nodes").iterdir():
            assert lock.holder(node) is None
        assert progress(tmp_path) < 100
        last_summary = ended(driver(made.address, tmp_path, 100, 0.15))
    assert numbers_of(tmp_path) == list(range(100))
    assert brought_together(tmp_path)
    assert signatures(tmp_path) == alone
    assert last_summary["given_up"] == []


def test_a_node_with_real_compilers(tmp_path: Path) -> None:
    words = ["run", "--cluster", "local", "--tests", "2", "--seed", "1", "--scope-share", "0"]
    words += ["--lanes", "relax-export-llvm", "--ops", "add"]
    done = subprocess.run(
        [sys.executable, "-m", "fuzzer.cli", *words, "--json", "--campaign", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["tests"], summary["given_up"]) == (2, [])
    assert numbers_of(tmp_path) == [0, 1]
    assert brought_together(tmp_path)
    (node,) = (tmp_path / "nodes").iterdir()
    assert summary["findings"]
    assert {path.name for path in (tmp_path / "crashes").iterdir()} == set(summary["findings"])
    assert {path.name for path in (node / "crashes").iterdir()} == set(summary["findings"])
    assert not (node / "elsewhere").exists(), "its own findings are no news to it"


def test_no_cluster_is_no_environment(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match=r"no Ray cluster at 127\.0\.0\.1:1: .*refused"):
        connected("127.0.0.1:1")
