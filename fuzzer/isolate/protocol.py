"""The messages between supervisor and child: frames with a JSON header and raw bytes. Nothing is pickled.

A compiler bug may have corrupted the memory of a child, so everything that it sends is checked: the header is decoded
into the types below, the declared dtypes and shapes of arrays must match the number of bytes, and the size of a frame
is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
from multiprocess.connection import Connection

from fuzzer.system.secrets import blanked
from generators import case_file
from generators.graph import Array, Case, DType
from oracles.lane import LaneSpec
from oracles.outcome import Facts, Frame, Stage
from oracles.remembered import remembered

VERSION = 3
MAX_FRAME = 1 << 30
MOST_HEADER = 16 << 20
MOST_ARRAYS = 20_000
SPARE, TIMES = 32 << 20, 8
"""A child may send `TIMES` as many bytes as the outputs of its two runs have, because a wrong lane may return wider
numbers, and `SPARE` bytes more: results of a wrong shape, and the header."""

MAX_RANK = 32
MOST_TEXT = 20_000
"""In characters: the message of an exception is cut to this."""

MOST_CPU_SECONDS = 1e7
"""Those of a campaign are added up, and their sum must stay a number."""

DTYPES = {
    **{dtype.value: dtype.numpy for dtype in DType},
    **{name: np.dtype(name) for name in ("uint16", "uint32", "uint64")},  # a wrong lane may return these
}


T = TypeVar("T")


class ProtocolError(Exception):
    """A frame that this version does not write."""


class ArrayDoc(msgspec.Struct):
    dtype: str
    shape: tuple[int, ...]


Arrays = Annotated[list[ArrayDoc], msgspec.Meta(max_length=MOST_ARRAYS)]


class Job(msgspec.Struct, tag="job", tag_field="message"):
    """Supervisor to child: run these lanes of a case, in order. The payload is case.json, then the tensors."""

    lanes: list[LaneSpec]
    json_bytes: int
    scratch: str
    most_bytes: int = MAX_FRAME
    version: int = VERSION


class Started(msgspec.Struct, tag="started", tag_field="message"):
    """The first message of a worker: versions and settings of what it loaded."""

    stated: dict[str, str]


class At(msgspec.Struct, tag="at", tag_field="message"):
    """Child to supervisor: lane number `lane` now enters `stage`."""

    lane: int
    stage: Stage


class Noted(msgspec.Struct, tag="noted", tag_field="message"):
    """Child to supervisor: all facts about lane number `lane` so far, encoded. They are kept where the lane dies
    afterwards. A lane notes its facts some twenty times, and only the last ones are decoded (`facts_in`)."""

    lane: int
    facts: msgspec.Raw

    @classmethod
    def of(cls, lane: int, facts: Facts) -> Noted:
        return cls(lane, msgspec.Raw(_encoded_json(facts)))


class DidRun(msgspec.Struct, tag="ran", tag_field="message"):
    """Child to supervisor: the lane ran. The payload is the outputs, then those of the second run if there was one."""

    lane: int
    outputs: Arrays
    again: Arrays | None


class DidBuild(msgspec.Struct, tag="built", tag_field="message"):
    lane: int


class DidRaise(msgspec.Struct, tag="raised", tag_field="message"):
    lane: int
    stage: Stage
    type: str
    text: str
    frames: list[Frame]
    own_fault: str = ""
    """The traceback, where difftvm's own code is at fault; otherwise empty."""


class DidSkip(msgspec.Struct, tag="skipped", tag_field="message"):
    lane: int
    reason: str


class Finished(msgspec.Struct, tag="finished", tag_field="message"):
    """Child to supervisor: the job is done. CPU seconds by stage."""

    stage_cpu: dict[Stage, Annotated[float, msgspec.Meta(ge=0, le=MOST_CPU_SECONDS)]]


class Failed(msgspec.Struct, tag="failed", tag_field="message"):
    """Child to supervisor: difftvm's own code raised an exception, which ends the job. The text is the exception in one
    line, and then the traceback."""

    text: str


