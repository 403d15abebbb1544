"""The decoders of files and messages that may come from elsewhere, as targets of a fuzzer.

An input of a target is a byte that names a document, and the contents of that document. A decoder returns a value or
raises the error that it documents. Everything else is a fault: any other exception, and more than a second of CPU.
"""

from __future__ import annotations

import io
import os
import socket
import sqlite3
import struct
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import msgspec
from mutations import Form, mutated

from fuzzer.campaign import attempts, filing_progress, state
from fuzzer.campaign.index import Index
from fuzzer.campaign.rows import index_row
from fuzzer.campaign.state import State
from fuzzer.cases import onnx_model
from fuzzer.children import onnx_reader
from fuzzer.cluster import assignment
from fuzzer.evaluation import founding_cases
from fuzzer.findings import finding_file, natural_file
from fuzzer.findings import merge as merging
from fuzzer.isolate import protocol
from fuzzer.isolate.frames import Frames
from fuzzer.isolate.protocol import ProtocolError
from fuzzer.isolate.running_job import OwnFailure, RunningJob
from fuzzer.lanes import LANES, TORCH
from fuzzer.seeds import onnx_file, onnx_graph, pt2, pt2_file
from fuzzer.seeds.cut import pieces
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.program import Program
from fuzzer.seeds.resolve import resolve
from fuzzer.seeds.shrink import TooLarge, shrunk
from fuzzer.system.storage_errors import remedy
from fuzzer.watching.health import failing, lanes_health
from fuzzer.watching.on_disk import counters_of
from generators import case_file, tensors_file
from generators.check import check
from generators.choice import NumpySource
from generators.graph import DType, Invalid, TensorType
from oracles.outcome import Ran, Result

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "decoder_corpus"
MOST_SECONDS = 1.0
MOST_FRAME = 1 << 20
PIECES = 20
"""How many pieces of an imported program are made cases."""


@dataclass(frozen=True)
class Document:
    """What one decoder reads.

    read   decodes the contents; raises one of `legal` where they are wrong
    seeds  valid contents, or nearly
    """

    form: Form
    read: Callable[[bytes], object]
    legal: tuple[type[Exception], ...] = (Invalid,)
    seeds: Callable[[], Iterator[bytes]] = lambda: iter(())


@dataclass(frozen=True, slots=True)
class Fault:
    """`key` is equal for faults that are probably one: the exception and the line that raised it."""

    key: str
    text: str


class Target:
    """A group of decoders that are fuzzed together."""

    def __init__(self, name: str, documents: Mapping[str, Document]) -> None:
        self.name = name
        self.names = list(documents)
        self.documents = list(documents.values())

    def fault(self, data: bytes) -> Fault | None:
        """Decode an input; return what is wrong with how the decoder ended."""
        if not data:
            return None
        place = data[0] % len(self.documents)
        document, name = self.documents[place], self.names[place]
        began = time.thread_time()
        try:
            document.read(data[1:])
        except document.legal:
            pass
        except OSError as error:
            if not remedy(error):
                return _fault(name, error)
        except Exception as error:
            return _fault(name, error)
        seconds = time.thread_time() - began
        return Fault(f"{name}: slow", f"{name}: {seconds:.1f} s of CPU") if seconds > MOST_SECONDS else None

    def mutated(self, data: bytes, seed: int) -> bytes:
        """An input near another one; its document stays the same."""
        source = Random(seed)
        form = self.documents[data[0] % len(self.documents)].form
        return data[:1] + mutated(data[1:], form, source)

    def seeds(self) -> Iterator[tuple[str, bytes]]:
        """Inputs to begin with, each with the name of its document."""
        for place, (name, document) in enumerate(zip(self.names, self.documents, strict=True)):
            for contents in document.seeds():
                yield name, bytes((place,)) + contents


def _fault(name: str, error: Exception) -> Fault:
    frames = traceback.extract_tb(error.__traceback__)
    own = next((each for each in reversed(frames) if str(ROOT) in each.filename), frames[-1])
    key = f"{name}: {type(error).__name__} at {Path(own.filename).name}:{own.lineno}"
    return Fault(key, f"{key}: {str(error)[:200]}\n{''.join(traceback.format_exception(error)[-6:])}")


# --- files


