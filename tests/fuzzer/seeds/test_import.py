"""`fuzz import` from the file to the campaign."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from archives import document, node, write
from in_process import fuzz
from onnx import TensorProto, helper
from shapes import nested

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.coverage.onnx.features import Feature, reason_of
from fuzzer.isolate.validity import CaseCheck, CaseVerdict, Validity
from fuzzer.lanes import TVM_LANES
from fuzzer.seeds import corpus
from fuzzer.seeds import extract as extracting
from fuzzer.seeds.extract import Extracted
from fuzzer.seeds.imported import MOST_REASONS, Imported, files_of, run
from fuzzer.seeds.sample import Sample
from fuzzer.seeds.torch import pt2
from fuzzer.seeds.torch.resolve import resolve
from fuzzer.system import untrusted_files
from fuzzer.system.terminal import MOST_CHARACTERS, one_sentence
from generators import case_file
from generators.check import check
from generators.graph import Case, Invalid
from generators.table import TABLE

MODEL = document(
    {"x": "float32[1,3,64,64]", "w0": "float32[32,3,3,3]", "c": "float32[1,32,62,62]", "r": "float32[1,32,62,62]"},
    node("conv2d.default", "c", input="$x", weight="$w0"),
    node("relu.default", "r", self="$c"),
    inputs="w0 x",
)


class Agreeable(Validity):
    """PyTorch takes everything."""

    def __call__(self, case: Case) -> CaseCheck:
        return CaseCheck(CaseVerdict.OK, "")


@pytest.mark.tvm
@pytest.mark.long
def test_a_model_becomes_cases_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second time, under another name, there is nothing new."""
    path = write(tmp_path / "../My Net.pt2".replace("../", ""), MODEL)
    assert fuzz(monkeypatch, "import", path, "--into", tmp_path / "c", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["files"]
    (name,) = found["written"]
    assert {key: found[key] for key in ("nodes", "mapped", "cases", "lacking", "dropped")} == {
        "nodes": 2,
        "mapped": 2,
        "cases": 1,
        "lacking": [],
        "dropped": {},
    }
    assert name.startswith("my-net-")
    case = case_file.read(tmp_path / "c" / "corpus" / name)
    assert case.graph.ops == ("conv2d", "relu")
    assert max(value.type.numel for value in case.graph.values()) < 500
    path.rename(tmp_path / "other.pt2")
    (again,), _ = run([tmp_path / "other.pt2"], tmp_path / "c", 20)
    assert again.written == ()
    assert list(corpus.cases(tmp_path / "c")) == [name]


@pytest.mark.slow
def test_bad_input_ends_with_64_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.pt2"
    bad.write_bytes(b"PK no archive")
    (tmp_path / "x.pkl").touch()
    for arguments, message in (
        ((bad,), f"fuzz: {bad}: File is not a zip file"),
        ((tmp_path / "none.onnx",), f"fuzz: {tmp_path / 'none.onnx'}: no such file"),
        ((tmp_path / "nowhere",), f"fuzz: {tmp_path / 'nowhere'}: no such file"),
        ((tmp_path / "x.pkl",), f"fuzz: {tmp_path / 'x.pkl'}: expected .pt2 or .onnx"),
    ):
        assert fuzz(monkeypatch, "import", *arguments, "--into", tmp_path / "c") == 64
        assert capsys.readouterr() == ("", message + "\n")
    (tmp_path / "empty").mkdir()
    assert fuzz(monkeypatch, "import", tmp_path / "empty", "--into", tmp_path / "c") == 64
    assert not (tmp_path / "c").exists()


@pytest.mark.tvm
@pytest.mark.long
def test_of_a_folder_the_good_files_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "zoo" / "old").mkdir(parents=True)
    write(tmp_path / "zoo" / "old" / "net.pt2", MODEL)
    (tmp_path / "zoo" / "bad.pt2").write_bytes(b"")
    assert fuzz(monkeypatch, "import", tmp_path / "zoo", "--into", tmp_path / "c") == 64
    printed = capsys.readouterr()
    assert "bad.pt2: File is not a zip file" in printed.err
    assert "net: 2 of 2 nodes have a row (100.0 %); 1 case, 1 of them new" in printed.out
    assert len(corpus.names(tmp_path / "c")) == 1


