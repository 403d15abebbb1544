"""`fuzz check`: what it says of a model, and its exit codes. The check of the library is one made by hand: no compiler
is started."""

from __future__ import annotations

import json as json_text
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from fuzzer.api.checked import Checked, NothingRan
from fuzzer.api.finding_error import FindingError
from fuzzer.api.found_failure import FoundFailure
from fuzzer.commands import check as module
from fuzzer.commands.check import check
from fuzzer.system import last_list
from generators.graph import Invalid

SELU = Path(__file__).parents[3] / "crashes" / "wrong-value-selu-253a62bf677c"
NOT_WHOLE = "not whole along relax-onnx-llvm"
RIGHT = Checked(("relax-export-llvm", "relax-onnx-llvm"), (), (), (), 1, 6.4)
FOUND = FoundFailure(
    SELU.name,
    "`F.selu` gives wrong values",
    "wrong-value",
    ("selu",),
    SELU,
    SELU / "repro.py",
    "",
    lanes=("relax-export-llvm",),
)


def checked(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Checked | Exception,
    model: Path,
    json: bool = False,
) -> tuple[int, list[str]]:
    """The exit code, and the lines of stdout."""

    def made_by_hand(path: Path, **options: Any) -> Checked:
        assert path == model
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(module, "check_model", made_by_hand)
    model.touch()
    with pytest.raises(typer.Exit) as ended:
        check(str(model), json=json)
    out = capsys.readouterr()
    assert out.err.startswith(f"{model}: compiling and comparing")
    return ended.value.exit_code, out.out.splitlines()


def test_a_model_that_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = checked(monkeypatch, capsys, RIGHT, tmp_path / "a.onnx")
    assert (code, lines[0]) == (0, f"{tmp_path / 'a.onnx'}: TVM is right")
    assert lines[1].startswith("right along relax-export-llvm: `torch.export`, ")
    assert lines[3] == "1 case in 6 s"


def test_a_lane_that_leaves_sizes_open_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = checked(
        monkeypatch, capsys, replace(RIGHT, ran=("relax-onnx-model-llvm-symbolic",)), tmp_path / "a.onnx"
    )
    along, _, way = lines[1].partition(": ")
    assert along == "right along relax-onnx-model-llvm-symbolic"
    assert way == "`from_onnx`, target `llvm`, `tirx.disable_assert`, open sizes stay open"


def test_a_model_that_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = checked(monkeypatch, capsys, FindingError([FOUND], RIGHT), tmp_path / "a.onnx")
    assert (code, lines[0]) == (1, f"{tmp_path / 'a.onnx'}: TVM is wrong: 1 finding")
    assert lines[1] == f"  1  `F.selu` gives wrong values  {SELU.name}"
    along = [line.split(":")[0] for line in lines[2:4]]
    assert along == ["wrong along relax-export-llvm", "right along relax-onnx-llvm"]
    assert lines[-1].endswith(" show 1")
    assert last_list.read() == [SELU]


