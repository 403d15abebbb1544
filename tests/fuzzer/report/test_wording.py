"""Sentences of reports, in words that people who work on TVM use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fakes import TVM
from graphs_by_hand import Call, case_of
from records import record

from fuzzer.findings.record import FindingRecord
from fuzzer.lanes import MODEL_LANES
from fuzzer.report import wording
from fuzzer.signature.blame import Blame, Introduction, Origin, Place, Releases, ReleaseVerdict
from oracles.finding import Kind, Mismatch
from oracles.lane import Importer
from oracles.outcome import Raised, Stage

CRASHES = Path(__file__).parents[3] / "crashes"
SHIPPED = sorted((CRASHES / "SHIPPED").read_text().split())
CONV = case_of(
    {"x0": "float32[1,1,4,4]", "w0": "float32[1,1,1,1]"}, [("v0", "conv2d", "x0 w0"), ("v1", "relu", "v0")], "v1"
)
OURS = case_of({"x0": "float32[2,3]", "x1": "float32[]"}, [("v0", "pow_scalar", "x0", {"exponent": 2})], "v0")
FAILED = Raised(Stage.COMPILE, "tvm.error.InternalError", "Check failed: a == b (1 vs. 2) : they differ")
IN_PASS = Blame(Place.PASS, "relu", "FuseOps")
FX = replace(TVM, importer=Importer.FX)
CUDA = replace(TVM, target="cuda")


@pytest.mark.parametrize(("ops", "rest"), [(3, ""), (4, " and 1 more operator"), (5, " and 2 more operators")])
def test_of_many_operators_three_are_named(ops: int, rest: str) -> None:
    names = ["neg", "relu", "tanh", "sin", "cos"][:ops]
    calls = [(f"v{at}", name, f"v{at - 1}" if at else "x0") for at, name in enumerate(names)]
    case = case_of({"x0": "float32[2]"}, calls, f"v{ops - 1}")
    shown = wording.operators(record(case, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2")))
    assert shown == f"`torch.neg` + `torch.relu` + `torch.tanh`{rest}"


FLAT = Blame(Place.FRONTEND, "Flatten", "Flatten._impl_v13")
GOT_A_TYPE = replace(FLAT, origin=Origin(made="float32[1, 4]", right="float32[4, 1]"))


@pytest.mark.parametrize(("blame", "named"), [(FLAT, "`Flatten`"), (GOT_A_TYPE, "`Flatten` + `Relu`")])
def test_at_a_failed_import_of_a_file_the_operator_is_named_that_stops_it(blame: Blame, named: str) -> None:
    """Where a wrong type was given before, the importer stops at a later operator."""
    calls: list[Call] = [("v0", "Flatten-13", "x0"), ("v1", "Relu-14", "v0")]
    case = case_of({"x0": "float32[4]"}, calls, "v1", opset=17)
    raised = Raised(Stage.IMPORT, "ValueError", "no")
    assert wording.operators(record(case, Kind.INTERNAL_ERROR, MODEL_LANES[0], raised, blame=blame)) == named


def releases(**verdicts: ReleaseVerdict) -> FindingRecord:
    pairs = tuple((name.replace("_", ".")[1:], verdict) for name, verdict in verdicts.items())
    return record(CONV, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"), releases=Releases(pairs))


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (releases(v0_27=ReleaseVerdict.FAILS), ""),
        (
            releases(v0_26=ReleaseVerdict.FAILS, v0_27=ReleaseVerdict.FAILS),
            "It fails in 0.26, 0.27.",
        ),
        (
            releases(v0_25=ReleaseVerdict.PASSES, v0_26=ReleaseVerdict.NOT_RUN, v0_27=ReleaseVerdict.FAILS),
            "By the releases that were run, it was introduced in 0.27.",
        ),
        (
            releases(v0_26=ReleaseVerdict.FAILS, v0_27=ReleaseVerdict.PASSES),
            "By the releases that were run, it was fixed in 0.27.",
        ),
        (
            releases(v0_26=ReleaseVerdict.OTHERWISE, v0_27=ReleaseVerdict.FAILS),
            "It fails in 0.27; fails with another error in 0.26.",
        ),
    ],
)
def test_releases_in_one_sentence(record: FindingRecord, sentence: str) -> None:
    assert wording.released(record) == sentence


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Introduction(), ""),
        (
            Introduction(("3f2a9c1d0b7e",), "Fold constants", "1c0ffee00bad"),
            "It was introduced by 3f2a9c1d0b7e (Fold constants). 1c0ffee00bad, the build before, does not show it.",
        ),
        (
            Introduction(("2-b", "3-c"), "", "1-a"),
            "It was introduced by one of 2-b, 3-c. 1-a, the build before, does not show it.",
        ),
        (
            Introduction(tuple("abcdef"), "", "0"),
            "It was introduced by one of the 6 builds from a to f. 0, the build before, does not show it.",
        ),
    ],
)
def test_the_build_that_introduced_it(found: Introduction, sentence: str) -> None:
    shown = record(CONV, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"))
    shown = replace(shown, doc=msgspec.structs.replace(shown.doc, introduced=found))
    assert wording.introduced(shown) == sentence
    assert wording.summary(shown).endswith(sentence)


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({"tvm": "0.27.0"}, ""),
        ({"base": "0.26.0", "patched": "own"}, "It is right with `0.26.0`, and wrong with `own`."),
    ],
)
def test_the_builds_that_were_compared(versions: dict[str, str], sentence: str) -> None:
    shown = record(CONV, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"))
    shown = replace(shown, doc=msgspec.structs.replace(shown.doc, versions=versions))
    assert wording.compared(shown) == sentence
    assert sentence in wording.summary(shown)
