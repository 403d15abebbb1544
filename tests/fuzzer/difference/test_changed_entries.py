"""Which entries differ between two tables, and what a child says of TVM and of a preloaded file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.difference import changed_entries as module
from fuzzer.difference.changed_entries import ChangedEntry, changed_table, compared
from fuzzer.difference.pair import Pair
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.code_entries import CodeTable, Entry, Kind
from fuzzer.toolchains.preload import read
from fuzzer.toolchains.toolchain import HOST, GraphLanguage, Toolchain

FUSE = "relax/transform/transform.py FuseTIR"


def table(*entries: Entry, keys: str = "a.py f#1 / b.py g#1", places: dict[str, int] | None = None) -> CodeTable:
    functions = tuple(keys.split(" / "))
    return CodeTable((3, 11), functions, tuple((n, 8) for n in range(len(functions))), entries, places or {})


RELU = Entry(Kind.CONVERTER, "export relu.default", (0, 1), ("relax.nn.relu",))
GELU = Entry(Kind.CONVERTER, "export gelu.default", (1,), ("relax.nn.gelu",))


def test_equal_tables() -> None:
    assert compared(table(RELU), table(RELU), None).entries == ()


def test_an_entry_differs_where_a_function_that_it_calls_does() -> None:
    found = compared(table(RELU, GELU), table(RELU, GELU, keys="a.py f#2 / b.py g#1"), None)
    assert found.entries == (ChangedEntry(RELU.kind, RELU.name, ("a.py f",), (0, 8), ("relax.nn.relu",), ("a.py f",)),)
    assert found.makers == {"relax.nn.relu": ["export relu.default"], "relax.nn.gelu": ["export gelu.default"]}


def test_functions_that_the_base_has_do_not_direct_where_others_are_new() -> None:
    now = Entry(Kind.CONVERTER, GELU.name, (0, 1, 2))
    found = compared(table(RELU, GELU), table(RELU, now, keys="a.py f#1 / b.py g#1 / mine.py gelu#7"), None)
    assert found.entries == (ChangedEntry(GELU.kind, GELU.name, ("mine.py gelu",), (2, 8)),)
    only_known = compared(table(RELU, GELU), table(RELU, replace_functions(GELU, (0,))), None)
    assert only_known.entries == (ChangedEntry(GELU.kind, GELU.name, ("a.py f",), (), ("relax.nn.gelu",), ("b.py g",)),)


def replace_functions(entry: Entry, functions: tuple[int, ...]) -> Entry:
    return Entry(entry.kind, entry.name, functions, entry.operators)


def test_an_entry_that_calls_fewer_functions_differs() -> None:
    found = compared(table(RELU), table(replace_functions(RELU, (0,))), None)
    assert found.entries == (ChangedEntry(RELU.kind, RELU.name, (), (), ("relax.nn.relu",), ("b.py g",)),)


def test_named_functions_alone_count_where_code_cannot_be_compared() -> None:
    found = compared(table(), table(RELU, GELU, keys="a.py f#2 / b.py g#2"), frozenset(("a.py f",)))
    assert [entry.name for entry in found.entries] == [RELU.name]


def test_functions_that_no_entry_calls() -> None:
    found = compared(table(places={"tvm.a.f": 0}), table(keys="a.py f#2 / b.py g#1", places={"tvm.a.f": 0}), None)
    assert found.outside == ("tvm.a.f",)


def test_the_pipelines_of_a_pass() -> None:
    zero = Entry(Kind.PIPELINE, "relax.pipeline.zero_pipeline", (0, 1))
    assert compared(table(), table(zero, keys=f"{FUSE}#1 / relax/pipeline.py f#1"), None).pipelines == {
        "FuseTIR": ["relax.pipeline.zero_pipeline"]
    }


def test_nothing_is_known_of_relay(tmp_path: Path) -> None:
    relay = replace(HOST, name="old", kind=GraphLanguage.RELAY)
    assert changed_table(Pair(replace(relay, name="base"), relay), {}, tmp_path).entries == ()


@pytest.mark.parametrize("is_base", [False, True])
def test_one_process_tells_both_tables_where_one_toolchain_has_a_file(
    tmp_path: Path, is_base: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("")
    called: list[Toolchain] = []

    def tables_of(toolchain: Toolchain, where: Path) -> tuple[CodeTable, CodeTable]:
        called.append(toolchain)
        return table(RELU), table(RELU, keys="a.py f#2 / b.py g#1")

    monkeypatch.setattr(module, "tables_of", tables_of)
    plain, changed = replace(HOST, name="plain"), replace(HOST, preload=read(tmp_path / "mine.py"))
    pair = Pair(changed, plain) if is_base else Pair(plain, changed)
    (entry,) = changed_table(pair, {}, tmp_path).entries
    assert (called, entry.functions, entry.name) == ([changed], ("a.py f",), RELU.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "made", ["os.mkfifo(path)", "os.symlink('/dev/zero', path)", "open(path, 'w').write('[' * 10**5)"]
)
def test_a_table_that_is_no_file_of_data_ends_with_a_sentence(tmp_path: Path, made: str) -> None:
    """The toolchain that is compared may leave anything, deep folders too."""
    python = tmp_path / "python"
    program = f"import os, sys; path = sys.argv[-1]; {made}; os.chdir(os.path.dirname(path))"
    deep = "[(os.mkdir('d'), os.chdir('d')) for _ in range(1200)]"
    python.write_text(f"#!{sys.executable}\n{program}; {deep}\n")
    python.chmod(0o755)
    with pytest.raises(EnvironmentMissing, match="toolchain 'own' does not say what it would run: "):
        module.tables_of(replace(HOST, name="own", python=str(python)), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["python"]


CHANGE = """
import tvm
from tvm import relax
from tvm.relax.frontend.torch.base_fx_graph_translator import BaseFXGraphImporter

honest = BaseFXGraphImporter._softmax
fused = relax.transform.FuseTIR


def _softmax(self, node):
    return honest(self, node) if len(node.args) < 19 else None


def softmax(builder, call):
    return call


def FuseTIR():
    return fused()


BaseFXGraphImporter._softmax = _softmax
relax.transform.FuseTIR = FuseTIR
tvm.ir.register_op_attr("relax.nn.softmax", "FLegalize", softmax, level=15)
"""


@pytest.mark.tvm
@pytest.mark.smoke
@pytest.mark.slow
def test_what_a_preloaded_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CHANGE)
    pair = Pair(replace(HOST, name="base"), replace(HOST, preload=read(path)))
    found = changed_table(pair, {}, tmp_path)
    names = {(entry.kind, entry.name): entry.functions for entry in found.entries}
    for name in ("export softmax.int", "export _softmax.default", "fx softmax"):
        assert names.pop((Kind.CONVERTER, name)) == ("mine.py _softmax",)
    assert names.pop((Kind.LEGALIZATION, "relax.nn.softmax")) == ("mine.py softmax",)
    assert names.pop((Kind.PASS, "relax.transform.FuseTIR")) == ("mine.py FuseTIR",)
    assert {kind for kind, _ in names} == {Kind.PIPELINE}
    assert (Kind.PIPELINE, "relax.pipeline.zero_pipeline") in names
    assert (Kind.PIPELINE, "relax.pipeline.default_build_pipeline") not in names
    assert next(entry for entry in found.entries if entry.name == "fx softmax").constants == (19,)
    assert "export softmax.int" in found.makers["relax.nn.softmax"]