@cache
def _scratch() -> Path:
    """A folder of this process, in memory where there is such a file system."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="difftvm-", dir=memory if memory.is_dir() else None))


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """A decoder that gets the folder of a file with the contents."""

    def from_bytes(data: bytes) -> object:
        folder = _scratch() / "folder"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
        try:
            return read(folder)
        finally:
            (folder / name).unlink()

    return from_bytes


def _pair(data: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(data[:4], "little")
    return data[4 : 4 + size], data[4 + size :]


def _paired(first: bytes, second: bytes) -> bytes:
    return len(first).to_bytes(4, "little") + first + second


def _read_case(data: bytes) -> object:
    case = case_file.decode(*_pair(data))
    text, tensors = case_file.encode(case)
    again = case_file.decode(text, tensors)
    assert case_file.encode(again) == (text, tensors), "a case is another one after it was written and read"
    return case_file.digest(case)


def _read_natural(data: bytes) -> object:
    text, tensors = _pair(data)
    folder = _scratch() / "natural"
    folder.mkdir(exist_ok=True)
    (folder / natural_file.NAME).write_bytes(text)
    (folder / natural_file.TENSORS).write_bytes(tensors)
    return natural_file.read(folder)


def _read_finding(folder: Path) -> object:
    return finding_file.encode(finding_file.read(folder))


_TYPES = {"x0": TensorType(DType.BFLOAT16, (2, 3)), "x1": TensorType(DType.FLOAT32, ())}


def _shipped(pattern: str, most: int = 4) -> Callable[[], Iterator[bytes]]:
    """The smallest files of the project that match."""

    def seeds() -> Iterator[bytes]:
        found = sorted(ROOT.glob(pattern), key=lambda path: (path.stat().st_size, path))
        yield from (path.read_bytes() for path in found[:most])

    return seeds


def _shipped_cases() -> Iterator[bytes]:
    for path in sorted((*ROOT.glob("corpus/*/case.json"), *ROOT.glob("crashes/*/case.json"))):
        text, tensors = path.read_bytes(), (path.parent / case_file.TENSORS_NAME).read_bytes()
        if len(text) + len(tensors) < 2500:
            yield _paired(text, tensors)


def _shipped_naturals() -> Iterator[bytes]:
    for path in sorted(ROOT.glob(f"crashes/*/{natural_file.NAME}")):
        pair = _paired(path.read_bytes(), (path.parent / natural_file.TENSORS).read_bytes())
        if len(pair) < 8000:
            yield pair


def _state() -> State:
    written = State(7, 2, found={"0a": 3}, known={"integer-power": 1}, campaign="me")
    written.counters.tests = 2
    written.counters.unsupported = {"torch": 1}
    return written


_FINDINGS = Target(
    "findings",
    {
        "case": Document(Form.PAIR, _read_case, seeds=_shipped_cases),
        "tensors": Document(
            Form.SAFETENSORS,
            lambda data: tensors_file.decode(data, _TYPES),
            seeds=_shipped("crashes/*/tensors.safetensors"),
        ),
        "types": Document(Form.JSON, _in_file(case_file.JSON_NAME, case_file.input_types)),
        "finding": Document(
            Form.JSON, _in_file(finding_file.NAME, _read_finding), seeds=_shipped("crashes/*/finding.json", 12)
        ),
        "natural": Document(Form.PAIR, _read_natural, seeds=_shipped_naturals),
        "onnx": Document(
            Form.JSON, lambda data: onnx_model.decode(data, "onnx.json"), seeds=_shipped("crashes/*/onnx.json", 2)
        ),
        "merged": Document(
            Form.JSON,
            _in_file(merging.NAME, merging.read),
            seeds=lambda: iter(
                [msgspec.json.encode(merging.MergeFile(1, [merging.Merge("a-b-1", "a-c-2", "the same message")]))]
            ),
        ),
        "state": Document(
            Form.JSON, _in_file(state.NAME, state.read), seeds=lambda: iter([msgspec.json.encode(_state())])
        ),
        "filing": Document(
            Form.JSON,
            _in_file(filing_progress.NAME, filing_progress.read),
            seeds=lambda: iter([msgspec.json.encode(filing_progress.Progress(1, 2, "no network"))]),
        ),
        "attempts": Document(
            Form.BYTES,
            _in_file(attempts.NAME, attempts.read),
            seeds=lambda: iter([b"2026-01-02 03:04:05 begun\n2026-01-02 03:04:06 failed\n  KeyError\n"]),
        ),
        "expect": Document(
            Form.JSON,
            _in_file(founding_cases.NAME, lambda folder: founding_cases.expectations(folder / founding_cases.NAME)),
            seeds=_shipped("corpus/*/expect.json", 2),
        ),
        "round": Document(
            Form.JSON,
            _in_file(assignment.NAME, assignment.read),
            seeds=lambda: iter([msgspec.json.encode(assignment.Round(0, 10, [0, 1]))]),
        ),
    },
)


# --- messages


def _read_message(data: bytes) -> object:
    """A frame as the supervisor takes it, after the first message of the first lane."""
    job = RunningJob(os.getpid(), LANES[:2], "/tmp/scratch", Result({}))
    job.take(protocol.At(0, protocol.Stage.START), memoryview(b""))
    message, payload = protocol.decoded(data)
    if isinstance(message, protocol.Job):
        return protocol.case_of(message, payload)
    job.take(message, payload)
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
        return job


def _messages() -> Iterator[bytes]:
    docs = [protocol.ArrayDoc("float32", (2,)), protocol.ArrayDoc("bool", ())]
    sent: list[tuple[protocol.Message, bytes]] = [
        (protocol.Started({"tvm": "0.27.0"}), b""),
        (protocol.At(0, protocol.Stage.COMPILE), b""),
        (protocol.Noted(0, protocol.Facts(checked=("import",), modified=("x0",), aliases=((1, "x0"),))), b""),
        (protocol.DidRun(0, docs, docs), bytes(18)),
        (protocol.DidBuild(0), b""),
        (protocol.DidRaise(0, protocol.Stage.IMPORT, "E", "no\n/a/b", [protocol.Frame("a.cc", 3, "f(int)")]), b""),
        (protocol.DidSkip(0, "no such target"), b""),
        (protocol.Finished({protocol.Stage.RUN: 1.5}), b""),
        (protocol.Failed("KeyError: 3"), b""),
    ]
    for message, payload in sent:
        yield _paired(msgspec.json.encode(message), payload)
    pair = next(_shipped_cases())
    text, tensors = _pair(pair)
    yield _paired(msgspec.json.encode(protocol.Job(list(LANES[:2]), len(text), "/tmp/x")), text + tensors)


def _streams() -> Iterator[bytes]:
    framed = [struct.pack(">i", len(each)) + each for each in _messages()]
    yield b"".join(framed[1:3])
    yield framed[1] + framed[3]
    yield framed[1] + framed[4] + framed[7]


_PROTOCOL = Target(
    "protocol",
    {
        "message": Document(Form.FRAME, _read_message, (ProtocolError, OwnFailure, Invalid), _messages),
        "stream": Document(Form.BYTES, _read_stream, (ProtocolError, OwnFailure, EOFError), _streams),
    },
)


# --- models


def _cases_of(program: Program) -> object:
    """The cases that are cut from a program, as `fuzz import` makes them, without PyTorch."""
    resolved = resolve(program)
    made = []
    for number, piece in enumerate(pieces(resolved.nodes, resolved.types, program.roles, PIECES)):
        if number == PIECES:
            break
        try:
            graph = shrunk(piece.graph)
            constants = {
                name: program.constants[own] for name, own in piece.origins.items() if own in program.constants
            }
            case = draw_case(NumpySource(1, 0, 0), graph, constants)
            check(case)
        except (TooLarge, Invalid):
            continue
        made.append(case_file.digest(case))
    return made


def _read_pt2_json(data: bytes) -> object:
    """The document in an archive."""
    return _in_file("m.pt2", lambda folder: _cases_of(pt2.read(folder / "m.pt2")))(_archive(data))


def _archive(model: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("m/models/model.json", model)
    return written.getvalue()


def _read_onnx(data: bytes) -> object:
    def read(folder: Path) -> object:
        answer = msgspec.json.encode(onnx_reader.answer(folder / "m.onnx"))
        return _cases_of(onnx_file.program(onnx_graph.decode(answer, "m.onnx"), folder / "m.onnx"))

    return _in_file("m.onnx", read)(data)


def _read_onnx_answer(data: bytes) -> object:
    return _cases_of(onnx_file.program(onnx_graph.decode(data, "m.onnx"), Path("m.onnx")))


def _read_pt2_answer(data: bytes) -> object:
    answer = pt2_file.decode(data, Path("m.pt2"))
    return _cases_of(answer.program) if answer.program else None


def exported() -> bytes:
    """A file of torch.export.save, without the lines of the sources that made it."""
    return (CORPUS / "small.pt2").read_bytes()


def exported_json() -> bytes:
    """The document of `exported`, without what is not read."""
    with zipfile.ZipFile(io.BytesIO(exported())) as archive:
        (name,) = (name for name in archive.namelist() if name.split("/")[-2:-1] == ["models"])
        document = msgspec.json.decode(archive.read(name))
    for node in document["graph_module"]["graph"]["nodes"]:
        node.pop("metadata", None)
    return msgspec.json.encode(document)


def onnx_bytes() -> bytes:
    """A small ONNX file with constants and a function."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    shape = numpy_helper.from_array(np.array([3, -1]), "s")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Reshape", ["b", "s"], ["c"]),
        helper.make_node("Softmax", ["c"], ["d"], axis=1),
        helper.make_node("f", ["d"], ["y"], domain="own"),
    ]
    function = helper.make_function(
        "own", "f", ["i"], ["o"], [helper.make_node("Neg", ["i"], ["o"])], [helper.make_opsetid("", 18)]
    )
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 4])],
        [helper.make_empty_tensor_value_info("y")],
        [weight, shape],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return bytes(helper.make_model(graph, ir_version=9, opset_imports=opsets, functions=[function]).SerializeToString())


