"""Which titles say the same. Those with a number are of apache/tvm, as their reporters wrote them."""

from __future__ import annotations

import pytest

from fuzzer.filing.similar_titles import SEARCHED, longest, near, similarity, words

GATHER = "[Bug] [Relax][ONNX] Gather with negative indices reads out-of-bounds memory"  # 19436
GATHER_ND = "[Bug][Relax][ONNX] GatherElements/GatherND/ScatterND/OneHot mishandle negative indices"  # 20217
GATHER_AGAIN = "[Bug] Relax ONNX Gather mishandles negative indices"  # 19531
SLICE = "[Bug] Relax ONNX Slice crashes on negative-step empty result"  # 19532
OPT_LEVEL = "TVM crashes with default relax pipeline when opt_level=1: InternalError: Check failed: "  # 17876
PARSE = "[Bug] [Relax] Segfault error when parse the Relax IR"  # 17239
MERGE = "[Relax][Bug] Segmentation fault when using the MergeCompositeFunctions transform"  # 17120
BUILD = "[Bug] error when exec tvm.build"  # 15085
STATEFUL = "[Bug] TVM FFI encountered a Segfault when calling the invoke_stateful function"  # 18004

SAME = [
    ("[Bug][Relax] wrong value: add, relu", "[Bug][Relax] wrong value: relu, add"),
    ("[Bug][Relax] `select` of a negative index reads out of bounds", "select of negative index reads out of bounds"),
    (GATHER, "[Bug] Gather reads memory out of bounds with negative indices"),
    (f"[Bug] {OPT_LEVEL}(slot->value_computed) is false", f"[Relax][Backend] Fix {OPT_LEVEL}(slot->value_computed)"),
]
OTHER = [
    ("[Bug][Relax] wrong value: select", "[Bug][Relax] wrong value: selu"),
    ("[Bug][Relax] wrong value: select", "[Bug][Relax] wrong dtype: select"),
    ("[Bug][Relax] wrong dtype: add_scalar", "[Bug][Relax] wrong dtype: mul_scalar"),
    (GATHER_AGAIN, SLICE),
    (GATHER, GATHER_ND),
    (GATHER, GATHER_AGAIN),  # the same bug in other words: only a person sees that
    (PARSE, MERGE),
    (BUILD, STATEFUL),
    ("[Bug]", MERGE),  # 18573 has no more of a title
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_near(one: str, other: str) -> None:
    assert near(one, other), similarity(one, other)
    assert near(other, one)
    assert words(" ".join(longest(one))) & words(other), "the search finds the other by one of these"


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_not_near(one: str, other: str) -> None:
    assert not near(one, other), similarity(one, other)


def test_tags_endings_and_order_do_not_count() -> None:
    assert words("[Bug][Relax] Indices of the cast") == words("casts: indices")
    assert similarity("[Bug]", "[Relax]") == 1.0


def test_what_is_searched_for() -> None:
    assert longest("[Bug][Relax] squeeze of axis -1 gives a wrong shape in LLVM") == (
        "squeeze",
        "shape",
        "wrong",
        "axis",
    )
    assert len(longest("one two three four five six")) == SEARCHED
