"""Whatever kills the process and wherever, whatever the network does: one issue, and the books know it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from attempts import FILED, attempt, begun
from desk import REPO, Place, quick
from github_server import LATE_SECONDS, Fault, GitHubServer

from fuzzer.filing.draft import Draft
from fuzzer.filing.ledger import Ledger, Step
from fuzzer.report.issue import marker

pytestmark = pytest.mark.slow

ENOUGH = 200
"""More points than any attempt has."""


@pytest.fixture
def place(server: GitHubServer, tmp_path: Path) -> Place:
    return Place(server.url, tmp_path / "filed.sqlite", quick())


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def one_issue(place: Place, server: GitHubServer, finding: Draft) -> None:
    (issue,) = server.issues(REPO)
    assert issue["title"] == finding.title
    assert marker(finding.fingerprint) in issue["body"]
    with Ledger(place.ledger) as ledger:
        (entry,) = ledger.entries()
        assert (entry.step, entry.number, entry.url) == (Step.FILED, 1, issue["html_url"])
        assert entry.nonce in issue["body"]


def killed_everywhere(
    place: Place, server: GitHubServer, finding: Draft, faults: list[Fault], since: str, every: int = 1
) -> int:
    """One attempt for each point, or for every third or so, killed there, and one after it. The number of points."""
    for point in range(1, ENOUGH, every):
        here = replace(place, ledger=place.ledger.with_name(f"{point}.sqlite"))
        state = place.ledger.with_name("state")
        server.repositories.clear()
        server.faults["POST"] = list(faults)
        ended = attempt(here, finding.folder, state, point, since)
        if ended.killed:
            assert attempt(here, finding.folder, state).code == FILED
        one_issue(here, server, finding)
        if not ended.killed:
            assert server.faults["POST"] == []
            return point - 1
    raise AssertionError("it never comes to an end")


@pytest.mark.parametrize(("every", "points"), [(3, 9), pytest.param(1, 8, marks=pytest.mark.long)])
def test_killed_at_every_point(server: GitHubServer, finding: Draft, place: Place, every: int, points: int) -> None:
    """There are eight: before and after `changed_since`, `intend`, `create` and `filed`."""
    assert killed_everywhere(place, server, finding, [], "changed_since", every) == points


@pytest.mark.exhaustive
@pytest.mark.long
def test_killed_at_points_from_the_first_on(server: GitHubServer, finding: Draft, place: Place) -> None:
    assert killed_everywhere(place, server, finding, [], "entry", every=4) >= 20


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", [Fault.RESET_AFTER, Fault.LATE])
@pytest.mark.long
def test_a_lost_answer_and_a_kill_at_every_point_behind_it(
    server: GitHubServer, finding: Draft, place: Place, fault: Fault
) -> None:
    patience = quick(settle=LATE_SECONDS * 2, poll=LATE_SECONDS / 2) if fault is Fault.LATE else place.patience
    assert killed_everywhere(replace(place, patience=patience), server, finding, [fault], "create") >= 6


def test_killed_while_it_waits_for_the_answer(server: GitHubServer, finding: Draft, place: Place, state: Path) -> None:
    running: list[int] = []

    def kill() -> None:
        if running:
            os.kill(running.pop(), signal.SIGKILL)
            time.sleep(0.1)

    server.on_write = kill
    server.lock.acquire()
    process = begun(place, finding.folder, state)
    running.append(process.pid)
    server.lock.release()
    process.join(300)
    assert process.exitcode == -signal.SIGKILL
    while not server.issues(REPO):  # the server is still at it
        time.sleep(0.01)
    assert attempt(place, finding.folder, state).code == FILED
    one_issue(place, server, finding)


def test_two_at_once(server: GitHubServer, finding: Draft, place: Place, state: Path) -> None:
    crowd = [begun(place, finding.folder, state) for _ in range(4)]
    for process in crowd:
        process.join(300)
    assert [process.exitcode for process in crowd] == [FILED] * 4
    assert len(server.sent) == 1
    one_issue(place, server, finding)


@pytest.fixture(autouse=True)
def _nothing_lasts(server: GitHubServer) -> Iterator[None]:
    yield
    server.on_write = lambda: None
