"""Each dialect is one record. It loads no rows until they are needed, and no two dialects share the name of a row."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from graphs_by_hand import case_of

import generators
from generators.builder import Builder
from generators.choice import NumpySource
from generators.dialect import dialect_named, dialects, has_folder, part_of
from generators.dialect_names import DEFAULT, NAMES
from generators.graph import DType, Graph, Invalid, Layout, Role, TensorType
from generators.limits import Limits
from generators.table import TABLE, dialect_of


def test_each_dialect_has_a_folder_and_a_record_of_its_name() -> None:
    folders = {path.parent.name for path in Path(generators.__file__).parent.glob("*/dialect.py")}
    assert sorted(folders) == sorted(NAMES)
    assert [dialect.name for dialect in dialects()] == list(NAMES)
    assert Graph((), (), ()).dialect == DEFAULT


def test_a_file_that_a_dialect_lacks_is_named() -> None:
    with pytest.raises(LookupError) as raised:
        part_of("toy", "fuzzer.seeds.{}.dialect")
    (text,) = raised.value.args
    assert text == "the dialect toy has no fuzzer/seeds/toy/dialect.py: docs/dialects.md says what it has"


def test_an_import_that_fails_in_a_file_of_a_dialect_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "parts_of_toy.py").write_text("import not_installed")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_installed"):
        part_of("toy", "parts_of_{}")


def test_what_is_left_of_a_folder_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "samples_of_toy" / "__pycache__").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    assert not has_folder("toy", "samples_of_{}")
    assert [has_folder(name, "fuzzer.evaluation.{}") for name in ("torch", "toy")] == [True, False]


def test_a_dialect_that_names_no_check_of_given_models_refuses_them() -> None:
    record = dialect_named("relax")
    for refuse in (lambda: record.check_given(b""), lambda: record.cut_given(b"", {}, {})):
        with pytest.raises(Invalid, match="a case of this dialect has no given model"):
            refuse()


def test_no_two_dialects_have_a_row_of_one_name() -> None:
    counts = Counter(name for dialect in dialects() for name in dialect.rows())
    assert [name for name, count in counts.items() if count > 1] == []
    assert len(TABLE) == len(counts) == len(list(TABLE))


def test_the_rows_say_the_dialect_and_not_the_case_of_their_names() -> None:
    assert [dialect_of(name).name for name in ("add", "Add-13")] == ["torch", "onnx"]
    with pytest.raises(KeyError):
        dialect_of("Add")


@pytest.mark.parametrize("name", NAMES)
def test_a_drawn_graph_is_of_the_dialect(name: str) -> None:
    dialect = dialect_named(name)
    case = dialect.draw(NumpySource(3), Limits(max_nodes=2), dialect.drawn(), "here", symbolic=False).case()
    assert (case.graph.dialect, case.origin) == (name, "here")
    assert all(node.op in dialect.rows() and dialect.has(node.op, case.graph.opset) for node in case.graph.nodes)
    assert bool(case.graph.opset) == bool(dialect.opsets)


@pytest.mark.parametrize("name", NAMES)
def test_the_builder_reads_the_record(name: str) -> None:
    dialect = dialect_named(name)
    builder = Builder(NumpySource(1), dialect=name)
    for _ in range(100):
        builder.fresh_input(TensorType(DType.FLOAT32, (2, 3)))
    assert ({item.layout for item in builder.inputs} != {Layout.CONTIGUOUS}) is dialect.has_layouts
    assert set(dialect.roles) == set(Role)


def test_the_record_says_which_rows_write_through_an_index() -> None:
    writes = {name: dialect_named(name).indexed_writes() for name in NAMES}
    assert {"setitem", "scatter", "index_put"} < writes["torch"] < dialect_named("torch").rows().keys()
    assert {"ScatterND-18", "MaxUnpool-11"} < writes["onnx"] < dialect_named("onnx").rows().keys()
    assert writes["relax"] == frozenset()


def test_the_record_says_which_operands_and_results_a_call_may_leave_out() -> None:
    node = case_of({"x0": "float32[3]"}, [("v0", "Dropout-13", "x0", {"outputs": (True, False)})], "v0", opset=13)
    (call,) = node.graph.nodes
    parts = dialect_named("onnx").parts
    assert parts.attributes.keys() == {"inputs", "outputs"}
    assert parts.named(call, "outputs") == [("mask", False)]
    assert parts.named(call, "inputs") == ()
    assert parts.first(call, 0).args == ()
    (plain,) = case_of({"x0": "float32[3]"}, [("v0", "relu", "x0", {})], "v0").graph.nodes
    for name in ("torch", "relax"):
        assert (dialect_named(name).parts.attributes, dialect_named(name).parts.first(plain, 0).args) == ({}, ())
        assert list(dialect_named(name).parts.fewer(plain, {"v0"})) == []


@pytest.mark.slow
def test_records_load_no_rows_and_rows_of_pytorch_load_none_of_onnx() -> None:
    program = """
import sys
from generators.dialect import dialects
from generators.table import TABLE
def loaded(): return [name for name in ("generators.torch.ops", "generators.onnx.rows") if name in sys.modules]
titles = [(each.title, each.words.reference, each.is_file) for each in dialects()]
before = loaded()
TABLE["add"]
print(before, loaded())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[] ['generators.torch.ops']\n"
