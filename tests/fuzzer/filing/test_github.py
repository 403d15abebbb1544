"""The requests to GitHub, how often they are sent, and how the answers are read."""

from __future__ import annotations

import io
import logging
import os

import pytest
from desk import REPO, Place, Watch
from github_server import RETRY_AFTER, TOKEN, Fault, GitHubServer

from fuzzer.filing.ledger import State
from fuzzer.filing.time_budget import TimeBudget
from fuzzer.filing.tracker import Denied, Lost, Refused, Status, Unchanged, Unreachable, Written, place_of
from generators.graph import Invalid

pytestmark = pytest.mark.slow

POST = "POST"


@pytest.mark.parametrize(
    ("faults", "waits", "posts"),
    [
        ([], [], 1),
        ([Fault.SECONDARY_LIMIT], [RETRY_AFTER], 2),
        ([Fault.TOO_MANY, Fault.SECONDARY_LIMIT], [RETRY_AFTER, RETRY_AFTER], 3),
    ],
)
def test_a_refusal_that_says_when_is_waited_out(
    place: Place, server: GitHubServer, watch: Watch, faults: list[Fault], waits: list[float], posts: int
) -> None:
    server.faults[POST] = [*faults]
    assert place.tracker().create("title", "body") == Written(1, f"{server.url}/{REPO}/issues/1")
    assert watch.slept == waits
    assert len(server.sent) == posts
    assert len(server.issues(REPO)) == 1


def test_a_budget_that_is_spent_is_waited_for(place: Place, server: GitHubServer, watch: Watch) -> None:
    server.faults[POST] = [Fault.PRIMARY_LIMIT]
    assert isinstance(place.tracker().create("title", "body"), Written)
    assert RETRY_AFTER - 2 <= watch.slept[0] <= RETRY_AFTER + 2  # the answer has whole seconds


def test_nobody_waits_longer_than_is_sensible(place: Place, server: GitHubServer, watch: Watch) -> None:
    server.faults[POST] = [Fault.TOO_MANY]
    impatient = Place(place.url, place.ledger, watch.patience(longest=RETRY_AFTER - 1))
    assert impatient.tracker().create("title", "body") == Refused(f"{impatient.tracker().place}: 429 Too many requests")
    assert watch.slept == []


def test_one_that_always_says_later(place: Place, server: GitHubServer) -> None:
    server.faults[POST] = [Fault.TOO_MANY] * 4
    assert place.tracker().create("title", "body") == Refused("the server still asks to wait after 4 attempts")
    assert server.issues(REPO) == []


@pytest.mark.parametrize("fault", [Fault.GONE, Fault.INVALID])
def test_a_plain_no(place: Place, server: GitHubServer, fault: Fault) -> None:
    server.faults[POST] = [fault]
    assert isinstance(place.tracker().create("title", "body"), Refused)
    assert len(server.sent) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault.RESET_BEFORE,
        Fault.RESET_AFTER,
        Fault.BAD_GATEWAY_BEFORE,
        Fault.BAD_GATEWAY_AFTER,
        Fault.CUT_SHORT,
        Fault.LATE,
    ],
)
def test_an_answer_that_does_not_come_is_lost_and_nothing_is_sent_again(
    place: Place, server: GitHubServer, fault: Fault
) -> None:
    server.faults[POST] = [fault]
    assert isinstance(place.tracker().create("title", "body"), Lost)
    assert len(server.sent) == 1


def test_a_server_that_tells_the_token_is_not_repeated(place: Place, server: GitHubServer) -> None:
    server.faults[POST] = [Fault.ECHO]
    refused = place.tracker().create("title", "body")
    assert isinstance(refused, Refused)
    assert refused.reason.endswith("403 Forbidden for token <token>")
    assert TOKEN not in repr((refused, place.tracker()))


def test_reading_is_tried_again(place: Place, server: GitHubServer, watch: Watch) -> None:
    server.faults["GET"] = [Fault.RESET_BEFORE, Fault.BAD_GATEWAY_BEFORE, Fault.SECONDARY_LIMIT]
    assert place.tracker().changed_since(0.0) == []
    assert watch.slept == [1.0, 2.0, RETRY_AFTER]


def test_reading_is_given_up(place: Place, server: GitHubServer) -> None:
    server.faults["GET"] = [Fault.BAD_GATEWAY_BEFORE] * 4
    with pytest.raises(Unreachable, match="502 Server Error"):
        place.tracker().changed_since(0.0)


def test_nobody_is_there(place: Place, watch: Watch) -> None:
    away = Place("http://127.0.0.1:9", place.ledger, watch.patience())
    with pytest.raises(Unreachable, match="no answer"):
        away.tracker().changed_since(0.0)
    assert isinstance(away.tracker().create("title", "body"), Lost)


