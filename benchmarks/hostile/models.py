"""Rows: models of ONNX and programs of PyTorch."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from hostile.place import Place
from hostile.row import ESCAPES, INJECTED, Make, Row


def _onnx(change: Callable[[Any], object]) -> Make:
    def make(place: Place) -> None:
        import onnx

        path = place.campaign / "models" / "m.onnx"
        model = onnx.load(path, load_external_data=False)
        change(model)
        path.write_bytes(model.SerializeToString())

    return make


def _external(location: str) -> Make:
    def change(model: Any) -> None:
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = 1
        for key, value in (("location", location), ("offset", "0"), ("length", "48")):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value

    return _onnx(change)


def _nested(model: Any) -> None:
    """An `If` within an `If`, 90 deep: protobuf refuses 100."""
    from onnx import helper

    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    for _ in range(28):
        graph = helper.make_graph(
            [helper.make_node("If", ["x"], ["y"], then_branch=graph, else_branch=helper.make_graph([], "e", [], []))],
            "g",
            [],
            [],
        )
    model.graph.node.append(graph.node[0])


def _too_deep(place: Place) -> None:
    """Graphs in attributes of nodes, 20,000 deep, as protobuf's bytes."""
    data = b""
    for _ in range(20_000):
        attribute = _tagged(6, data)  # g
        data = _tagged(1, _tagged(5, attribute))  # node, attribute
    (place.campaign / "models" / "m.onnx").write_bytes(b"\x08\x09" + _tagged(7, data))


def _tagged(field_number: int, data: bytes) -> bytes:
    size, length = b"", len(data)
    while length > 127:
        size += bytes((length & 127 | 128,))
        length >>= 7
    return bytes((field_number << 3 | 2,)) + size + bytes((length,)) + data


def _recursive(model: Any) -> None:
    function = model.functions[0]
    del function.node[:]
    node = function.node.add()
    node.op_type, node.domain = "f", "own"
    node.input.append("i")
    node.output.append("o")


def _doubling(model: Any) -> None:
    """Thirty functions that each call the next one twice: a billion nodes after they are inlined."""
    from onnx import helper

    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    for number in range(30):
        calls = [helper.make_node(f"f{number + 1}", [i], [o], domain="own") for i, o in (("i", "t"), ("t", "o"))]
        model.functions.append(helper.make_function("own", f"f{number}", ["i"], ["o"], calls, opsets))
    last = [helper.make_node("Neg", ["i"], ["o"])]
    model.functions.append(helper.make_function("own", "f30", ["i"], ["o"], last, opsets))
    model.graph.node[-1].op_type = "f0"


def _claims(*dims: int) -> Callable[[Any], object]:
    def change(model: Any) -> None:
        model.graph.initializer[0].dims[:] = dims

    return change


def _pt2(*members: tuple[str, bytes | Callable[[], bytes]], compressed: bool = False) -> Make:
    def make(place: Place) -> None:
        with zipfile.ZipFile(place.campaign / "models" / "m.pt2", "w") as archive:
            for name, contents in members:
                kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
                data = contents() if callable(contents) else contents
                archive.writestr(zipfile.ZipInfo(name), data, compress_type=kind)

    return make


def _bomb(megabytes: int) -> bytes:
    return b'{"graph_module": {"graph": {"inputs": [' + b"{}," * (megabytes * 350_000) + b"{}]}}}"


_PICKLE = b"cos\nsystem\n(S'touch /tmp/executed-by-difftvm'\ntR."
"""A pickle, in its first protocol, that calls `os.system` where it is loaded."""


def _model(place: Place) -> bytes:
    with zipfile.ZipFile(place.campaign / "models" / "m.pt2") as archive:
        (name,) = (name for name in archive.namelist() if name.split("/")[-2:-1] == ["models"])
        return archive.read(name)


def _with_pickles(place: Place) -> None:
    names = ("archive/data/weights/weight_0", "archive/data.pkl", "data.pkl", "archive/data/sample_inputs/model.pt")
    _pt2(("archive/models/model.json", _model(place)), *((name, _PICKLE) for name in names))(place)


def _old_with_pickles(place: Place) -> None:
    names = ("serialized_state_dict.pt", "serialized_constants.pt", "serialized_example_inputs.pt")
    _pt2(("serialized_exported_program.json", _model(place)), *((name, _PICKLE) for name in names))(place)


def _zip_in_zip(place: Place) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(50 << 20))
    _pt2(("m/models/model.json", inner.getvalue()))(place)


