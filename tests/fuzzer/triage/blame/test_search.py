"""The order of the checks in a search for blame, with a fake compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from compiler import PASSES, Compiler, chain, runs

from fuzzer.lanes import RELAY_LANES, TORCH
from fuzzer.signature import signature_of
from fuzzer.signature.blame import ALREADY_WRONG, NO_BLAME, Blame, Place
from fuzzer.triage.blame.modules import converter_name, converter_of, mistyped
from fuzzer.triage.blame.search import blame, needs_trace, symbol_only_in_formulas
from generators.graph import Graph, Input, Symbol, TensorType, Value
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import IllFormed, Raised, Result, Stage
from oracles.trace import MistypedOperator, PassRun, Trace


def test_a_pass_is_blamed() -> None:
    compiler = Compiler(lambda lane, names: {"v3"} & set(names) if runs(lane, 0) else set(), PASSES)
    finding = compiler.finding(chain())
    words = "The result is right without FuseOps, the only optional pass that ran"
    assert blame(compiler.run, chain(), finding, signature_of(finding)) == Blame(Place.PASS, "tanh", "FuseOps", words)


def test_another_target_that_is_right_clears_all_but_the_code_generator() -> None:
    compiler = Compiler(lambda lane, names: {"v1", "v2", "v3"} & set(names) if lane.target == "llvm" else set(), PASSES)
    finding = compiler.finding(chain())
    found = blame(compiler.run, chain(), finding, signature_of(finding))
    assert (found.place, found.culprit, found.operator) == (Place.CODEGEN, "target.build.llvm", "exp")


def test_a_module_that_is_wrong_when_pytorch_computes_it_was_imported_wrongly() -> None:
    """This compiler's lane `interpreted` is wrong like all of them."""
    compiler = Compiler(lambda lane, names: {"v3"} & set(names), PASSES)
    finding = compiler.finding(chain())
    found = blame(compiler.run, chain(), finding, signature_of(finding))
    words = ALREADY_WRONG
    assert (found.place, found.evidence) == (Place.FRONTEND, words)


def test_where_all_but_the_machine_is_right_the_machine_is_wrong() -> None:
    compiler = Compiler(lambda lane, names: {"v3"} & set(names) if lane.variant == "eager" else set(), PASSES)
    finding = compiler.finding(chain())
    assert blame(compiler.run, chain(), finding, signature_of(finding)).place is None  # no operator was examined


@pytest.mark.parametrize("component", [Component.EXPORTER, Component.ONNXRUNTIME, Component.PYTORCH])
def test_a_finding_of_another_component_is_not_searched(component: Component) -> None:
    finding = Finding(Kind.REJECTED, component, fakes.TVM, Stage.EXPORT, Raised(Stage.EXPORT, "ValueError", "no"))
    compiler = Compiler(lambda lane, names: set(names))
    assert blame(compiler.run, chain(), finding, signature_of(finding)) == NO_BLAME
    assert compiler.ran == []


@pytest.mark.parametrize(("lane", "traced"), [(fakes.TVM, True), (RELAY_LANES[0], False), (TORCH, False)])
def test_a_trace_is_made_only_where_it_is_read(lane: LaneSpec, traced: bool) -> None:
    finding = Finding(Kind.WRONG_VALUE, Component.TVM, lane, Stage.RUN, Mismatch(0, "1.0", "2.0"))
    assert needs_trace(finding) is traced


def test_a_failure_that_does_not_show_again_is_not_blamed() -> None:
    failing, right = (Compiler(lambda lane, names, wrong=wrong: wrong & set(names)) for wrong in ({"v3"}, set[str]()))
    finding = failing.finding(chain())
    found = blame(right.run, chain(), finding, signature_of(finding))
    assert (found.place, found.evidence) == (None, "The failure does not show any more")


@pytest.mark.slow
def test_what_is_known_when_the_runs_are_spent_is_kept() -> None:
    """25 runs are enough for a thousand passes. The operator is determined first."""
    many = [PassRun(f"P{number}", True, True, True) for number in range(1 << 12)]
    compiler = Compiler(lambda lane, names: {"v3"} & set(names) if runs(lane, 2000) else set(), many)
    finding = compiler.finding(chain())
    found = blame(compiler.run, chain(), finding, signature_of(finding))
    assert (found.operator, found.culprit) == ("tanh", "P2000")
    assert len(compiler.ran) <= 25


@pytest.mark.parametrize(("before", "words"), [(0, "none"), (1, "the first 1"), (3, "the first 3")])
def test_the_evidence_counts_the_passes_that_are_right(before: int, words: str) -> None:
    """There are four optional passes, and between them one that every build needs."""
    four = [replace(PASSES[1], name=f"P{number}") for number in range(4)]
    compiler = Compiler(
        lambda lane, names: {"v3"} & set(names) if runs(lane, before) else set(), [four[0], PASSES[0], *four[1:]]
    )
    finding = compiler.finding(chain())
    found = blame(compiler.run, chain(), finding, signature_of(finding))
    assert found.evidence == (
        f"The result is right with {words} of the 4 optional passes, and the failure shows once P{before} runs"
    )


