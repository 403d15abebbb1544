"""A model that a campaign goes around: imported at several sizes, from a file or from a module of the user."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from archives import document, node, write
from onnx import TensorProto, helper

from fuzzer.seeds import corpus
from fuzzer.seeds.around import import_around
from fuzzer.seeds.torch.module import export_module
from generators.graph import Invalid

WORDS = ("relu", "neg", "abs", "relu", "exp", "tanh")
MODEL = document(
    {"x": "float32[2,3]", **{f"v{n}": "float32[2,3]" for n in range(len(WORDS) + 1)}},
    *(node(f"{word}.default", f"v{n}", self=f"$v{n - 1}" if n else "$x") for n, word in enumerate(WORDS)),
    node("no_such_function.default", f"v{len(WORDS)}", self="$x"),
)
NET = """
import sys
import torch

print("a word of the module")


def net():
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()), (torch.randn(2, 3),)


def deep():
    n = torch.export.Dim("n", min=2, max=9)
    return torch.nn.ReLU(), (torch.randn(4, 3),), {"input": {0: n}}


def number():
    return 3


def listed():
    return torch.nn.ReLU(), [torch.randn(2)]


def broken():
    raise ValueError("no weights\\nat all")


def end():
    sys.exit()
"""


@pytest.mark.tvm
@pytest.mark.long
def test_the_whole_model_is_a_piece_and_so_are_its_parts(tmp_path: Path) -> None:
    around = import_around(write(tmp_path / "net.pt2", MODEL), tmp_path / "c")
    ops = [case.graph.ops for case in around.pieces.values()]
    assert ops[0] == WORDS
    assert set(ops[1:]) == {WORDS[:4], WORDS[2:]}
    assert around.calls == {"relu": 2, "neg": 1, "abs": 1, "exp": 1, "tanh": 1}
    assert len(around.lacking) == 1
    assert sum(around.lacking.values()) == 1
    assert corpus.names(tmp_path / "c") == sorted(around.pieces)
    write(tmp_path / "other.pt2", MODEL)
    again = import_around(tmp_path / "other.pt2", tmp_path / "c")
    assert (again.pieces.keys(), again.calls) == (around.pieces.keys(), around.calls), "names of the first import"
    both = import_around(tmp_path, tmp_path / "d")
    assert both.calls == {name: 2 * count for name, count in around.calls.items()}


@pytest.mark.tvm
@pytest.mark.long
def test_an_onnx_file_is_read_in_both_dialects(tmp_path: Path) -> None:
    """FastGelu has a row of ONNX alone, and NonZero has none; the file's own operators stay as they are."""
    make = helper.make_node
    nodes = [
        make("Relu", ["x"], ["a"]),
        make("FastGelu", ["a"], ["b"], domain="com.microsoft"),
        make("NonZero", ["x"], ["c"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xb"]
    graph = helper.make_graph(nodes, "g", values[:1], [values[1], helper.make_empty_tensor_value_info("c")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "net.onnx")
    around = import_around(tmp_path / "net.onnx", tmp_path / "c")
    assert around.dialects == {"torch", "onnx"}
    assert around.calls == {"relu": 1, "Relu-14": 1, "FastGelu-1": 1}
    assert around.lacking == {"NonZero": 1}
    only = import_around(tmp_path / "net.onnx", tmp_path / "d", ("onnx",))
    assert {case.graph.ops for case in only.pieces.values()} == {("Relu", "FastGelu")}
    with pytest.raises(Invalid, match=r"a \.pt2 file is read as torch only"):
        import_around(write(tmp_path / "net.pt2", MODEL), tmp_path / "e", ("onnx",))


@pytest.mark.slow
def test_a_model_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.pt2").write_bytes(b"PK no archive")
    with pytest.raises(Invalid, match="File is not a zip file"):
        import_around(tmp_path / "bad.pt2", tmp_path / "c")


@pytest.mark.tvm
@pytest.mark.smoke
def test_a_model_without_a_piece_is_refused(tmp_path: Path) -> None:
    lost = document({"x": "float32[2]", "v": "float32[2]"}, node("no_such_function.default", "v", self="$x"))
    with pytest.raises(Invalid, match="no piece of it can be run; `fuzz import` says why"):
        import_around(write(tmp_path / "net.pt2", lost), tmp_path / "c")


@pytest.mark.tvm
@pytest.mark.long
def test_a_module_of_a_file_is_exported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my net.py").write_text(NET)
    out = tmp_path / "out"
    out.mkdir()
    around = import_around(export_module(tmp_path / "my net.py", "net", out), tmp_path / "c")
    assert around.calls == {"linear": 1, "relu": 1}
    assert capfd.readouterr().out == ""
    assert [name.rpartition("-")[0] for name in around.pieces] == ["my-net-net"]


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("number", r"status 1\): number\(\) must return a torch.nn.Module and the tuple of its example inputs"),
        ("listed", r"status 1\): the example inputs of listed\(\) must be a tuple"),
        ("missing", r"status 1\): it defines no function missing"),
        ("broken", r"status 1\): ValueError: no weights"),
        ("end", r"status 0\): a word of the module"),
    ],
)
def test_a_file_without_a_module_is_refused_in_one_line(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # with it, what the file prints comes first in any case
    (tmp_path / "net.py").write_text(NET)
    with pytest.raises(Invalid, match=rf"net\.py: {name} cannot be exported \({why}$"):
        export_module(tmp_path / "net.py", name, tmp_path)


@pytest.mark.tvm
@pytest.mark.smoke
def test_an_export_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import time\n\n\ndef net():\n    time.sleep(60)\n")
    with pytest.raises(Invalid, match=r"net is not exported within 0\.5 s"):
        export_module(tmp_path / "net.py", "net", tmp_path, seconds=0.5)