def one_node(path: Path, op: str, opset: int = 17, **attributes: Any) -> Path:
    """A file of ONNX with one node, which reads the input x."""
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    made = helper.make_node(op, ["x"], ["y"], **attributes)
    graph = helper.make_graph([made], "g", [value], [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


BRANCHES = {
    f"{name}_branch": helper.make_graph(
        [helper.make_node(op, ["x"], ["z"])], name, [], [helper.make_empty_tensor_value_info("z")]
    )
    for name, op in (("then", "Neg"), ("else", "Abs"))
}


@pytest.mark.slow
@pytest.mark.usefixtures("readers_here")
@pytest.mark.parametrize(
    ("op", "opset", "attributes", "why"),
    [
        ("Relu", 29, {}, "opset 29 is not within 1 to 28"),
        ("If", 17, BRANCHES, "contains a graph"),
        ("Selu", 17, {"alpha": math.inf}, "contains numbers that are not finite"),
        ("NonZero", 17, {}, f"there is no row of this operator: {reason_of(Feature('NonZero', 9))}"),
    ],
)
def test_a_file_without_a_case_is_bad_input_with_the_reason(
    op: str,
    opset: int,
    attributes: dict[str, Any],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = one_node(tmp_path / "m.onnx", op, opset, **attributes)
    assert fuzz(monkeypatch, "import", path, "--dialect", "onnx", "--into", tmp_path / "c") == 64
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "m as ONNX: 0 of 1 nodes have a row (0.0 %); 0 cases, 0 of them new; 0 pieces like another",
        f"  no row: {op} (1 time): {why}",
    ]
    reason = f"no node has a row of the operator table: {op}: {why}"
    assert printed.err == one_sentence(f"fuzz: {path}: nothing is imported: {reason}") + "\n"
    assert not (tmp_path / "c").exists()


def test_the_reasons_of_a_file_are_cut(tmp_path: Path) -> None:
    """A file of a megabyte had a line of a megabyte."""
    names = [f"{'f' * 5000}{number}" for number in range(MOST_REASONS + 5)]
    nodes = [node(f"{name}.default", f"r{place}", self="$x") for place, name in enumerate(names)]
    types = {"x": "float32[2]", **{f"r{place}": "float32[2]" for place in range(len(names))}}
    path = write(tmp_path / "m.pt2", document(types, *nodes, inputs="x"))
    resolved = resolve(pt2.read(path))
    _, *lines, last = Imported(path, Extracted("m", resolved, (), 0, Counter()), (), ()).lines()
    assert (len(lines), last) == (MOST_REASONS, "  and 5 more")
    assert max(map(len, lines)) <= 2 + MOST_CHARACTERS


@pytest.mark.tvm
def test_a_file_whose_pieces_cannot_be_run_is_bad_input_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extracting, "MAX_PIECES", 0)
    path = write(tmp_path / "net.pt2", MODEL)
    assert fuzz(monkeypatch, "import", path, "--into", tmp_path / "c", "--json") == 64
    printed = capsys.readouterr()
    assert json.loads(printed.out)["files"][0]["cases"] == 0
    why = "no piece of it can be run: 0 pieces of the file were tried before them"
    assert printed.err == f"fuzz: {path}: nothing is imported: {why}\n"


@pytest.mark.tvm
@pytest.mark.long
def test_a_file_that_was_imported_before_is_no_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = one_node(tmp_path / "m.onnx", "Relu")
    for number, begin in enumerate(("1 case written", "0 cases written")):
        assert fuzz(monkeypatch, "import", path, "--dialect", "onnx", "--into", tmp_path / "c") == 0, number
        assert capsys.readouterr().out.splitlines()[-1].startswith(f"{begin} to ")


def test_the_pieces_of_a_file_that_are_tried_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extracting, "MAX_PIECES", 2)
    words = "relu", "neg", "abs", "exp"
    nodes = [node(f"{word}.default", f"v{n}", self="$x") for n, word in enumerate(words)]
    model = document({"x": "float32[2]", **{f"v{n}": "float32[2]" for n in range(4)}}, *nodes)
    found = extracting.extract(resolve(pt2.read(write(tmp_path / "net.pt2", model))), 1, Agreeable())
    assert [case.graph.ops for case in found.cases] == [("relu",), ("neg",)]
    assert found.dropped == {"2 pieces of the file were tried before them": 2}


