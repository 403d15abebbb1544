"""Answers of a tracker, changed at random: their JSON, bytes, status, headers, and how they are sent."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from github_server import Alter, Reply

READ = (
    *("number", "title", "body", "html_url", "state", "state_reason", "labels", "name", "pull_request"),
    *("incomplete_results", "items", "message"),
)
"""The fields that filing reads. Half of the changes to JSON are to one of them."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 7, 2**53, 2**63, 2**64, 10**400, 1e308),
    *("", "1", "open", "closed", "gone", "null", "\x1b[31m\r\nfuzz: filed", "\u202e\u200b", "a" * 300, "ä" * 70_000),
    *("javascript:alert(1)", "https://evil.example/", "http://[::1", "\x00", "9" * 5000),
    *([], {}, [None], [[]], [{}], ["bug"], [1], [{"name": None}], [{"name": 3}], [{"name": "x" * 500}], {"name": "x"}),
)
DOCUMENTS: tuple[bytes, ...] = (
    *(b"", b" ", b"null", b"true", b"0", b'""', b"[]", b"{}", b"[null]", b"[[]]", b"[{}]", b"NaN", b"[1", b"{", b'"'),
    *(b"\xff", b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b"<html>502 Bad Gateway</html>", b"\x00" * 100),
    *(b"[" * 100_000, b'{"labels":' * 50_000, b'{"number":1e999}', b'{"number":' + b"9" * 100_000 + b"}"),
    *(b'["message"]', b'{"message": null}', b'{"message": ["x"]}', b'{"message": "\\ud800"}', b" " * (9 << 20)),
    b'{"message": "' + b"m" * (9 << 20) + b'"}',
)
STATUSES = (
    *("100 Continue", "101 Switching Protocols", "103 Early Hints", "199 No", "200 OK", "201 Created", "202 Accepted"),
    *("204 No Content", "205 Reset Content", "206 Partial Content", "226 IM Used", "300 Choices", "301 Moved"),
    *("302 Found", "303 See Other", "304 Not Modified", "307 Temporary", "308 Permanent", "400 Bad Request"),
    *("401 Unauthorized", "403 Forbidden", "404 Not Found", "408 Timeout", "409 Conflict", "410 Gone", "413 Large"),
    *("418 Teapot", "422 Unprocessable", "429 Too Many Requests", "451 Legal", "499 ?", "500 Error", "502 Bad Gateway"),
    *("503 Unavailable", "504 Timeout", "599 ?", "600 ?", "999 ?", "1000 ?", "-1 ?", "0 ?", "two hundred", "200", ""),
)
SECONDS = (
    "0",
    "7",
    "²",
    "-1",
    "1e9",
    "99999999999",
    "9" * 5000,
    "nan",
    "",
    "Wed, 21 Oct 2099 07:28:00 GMT",
    "7, 7",
    "٧",
)


@dataclass(frozen=True, slots=True)
class Mutation:
    """`kind` is for a table. `alter` is for the server."""

    kind: str
    alter: Alter


def mutation(chance: random.Random, foreign: str, requests: int, *, writes: bool) -> Mutation:
    """Change one answer of `requests`, or all from one on; those to writes only in a third of the mutations of a
    command that `writes`. `foreign` is the address of another server."""
    kind, change = chance.choice(_KINDS)
    only = "POST" if writes and chance.random() < 0.3 else ""
    first, persists = 0 if only else chance.randrange(requests), chance.random() < 0.5
    seed, count = chance.random(), 0

    def alter(method: str, route: str, reply: Reply) -> Reply:
        nonlocal count
        if only not in ("", method):
            return reply
        count += 1
        if count == first + 1 or (persists and count > first):
            return change(random.Random(seed), reply, foreign)
        return reply

    return Mutation(kind, alter)


# --- JSON


