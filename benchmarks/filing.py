"""Files one finding again and again, kills the process somewhere on the way and breaks the network, and counts issues.

    python benchmarks/filing.py [--count 100] [--seed 1]

Each scenario has a repository and books of its own: up to three attempts, each killed with SIGKILL at a random point
(before or after a call by which filing reaches its books or the tracker) while up to five requests meet a fault of
the network; then attempts without a kill until one comes to an end. There must be one issue then, and the books must
name it. The server is tests/fuzzer/filing/github_server.py, on the loopback; no compiler starts.
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
sys.path[:0] = [str(TESTS / "fuzzer" / "filing"), str(TESTS), str(TESTS.parent)]

from attempts import FILED, attempt  # noqa: E402
from desk import Place, quick  # noqa: E402
from github_server import DONE_ALL_THE_SAME, LATE_SECONDS, Fault, GitHubServer, serving  # noqa: E402

from fuzzer.campaign.store import Store  # noqa: E402
from fuzzer.filing.ledger import Ledger, Step  # noqa: E402
from tests.fuzzer.conftest import raised  # noqa: E402

POINTS = 30
"""As many as an attempt has that meets no fault; some have more."""

READING = (Fault.RESET_BEFORE, Fault.BAD_GATEWAY_BEFORE, Fault.BAD_GATEWAY_AFTER, Fault.RESET_AFTER)
WRITING = (*DONE_ALL_THE_SAME, Fault.RESET_BEFORE, Fault.BAD_GATEWAY_BEFORE)
MOST_ATTEMPTS = 12


def finding(folder: Path) -> Path:
    with Store(folder, 1) as store:
        doc = store.save(*raised(), {"tvm": "0.27.0"})
    assert doc is not None
    return folder / "crashes" / doc.slug


def scenario(number: int, chance: random.Random, server: GitHubServer, folder: Path, crash: Path) -> Counter[str]:
    """What happened; raises where there is not exactly one issue."""
    patience = quick(settle=2 * LATE_SECONDS, poll=LATE_SECONDS / 2, attempts=4)
    place = Place(server.url, folder / f"{number}.sqlite", patience, f"owner/r{number}")
    seen: Counter[str] = Counter()
    kills = chance.randrange(4)
    for each in range(MOST_ATTEMPTS):
        server.faults["POST"] = chance.choices(WRITING, k=chance.randrange(3))
        server.faults["GET"] = chance.choices((None, *READING), k=chance.randrange(4))
        planned = Counter(_names(server))
        ended = attempt(place, crash, folder / "state", chance.randrange(1, POINTS) if each < kills else None)
        seen += planned - Counter(_names(server))
        seen["kills"] += ended.killed
        seen["attempts"] += 1
        if not ended.killed and ended.code == FILED:
            break
    time.sleep(1.5 * LATE_SECONDS)  # for what is still on its way
    issues = server.issues(place.repo)
    assert len(issues) == 1, f"scenario {number}: {len(issues)} issues, {dict(seen)}"
    with Ledger(place.ledger) as ledger:
        (entry,) = ledger.entries()
    assert (entry.step, entry.url) == (Step.FILED, issues[0]["html_url"]), f"scenario {number}: {entry}"
    return seen


def _names(server: GitHubServer) -> list[str]:
    """Of the faults that no request has met yet."""
    return [fault.name.lower() for faults in server.faults.values() for fault in faults if fault]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance, seen, began = random.Random(arguments.seed), Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="difftvm-filing-") as name, serving() as server:
        folder = Path(name)
        crash = finding(folder)
        for number in range(arguments.count):
            seen += scenario(number, chance, server, folder, crash)
            if (number + 1) % 10 == 0:
                print(f"{number + 1} scenarios, {len(server.sent)} requests to write", flush=True)
    events = seen.pop("kills"), seen.pop("attempts")
    print(f"{arguments.count} scenarios in {time.monotonic() - began:.0f} s: {events[1]} attempts, {events[0]} killed")
    print(f"{sum(seen.values())} faults: " + ", ".join(f"{count} {name}" for name, count in sorted(seen.items())))
    print(f"{arguments.count} issues, one for each")


if __name__ == "__main__":
    main()
