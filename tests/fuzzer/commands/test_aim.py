"""`--around` and `--configurations`: what contradicts them is refused in one sentence, with 64."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzzer.campaign.plan.aim import NAME, Aim, Model, read, write
from fuzzer.cli import main
from fuzzer.seeds.torch.module import MODULE
from generators.graph import Invalid

FLAGS = Path(__file__).parents[3] / "docs" / "examples" / "flags.toml"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--around", "net.pt2", "--ops", "relu"), "--around draws the operators of the model, so it excludes --ops"),
        (
            ("--around", "net.pt2", "--cluster", "local"),
            "--cluster excludes --around: nodes do not have the pieces of the model",
        ),
        (("--around", "none.pt2", "--sizes", "n=2"), "none.pt2: --inputs and --sizes are for one .onnx file"),
        (("--around", "none.onnx", "--sizes", "n"), "--sizes: 'n' is no size; write N=7,M=3"),
        (("--around", "none.onnx", "--inputs", "x.npz"), "x.npz: no such file or folder"),
        (("--sizes", "n=2"), "--inputs and --sizes are for the model of --around: name one"),
        (("--around", "none.pt2"), "none.pt2: no such file"),
        (("--around", "none.py:net"), "none.py: no such file"),
        (
            ("--configurations", "flags.toml", "--lanes", "relax-*"),
            "--configurations says which lanes run, so it excludes --lanes",
        ),
        (
            ("--configurations", "flags.toml", "--toolchain", "0.26.0"),
            "--configurations runs in the host's toolchain, so it excludes --toolchain and --cluster",
        ),
        (
            ("--around", "net.py:net", "--dialect", "onnx"),
            "--around net.py:net: a module gives cases of PyTorch only, so it excludes --dialect onnx",
        ),
        (
            ("--configurations", str(FLAGS), "--dialect", "onnx"),
            "--configurations compiles cases of PyTorch only, so it excludes --dialect onnx",
        ),
        (("--configurations", "flags.toml"), "flags.toml: No such file or directory"),
    ],
)
def test_what_contradicts_them_is_refused(
    arguments: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["cli.py", "run", "--campaign", str(tmp_path / "c"), *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 64
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()[-1]) == ("", f"fuzz: {why}")
    assert len(printed.err.splitlines()) == (2 if printed.err.startswith("importing none.p") else 1)
    assert not (tmp_path / "c").exists()


def test_a_module_is_a_file_and_a_name() -> None:
    found = MODULE.fullmatch("/a b/c:d.py:net_2")
    assert found is not None
    assert found.groupdict() == {"file": "/a b/c:d.py", "name": "net_2"}
    assert [MODULE.fullmatch(text) for text in ("net.pt2", "net.py", "net.py:", "net.py:2", "a.onnx:net")] == [None] * 5


def test_the_aim_of_the_last_run_is_kept(tmp_path: Path) -> None:
    write(tmp_path, aim := Aim(Model(12, {"relu": 3, "add": 1}, {"eq.Scalar": 1, "fft": 2})))
    assert read(tmp_path) == aim
    assert aim.line(()) == "12 pieces; 2 operators with a row; without a row: eq.Scalar, fft"
    both = Aim(Model(5, {"relu": 3, "Relu-14": 3, "Gemm-13": 1}, {}))
    assert both.line(()) == "5 pieces; 1 operator of PyTorch and 2 operators of ONNX with a row; none without a row"
    write(tmp_path, Aim())
    assert not (tmp_path / NAME).exists()
    assert read(tmp_path) == Aim()


def test_an_aim_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("{")
    with pytest.raises(Invalid, match=r"aim\.json: .*; delete it, the next run writes it again$"):
        read(tmp_path)
