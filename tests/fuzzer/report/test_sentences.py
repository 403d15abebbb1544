"""Sentences of reports, in words that people who work on TVM use."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.findings.record import FindingRecord
from fuzzer.lanes import TVM_LANES
from fuzzer.report import area, sentences
from fuzzer.signature.blame import Introduction, Releases, ReleaseVerdict
from oracles.finding import Kind, Mismatch
from oracles.outcome import Frame, Raised, Stage

CONV = case_of(
    {"x0": "float32[1,1,4,4]", "w0": "float32[1,1,1,1]"}, [("v0", "conv2d", "x0 w0"), ("v1", "relu", "v0")], "v1"
)


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
    assert sentences.released(record) == sentence


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
    assert sentences.introduced(shown) == sentence
    assert sentences.summary(shown).endswith(sentence)


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
    assert sentences.compared(shown) == sentence
    assert sentence in sentences.summary(shown)


@pytest.mark.parametrize(
    ("file", "part", "tag"),
    [
        ("x/site-packages/tvm/relax/frontend/torch/a.py", "the frontend", "[Frontend][Torch]"),
        ("x/site-packages/tvm/relax/expr.py", "", ""),
    ],
)
def test_what_an_importer_raises_while_a_model_is_compiled_is_the_frontends(file: str, part: str, tag: str) -> None:
    """torch.compile calls an importer."""
    raised = Raised(Stage.COMPILE, "KeyError", "0.0", (Frame(file, 2078, "_where"),))
    found = record(CONV, Kind.INTERNAL_ERROR, TVM, raised)
    assert (sentences.culprit(found), area.area(found)) == (part, f"[Relax]{tag}")


@pytest.mark.parametrize(("given", "folding"), [(True, ""), (False, "constants folded, ")])
def test_constants_are_folded_in_the_file_of_a_case_and_not_in_that_of_a_given_model(given: bool, folding: str) -> None:
    lane = next(lane for lane in TVM_LANES if lane.name == "relax-onnx-llvm")
    steps = f"`torch.onnx.export` (dynamo=False), {folding}`from_onnx`, target `llvm`"
    assert sentences.way(lane, given=given).startswith(steps)
