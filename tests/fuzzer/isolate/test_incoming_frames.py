"""Frames that come in pieces, stop half-way or are too large."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiprocess.connection import Connection

from fuzzer.isolate.frames import Frames
from fuzzer.isolate.protocol import ProtocolError

MOST = 1 << 20
Ends = tuple[socket.socket, Frames]


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        frames = Frames(ours.fileno())
        yield theirs, frames
        frames.close()
        assert ours.fileno() >= 0


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


@pytest.mark.slow
@given(st.lists(st.binary(max_size=50), max_size=6), st.lists(st.integers(1, 60), min_size=1))
def test_frames_come_whole_however_they_are_cut(contents: list[bytes], cuts: list[int]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        frames = Frames(ours.fileno())
        stream, found, turn = b"".join(map(framed, contents)), [], 0
        while stream:
            cut = cuts[turn % len(cuts)]
            theirs.sendall(stream[:cut])
            stream, turn = stream[cut:], turn + 1
            while (frame := frames.next(MOST)) is not None:
                found.append(frame)
        assert found == contents
        frames.close()


def test_it_reads_what_multiprocess_sends(ends: Ends) -> None:
    other, frames = ends
    with Connection(other.detach()) as connection:
        connection.send_bytes(b"first")
        connection.send_bytes(b"x" * 20_000)
        assert (frames.next(MOST), frames.next(MOST)) == (b"first", b"x" * 20_000)
    with pytest.raises(EOFError):
        frames.next(MOST)


def test_what_came_with_a_frame_needs_no_other_wait(ends: Ends) -> None:
    other, frames = ends
    other.sendall(framed(b"first") + framed(b"second") + framed(b"third")[:6])
    assert not frames.has_next(MOST)
    assert frames.next(MOST) == b"first"
    assert frames.has_next(MOST)
    assert frames.next(MOST) == b"second"
    assert not frames.has_next(MOST)


def test_half_a_frame_is_no_frame_and_nobody_waits(ends: Ends) -> None:
    other, frames = ends
    other.sendall(framed(b"abcdef")[:7])
    assert frames.next(MOST) is None
    assert frames.next(MOST) is None
    other.sendall(b"def")
    assert frames.next(MOST) == b"abcdef"


@pytest.mark.parametrize("size", [MOST + 1, (1 << 31) - 1, (1 << 32) - 1])
def test_a_size_that_is_not_expected_is_refused_before_it_takes_memory(ends: Ends, size: int) -> None:
    other, frames = ends
    other.sendall(size.to_bytes(4, "big"))
    with pytest.raises(ProtocolError, match="where at most 1,048,576 are expected"):
        frames.next(MOST)


def test_the_largest_frame_comes(ends: Ends) -> None:
    other, frames = ends
    other.sendall((8).to_bytes(4, "big") + b"12345678")
    assert frames.next(8) == b"12345678"


def test_an_end_in_the_middle_of_a_frame(ends: Ends) -> None:
    other, frames = ends
    other.sendall(framed(b"abc")[:5])
    other.close()
    with pytest.raises(EOFError):
        frames.next(MOST)