def _overlapping(place: Place) -> None:
    """A thousand members that share their compressed bytes."""
    path = place.campaign / "models" / "m.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/models/model.json", _bomb(60))
        first = archive.infolist()[0]
        for number in range(1000):
            other = zipfile.ZipInfo(f"m/models/{number}.json")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(other, name, getattr(first, name))
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other


def _many_members(place: Place) -> None:
    with zipfile.ZipFile(place.campaign / "models" / "m.pt2", "w") as archive:
        for number in range(70_000):
            archive.writestr(f"a{number}", b"")


def _target(place: Place) -> None:
    document = json.loads(_model(place))
    for node in document["graph_module"]["graph"]["nodes"]:
        node["target"] = INJECTED
    _pt2(("m/models/model.json", json.dumps(document).encode()))(place)


def models() -> Iterator[Row]:
    onnx: dict[str, Make] = {
        "weights in /etc/passwd": _external("/etc/passwd"),
        "weights in a folder above": _external("../../../outside/secret"),
        "weights behind a null byte": _external("a\0/../../x"),
        "weights in /proc/self/environ": _external("/proc/self/environ"),
        "graphs in graphs, 28 deep": _onnx(_nested),
        "graphs in graphs, 20,000 deep": _too_deep,
        "a function that calls itself": _onnx(_recursive),
        "functions that call each other twice": _onnx(_doubling),
        "a tensor that claims 2 GB": _onnx(_claims(1 << 29)),
        "a tensor that claims 2^60": _onnx(_claims(1 << 30, 1 << 30)),
        "a tensor of negative size": _onnx(_claims(-1, -12)),
        "an input of 2^62": _onnx(
            lambda model: setattr(model.graph.input[0].type.tensor_type.shape.dim[1], "dim_value", 2**62)
        ),
        "names with escapes": _onnx(lambda model: setattr(model.graph.node[0], "op_type", ESCAPES)),
        "an operator that is code": _onnx(lambda model: setattr(model.graph.node[0], "op_type", INJECTED)),
        "no graph": _onnx(lambda model: model.ClearField("graph")),
        "a version of 2^31": _onnx(lambda model: setattr(model, "ir_version", 2**31)),
        "an opset of 2^40": _onnx(lambda model: setattr(model.opset_import[0], "version", 2**40)),
        "a number with 20 bytes": lambda place: (place.campaign / "models" / "m.onnx").write_bytes(
            b"\x08" + b"\xff" * 20
        ),
        "60 MB of zeros": lambda place: (place.campaign / "models" / "m.onnx").write_bytes(bytes(60 << 20)),
        "a pickle": lambda place: (place.campaign / "models" / "m.onnx").write_bytes(_PICKLE),
    }
    for name, make in onnx.items():
        yield Row(f"m.onnx: {name}", make, frozenset({"m.onnx"}))
    pt2: dict[str, Make] = {
        "pickles in it": _with_pickles,
        "the older form with pickles": _old_with_pickles,
        "a bomb of 250 MB": _pt2(("m/models/model.json", lambda: _bomb(250)), compressed=True),
        "a bomb that is larger than allowed": _pt2(("m/models/model.json", lambda: bytes(300 << 20)), compressed=True),
        "a zip file in it": _zip_in_zip,
        "a thousand members of the same bytes": _overlapping,
        "70,000 members": _many_members,
        "a member that leads upwards": _pt2(("../../outside/x", b""), ("m/models/model.json", b"{}")),
        "an absolute member": _pt2(("/etc/passwd", b""), ("m/models/model.json", b"{}")),
        "a member with a backslash": _pt2(("a\\..\\x", b""), ("m/models/model.json", b"{}")),
        "a member with escapes": _pt2(
            (f"m/models/{ESCAPES}.json", b"{"),
        ),
        "a document that is deep": _pt2(("m/models/model.json", b'{"graph_module": ' + b"[" * 500_000)),
        "a document that is no UTF-8": _pt2(("m/models/model.json", b'{"\xff": 1}')),
        "code in the place of operators": _target,
        "a pickle": lambda place: (place.campaign / "models" / "m.pt2").write_bytes(_PICKLE),
        "a list of members at 2^63": lambda place: (place.campaign / "models" / "m.pt2").write_bytes(
            b"PK\x06\x06"
            + (44).to_bytes(8, "little")
            + b"\xff" * 44
            + b"PK\x06\x07"
            + bytes(4)
            + bytes(8)
            + b"\1\0\0\0"
            + b"PK\x05\x06"
            + b"\xff" * 16
            + b"\0\0"
        ),
    }
    for name, make in pt2.items():
        yield Row(f"m.pt2: {name}", make, frozenset({"m.pt2"}))
