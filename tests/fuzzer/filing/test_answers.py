"""Answers of a tracker that are not as GitHub describes them: each ends with one sentence."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from desk import REPO, Place, Watch
from github_server import GitHubServer, Reply, serving

from fuzzer.filing.tracker import Denied, Lost, Refused, Status, Unreachable, Written

pytestmark = pytest.mark.slow

Change = Callable[[Reply], Reply]


def answering(server: GitHubServer, change: Change, route: str = "") -> None:
    """Change each answer of a route; of all routes by default."""
    server.alter = lambda method, path, reply: change(reply) if path.endswith(route) else reply


def body(data: bytes) -> Change:
    return lambda reply: replace(reply, body=data)


def in_body(old: bytes, new: bytes) -> Change:
    def change(reply: Reply) -> Reply:
        assert old in reply.body
        return replace(reply, body=reply.body.replace(old, new))

    return change


def header(name: str, value: str, status: str = "") -> Change:
    return lambda reply: replace(reply, headers=[*reply.headers, (name, value)], status=status or reply.status)


LABELS = b'"labels": []'


@pytest.mark.parametrize(
    "change",
    [
        body(b""),
        body(b"[]"),
        body(b"null"),
        body(b'"open"'),
        body(b"[" * 100_000),
        body(b'{"x":' * 100_000),
        body(b"\xff"),
        in_body(LABELS, b'"labels": null'),
        in_body(LABELS, b'"labels": "bug"'),
        in_body(LABELS, b'"labels": [null]'),
        in_body(LABELS, b'"labels": [{"name": "\\ud800"}]'),
        in_body(LABELS, b'"labels": [{"name": "' + b"x" * 1000 + b'"}]'),
        in_body(LABELS, b'"labels": [' + b'"x",' * 200 + b'"x"]'),
        in_body(LABELS, b'"labels": [{"name": "' + b"x" * 20_000_000 + b'"}]'),
        in_body(b'"state": "open"', b'"state": "ajar"'),
        in_body(b'"state_reason": null', b'"state_reason": "\\u001b[31m"'),
        in_body(b'"number": 1', b'"number": 2'),
        in_body(b'"number": 1', b'"number": 1e400'),
        header("Content-Encoding", "gzip"),
        lambda reply: replace(reply, status="304 Not Modified", body=b""),
        lambda reply: replace(reply, status="204 No Content", body=b"", framed=False),
    ],
)
def test_the_state_of_an_issue_has_a_form(place: Place, server: GitHubServer, watch: Watch, change: Change) -> None:
    server.add_issue(REPO, "title")
    answering(server, change)
    with pytest.raises(Denied) as raised:
        place.tracker().status(1, "")
    message = str(raised.value)
    assert message.startswith(place.tracker().place)
    assert len(message) < 300
    assert message.isprintable()
    assert len(server.answers) == 1
    assert watch.slept == []


def test_a_label_may_be_a_string_and_have_no_name(place: Place, server: GitHubServer) -> None:
    """GitHub's description of its interface allows both."""
    server.add_issue(REPO, "title")
    answering(server, in_body(LABELS, b'"labels": ["bug", {"name": null}, {"name": "a"}, {}]'))
    found = place.tracker().status(1, "")
    assert isinstance(found, Status)
    assert found.labels == ("a", "bug")


@pytest.mark.parametrize("etag", ["²", '"a b"', "x", '"' + "e" * 300 + '"'])
def test_an_etag_that_cannot_be_sent_back_is_left_out(place: Place, server: GitHubServer, etag: str) -> None:
    server.add_issue(REPO, "title")
    answering(server, lambda reply: replace(reply, headers=[("ETag", etag)]))
    assert place.tracker().status(1, etag) == Status(place.tracker().status(1, "").state, "", (), "")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (body(b"{}"), "not as GitHub describes it"),
        (in_body(b'"title": "title"', b'"title": null'), "not as GitHub describes it"),
        (in_body(b'"title": "title"', b'"title": "' + b"x" * 2000 + b'"'), "not as GitHub describes it"),
        (in_body(b'"body": ""', b'"body": "\\udc00"'), "not as GitHub describes it"),
        (in_body(b'"html_url": "http', b'"html_url": "javascript'), "not as GitHub describes it"),
        (header("Link", '<https://evil.example/repos/apache/tvm/issues?page=2>; rel="next"'), "at another server"),
        (header("Link", '</repos/apache/tvm/issues?page=2>; rel="next"'), "at another server"),
        (header("Link", '<http://[::1>; rel="next"'), "the address of the next page is none"),
        (header("Location", "https://evil.example/", "302 Found"), "302, it sends the request elsewhere"),
    ],
)
def test_a_list_has_a_form(place: Place, server: GitHubServer, change: Change, says: str) -> None:
    server.add_issue(REPO, "title")
    answering(server, change)
    with pytest.raises(Denied, match=says):
        place.tracker().changed_since(0.0)
    assert len(server.answers) == 1


