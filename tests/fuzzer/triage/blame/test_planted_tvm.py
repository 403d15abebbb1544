"""The exact blame for a few of the faults that benchmarks/blame.py plants in a real TVM."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from planted import PLANTED, Bed, bed

from fuzzer.signature.blame import ALREADY_WRONG, Blame, Place

pytestmark = pytest.mark.tvm


@pytest.fixture(scope="module")
def tvm() -> Iterator[Bed]:
    with bed() as started:
        yield started


def blame_of(tvm: Bed, fault: str) -> Blame:
    planted = next(each for each in PLANTED if each.fault == fault)
    blame = tvm.blame(planted)
    assert blame is not None
    assert tvm.runs <= 10
    return blame


def test_a_converter(tvm: Bed) -> None:
    blame = blame_of(tvm, "frontend _flip wrong")
    assert (blame.place, blame.operator, blame.culprit) == (Place.FRONTEND, "flip", "_flip")
    assert blame.evidence == ALREADY_WRONG
    assert "R.flip(lv, axis=0)" in blame.after


def test_a_converter_that_ends_the_process(tvm: Bed) -> None:
    words = "The importer stops at `cumsum.default`"
    assert blame_of(tvm, "frontend _cumsum die") == Blame(Place.FRONTEND, "cumsum", "_cumsum", words)


def test_a_legalization(tvm: Bed) -> None:
    blame = blame_of(tvm, "legalization relax.nn.softmax wrong")
    assert (blame.place, blame.operator, blame.culprit) == (Place.LEGALIZATION, "softmax", "relax.nn.softmax")
    words = "The kernel that LegalizeOps makes for `relax.nn.softmax` (by `legalization.legalize`) is wrong"
    assert blame.evidence == f"{words} when interpreted, without any other pass"
    assert "R.nn.softmax" in blame.before
    assert "R.nn.softmax" not in blame.after


def test_a_pass_of_kernels(tvm: Bed) -> None:
    blame = blame_of(tvm, "pass tirx.StorageRewrite wrong softmax")
    assert (blame.place, blame.operator, blame.culprit) == (Place.PASS, "softmax", "tirx.StorageRewrite")
    assert blame.evidence == (
        "The result is right with the first 17 of the 28 optional passes, "
        "and the failure shows once tirx.StorageRewrite runs"
    )
    assert "def softmax" in blame.before
    assert "def exp" not in blame.before
    assert blame.before.count("T.float32(1.0)") < blame.after.count("T.float32(1.0)")


def test_a_pass_that_every_build_needs(tvm: Bed) -> None:
    blame = blame_of(tvm, "pass tirx.FlattenBuffer wrong multiply")
    assert (blame.place, blame.operator, blame.culprit) == (Place.PASS, "mul", "")
    assert blame.evidence.endswith(
        "wrong when built for llvm and for C, so that a pass which every build needs is at fault"
    )


def test_a_code_generator(tvm: Bed) -> None:
    words = "The same passes give the right result for target c, and not for llvm"
    assert blame_of(tvm, "codegen llvm exp wrong") == Blame(Place.CODEGEN, "exp", "target.build.llvm", words)


def test_the_virtual_machine(tvm: Bed) -> None:
    blame = blame_of(tvm, "runtime vm wrong")
    assert (blame.place, blame.culprit) == (Place.RUNTIME, "")
    assert blame.evidence.endswith("so are its kernels when they are called directly")


def test_the_benchmark_plants_faults_of_many_operators_at_every_place() -> None:
    assert {each.place for each in PLANTED} == set(Place)
    assert len({(each.fault, each.lane) for each in PLANTED}) == len(PLANTED) >= 40
    assert len({each.calls[1][1] for each in PLANTED}) >= 10
