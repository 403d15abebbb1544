"""The sweep: what a sample may say, the table, and the real thing on one operator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.sweep import Line, Sample, Status, Sweep, page, table_of
from generators.graph import Attrs, Invalid, Node, TensorType, Value
from generators.ops import TABLE
from generators.ops.functions import FUNCTIONS
from generators.torch_source import statements

ROW = TABLE["torch_call"]
F32 = TensorType.parse("float32[2]")


def attrs(call: str, *types: str) -> Attrs:
    return {"call": call, "types": types or ("float32[2]",)}


@pytest.mark.parametrize(
    "call",
    [
        "torch.sin(a0)",
        "torch.add(a0, a1, alpha=-2)",
        "torch.cat([a0, a1], dim=0)",
        "torch.nn.functional.pad(a0, (1, -1), 'constant', float('nan'))",
        "torch.softmax(a0, dim=-1, dtype=torch.float64)",
        "torch.clamp(a0, None, 0.5)",
    ],
)
def test_calls_on_literals_are_taken(call: str) -> None:
    operands = (F32,) * (2 if "a1" in call else 1)
    assert ROW.results(operands, attrs(call)) == (F32,)


@pytest.mark.parametrize(
    "call",
    [
        "torch.load('x')",
        "torch.save(a0, 'x')",
        "torch.hub.load('x', 'y')",
        "os.system('true')",
        "__import__('os').abort()",
        "torch.sin(__import__('os').abort())",
        "torch.sin(a0).numpy().tofile('x')",
        "torch.sin(*a0)",
        "torch.sin(**a0)",
        "torch.sin(x0)",
        "torch.sin(a0 + a0)",
        "torch.sin(a0, f'{a0}')",
        "torch.sin(a0, dtype=torch.os)",
        "torch.sin([x for x in a0])",
        "torch.sin(a0); import os",
        "lambda: torch.sin(a0)",
        "torch.sin",
        "",
        "torch.sin(" + "(" * 2000,
    ],
)
def test_other_calls_are_refused(call: str) -> None:
    with pytest.raises(Invalid, match=r"^call must be "):
        ROW.results((F32,), attrs(call))


def test_operands_are_counted() -> None:
    with pytest.raises(Invalid, match=r"^the call reads operands \[0\], there are 2$"):
        ROW.results((F32, F32), attrs("torch.sin(a0)"))
    assert ROW.results((F32,), attrs("torch.einsum('a1,b', a0)")) == (F32,)


def test_text_and_double_precision() -> None:
    node = Node("torch_call", ("x0",), attrs("torch.softmax(a0, dim=-1, dtype=torch.float16)"), (Value("v0", F32),))
    assert statements(node, ("self.w0",)) == ["v0 = torch.softmax(self.w0, dim=-1, dtype=torch.float16)"]
    assert statements(node, ("y",), float64=True) == ["v0 = torch.softmax(y, dim=-1, dtype=torch.float64)"]


def test_every_listed_function_is_public_and_has_samples() -> None:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    names = {op.name for op in op_db}
    for function in FUNCTIONS:
        found: object = torch
        for part in function.split(".")[1:]:
            found = getattr(found, part)
        assert callable(found), function
        assert function.removeprefix("torch.Tensor.").removeprefix("torch.") in names, function


SAMPLES = [Sample("add/float32/0"), Sample("add/int64/0"), Sample("fft/float32/0", "a value is complex")]
LINES = [
    Line("add/float32/0", {"lane": (Status.SUPPORTED, "")}),
    Line("add/int64/0", {"lane": (Status.WRONG, "wrong-dtype")}),
]


def test_table() -> None:
    table = table_of(SAMPLES, LINES)
    assert (table.samples, table.done, table.lanes) == (2, 2, ["lane"])
    assert table.totals == {"lane": {Status.SUPPORTED: 1, Status.WRONG: 1}}
    add, fft = table.rows
    assert (add.operator, add.samples, add.reasons) == ("add", 2, {"lane": "wrong-dtype"})
    assert (fft.operator, fft.samples, fft.no_case) == ("fft", 0, {"a value is complex": 1})


def test_page_is_self_contained_and_escapes() -> None:
    lines = [Line("add/float32/0", {"lane": (Status.FAILED, "<script>alert(1)</script>")})]
    text = page(table_of(SAMPLES, lines))
    assert "http" not in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_a_torn_line_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "sweep.jsonl").write_text('{"key":"add/float32/0","lanes":{}}\n{"key":"add/int6')
    assert list(Sweep(tmp_path, SAMPLES).lines()) == ["add/float32/0"]


@pytest.mark.tvm
def test_a_sweep_stops_goes_on_and_writes_its_table(tmp_path: Path) -> None:
    def sweep(*more: str) -> dict[str, object]:
        command = [sys.executable, "-m", "fuzzer.cli", "sweep", "--out", str(tmp_path / "s"), "--ops", "erf,fft.fft"]
        command += ["--samples", "1", "--lanes", "relax-export-llvm", "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(os.environ), check=True)
        summary: dict[str, object] = json.loads(done.stdout)
        return summary

    first = sweep("--seconds", "0")
    assert first["done"] == 0
    second = sweep()
    assert second["samples"] == second["done"]
    assert second["done"] == len((tmp_path / "s/sweep.jsonl").read_text().splitlines()) > 3
    again = sweep()
    assert again == second
    table = json.loads((tmp_path / "s/sweep.json").read_text())
    assert [row["operator"] for row in table["rows"]] == ["erf", "fft.fft"]
    assert table["rows"][1]["samples"] == 0
    assert "erf" in (tmp_path / "s/sweep.html").read_text()