def test_a_list_without_an_end(place: Place, server: GitHubServer) -> None:
    link = f'<{server.url}/repositories/7/issues?page=2&after=x>; rel="next"'
    answering(server, header("Link", link))
    with pytest.raises(Denied, match="its list has more than 20 pages"):
        place.tracker().changed_since(0.0)
    assert len(server.answers) == 20
    with pytest.raises(Denied, match="its list has more than 400 pages"):
        place.tracker().find("marker", 0.0)


def test_a_list_takes_its_time(place: Place, server: GitHubServer, watch: Watch) -> None:
    answering(server, header("Link", f'<{server.url}/repositories/7/issues?page=2>; rel="next"'))
    hasty = Place(place.url, place.ledger, watch.patience(listing=0.0))
    with pytest.raises(Denied, match="its list takes more than 0 s"):
        hasty.tracker().changed_since(0.0)
    assert len(server.answers) == 1


@pytest.mark.parametrize("status", ["301 Moved", "307 Temporary"])
def test_the_token_goes_to_no_other_server(place: Place, server: GitHubServer, status: str) -> None:
    with serving() as other:
        for change in (
            header("Location", f"{other.url}/repos/{REPO}/issues", status),
            header("Link", f'<{other.url}/repos/{REPO}/issues?page=2>; rel="next"'),
        ):
            answering(server, change)
            for ask in (lambda: place.tracker().changed_since(0.0), lambda: place.tracker().find_comment(1, "x", 0.0)):
                with pytest.raises(Denied):
                    ask()
        answering(server, header("Location", f"{other.url}/repos/{REPO}/issues", status))
        assert isinstance(place.tracker().create("title", "body"), Lost)
        assert (other.answers, other.sent) == ([], [])