def _field(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    if not reply.body:
        return _document(chance, reply, foreign)
    document = json.loads(reply.body)
    places = list(_places(document))
    known = [place for place in places if place[1] in READ]
    if not places:
        return _document(chance, reply, foreign)
    holder, key = chance.choice(known if known and chance.random() < 0.5 else places)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [holder[key]]
        case 2:
            holder[key] = "\ud800"
        case _:
            holder[key] = chance.choice(VALUES)
    return replace(reply, body=json.dumps(document).encode())


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in list(items):
        yield value, key
        yield from _places(held)


def _document(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    return replace(reply, body=chance.choice(DOCUMENTS))


def _other_kind(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    """An object in the place of a list, or a list in the place of an object."""
    document = json.loads(reply.body or b"null")
    changed = chance.choice(({"items": document}, [document], [[document]], {"0": document}, str(document)))
    return replace(reply, body=json.dumps(changed).encode())


def _bytes(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    body = bytearray(reply.body or b"{}")
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(body))
        match chance.randrange(3):
            case 0:
                body[at] = chance.randrange(256)
            case 1:
                body[at:at] = chance.randbytes(chance.randrange(1, 9))
            case 2:
                del body[at : at + chance.randrange(1, 20)]
        body = body or bytearray(b"0")
    return replace(reply, body=bytes(body))


# --- Status and headers


def _status(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    reply = replace(reply, status=chance.choice(STATUSES))
    return chance.choice((_document, _other_kind, lambda chance, reply, foreign: reply))(chance, reply, foreign)


def _limit(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    names = ("Retry-After", "X-RateLimit-Reset", "X-RateLimit-Remaining", "X-RateLimit-Limit")
    headers = [(name, chance.choice(SECONDS)) for name in names if chance.random() < 0.6]
    status = chance.choice(("403 Forbidden", "429 Too Many Requests", "503 Unavailable"))
    text = chance.choice(("API rate limit exceeded", "You have exceeded a secondary rate limit", "no"))
    body = json.dumps({"message": text}).encode()
    return replace(reply, status=status, headers=_latin(headers), body=body)


def _latin(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value.encode("utf-8").decode("latin-1") if max(value, default="") > "ÿ" else value)
            for name, value in headers]  # fmt: skip


def _link(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    here = "/repos/apache/tvm/issues?page=2"
    targets = (
        *(foreign + here, "//evil.example" + here, here, "file:///etc/passwd", "http://[::1", "?page=2", "", "\x01"),
        *("https://127.0.0.1" + here, "http://127.0.0.1:1" + here, "http://user:pw@127.0.0.1" + here, "x" * 60_000),
    )
    rel = chance.choice(('rel="next"', "rel=next", 'rel="next"; rel="last"', "rel", "", "=next"))
    return replace(reply, headers=[*reply.headers, ("Link", f"<{chance.choice(targets)}>; {rel}")])


def _endless(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    """The next page is on the same server, for ever."""
    here = next(value for name, value in (*reply.headers, ("", "")) if name in ("Link", ""))
    base = json.loads(reply.body)[0]["url"] if reply.body.startswith(b'[{"id"') else ""
    link = f'<{base.partition("/repos")[0]}/repositories/7/issues?page={chance.randrange(9)}>; rel="next"'
    return replace(reply, headers=[*reply.headers, ("Link", link or here)])


def _redirect(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    status = chance.choice(("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"))
    to = chance.choice(
        (foreign + "/repos/apache/tvm/issues", "/", "//evil.example", "file:///etc/passwd", "", "http://[")
    )
    return replace(reply, status=status, headers=[*reply.headers, ("Location", to)])


def _headers(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    more = chance.choice(
        (
            [(f"X-{number}", "x") for number in range(150)],
            [("X-Long", "x" * 70_000)],
            [("ETag", chance.choice(("²", "", "x" * 60_000, '"a\x00b"', 'W/"' + "e" * 5000 + '"')))],
            [("Set-Cookie", f"a{number}=b; Domain=localhost; Path=/") for number in range(50)],
            [("Content-Encoding", chance.choice(("gzip", "br", "deflate, gzip", "x")))],
            [("Content-Type", "text/html; charset=\x00")],
            [("Content-Length", chance.choice(("-1", "x", "99999999999999", "0", "7")))],
            [("Transfer-Encoding", chance.choice(("chunked", "gzip, chunked", "x")))],
            [("No colon\r\nX", "y"), ("\x00", "z"), (" folded", "w")],
        )
    )
    return replace(reply, headers=[*reply.headers, *more])


# --- How it is sent


def _sent(chance: random.Random, reply: Reply, foreign: str) -> Reply:
    send = chance.choice((_chunks, _trailers, _cut, _drop, _large, _continues))
    headers = [("Transfer-Encoding", "chunked")] if send in (_chunks, _trailers) else []
    if send is _cut:
        headers = [("Content-Length", str(len(reply.body) + 100))]
    body, seed = reply.body, chance.random()
    return replace(reply, headers=[*reply.headers, *headers], send=lambda write: send(random.Random(seed), body, write))


Write = Callable[[bytes], object]


def _chunks(chance: random.Random, body: bytes, write: Write) -> None:
    sizes = (b"-5", b"zz", b"ffffffffffffffff", b"0x10", b"", b"1" * 70_000, b"5;" + b"x" * 1000)
    with suppress(OSError):
        write(chance.choice(sizes) + b"\r\n" + body)


def _trailers(chance: random.Random, body: bytes, write: Write) -> None:
    """Lines after the last chunk, until the client has enough."""
    with suppress(OSError):
        write(b"%x\r\n%s\r\n0\r\n" % (len(body), body))
        _repeat(b"X: y\r\n" * 1000, write)


def _cut(chance: random.Random, body: bytes, write: Write) -> None:
    with suppress(OSError):
        write(body[: chance.randrange(len(body) + 1)])


def _drop(chance: random.Random, body: bytes, write: Write) -> None:
    """One byte at a time, until the client has enough."""
    with suppress(OSError):
        for _ in range(10_000):
            write(b" ")
            time.sleep(0.05)


def _large(chance: random.Random, body: bytes, write: Write) -> None:
    """600 MB, without a length."""
    with suppress(OSError):
        write(body.rstrip()[:-1] or b"[")
        _repeat(b" " * (1 << 20), write)


def _repeat(piece: bytes, write: Write, count: int = 600) -> None:
    for _ in range(count):
        write(piece)


def _continues(chance: random.Random, body: bytes, write: Write) -> None:
    with suppress(OSError):
        _repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, write)


_KINDS: tuple[tuple[str, Callable[[random.Random, Reply, str], Reply]], ...] = (
    *[("a field", _field)] * 6,
    *[("the document", _document)] * 3,
    *[("the kind of document", _other_kind)] * 2,
    *[("bytes", _bytes)] * 2,
    *[("the status", _status)] * 3,
    *[("a limit of requests", _limit)] * 2,
    *[("a link", _link)] * 2,
    ("pages without an end", _endless),
    ("a redirect", _redirect),
    *[("headers", _headers)] * 2,
    *[("how it is sent", _sent)] * 2,
)
