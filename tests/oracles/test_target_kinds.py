"""Targets that a person names: a row, or a kind with attributes. Everything else is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzzer.lanes import TVM_LANES
from generators.graph import Invalid
from generators.text_forms import faults
from oracles.evidence_forms import FORMS
from oracles.target_kinds import KINDS
from oracles.targets import TARGETS, Runs, Target, canonical, family_of, target_named

CUDA_JSON = (
    '{"kind":"cuda","tag":"","keys":["cuda","gpu"],"host":{"kind":"llvm"},"max_num_threads":1024,"arch":"sm_90"}'
)


@pytest.mark.parametrize("row", TARGETS, ids=lambda row: row.name)
def test_a_row_is_found_by_its_name(row: Target) -> None:
    assert target_named(row.name) is row


@pytest.mark.parametrize(
    ("text", "config", "runs", "cpu"),
    [
        ("cuda -arch=sm_90", {"kind": "cuda", "arch": "sm_90"}, Runs.ON_A_DEVICE, ()),
        ("opencl --max_num_threads=64", {"kind": "opencl", "max_num_threads": 64}, Runs.BY_KERNELS, ()),
        ("metal", {"kind": "metal"}, Runs.NOWHERE, ()),
        ("webgpu -supports_subgroups=true", {"kind": "webgpu", "supports_subgroups": True}, Runs.BY_KERNELS, ()),
        (
            "llvm -mattr=+avx2,-sse4a,+sse4.2 -num-cores=4",
            {"kind": "llvm", "mattr": ["+avx2", "-sse4a", "+sse4.2"], "num-cores": 4},
            Runs.HERE,
            ("avx2", "sse4_2"),
        ),
        (
            "llvm -mcpu=cascadelake",
            {"kind": "llvm", "mcpu": "cascadelake"},
            Runs.HERE,
            ("avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl", "avx512_vnni"),
        ),
        ("llvm -mcpu=unheard-of", {"kind": "llvm", "mcpu": "unheard-of"}, Runs.NOWHERE, ()),
        *(
            (f"llvm -mtriple={triple}", {"kind": "llvm", "mtriple": triple}, runs, ())
            for triple, runs in (
                ("x86_64", Runs.HERE),
                ("x86_64-conda-linux-gnu", Runs.HERE),
                ("x86_64-apple-darwin", Runs.NOWHERE),
                ("x86_64-w64-mingw32", Runs.NOWHERE),
                ("x86_64h-unknown-linux-gnu", Runs.NOWHERE),
            )
        ),
        ("llvm -mtriple=riscv64-linux-gnu", {"kind": "llvm", "mtriple": "riscv64-linux-gnu"}, Runs.NOWHERE, ()),
        (
            "llvm -mtriple=x86_64-linux-gnu -opt-level=1",
            {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "opt-level": 1},
            Runs.HERE,
            (),
        ),
    ],
)
def test_a_text_is_a_kind_with_attributes(text: str, config: dict[str, object], runs: Runs, cpu: tuple[str]) -> None:
    found = target_named(text)
    assert (found.name, found.config, found.runs, found.cpu) == (text, config, runs, cpu)


def test_what_follows_from_the_row_of_the_kind() -> None:
    cuda = target_named("cuda -arch=sm_90")
    assert cuda.device == "cuda"
    assert cuda.written is not None
    assert [each.arguments[0] for each in cuda.written.checkers] == ["-arch=sm_90"]
    assert target_named("c -march=x").compilers == target_named("c").compilers
    arm = target_named("llvm -mtriple=aarch64-linux-gnu -mattr=+neon")
    assert (arm.runs, arm.written) == (Runs.NOWHERE, target_named("aarch64").written)
    assert [family_of(text) for text in ("llvm -mcpu=x", "llvm-O0", "cuda", "c -march=x")] == [
        "llvm",
        "llvm",
        "cuda",
        "c",
    ]


@pytest.mark.parametrize(
    ("text", "canonical_text"),
    [
        ("llvm -mcpu=skylake-avx512", "llvm-avx512"),
        ("cuda --arch=sm_80", "cuda"),
        ("cuda  -arch=sm_90 ", "cuda -arch=sm_90"),
        (CUDA_JSON, "cuda -keys=cuda,gpu -max_num_threads=1024 -arch=sm_90"),
        ('{"kind": "c"}', "c"),
        ("webgpu -supports_subgroups=true", "webgpu -supports_subgroups=1"),
    ],
)
def test_the_text_that_lanes_use(text: str, canonical_text: str) -> None:
    assert canonical(text) == canonical_text
    lane = replace(TVM_LANES[0], target=canonical_text)
    assert list(faults(lane, FORMS)) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", f"no target is called ''; the kinds are {', '.join(KINDS)}"),
        ("z80 -mcpu=x", f"no target is called 'z80 -mcpu=x'; the kinds are {', '.join(KINDS)}"),
        ("llvm mcpu", "target 'llvm mcpu': 'mcpu' is no attribute, such as -mcpu=haswell"),
        ("llvm -mcpu", "target 'llvm -mcpu': '-mcpu' is no attribute, such as -mcpu=haswell"),
        ("cuda -arch=sm_90;x", "target 'cuda -arch=sm_90;x': '-arch=sm_90;x' is no attribute, such as -mcpu=haswell"),
        ("c -arch=x", f"target 'c -arch=x': c has no attribute 'arch': {', '.join(KINDS['c'])}"),
        ("llvm -num-cores=two", "target 'llvm -num-cores=two': num-cores is no number: 'two'"),
        ("webgpu -supports_subgroups=2", "target 'webgpu -supports_subgroups=2': supports_subgroups is no 0 or 1: '2'"),
        ('{"kind": "c"', 'target \'{"kind": "c"\': it is no JSON of a target'),
        ('{"kind": "c", "mcpu": "a b"}', 'target \'{"kind": "c", "mcpu": "a b"}\': \'a b\' is no value of mcpu'),
    ],
)
def test_what_is_no_target_is_refused(text: str, says: str) -> None:
    with pytest.raises(Invalid) as error:
        canonical(text)
    assert str(error.value) == says


@pytest.mark.parametrize("option", ["cl-opt", "llvm-options", "jit", "fast-math"])
def test_options_of_llvm_that_read_files_or_change_results_are_no_attributes(option: str) -> None:
    assert all(option not in attributes for attributes in KINDS.values())


@pytest.mark.parametrize("text", ["", "llvm;x", "llvm -mcpu=$(x)", "cuda -arch=" + "a" * 65, "c\n-mcpu=x", "../c"])
def test_a_stored_target_has_a_bounded_form(text: str) -> None:
    (fault,) = faults(replace(TVM_LANES[0], target=text), FORMS)
    assert fault == f"target: {text[:60]!r} is no target"