Message = Job | Started | At | Noted | DidRun | DidBuild | DidRaise | DidSkip | Finished | Failed

_decoder = msgspec.json.Decoder(Message)
_facts_decoder = msgspec.json.Decoder(Facts)


def send(connection: Connection, message: Message, *payload: bytes) -> None:
    """Send a message. Lone surrogates in its texts, which JSON cannot hold, become escape sequences."""
    header = _encoded_json(message)
    connection.send_bytes(b"".join((len(header).to_bytes(4, "little"), header, *payload)))


def _encoded_json(value: Message | Facts) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(value)))


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case list() | tuple():
            return [_without_surrogates(each) for each in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
        case _:
            return value


def receive(connection: Connection) -> tuple[Message, memoryview]:
    """The next message and its payload. Raise EOFError or OSError where the other side has ended, `ProtocolError` where
    a frame is invalid."""
    return decoded(connection.recv_bytes(MAX_FRAME))


def decoded(data: bytes) -> tuple[Message, memoryview]:
    """The message in a frame, and its payload. Secrets in it are blanked. Raise `ProtocolError` where it is invalid."""
    frame = memoryview(blanked(data))
    size = int.from_bytes(frame[:4], "little")
    if size > min(len(frame) - 4, MOST_HEADER):
        raise ProtocolError(f"header of {size} bytes in a frame of {len(frame)}")
    return _valid(_decoder, frame[4 : 4 + size]), frame[4 + size :]


def _valid(decoder: msgspec.json.Decoder[T], text: memoryview | msgspec.Raw) -> T:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(str(error)) from None


def facts_in(noted: msgspec.Raw) -> Facts:
    """The facts in a message. Raise `ProtocolError` where they are invalid."""
    return _valid(_facts_decoder, noted)


_encoded = remembered(1)(case_file.encode)
"""A test has several jobs of one case."""


def send_job(connection: Connection, case: Case, lanes: Sequence[LaneSpec], scratch: str) -> None:
    text, tensors = _encoded(case)
    send(connection, Job(list(lanes), len(text), scratch, most_bytes(case)), text, tensors)


def most_bytes(case: Case) -> int:
    """The most bytes of a frame that a child may send about a case."""
    outputs = sum(type.numel * type.dtype.numpy.itemsize for type in case.bound.output_types)
    return min(MAX_FRAME, 2 * TIMES * outputs + SPARE)  # a lane runs twice


def case_of(job: Job, payload: memoryview) -> Case:
    return case_file.decode(bytes(payload[: job.json_bytes]), bytes(payload[job.json_bytes :]), "job")


def pack(arrays: Sequence[Array]) -> tuple[list[ArrayDoc], bytes]:
    docs = [ArrayDoc(str(array.dtype), array.shape) for array in arrays]
    return docs, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def unpack(docs: Sequence[ArrayDoc], payload: memoryview) -> tuple[tuple[Array, ...], memoryview]:
    """The arrays, copied from the payload, and the rest of the payload."""
    arrays: list[Array] = []
    for doc in docs:
        if doc.dtype not in DTYPES or len(doc.shape) > MAX_RANK or not all(size >= 0 for size in doc.shape):
            raise ProtocolError(f"not an array: {doc.dtype}{list(doc.shape)}")
        if math.prod(max(size, 1) for size in doc.shape) > MAX_FRAME:  # numpy refuses some of these without elements
            raise ProtocolError(f"too large an array: {doc.dtype}{list(doc.shape)}")
        size = math.prod(doc.shape) * DTYPES[doc.dtype].itemsize
        if size > len(payload):
            raise ProtocolError(f"{doc.dtype}{list(doc.shape)} needs {size} bytes, {len(payload)} are left")
        arrays.append(np.frombuffer(payload[:size], DTYPES[doc.dtype]).reshape(doc.shape).copy())
        payload = payload[size:]
    return tuple(arrays), payload