@pytest.mark.tvm
@pytest.mark.long
def test_what_cannot_be_written_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("in the way")
    with pytest.raises(Invalid, match="corpus"):
        run([write(tmp_path / "net.pt2", MODEL)], tmp_path, 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "net.pt2"]


@pytest.mark.tvm
def test_a_campaign_runs_its_corpus_first_and_mutates_it_later(tmp_path: Path) -> None:
    run([write(tmp_path / "net.pt2", MODEL)], tmp_path, 20)
    (seed,) = corpus.cases(tmp_path).values()
    settings = Settings(tmp_path, 1, LaneMix(TVM_LANES[:1]))
    case_of = random_cases(settings, 1)
    made = [case for index in range(60) if (case := case_of(index))]
    assert case_file.digest(made[0]) == case_file.digest(seed)
    mutants = [case for case in made[1:] if "imported from net" in case.origin]
    assert 5 <= len(mutants) <= 25
    for case in mutants:
        check(case)
    assert len({case_file.digest(case) for case in mutants}) > 4
    alone = random_cases(Settings(tmp_path, 1, LaneMix(TVM_LANES[:1]), ops={"torch": (TABLE["relu"],)}), 1)
    origins = [case.origin for index in range(3) if (case := alone(index))]
    assert origins == ["seed 1 test 0", "seed 1 test 1", "seed 1 test 2"]


def test_a_link_out_of_a_folder_of_models_is_not_followed(tmp_path: Path) -> None:
    outside, zoo = tmp_path / "private.onnx", tmp_path / "zoo"
    outside.write_bytes(b"x")
    zoo.mkdir()
    (zoo / "a.onnx").write_bytes(b"x")
    (zoo / "b.onnx").symlink_to(zoo / "a.onnx")
    (zoo / "c.onnx").symlink_to(outside)
    assert files_of(zoo) == [zoo / "a.onnx", zoo / "b.onnx"]
    assert files_of(zoo / "c.onnx") == [zoo / "c.onnx"]  # the user has named it


@pytest.mark.slow
def test_deep_folders_of_models(tmp_path: Path) -> None:
    """Also a file whose path is too long for the system."""
    zoo = tmp_path / "zoo"
    zoo.mkdir()
    for folder, name, count in (("a", "d", 1200), ("b", "n" * 255, 40)):
        deepest = nested(str(zoo / folder), name, count)
        os.close(os.open(f"{folder}.onnx", os.O_CREAT, dir_fd=deepest))
        os.close(deepest)
    found = files_of(zoo)
    assert [path.name for path in found] == ["a.onnx", "b.onnx"]
    _, refused = run(found, tmp_path / "campaign", 20)
    assert refused[0].startswith(f"{zoo}/a/d/d/d/")
    assert refused[1].endswith("b.onnx: File name too long")
    assert untrusted_files.remove(untrusted_files.real(zoo)), "pytest cannot delete deep folders"


def test_a_folder_with_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted_files, "MOST_LISTED", 1)
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(Invalid, match=r": it has more than 1 files and folders: name a folder with fewer$"):
        files_of(tmp_path)


@pytest.mark.slow
def test_inputs_and_open_sizes_of_a_file_make_calls_known(tmp_path: Path) -> None:
    """The shape of Reshape is an input of the model: without its numbers, nobody knows the type of the result."""
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["v"]), helper.make_node("Relu", ["v"], ["y"])]
    given = [("x", TensorProto.FLOAT, ["n", 4]), ("shape", TensorProto.INT64, [2])]
    inputs = [helper.make_tensor_value_info(name, element, sizes) for name, element, sizes in given]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    (unknown,) = extracting.read(path, ["onnx"])
    sample = Sample({"shape": np.array([2, 6])}, {"n": 3})
    (known,) = extracting.read(path, ["onnx"], sample)
    assert (unknown.mapped, known.mapped) == (0, 2)
    assert str(known.types["v"]) == "float32[2,6]"
    with pytest.raises(Invalid, match=r"net\.onnx: it has no input 'z'; its inputs are shape, x$"):
        extracting.read(path, ["onnx"], Sample({"z": np.ones(2)}))


def test_inputs_of_a_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz(monkeypatch, "import", tmp_path, "--sizes", "n=3") == 64
    assert capsys.readouterr().err == f"fuzz: {tmp_path}: --inputs and --sizes are for one .onnx file\n"