@pytest.mark.parametrize(
    ("after", "place", "culprit"),
    [
        ("import", Place.FRONTEND, "_flip"),
        ("LegalizeOps", Place.LEGALIZATION, "LegalizeOps"),
        ("FuseOps", Place.PASS, "FuseOps"),
    ],
)
def test_the_checker_says_itself_behind_which_step(after: str, place: Place, culprit: str) -> None:
    evidence = IllFormed(after, "ValueError", "ill")
    trace = Trace((PASSES[0],), converters=(("flip.default", "BaseFXGraphImporter._flip"),))

    def run(case: object, lanes: Sequence[LaneSpec]) -> Result:
        right = (fakes.expect([1.0, -2.0]),)
        outcomes = dict(fakes.references(*right))
        for lane in lanes:
            if lane not in outcomes:
                ran = fakes.correct(right)
                outcomes[lane] = replace(ran, facts=replace(ran.facts, ill_formed=evidence, trace=trace))
        return Result(outcomes)

    finding = Finding(Kind.ILL_FORMED, Component.TVM, replace(fakes.TVM, checked=True), Stage.COMPILE, evidence)
    if after == "import":
        finding = replace(finding, stage=Stage.IMPORT)
    found = blame(run, chain(1), finding, signature_of(finding))
    assert (found.place, found.culprit) == (place, culprit)


@pytest.mark.parametrize(
    ("what", "function", "name"),
    [
        ("flip.default", "BaseFXGraphImporter._flip", "_flip"),
        ("sub.Tensor", "BaseFXGraphImporter._binary_op.convert", "_binary_op of sub"),
        ("Softmax", "Softmax._impl_v13", "Softmax._impl_v13"),
    ],
)
def test_converters_are_called_as_tvm_calls_them(what: str, function: str, name: str) -> None:
    assert converter_name(what, function) == name


def test_of_several_converters_the_one_called_for_the_operator_is_named_or_none() -> None:
    trace = Trace(
        converters=(("_softmax.default", "BaseFXGraphImporter._softmax"), ("flip.default", "BaseFXGraphImporter._flip"))
    )
    assert converter_of(trace, "softmax") == "_softmax"
    assert converter_of(trace, "roll") == ""


def test_a_converter_that_gives_another_type_than_pytorch_is_named_with_what_it_gives() -> None:
    """Whatever it was called for: of the three converters of a squeezed conv1d, the one in the middle."""
    by = ("convolution.default", "BaseFXGraphImporter._convolution")
    trace = Trace(converters=(("unsqueeze.default", "BaseFXGraphImporter._unsqueeze"), by))
    assert mistyped(trace, "It is wrong") is None
    trace = replace(trace, mistyped=MistypedOperator(by, "float32[1, 1, 1]", "float16[1, 1, 1]"))
    assert mistyped(trace, "It is wrong") == (
        "_convolution",
        "It is wrong; `convolution.default` becomes float32[1, 1, 1], and should be float16[1, 1, 1]",
    )


@pytest.mark.parametrize(
    ("shapes", "symbol"),
    [
        (["n+1"], "n"),
        (["2*n", "n"], ""),
        (["m*n", "m"], "n"),
        (["3"], ""),
        (["(n)//2"], "n"),
    ],
)
def test_a_size_that_no_input_has_by_itself(shapes: list[str], symbol: str) -> None:
    types = [TensorType.parse(f"float32[{shape}]") for shape in shapes]
    inputs = tuple(Input(Value(f"x{place}", type)) for place, type in enumerate(types))
    assert symbol_only_in_formulas(Graph(inputs, (), ())) == symbol


@pytest.mark.parametrize(("size", "culprit"), [("n+1", "create_input_vars"), ("n", "_flip")])
def test_which_operator_reads_a_size_that_the_inputs_leave_undefined_is_chance(size: str, culprit: str) -> None:
    evidence = IllFormed("import", "ValueError", "Var s69 is not defined.")
    trace = Trace(converters=(("flip.default", "BaseFXGraphImporter._flip"),))
    case = chain(1)
    x = case.graph.inputs[0]
    open_size = replace(x, value=replace(x.value, type=TensorType.parse(f"float32[{size}]")))
    graph = replace(case.graph, inputs=(open_size,), symbols=(Symbol("n", 1, 4),))
    case = replace(case, graph=graph, sizes={"n": 2})

    def run(case: object, lanes: Sequence[LaneSpec]) -> Result:
        right = (fakes.expect([1.0, -2.0]),)
        outcomes = dict(fakes.references(*right))
        ran = fakes.correct(right)
        ill = replace(ran, facts=replace(ran.facts, ill_formed=evidence, trace=trace))
        outcomes |= {lane: ill for lane in lanes if lane not in outcomes}
        return Result(outcomes)

    finding = Finding(Kind.ILL_FORMED, Component.TVM, replace(fakes.TVM, checked=True), Stage.IMPORT, evidence)
    found = blame(run, case, finding, signature_of(finding))
    assert (found.place, found.culprit) == (Place.FRONTEND, culprit)
