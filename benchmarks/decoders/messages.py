"""The decoders of what a child and the supervisor send each other."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import closing

import msgspec
from mutations import Form

from decoders.base import Document, Target, pair, paired
from decoders.files import shipped_cases
from fuzzer.isolate import protocol
from fuzzer.isolate.frames import Frames
from fuzzer.isolate.protocol import ProtocolError
from fuzzer.isolate.running_job import OwnFailure, RunningJob
from fuzzer.lanes import LANES
from generators.graph import Invalid
from oracles.outcome import Result

MOST_FRAME = 1 << 20


def _read_message(data: bytes) -> object:
    """A frame as the supervisor takes it, after the first message of the first lane."""
    job = RunningJob(os.getpid(), LANES[:2], "/tmp/scratch", Result({}))
    job.take(protocol.At(0, protocol.Stage.START), memoryview(b""))
    message, payload = protocol.decoded(data)
    if isinstance(message, protocol.Job):
        return protocol.case_of(message, payload)
    job.take(message, payload)
    job.settle()
    return job


def _read_stream(data: bytes) -> object:
    """Frames as they come on a socket, and the messages in them."""
    ours, theirs = socket.socketpair()
    with ours, theirs, closing(Frames(ours.fileno())) as frames:
        theirs.setblocking(False)
        theirs.send(data[:100_000])
        theirs.shutdown(socket.SHUT_WR)
        job = RunningJob(os.getpid(), LANES[:2], "/tmp/scratch", Result({}))
        while (frame := frames.next(MOST_FRAME)) is not None:
            job.take(*protocol.decoded(frame))
            job.settle()
        return job


def _messages() -> Iterator[bytes]:
    docs = [protocol.ArrayDoc("float32", (2,)), protocol.ArrayDoc("bool", ())]
    sent: list[tuple[protocol.Message, bytes]] = [
        (protocol.Started({"tvm": "0.27.0"}), b""),
        (protocol.At(0, protocol.Stage.COMPILE), b""),
        (protocol.Noted.of(0, protocol.Facts(checked=("import",), modified=("x0",), aliases=((1, "x0"),))), b""),
        (protocol.DidRun(0, docs, docs), bytes(18)),
        (protocol.DidBuild(0), b""),
        (protocol.DidRaise(0, protocol.Stage.IMPORT, "E", "no\n/a/b", [protocol.Frame("a.cc", 3, "f(int)")]), b""),
        (protocol.DidSkip(0, "no such target"), b""),
        (protocol.Finished({protocol.Stage.RUN: 1.5}), b""),
        (protocol.Failed("KeyError: 3"), b""),
    ]
    for message, payload in sent:
        yield paired(msgspec.json.encode(message), payload)
    text, tensors = pair(next(shipped_cases()))
    yield paired(msgspec.json.encode(protocol.Job(list(LANES[:2]), len(text), "/tmp/x")), text + tensors)


def _streams() -> Iterator[bytes]:
    framed = [struct.pack(">i", len(each)) + each for each in _messages()]
    yield b"".join(framed[1:3])
    yield framed[1] + framed[3]
    yield framed[1] + framed[4] + framed[7]


PROTOCOL = Target(
    "protocol",
    {
        "message": Document(Form.FRAME, _read_message, (ProtocolError, OwnFailure, Invalid), _messages),
        "stream": Document(Form.BYTES, _read_stream, (ProtocolError, OwnFailure, EOFError), _streams),
    },
)
