"""The map from parts of TVM to operators: what it answers, how it is kept, and how one is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fuzzer.commands.ops_reach import lines, reaching
from fuzzer.difference.changed_code import ChangedCode
from fuzzer.difference.changed_entries import ChangedEntry, ChangedTable
from fuzzer.difference.focus import focus_of
from fuzzer.difference.measured_map import measured
from fuzzer.difference.reach_map import FORMAT, ReachMap, keep, kept, place
from fuzzer.difference.reach_rows import rows_of_map
from fuzzer.toolchains.code_entries import Kind
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid
from generators.table import TABLE

VERSIONS = {"tvm": "0.27"}
SOFTMAX = "topi/nn/softmax.py softmax"
MAP = ReachMap(
    FORMAT,
    VERSIONS,
    ["relu", "softmax", "log_softmax"],
    {SOFTMAX: [1, 2], "relax/op.py relu": [0], "pass FuseOps": [0, 1, 2]},
    9.5,
)


def test_the_rows_that_reach_a_part() -> None:
    assert MAP.rows_of(SOFTMAX) == ["softmax", "log_softmax"]
    assert MAP.rows_of("topi/none.py f") == []


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("softmax", [SOFTMAX]),
        ("python/tvm/topi/nn/softmax.py", [SOFTMAX]),
        ("tvm/relax/op.py", ["relax/op.py relu"]),
        ("pass FuseOps", ["pass FuseOps"]),
        ("FuseOps", ["pass FuseOps"]),
        ("none", []),
    ],
)
def test_what_a_word_means(word: str, names: list[str]) -> None:
    assert MAP.names_of(word) == names


def test_what_is_printed() -> None:
    assert list(lines(reaching(MAP, "softmax"), 3)) == [f"{SOFTMAX}: softmax, log_softmax"]
    assert list(lines(reaching(MAP, "FuseOps"), 3)) == ["pass FuseOps: all operators"]
    with pytest.raises(Invalid, match="no case of the map reaches 'none'"):
        reaching(MAP, "none")


def test_a_map_is_kept_with_its_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kept(HOST) is None
    keep(HOST, MAP)
    assert (kept(HOST), kept(HOST, VERSIONS), kept(HOST, {"tvm": "0.26"})) == (MAP, MAP, None)
    place(HOST).write_bytes(b"{}")
    assert kept(HOST) is None
    other = replace(HOST, name="0.26.0")
    assert place(other) == tmp_path / "difftvm" / "toolchains" / "0.26.0" / "reach.json"


def test_the_map_adds_operators_to_the_focus() -> None:
    few = msgspec.structs.replace(MAP, rows=[*MAP.rows, "exp", "log", "neg"])
    entry = ChangedEntry(Kind.LEGALIZATION, "relax.nn.relu", ("mine.py f",), replaced=(SOFTMAX, "pass FuseOps"))
    ops = {"torch": tuple(TABLE[name] for name in ("relu", "softmax", "log_softmax", "exp", "add", "neg", "sin"))}
    focus = focus_of(ChangedTable((entry,)), ChangedCode(), ops, few)
    assert focus.names == {"relu", "softmax", "log_softmax"}
    assert focus_of(ChangedTable((entry,)), ChangedCode(), ops).names == {"relu"}


def test_the_newest_version_of_an_operator_is_in_the_map() -> None:
    rows = rows_of_map()
    assert {"Softmax-13", "Relu-14"} <= {op.name for op in rows["onnx"]}
    assert "Softmax-11" not in {op.name for op in rows["onnx"]}
    assert {op.name for op in rows["torch"]} >= {"relu", "softmax"}


@pytest.mark.tvm
@pytest.mark.long
def test_a_map_of_two_operators() -> None:
    counted: list[tuple[int, int]] = []
    found = measured(HOST, {"torch": (TABLE["softmax"], TABLE["relu"])}, 1, lambda *done: counted.append(done))
    assert counted == [(1, 2), (2, 2)]
    assert found.rows_of("operator relax.nn.softmax") == ["softmax"]
    assert found.rows_of(SOFTMAX) == ["softmax"]
    assert found.rows_of("pass LegalizeOps") == found.rows_of("pass FuseOps") == ["softmax", "relu"]
    assert not [name for name in found.reaching if " if " in name]
