"""Frames between supervisor and child: what is sent arrives, and nonsense is refused with `ProtocolError`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from multiprocess.connection import Connection, Pipe

from fuzzer.isolate import protocol
from fuzzer.isolate.protocol import ArrayDoc, ProtocolError
from fuzzer.lanes import LANES
from generators.domain import POSITIVE, within
from generators.graph import Array, Case, DType, Form, Graph, Input, Layout, Node, Profile, Role, TensorType, Value
from oracles.outcome import Facts, Frame, IllFormed, Mutant, MutantFate, Stage

Ends = tuple[Connection, Connection]


@pytest.fixture
def ends() -> Iterator[Ends]:
    one, other = Pipe()
    with one, other:
        yield one, other


def framed(header: bytes, payload: bytes = b"") -> bytes:
    return len(header).to_bytes(4, "little") + header + payload


# --- what is sent arrives

MESSAGES: list[protocol.Message] = [
    protocol.Job(list(LANES), 17, "/tmp/scratch"),
    protocol.Started({"tvm": "0.27.0", "float32 matmul": "highest"}),
    protocol.At(2, Stage.COMPILE),
    protocol.Noted.of(1, Facts()),
    protocol.Noted.of(
        2,
        Facts(
            checked=("import",),
            ill_formed=IllFormed("FoldConstant", "ValueError", "not well formed"),
            modified=("x0",),
            aliases=((1, "x0"),),
            built_bytes=12,
            compile_seconds=0.25,
            mutants=(Mutant("drop an argument", MutantFate.MISCOMPILED, "1 for 2"),),
        ),
    ),
    protocol.DidRun(0, [ArrayDoc("float32", (2, 0)), ArrayDoc("bool", ())], None),
    protocol.DidRun(1, [ArrayDoc("int64", (3,))], [ArrayDoc("int64", (3,))]),
    protocol.DidBuild(2),
    protocol.DidRaise(1, Stage.IMPORT, "ValueError", "naïve \n «text» \0", [Frame("a.cc", 3, "f(int)")]),
    protocol.DidSkip(0, "no such target here"),
    protocol.Finished({Stage.START: 0.25, Stage.RUN: 1.5}),
    protocol.Failed("KeyError: 3\n\nTraceback (most recent call last): ..."),
]


def test_every_message_type_is_listed() -> None:
    assert {type(message) for message in MESSAGES} == set(protocol.Message.__args__)


def test_noted_facts_are_decoded_apart() -> None:
    facts = Facts(checked=("import",), compile_seconds=0.25)
    assert protocol.facts_in(protocol.Noted.of(0, facts).facts) == facts
    with pytest.raises(ProtocolError, match="Expected `int`"):
        protocol.facts_in(msgspec.Raw(b'{"kernels": "many"}'))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("payload", [(), (b"",), (b"\0{}", b"more")])
def test_round_trip(ends: Ends, message: protocol.Message, payload: tuple[bytes, ...]) -> None:
    protocol.send(ends[0], message, *payload)
    received, rest = protocol.receive(ends[1])
    assert received == message
    assert bytes(rest) == b"".join(payload)


def test_a_job_carries_its_case(ends: Ends) -> None:
    x, v = (Value(name, TensorType(DType.FLOAT64, (2, 3))) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node("sin", ("x0",), {}, (v,)),), ("v0",))
    case = Case(graph, {"x0": np.arange(6.0).reshape(2, 3)}, origin="seed 1 test 2")
    assert_carried(ends, case)


def test_a_job_carries_layouts_forms_buffers_and_bfloat16(ends: Ends) -> None:
    def value(name: str, dtype: DType = DType.BFLOAT16) -> Value:
        return Value(name, TensorType(dtype, (2, 3)))

    inputs = (
        Input(value("x0"), layout=Layout.EXPANDED),
        Input(value("b0"), Role.BUFFER, POSITIVE),
        Input(value("x1", DType.INT8), domain=within(-4, 3), layout=Layout.TRANSPOSED),
    )
    nodes = (
        Node("mul", ("x0", "b0"), {}, (value("v0"),), Form.OPERATOR),
        Node("add", ("v0", "x1"), {"alpha": 1}, (value("v1"),), Form.INPLACE),
    )
    tensors: dict[str, Array] = {
        "x0": np.broadcast_to(np.array([1.5, -0.0, np.nan], BFLOAT16), (2, 3)),
        "b0": np.full((2, 3), 1 / 3, BFLOAT16),
        "x1": np.arange(-4, 2, dtype=np.int8).reshape(2, 3),
    }
    assert_carried(ends, Case(Graph(inputs, nodes, ("v1",)), tensors, profile=Profile.SPECIAL))


def assert_carried(ends: Ends, case: Case) -> None:
    protocol.send_job(ends[0], case, LANES[:2], "/tmp/x")
    job, payload = protocol.receive(ends[1])
    assert isinstance(job, protocol.Job)
    assert (job.lanes, job.scratch) == (list(LANES[:2]), "/tmp/x")
    carried = protocol.case_of(job, payload)
    assert replace(carried, tensors={}) == replace(case, tensors={})
    assert set(carried.tensors) == set(case.tensors)
    for name, array in case.tensors.items():
        arrived = carried.tensors[name]
        assert (arrived.dtype, arrived.shape, arrived.tobytes()) == (array.dtype, array.shape, array.tobytes())


BFLOAT16 = DType.BFLOAT16.numpy
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
NATIVE = [dtype for dtype in protocol.DTYPES.values() if dtype != BFLOAT16]
ARRAYS = hnp.arrays(st.sampled_from(NATIVE), SHAPES) | hnp.arrays(np.uint16, SHAPES).map(lambda a: a.view(BFLOAT16))


def test_every_dtype_of_a_tensor_travels() -> None:
    assert {dtype.value: dtype.numpy for dtype in DType}.items() <= protocol.DTYPES.items()
    for name, dtype in protocol.DTYPES.items():
        (doc,), data = protocol.pack([np.ones((2, 1), dtype)])
        assert doc == ArrayDoc(name, (2, 1))
        assert len(data) == 2 * dtype.itemsize


def test_bfloat16_round_trip_bit_by_bit() -> None:
    bits = np.array([[0x0000, 0x8000, 0x3F80], [0x7F80, 0x7FC1, 0x0001]], np.uint16)  # 0, -0, 1, infinity, NaN, tiny
    docs, data = protocol.pack([bits.view(BFLOAT16), bits.view(BFLOAT16).T])
    assert docs == [ArrayDoc("bfloat16", (2, 3)), ArrayDoc("bfloat16", (3, 2))]
    assert len(data) == 24
    (plain, turned), rest = protocol.unpack(docs, memoryview(data))
    assert (plain.dtype, turned.dtype, len(rest)) == (BFLOAT16, BFLOAT16, 0)
    assert plain.view(np.uint16).tolist() == bits.tolist()
    assert turned.view(np.uint16).tolist() == bits.T.tolist()
    assert plain.flags.writeable


@pytest.mark.slow
@given(st.lists(ARRAYS, max_size=3), st.lists(ARRAYS, max_size=2))
def test_arrays_round_trip(outputs: list[Array], again: list[Array]) -> None:
    one, other = Pipe()
    with one, other:
        first, second = protocol.pack(outputs), protocol.pack(again)
        protocol.send(one, protocol.DidRun(0, first[0], second[0]), first[1], second[1])
        message, payload = protocol.receive(other)
    assert isinstance(message, protocol.DidRun)
    unpacked, rest = protocol.unpack(message.outputs, payload)
    unpacked_again, rest = protocol.unpack(message.again or [], rest)
    assert len(rest) == 0
    for sent, arrived in zip([*outputs, *again], [*unpacked, *unpacked_again], strict=True):
        assert (arrived.dtype, arrived.shape, arrived.tobytes()) == (sent.dtype, sent.shape, sent.tobytes())


def test_arrays_in_any_layout_round_trip() -> None:
    whole = np.arange(12, dtype=np.int32).reshape(3, 4)
    for array in (whole.T, whole[::-1, ::2], np.broadcast_to(whole[:1], (3, 4))):
        docs, data = protocol.pack([array])
        np.testing.assert_array_equal(protocol.unpack(docs, memoryview(data))[0][0], array)


def test_unpacked_arrays_have_memory_of_their_own() -> None:
    docs, data = protocol.pack([np.zeros(3, np.float32)])
    frame = bytearray(data)
    (array,), _ = protocol.unpack(docs, memoryview(frame))
    frame[:] = b"\xff" * len(frame)
    assert array.flags.writeable
    assert array.tolist() == [0.0, 0.0, 0.0]


# --- nonsense is refused


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (b"", "header of 0 bytes in a frame of 0"),
        (b"\1\0", "header of 1 bytes in a frame of 2"),
        (b"\5\0\0\0{}", "header of 5 bytes in a frame of 6"),
        (b"\xff\xff\xff\xff{}", "header of 4294967295 bytes"),
        (framed(b""), "truncated"),
        (framed(b'{"message":"at","lane":0'), "truncated"),
        (framed(b"\xff\xfe\x00"), "malformed"),
        (framed(b'{"message":"at","lane":0,"stage":"run"} {}'), "malformed"),
        (framed(b'{"lane":0,"stage":"run"}'), "missing required field `message`"),
        (framed(b'{"message":"pickle","data":""}'), "Invalid value 'pickle'"),
        (framed(b'{"message":"at","lane":"0","stage":"run"}'), r"Expected `int`, got `str` - at `\$.lane`"),
        (framed(b'{"message":"at","lane":0,"stage":"lunch"}'), "Invalid enum value 'lunch'"),
        (
            framed(b'{"message":"ran","lane":0,"outputs":[{"dtype":"bool","shape":[1.5]}],"again":null}'),
            "Expected `int`",
        ),
        (framed(b"[" * 100_000), "Expected `object`, got `array`"),
    ],
)
def test_nonsense_frames(ends: Ends, frame: bytes, says: str) -> None:
    ends[0].send_bytes(frame)
    with pytest.raises(ProtocolError, match=says):
        protocol.receive(ends[1])


def test_the_end_of_the_stream_is_no_nonsense(ends: Ends) -> None:
    ends[0].close()
    with pytest.raises(EOFError):
        protocol.receive(ends[1])


def test_a_frame_beyond_the_limit_is_refused(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_FRAME", 64)
    ends[0].send_bytes(b"x" * 65)
    with pytest.raises(OSError, match="bad message length"):
        protocol.receive(ends[1])


@pytest.mark.parametrize(
    ("dtype", "shape", "says"),
    [
        ("float32", (3,), r"float32\[3\] needs 12 bytes, 8 are left"),
        ("bool", (9,), "needs 9 bytes, 8 are left"),
        ("int8", (2**62, 2**62), "too large an array"),
        ("int8", (2**29, 2**29), "too large an array"),
        ("int8", (-1,), "not an array"),
        ("int8", (0, -5), "not an array"),
        ("int8", (-2, -4), "not an array"),
        ("object", (1,), "not an array: object"),
        ("O", (1,), "not an array: O"),
        ("float128", (), "not an array"),
        ("S8", (1,), "not an array"),
        ("V8", (1,), "not an array"),
        ("<f4", (1,), "not an array"),
        ("f4,f4", (1,), "not an array"),
        ("", (1,), "not an array"),
        pytest.param("int8", (1,) * 65, None, id="more dimensions than numpy has"),
        pytest.param("float32", (0, 2**62, 2**62), None, id="empty, but too big for numpy"),
        pytest.param("int8", (0, 2**70), None, id="no size of this machine"),
    ],
)
def test_nonsense_arrays(dtype: str, shape: tuple[int, ...], says: str | None) -> None:
    with pytest.raises(ProtocolError, match=says):
        protocol.unpack([ArrayDoc(dtype, shape)], memoryview(bytes(8)))


def test_sizes_must_add_up_over_all_arrays() -> None:
    docs = [ArrayDoc("int8", (5,)), ArrayDoc("int8", (4,))]
    with pytest.raises(ProtocolError, match="needs 4 bytes, 3 are left"):
        protocol.unpack(docs, memoryview(bytes(8)))


@given(st.binary(max_size=64))
def test_random_bytes_are_messages_or_refused(data: bytes) -> None:
    one, other = Pipe()
    with one, other:
        one.send_bytes(data)
        try:
            protocol.receive(other)
        except ProtocolError:
            return


@pytest.mark.slow
@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)
    | st.dictionaries(st.text(), st.text())
)
def test_json_of_no_message_is_refused(value: object) -> None:
    one, other = Pipe()
    with one, other:
        one.send_bytes(framed(msgspec.json.encode(value)))
        with pytest.raises(ProtocolError):
            protocol.receive(other)