def test_all_pages_are_read(place: Place, server: GitHubServer) -> None:
    for number in range(1, 102):
        server.add_issue(REPO, f"title {number}", "the needle" if number == 1 else "hay")
    assert len(place.tracker().changed_since(0.0)) == 101
    pages = [answer for answer in server.answers if answer.route.endswith("/issues")]
    assert [len(page.body) for page in pages] == [100, 1]
    assert place.tracker().find("needle", 0.0) == Written(1, f"{server.url}/{REPO}/issues/1")
    assert place.tracker().find("needles", 0.0) is None


def test_a_fault_between_two_pages(place: Place, server: GitHubServer) -> None:
    for number in range(101):
        server.add_issue(REPO, f"title {number}")
    server.faults["GET"] = [None, Fault.RESET_BEFORE]
    assert [i.title for i in reversed(place.tracker().changed_since(0.0))] == [f"title {n}" for n in range(101)]


def test_pull_requests_are_no_issues(place: Place, server: GitHubServer) -> None:
    urls = {"url": "u", "html_url": "h", "diff_url": "d", "patch_url": "p"}
    server.add_issue(REPO, "a fix", pull_request=urls)
    server.index()
    assert place.tracker().changed_since(0.0) == []
    assert place.tracker().search("fix", "title") == []


def test_what_did_not_change_is_not_sent_again(place: Place, server: GitHubServer) -> None:
    server.add_issue(REPO, "title")
    tracker = place.tracker()
    first = tracker.status(1, "")
    assert first == Status(State.OPEN, "", (), first.etag)
    assert tracker.status(1, first.etag) == Unchanged()
    assert (server.answers[-1].status, server.answers[-1].body) == (304, None)
    server.label(REPO, 1, "b", "a")
    server.change(REPO, 1, state="closed", state_reason="not_planned")
    now = tracker.status(1, first.etag)
    assert isinstance(now, Status)
    assert (now.state, now.reason, now.labels) == (State.CLOSED, "not_planned", ("a", "b"))


def test_an_issue_that_is_no_more(place: Place) -> None:
    assert place.tracker().status(7, "") == Status(State.GONE)


def test_a_search_that_was_cut_short_is_no_answer(
    place: Place, server: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = {"total_count": 0, "incomplete_results": True, "items": [], "search_type": "lexical"}
    monkeypatch.setattr("github_server._Handler._searched", lambda self, query: cut)
    with pytest.raises(Unreachable):
        place.tracker().search("relu", "title")


@pytest.mark.parametrize("name", ["tvm", "apache/", "/tvm", "a b/c", "apache/tvm/issues", "-a/b", "a/b?x", ""])
def test_names_of_repositories(name: str) -> None:
    with pytest.raises(Invalid, match="OWNER/NAME"):
        place_of(name)


@pytest.mark.parametrize("url", ["ftp://x", "api.github.com", "https://me:pw@api.github.com", "https://x/?q", ""])
def test_addresses(url: str) -> None:
    with pytest.raises(Invalid, match="is not the address of a GitHub server"):
        place_of(REPO, url)


def test_a_token_is_not_sent_in_the_clear() -> None:
    with pytest.raises(Invalid, match="https only"):
        place_of(REPO, "http://ghe.example.org/api/v3")


def test_places_differ_by_server_and_not_by_case() -> None:
    assert place_of("Apache/TVM") == place_of("apache/tvm", "https://api.github.com/") == "api.github.com/apache/tvm"
    assert place_of("a/b", "https://ghe.example.org/api/v3") == "ghe.example.org/api/v3/a/b"


def test_a_log_of_all_requests_has_no_token(
    place: Place, server: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, root = io.StringIO(), logging.getLogger()
    monkeypatch.setattr(root, "handlers", [logging.StreamHandler(log)])
    level = root.level
    root.setLevel(logging.DEBUG)
    server.faults["POST"] = [Fault.BAD_GATEWAY_AFTER, None]
    tracker = place.tracker()
    tracker.create("title", "body")
    tracker.comment(1, "text")
    root.setLevel(level)
    assert f"/repos/{REPO}/issues" in log.getvalue()  # urllib3's own log
    assert TOKEN not in log.getvalue()


def test_a_command_waits_a_bounded_time_in_all(place: Place, server: GitHubServer, watch: Watch) -> None:
    """The server asks for a wait at each request, and each wait is short enough."""
    tracker = Place(place.url, place.ledger, watch.patience(attempts=2, in_all=2.5 * RETRY_AFTER)).tracker()
    server.add_issue(REPO, "title")
    for _ in range(2):
        server.faults["GET"] = [Fault.TOO_MANY]
        assert isinstance(tracker.status(1, ""), Status)
    server.faults["GET"] = [Fault.TOO_MANY]
    with pytest.raises(Denied, match=r"its answers take more than [0-9.]+ s together; try again later$"):
        tracker.status(1, "")
    assert watch.slept == [RETRY_AFTER] * 2


def test_time_that_requests_take_counts() -> None:
    time_budget = TimeBudget("there", 1e-9, lambda seconds: None)
    with time_budget.of_a_request():
        os.getpid()
    with pytest.raises(Denied, match="there: its answers take more than 1e-09 s together"), time_budget.of_a_request():
        pass
