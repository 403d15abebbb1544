"""The final tier: who is blamed, and the shape of the reduced graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graphs_by_hand import Call, case_of

from fuzzer.signature import Signature, final_signature
from fuzzer.signature.blame import NO_BLAME, Blame, Place
from generators.graph import Case
from oracles.finding import Component, Kind
from oracles.outcome import Stage

WRONG = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, where="export")
FLIP = Blame(Place.FRONTEND, "flip", "_flip")


def case(*calls: Call, outputs: str = "v1") -> Case:
    return case_of({"x0": "float32[2,3]"}, list(calls), outputs)


NEG_EXP = case(("v0", "neg", "x0"), ("v1", "exp", "v0"))
EXP_NEG = case(("v0", "exp", "x0"), ("v1", "neg", "v0"))
EXP = case(("v1", "exp", "x0"))


def agree(one: Signature, other: Signature) -> bool:
    return one.id == other.id


def test_without_blame_the_graph_tells() -> None:
    found = final_signature(WRONG, NEG_EXP)
    assert (found.ops, found.graph, found.blamed) == (("exp", "neg"), "exp(neg)", ())
    assert not agree(found, final_signature(WRONG, EXP_NEG)), "the same operators, otherwise wired"
    assert not agree(found, final_signature(WRONG, EXP))


def test_a_single_operator_keeps_the_name_that_it_had_before_graphs_had_outlines() -> None:
    assert (
        final_signature(WRONG, EXP).id
        == Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, ops=("exp",), where="export").id
    )


@pytest.mark.parametrize(
    ("blame", "other", "same"),
    [
        (FLIP, replace(FLIP, operator="rot90"), True),  # two operators that one converter converts
        (FLIP, replace(FLIP, culprit="_roll"), False),
        (FLIP, Blame(Place.LEGALIZATION, "flip", "relax.flip"), False),
        (Blame(Place.LEGALIZATION, "exp", "relax.exp"), Blame(Place.LEGALIZATION, "exp", "relax.neg"), False),
        (Blame(Place.CODEGEN, "exp"), Blame(Place.CODEGEN, "exp", "tirx.exp"), True),
        (Blame(Place.CODEGEN, "exp"), Blame(Place.CODEGEN, "neg"), False),
        (Blame(Place.CODEGEN, "exp"), Blame(Place.RUNTIME, "exp"), False),
        (Blame(Place.PASS, "exp", "FuseOps"), Blame(Place.PASS, "exp", "FoldConstant"), False),
        (Blame(Place.PASS, "exp", "FuseOps"), Blame(Place.CODEGEN, "exp"), False),
        (replace(FLIP, evidence="one sentence"), replace(FLIP, evidence="another"), True),
        (replace(FLIP, before="IR", after="IR"), FLIP, True),
    ],
)
def test_who_is_blamed(blame: Blame, other: Blame, same: bool) -> None:
    assert agree(final_signature(WRONG, EXP, blame), final_signature(WRONG, EXP, other)) is same


@pytest.mark.parametrize(
    ("blame", "same"),
    [
        (FLIP, True),
        (Blame(Place.LEGALIZATION, "exp", "relax.exp"), True),
        (Blame(Place.CODEGEN, "exp"), True),
        (Blame(Place.RUNTIME, "exp", "export_library"), True),
        (Blame(Place.PASS, "exp", "FuseOps"), False),  # one pass has many bugs
        (NO_BLAME, False),
        (Blame(Place.PASS), False),  # nothing is named
        (Blame(Place.CODEGEN, "", "target.build.c"), False),  # the whole code generator says as little
        (Blame(Place.LEGALIZATION, "", "LegalizeOps"), False),  # so does the pass that calls every legalization
    ],
)
def test_an_extra_operator_does_not_matter_where_the_blame_is_known(blame: Blame, same: bool) -> None:
    assert agree(final_signature(WRONG, EXP, blame), final_signature(WRONG, NEG_EXP, blame)) is same


def test_one_pass_that_is_wrong_on_two_operators_has_two_bugs_though_each_case_is_one_call() -> None:
    """Two findings of one call each, blamed on ConvertLayout, had one name: the second was lost."""
    relu, exp = (case(("v1", op, "x0")) for op in ("relu", "exp"))
    one, other = (final_signature(WRONG, each, Blame(Place.PASS, "", "ConvertLayout")) for each in (relu, exp))
    assert not agree(one, other)
    assert not one.same_bug(other)
    assert agree(
        one, final_signature(replace(WRONG, where="export+onnx"), relu, Blame(Place.PASS, "relu", "ConvertLayout"))
    )
    assert (one.graph, one.ops) == ("", ("relu",)), "as it is saved"


def test_bugs_of_legalize_ops_as_a_whole_are_distinguished_by_the_operator() -> None:
    blames = [Blame(Place.LEGALIZATION, op, "LegalizeOps") for op in ("exp", "neg")]
    assert not agree(final_signature(WRONG, EXP, blames[0]), final_signature(WRONG, NEG_EXP, blames[1]))


def test_an_operator_blamed_on_the_frontend_of_onnx_is_not_the_one_blamed_on_that_of_pytorch() -> None:
    """No converter is known by name: each frontend has its own."""
    blame = Blame(Place.FRONTEND, "exp")
    torch, fx, onnx = (
        final_signature(replace(WRONG, where=where), EXP, blame) for where in ("export", "export-raw+fx", "onnx")
    )
    assert agree(torch, fx)
    assert not torch.same_bug(onnx)
    assert agree(torch, final_signature(replace(WRONG, where="export"), NEG_EXP, blame)), (
        "a call that was left beside is chance"
    )


# --- functions that are called by their names, as in a sweep


def called(*functions: str) -> Case:
    """A chain of such calls, as a sweep makes them."""
    plain = case(*((f"v{i}", "neg", "x0" if i == 0 else f"v{i - 1}") for i in range(len(functions))), outputs="v0")
    nodes = tuple(
        replace(node, op="torch_call", attrs={"call": f"torch.{function}(a0)", "types": ("float32[2,3]",)})
        for node, function in zip(plain.graph.nodes, functions, strict=True)
    )
    return replace(plain, graph=replace(plain.graph, nodes=nodes, outputs=(f"v{len(functions) - 1}",)))


@pytest.mark.parametrize("place", [Place.CODEGEN, Place.RUNTIME, Place.LEGALIZATION, Place.FRONTEND])
def test_a_finding_that_blames_the_row_of_all_calls_is_known_by_the_function(place: Place) -> None:
    """Earlier versions of difftvm blamed so. Their findings on two functions are two bugs."""
    erf, sinc = (final_signature(WRONG, called(name), Blame(place, "torch_call")) for name in ("erf", "sinc"))
    assert erf.blamed == (place.value, "torch.erf")
    assert not agree(erf, sinc)
    assert agree(erf, final_signature(WRONG, called("erf"), Blame(place, "torch.erf")))


def test_of_several_calls_the_case_decides_where_it_is_not_known_which_one_is_blamed() -> None:
    both = final_signature(WRONG, called("erf", "sinc"), Blame(Place.CODEGEN, "torch_call"))
    assert both.blamed == ()
    assert both.same_bug(final_signature(WRONG, called("erf", "sinc"), Blame(Place.CODEGEN, "torch.erf")))


def test_importers_do_not_matter_where_the_blame_is_known_but_the_target_does() -> None:
    both, c = replace(WRONG, where="export+onnx"), replace(WRONG, where="export c")
    for blame in (FLIP, Blame(Place.CODEGEN, "exp"), Blame(Place.PASS, "exp", "FuseOps")):
        assert agree(final_signature(WRONG, EXP, blame), final_signature(both, EXP, blame))
    assert agree(final_signature(WRONG, EXP, FLIP), final_signature(c, EXP, FLIP))
    assert not agree(
        final_signature(WRONG, EXP, Blame(Place.CODEGEN, "exp")), final_signature(c, EXP, Blame(Place.CODEGEN, "exp"))
    )
    assert not agree(final_signature(WRONG, EXP), final_signature(both, EXP))


def test_what_a_message_tells_stays_as_it_is() -> None:
    with_message = Signature(Kind.REJECTED, Component.TVM, Stage.IMPORT, "TypeError", "no", "nn.cc:Infer")
    assert final_signature(with_message, NEG_EXP, FLIP) == with_message


def test_a_message_from_anywhere_needs_the_case() -> None:
    anywhere = Signature(Kind.INTERNAL_ERROR, Component.TVM, Stage.COMPILE, "IndexError", "Index N out of bounds N")
    assert anywhere.needs_ops
    assert not agree(final_signature(anywhere, EXP), final_signature(anywhere, NEG_EXP))
    imported = Signature(Kind.ILL_FORMED, Component.TVM, Stage.IMPORT, "ValueError", "Var sN is not defined.", "import")
    assert imported.needs_ops
    assert not replace(imported, frame="FuseOps").needs_ops
    assert not Signature(Kind.CHECKER_GAP, Component.TVM, Stage.RUN, skeleton="a shape: another result").needs_ops


def test_a_pass_fails_alike_by_itself_and_in_the_pipeline() -> None:
    with_message = Signature(Kind.INTERNAL_ERROR, Component.TVM, Stage.COMPILE, "E", "no", "index_put.py:index_put")
    alone = replace(with_message, stage=Stage.TRANSFORM)
    assert agree(with_message, alone)
    assert with_message.same_failure(alone)
    assert not with_message.same_failure(replace(with_message, stage=Stage.LOAD))


def test_one_that_lacks_its_blame_is_the_same_bug_if_the_case_says_so() -> None:
    bare, blamed = final_signature(WRONG, EXP), final_signature(WRONG, EXP, FLIP)
    assert not agree(bare, blamed)
    assert bare.same_bug(blamed)
    assert blamed.same_bug(bare)
    assert not bare.same_bug(final_signature(WRONG, NEG_EXP, FLIP))
    assert not final_signature(WRONG, EXP, Blame(Place.CODEGEN, "exp")).same_bug(blamed)
    assert blamed.same_bug(replace(blamed, kind=Kind.NONDETERMINISTIC)), "unwritten memory"
    assert not blamed.same_bug(replace(blamed, kind=Kind.WRONG_DTYPE))


def test_the_coarse_tier_knows_nothing_of_it() -> None:
    assert final_signature(WRONG, NEG_EXP, FLIP).coarse == WRONG.coarse
    assert final_signature(WRONG, NEG_EXP, FLIP).same_failure(final_signature(WRONG, EXP))
