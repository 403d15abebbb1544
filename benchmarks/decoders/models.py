"""The decoders of real models: exported programs and ONNX files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from mutations import Form

from decoders.base import CORPUS, Document, Target, in_file, scratch
from fuzzer.seeds.cut import pieces
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.onnx import graph as onnx_graph
from fuzzer.seeds.onnx.calls import in_rows_of_onnx
from fuzzer.seeds.onnx.reader import reader as onnx_reader
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.shrink import TooLarge, shrunk
from fuzzer.seeds.torch import pt2, pt2_file
from fuzzer.seeds.torch.from_onnx.file import program_of
from fuzzer.seeds.torch.program import Program
from fuzzer.seeds.torch.resolve import resolve
from generators import case_file
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Invalid

PIECES = 20
"""How many pieces of an imported program are made cases."""


def _cases_of(*models: Resolved) -> object:
    """The cases that are cut from a model in each dialect, as `fuzz import` makes them, without a reference."""
    return [case for resolved in models for case in _cases_in(resolved)]


def _cases_in(resolved: Resolved) -> list[str]:
    made = []
    cut = pieces(resolved.nodes, resolved.types, resolved.roles, PIECES, resolved.dialect, resolved.opset)
    for number, piece in enumerate(cut):
        if number == PIECES:
            break
        try:
            graph = shrunk(piece.graph)
            constants = {
                name: resolved.constants[own] for name, own in piece.origins.items() if own in resolved.constants
            }
            case = draw_case(NumpySource(1, 0, 0), graph, constants)
            check(case)
        except (TooLarge, Invalid):
            continue
        made.append(case_file.digest(case))
    return made


def _read_pt2_json(data: bytes) -> object:
    """The document in an archive."""
    return in_file("m.pt2", lambda folder: _cases_both_ways(pt2.read(folder / "m.pt2")))(_archive(data))


def _archive(model: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("m/models/model.json", model)
    return written.getvalue()


def _read_onnx(data: bytes) -> object:
    def read(folder: Path) -> object:
        answer = msgspec.json.encode(onnx_reader.answer(folder / "m.onnx"))
        return _read_onnx_answer(answer)

    return in_file("m.onnx", read)(data)


def _read_onnx_answer(data: bytes) -> object:
    graph, path = onnx_graph.decode(data, "m.onnx"), Path("m.onnx")
    return _cases_of(resolve(program_of(graph, path)), in_rows_of_onnx(graph, path))


def _read_pt2_answer(data: bytes) -> object:
    answer = pt2_file.decode(data, Path("m.pt2"))
    return _cases_both_ways(answer.model.program) if answer.model else None


def _cases_both_ways(program: Program) -> object:
    return _cases_of(resolve(program), resolve(program, whole=True))


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
    path = scratch() / "seed.onnx"
    path.write_bytes(onnx_bytes())
    yield msgspec.json.encode(onnx_reader.answer(path))


def _pt2_answer() -> Iterator[bytes]:
    path = scratch() / "seed.pt2"
    path.write_bytes(_archive(exported_json()))
    yield pt2_file.encode(pt2_file._Answer(pt2_file.Pt2Model(pt2.read(path))))


IMPORT = Target(
    "import",
    {
        "exported document": Document(Form.JSON, _read_pt2_json, seeds=lambda: iter([exported_json()])),
        "archive": Document(
            Form.ZIP,
            in_file("m.pt2", lambda folder: _cases_both_ways(pt2.read(folder / "m.pt2"))),
            seeds=lambda: iter([_archive(exported_json())]),
        ),
        "onnx": Document(Form.BYTES, _read_onnx, seeds=lambda: iter([onnx_bytes()])),
        "answer about onnx": Document(Form.JSON, _read_onnx_answer, seeds=_onnx_answer),
        "answer about an exported program": Document(Form.BYTES, _read_pt2_answer, seeds=_pt2_answer),
    },
)
