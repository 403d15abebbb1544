"""What compilers print names no folder of the user's, and a signature does not depend on any."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fuzzer.lanes import TVM_LANES
from fuzzer.signature import signature_of, stable_excerpt
from fuzzer.system.machine_paths import with_general_home, without_machine_paths
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Raised, Stage

SCRATCH = "/data/my campaign (2)/.difftvm-scratch/host/tmpq1w2e3"
OTHER = "/srv/b/.difftvm-scratch/x/tmp9"
SOURCE = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/jo.doe")
    monkeypatch.setenv("LOGNAME", "jonathan.doe")
    monkeypatch.setattr(socket, "gethostname", lambda: "trainer-07.lab.example")


@pytest.mark.parametrize(
    ("text", "without"),
    [
        (f"{SCRATCH}/tmp8a/written0_0.cu(3): error: x", "/tmp/written0_0.cu(3): error: x"),
        (f'in "{SCRATCH}/tmp8a/lib0.c":7:1', 'in "/tmp/lib0.c":7:1'),
        (f"{SCRATCH}/lib0.c {SCRATCH}", "/tmp/lib0.c /tmp"),
        (f"{Path(SCRATCH).parent}/packages/x.py", "/tmp/x.py"),
        (f"{SCRATCH}4/lib0.c", "/tmp/lib0.c"),
        ("/data/my", "/data/my"),
        (
            'File "/home/jo.doe/lib/site-packages/torch/a.py", line 3',
            'File "site-packages/torch/a.py", line 3',
        ),
        ("/usr/lib/python3/dist-packages/numpy/a.py", "dist-packages/numpy/a.py"),
        (f"{SOURCE}/fuzzer/lanes/relax.py", "fuzzer/lanes/relax.py"),
        ("/home/jo.doe/cuda/include/x.h:3", "~/cuda/include/x.h:3"),
        ("/home/jo.doer/x.h", "/home/jo.doer/x.h"),
        ("/usr/include/math.h and /project/src/op.cc", "/usr/include/math.h and /project/src/op.cc"),
        ("a/b", "a/b"),
        ("/scratch/torchinductor_jonathan.doe/x and jonathan.does", "/scratch/torchinductor_user/x and jonathan.does"),
        ("on trainer-07.lab.example, trainer-07: x", "on localhost, localhost: x"),
        ("strainer-07 trainer-070", "strainer-07 trainer-070"),
    ],
)
def test_a_path_of_this_machine_is_replaced_and_no_other(text: str, without: str) -> None:
    assert without_machine_paths(text, SCRATCH) == without
    assert without_machine_paths(without, SCRATCH) == without


@pytest.mark.parametrize("name", ["tvm", "root", "pytorch"])
def test_a_short_name_may_be_a_word(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("LOGNAME", name)
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    assert without_machine_paths(f"{name} is wrong in /{name}/x", SCRATCH) == f"{name} is wrong in /{name}/x"


def test_only_the_home_folder_is_general() -> None:
    assert with_general_home("/home/jo.doe/night, /data/jonathan.doe") == "~/night, /data/jonathan.doe"


@pytest.mark.parametrize(
    "message",
    [
        "Compilation error, nvcc on .cu:\n{}/tmp8a/written0_0.cu(3): error: identifier 'inff' is undefined",
        "Compilation error:\n{}/tmp8a/lib0.c:3:1: error: 'dtype' undeclared (first use in this function)",
        "[ONNXRuntimeError] : 1 : FAIL : Load model from {}/tmp8a/model.onnx failed",
        "ERROR: AddressSanitizer: heap-buffer-overflow\n    #0 in add_kernel {}/tmp8a/lib0.c:9",
    ],
)
def test_a_signature_and_what_a_script_looks_for_do_not_depend_on_the_campaign(message: str) -> None:
    mine, theirs = (without_machine_paths(message.format(scratch), scratch) for scratch in (SCRATCH, OTHER))
    assert mine == theirs
    assert stable_excerpt(mine) in message
    one, other = (
        signature_of(
            Finding(Kind.INTERNAL_ERROR, Component.TVM, TVM_LANES[0], Stage.LOAD, Raised(Stage.LOAD, "E", text))
        )
        for text in (mine, theirs)
    )
    assert one.id == other.id
    assert "campaign" not in one.skeleton