def _onnx_answer() -> Iterator[bytes]:
    path = _scratch() / "seed.onnx"
    path.write_bytes(onnx_bytes())
    yield msgspec.json.encode(onnx_reader.answer(path))


def _pt2_answer() -> Iterator[bytes]:
    path = _scratch() / "seed.pt2"
    path.write_bytes(_archive(exported_json()))
    yield pt2_file.encode(pt2_file._Answer(pt2.read(path)))


_IMPORT = Target(
    "import",
    {
        "exported document": Document(Form.JSON, _read_pt2_json, seeds=lambda: iter([exported_json()])),
        "archive": Document(
            Form.ZIP,
            _in_file("m.pt2", lambda folder: _cases_of(pt2.read(folder / "m.pt2"))),
            seeds=lambda: iter([_archive(exported_json())]),
        ),
        "onnx": Document(Form.BYTES, _read_onnx, seeds=lambda: iter([onnx_bytes()])),
        "answer about onnx": Document(Form.JSON, _read_onnx_answer, seeds=_onnx_answer),
        "answer about an exported program": Document(Form.BYTES, _read_pt2_answer, seeds=_pt2_answer),
    },
)


# --- the index


def index_bytes() -> bytes:
    """An index with some tests."""
    with tempfile.TemporaryDirectory() as folder:
        with Index(Path(folder)) as written:
            rows = [index_row(number, 0.5, {TORCH: Ran(())}, ("relu",)) for number in range(3)]
            written.write(_state(), rows, {"0a": "died-relu-0a"})
        with closing(sqlite3.connect(Path(folder) / "index.sqlite")) as db:
            db.executescript(
                "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;"
            )  # small pages: a small file
            db.execute("INSERT INTO origins VALUES (2, 'other', 3, 4, '{\"tests\": 5}')")
            db.execute("INSERT INTO features VALUES ('f', 1, 2, 3)")
            db.execute("INSERT INTO hazards VALUES (1, 'export', 'relu', '', 1.0, 0.5)")
            db.commit()
        return (Path(folder) / "index.sqlite").read_bytes()


def _read_index(folder: Path) -> object:
    """All that commands read of an index; and its rows, copied to another."""
    questions: list[Callable[[Index], object]] = [
        lambda read: read.check(),
        lambda read: read.state(),
        lambda read: msgspec.json.encode(read.totals().summary()),
        lambda read: failing(lanes_health(read)),
        lambda read: counters_of(read),
        lambda read: [read.operators(), read.observations(), read.features, read.tests, read.done_from(0)],
        lambda read: [read.progress(40), read.progress()],
        _adopted,
    ]
    with Index(folder, writes=False) as read:
        for question in questions:
            with suppress(Invalid):
                question(read)
    return None


def _adopted(other: Index) -> int:
    path = _scratch() / "adopting"
    path.mkdir(exist_ok=True)
    for each in path.iterdir():
        each.unlink()
    with Index(path) as mine:
        mine.write(State(1, campaign="mine"))
        return mine.adopt(other)


_INDEX = Target(
    "index",
    {"index": Document(Form.SQLITE, _in_file("index.sqlite", _read_index), seeds=lambda: iter([index_bytes()]))},
)

TARGETS = {target.name: target for target in (_FINDINGS, _PROTOCOL, _IMPORT, _INDEX)}