@pytest.mark.parametrize("name", ["not_covered", "not_judged", "not_confirmed"])
def test_a_model_of_which_not_all_was_judged(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Checked(**{**{key: getattr(RIGHT, key) for key in RIGHT.__slots__}, name: ("dropout: it is random",)})
    code, lines = checked(monkeypatch, capsys, part, tmp_path / "a.pt2")
    assert (code, lines[0]) == (2, f"{tmp_path / 'a.pt2'}: nothing is wrong, but not all of it was judged")
    assert f"{name.replace('_', ' ')}: dropout: it is random" in lines


def test_operators_without_a_lane_for_one_reason_have_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    why = "no lane compiled it"
    part = replace(RIGHT, not_covered=(f"Range (1 time): {why}", "LSTM: unknown", f"Where (2 times): {why}"))
    _, lines = checked(monkeypatch, capsys, part, tmp_path / "a.onnx")
    assert [line for line in lines if line.startswith("not covered")] == [
        f"not covered: Range (1 time), Where (2 times): {why}",
        "not covered: LSTM: unknown",
    ]


def test_a_lane_that_is_only_compiled_is_not_called_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = replace(RIGHT, not_judged=("relax-onnx-llvm: it is only compiled: there is no such device here",))
    _, lines = checked(monkeypatch, capsys, part, tmp_path / "a.onnx")
    assert [line.split(":")[0] for line in lines if " along " in line] == ["right along relax-export-llvm"]


def test_a_model_that_no_lane_runs_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = replace(RIGHT, ran=(), not_run=(("relax-onnx-model-llvm", "import: no `DFT`"),))
    code, lines = checked(monkeypatch, capsys, NothingRan(nothing), tmp_path / "a.onnx")
    assert (code, lines[:2]) == (
        2,
        [
            f"{tmp_path / 'a.onnx'}: nothing of it was judged: no lane ran it",
            "not run along relax-onnx-model-llvm: import: no `DFT`",
        ],
    )
    assert not any("--around" in line for line in lines)


def test_a_lane_that_ran_a_part_is_not_called_right_for_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = replace(RIGHT, not_run=(("relax-onnx-llvm", "import: no LSTM; it ran the rest, without `lstm`"),))
    _, lines = checked(monkeypatch, capsys, part, tmp_path / "a.onnx")
    along = [line.partition(":")[0] for line in lines if " along " in line]
    assert along == ["right along relax-export-llvm", "right in part along relax-onnx-llvm", NOT_WHOLE]


def test_a_lane_that_fails_is_not_one_that_did_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = replace(RIGHT, ran=("relax-onnx-llvm",), not_run=(("relax-export-llvm", "import: TypeError"),))
    _, lines = checked(monkeypatch, capsys, FindingError([FOUND], failed), tmp_path / "a.onnx")
    assert "fails along relax-export-llvm: import: TypeError" in lines


def test_a_failure_of_an_exporter_has_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lane, why = "relax-export-llvm", "export: UnsupportedOperatorException"
    part = replace(RIGHT, ran=("relax-onnx-llvm",), not_run=((lane, why),), elsewhere=(f"exporter: {lane}: {why}",))
    _, lines = checked(monkeypatch, capsys, part, tmp_path / "a.onnx")
    assert [line for line in lines if why in line] == [f"not TVM's: exporter: {lane}: {why}"]


def test_elements_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = replace(RIGHT, judged=96, unjudged=(("the tolerance is as wide as the number", 1200),))
    _, lines = checked(monkeypatch, capsys, part, tmp_path / "a.onnx")
    assert "96 elements judged; 1,200 not judged: the tolerance is as wide as the number" in lines
    none = replace(part, judged=0, not_judged=("Mul overflows in float16",))
    _, lines = checked(monkeypatch, capsys, none, tmp_path / "a.onnx")
    assert not any(line.startswith("right along") for line in lines)


def test_the_same_as_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = checked(monkeypatch, capsys, FindingError([FOUND], RIGHT), tmp_path / "a.onnx", json=True)
    found = json_text.loads("".join(lines))
    assert (code, found["verdict"], found["findings"][0]["slug"]) == (1, "wrong", SELU.name)
    assert found["checked"]["ran"] == list(RIGHT.ran)


def test_inputs_and_sizes_are_those_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def made_by_hand(path: Path, **options: Any) -> Checked:
        given.update(options)
        return RIGHT

    monkeypatch.setattr(module, "check_model", made_by_hand)
    model = tmp_path / "a.onnx"
    model.touch()
    samples = [tmp_path / "a.npz", tmp_path / "test_data_set_0"]
    for options, inputs, sizes in (({}, None, {}), ({"inputs": samples, "sizes": "n=3"}, samples, {"n": 3})):
        with pytest.raises(typer.Exit):
            check(str(model), **options)
        assert (given["inputs"], given["sizes"]) == (inputs, sizes)


NET = """
from typing import NamedTuple

import torch


class Both(NamedTuple):
    kept: torch.Tensor
    more: torch.Tensor


class Net(torch.nn.Module):
    def forward(self, x):
        return Both(x[x > 0], x + 1)


def net():
    return Net(), (torch.tensor([1.0, -2.0, 3.0]),)
"""


@pytest.mark.slow
def test_a_module_of_a_file_is_checked_with_its_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch writes no file with its named tuple, and no file says the size of its first result."""
    (tmp_path / "net.py").write_text(NET)
    found = []

    def kept(model: Any, **options: Any) -> Checked:
        found.append(model)
        return RIGHT

    monkeypatch.setattr(module, "check_model", kept)
    with pytest.raises(typer.Exit):
        check(f"{tmp_path / 'net.py'}:net")
    (case,) = found[0].cases
    assert (found[0].not_covered, found[0].is_given) == ((), True)
    assert [array.tolist() for array in case.inputs.values()] == [[1, -2, 3]]
    assert [str(type) for type in case.graph.output_types] == ["float32[2]", "float32[3]"]


def test_what_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "net.py"
    python.write_text("def net():\n    pass\ndef of(x):\n    pass\n")
    (tmp_path / "a.txt").touch()
    (tmp_path / "a.onnx").touch()
    for name, why in (
        ("nothing.onnx", "there is no such file"),
        ("a.txt", r"expected \.onnx, \.pt2 or FILE\.py:NAME"),
        ("net.py", f"name the function .*: fuzz check {python}:net; it has net$"),
    ):
        with pytest.raises(Invalid, match=why):
            check(str(tmp_path / name))

    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(Invalid, match=r"pipe\.py: it cannot be read as Python: it is not a regular file$"):
        check(str(tmp_path / "pipe.py"))
