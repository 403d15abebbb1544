"""File a finding many times with kills and network faults, and check that exactly one issue is filed each time.

    python benchmarks/filing.py [--count 100] [--seed 1]

Each scenario has its own repository and ledger. Up to three attempts are killed with SIGKILL at a random point, before
or after a call that uses the ledger or the tracker; up to five requests meet a network fault. Then attempts without a
kill follow until one succeeds. After that there must be one issue, and the ledger must have its address. The server is
tests/fuzzer/filing/github_server.py, on the loopback interface. No compiler starts.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "fuzzer" / "filing"), str(TESTS / "fuzzer"), str(TESTS), str(TESTS.parent)]

from attempts import FILED, attempt  # noqa: E402
from desk import Place, quick  # noqa: E402
from github_server import DONE_ALL_THE_SAME, LATE_SECONDS, Fault, GitHubServer, serving  # noqa: E402

from fuzzer.campaign.store.store import Store  # noqa: E402
from fuzzer.filing.ledger import Ledger, Step  # noqa: E402
from tests.fuzzer.conftest import raised  # noqa: E402

POINTS = 30
"""The number of points in an attempt without a fault; some attempts have more."""

READING = (Fault.RESET_BEFORE, Fault.BAD_GATEWAY_BEFORE, Fault.BAD_GATEWAY_AFTER, Fault.RESET_AFTER)
WRITING = (*DONE_ALL_THE_SAME, Fault.RESET_BEFORE, Fault.BAD_GATEWAY_BEFORE)
MOST_ATTEMPTS = 12


def finding(folder: Path) -> Path:
    with Store(folder, 1) as store:
        doc = store.save(raised()[0], {"tvm": "0.27.0"})
    assert doc is not None
    return folder / "crashes" / doc.slug


def scenario(number: int, chance: random.Random, server: GitHubServer, folder: Path, crash: Path) -> Counter[str]:
    """Count the faults, kills and attempts. Raise `AssertionError` unless there is exactly one issue."""
    patience = quick(settle=2 * LATE_SECONDS, poll=LATE_SECONDS / 2, attempts=4)
    place = Place(server.url, folder / f"{number}.sqlite", patience, f"owner/r{number}")
    events: Counter[str] = Counter()
    kills = chance.randrange(4)
    for each in range(MOST_ATTEMPTS):
        server.faults["POST"] = chance.choices(WRITING, k=chance.randrange(3))
        server.faults["GET"] = chance.choices((None, *READING), k=chance.randrange(4))
        planned = Counter(_faults_left(server))
        ended = attempt(place, crash, folder / "state", chance.randrange(1, POINTS) if each < kills else None)
        events += planned - Counter(_faults_left(server))
        events["kills"] += ended.killed
        events["attempts"] += 1
        if not ended.killed and ended.code == FILED:
            break
    time.sleep(1.5 * LATE_SECONDS)  # for requests that the server has delayed
    issues = server.issues(place.repo)
    assert len(issues) == 1, f"scenario {number}: {len(issues)} issues, {dict(events)}"
    with Ledger(place.ledger) as ledger:
        (entry,) = ledger.entries()
    assert (entry.step, entry.url) == (Step.FILED, issues[0]["html_url"]), f"scenario {number}: {entry}"
    return events


def _faults_left(server: GitHubServer) -> list[str]:
    """The names of the faults that no request has met yet."""
    return [fault.name.lower() for faults in server.faults.values() for fault in faults if fault]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance, events, began = random.Random(arguments.seed), Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="difftvm-filing-") as name, serving() as server:
        folder = Path(name)
        crash = finding(folder)
        for number in range(arguments.count):
            events += scenario(number, chance, server, folder, crash)
            if (number + 1) % 10 == 0:
                print(f"{number + 1} scenarios, {len(server.sent)} write requests", flush=True)
    kills, attempts = events.pop("kills"), events.pop("attempts")
    print(f"{arguments.count} scenarios in {time.monotonic() - began:.0f} s: {attempts} attempts, {kills} killed")
    print(f"{sum(events.values())} faults: " + ", ".join(f"{count} {name}" for name, count in sorted(events.items())))
    print(f"{arguments.count} issues, one for each scenario")


if __name__ == "__main__":
    main()