@pytest.mark.parametrize("proxy", ["http_proxy", "all_proxy"])
def test_no_proxy_sees_a_token_that_is_sent_without_https(
    place: Place, server: GitHubServer, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as other:
        monkeypatch.setenv(proxy, other.url)
        assert place.tracker().changed_since(0.0) == []
        assert other.answers == []


@pytest.mark.parametrize("seconds", ["²", "-1", "1e3", "soon", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_time_to_wait_that_is_no_number(place: Place, server: GitHubServer, watch: Watch, seconds: str) -> None:
    answering(server, header("Retry-After", seconds, "429 Too Many Requests"))
    with pytest.raises(Denied, match="429"):
        place.tracker().changed_since(0.0)
    assert watch.slept == [60.0, 120.0, 240.0]


@pytest.mark.parametrize("seconds", ["99999999999", "9" * 5000])
def test_a_limit_that_ends_in_the_far_future(place: Place, server: GitHubServer, watch: Watch, seconds: str) -> None:
    limited = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", seconds)]
    server.alter = lambda method, route, reply: replace(reply, status="403 Forbidden", headers=limited)
    with pytest.raises(Denied):
        place.tracker().changed_since(0.0)
    assert isinstance(place.tracker().create("title", "body"), Refused)
    assert sum(watch.slept) <= 2 * (60 + 120 + 240 + 480)


@pytest.mark.parametrize("data", [b"[]", b"null", b"", b'{"message": null}', b'{"message": "\\ud800"}', b"[" * 9999])
def test_an_error_without_a_message(place: Place, server: GitHubServer, data: bytes) -> None:
    answering(server, lambda reply: replace(reply, status="400 Bad Request", body=data))
    assert place.tracker().create("title", "body") == Refused(f"{place.tracker().place}: 400 no explanation")


def test_a_message_is_one_line_and_short(place: Place, server: GitHubServer) -> None:
    data = b'{"message": "\\u001b[31mno\\nfuzz: filed ' + b"x" * 1_000_000 + b'"}'
    answering(server, lambda reply: replace(reply, status="400 Bad Request", body=data))
    refused = place.tracker().create("title", "body")
    assert isinstance(refused, Refused)
    assert len(refused.reason) < 300
    assert refused.reason.isprintable()


def test_a_title_is_one_line(place: Place, server: GitHubServer) -> None:
    """It is printed in a line that says why a finding is held back."""
    server.add_issue(REPO, "no\n  yes  is in no other issue\x1b[2J")
    (issue,) = place.tracker().changed_since(0.0)
    assert issue.title == r"no yes is in no other issue\x1b[2J"


@pytest.mark.parametrize("data", [b"", b"[]", b'{"number": "1"}', b'{"number": 1, "html_url": null}'])
def test_an_issue_is_written_once_where_the_answer_to_it_has_no_form(
    place: Place, server: GitHubServer, data: bytes
) -> None:
    server.alter = lambda method, route, reply: replace(reply, body=data) if method == "POST" else reply
    tracker = place.tracker()
    assert isinstance(tracker.create("title", "the marker"), Lost)
    assert tracker.find("the marker", 0.0) == Written(1, f"{server.url}/{REPO}/issues/1")
    assert isinstance(tracker.comment(1, "the other marker"), Lost)
    assert isinstance(tracker.find_comment(1, "the other marker", 0.0), Written)


# --- Size and time


def until_closed(piece: bytes) -> Callable[[Callable[[bytes], object]], None]:
    """Send without an end. The client has to close the connection."""

    def send(write: Callable[[bytes], object]) -> None:
        try:
            while True:
                write(piece)
        except OSError:
            closed.release()

    return send


closed = threading.Semaphore(0)


def test_a_body_without_an_end(place: Place, server: GitHubServer) -> None:
    answering(server, lambda reply: replace(reply, send=until_closed(b" " * (1 << 16))))
    with pytest.raises(Denied, match="its answer has more than 8 MiB"):
        place.tracker().changed_since(0.0)
    assert closed.acquire(timeout=300)


@pytest.mark.parametrize(
    ("headers", "piece"),
    [([], b" "), ([("Transfer-Encoding", "chunked")], b"0"), ([("Transfer-Encoding", "chunked")], b"0\r\nX: y\r\n")],
)
def test_an_answer_that_takes_too_long(
    place: Place, server: GitHubServer, watch: Watch, headers: list[tuple[str, str]], piece: bytes
) -> None:
    """Each piece comes long before the time for a read is over."""

    def send(write: Callable[[bytes], object]) -> None:
        stopped = threading.Event()
        try:
            while not stopped.wait(0.02):
                write(piece)
        except OSError:
            closed.release()

    answering(server, lambda reply: replace(reply, headers=headers, send=send))
    hasty = Place(place.url, place.ledger, watch.patience(timeout=2.0, attempts=1))
    with pytest.raises(Unreachable, match=r"not complete after 2 s"):
        hasty.tracker().changed_since(0.0)
    assert closed.acquire(timeout=300)


def test_a_chunk_of_negative_size(place: Place, server: GitHubServer, watch: Watch) -> None:
    chunked = [("Transfer-Encoding", "chunked")]
    sent = until_closed(b"-5\r\n" + b" " * (1 << 16))
    answering(server, lambda reply: replace(reply, headers=chunked, send=sent))
    with pytest.raises(Unreachable):
        place.tracker().changed_since(0.0)
    for _ in range(len(server.answers)):
        assert closed.acquire(timeout=300)


def test_a_redirect_is_read_no_further_than_any_answer(place: Place, server: GitHubServer) -> None:
    headers = [("Location", "http://[")]
    sent = until_closed(b" " * (1 << 16))
    answering(server, lambda reply: replace(reply, status="302 Found", headers=headers, send=sent))
    with pytest.raises(Denied, match="its answer has more than 8 MiB"):
        place.tracker().changed_since(0.0)
    assert closed.acquire(timeout=300)


def test_headers_without_an_end(place: Place, server: GitHubServer, watch: Watch) -> None:
    def send(write: Callable[[bytes], object]) -> None:
        until_closed(b"HTTP/1.1 100 Continue\r\n\r\n")(write)

    answering(server, lambda reply: replace(reply, status="100 Continue", headers=[], send=send))
    hasty = Place(place.url, place.ledger, watch.patience(timeout=2.0, attempts=1))
    with pytest.raises(Unreachable, match=r"not complete after 2 s"):
        hasty.tracker().changed_since(0.0)
    assert closed.acquire(timeout=300)


def test_no_cookie_is_kept(place: Place, server: GitHubServer) -> None:
    answering(server, header("Set-Cookie", "a=b; Path=/"))
    tracker = place.tracker()
    assert tracker.changed_since(0.0) == tracker.changed_since(0.0) == []
    assert [headers.get("Cookie") for headers in server.headers] == [None, None]
