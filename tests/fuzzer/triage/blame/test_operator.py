"""The first wrong operator: where more outputs show it, where they hide it, and where there is no result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from compiler import CHAIN, Compiler, chain
from graphs_by_hand import case_of

from fuzzer.signature import signature_of
from fuzzer.triage.blame.context import BlameContext, RunLimitReached
from fuzzer.triage.blame.first_wrong import first_wrong
from fuzzer.triage.blame.modules import converter_of
from generators.graph import Case, Form
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Result, Stage
from oracles.trace import Trace

VALUES = tuple(call[0] for call in CHAIN)


@pytest.mark.parametrize(("first", "op"), list(enumerate(("neg", "exp", "neg", "tanh"))))
def test_all_values_behind_it_are_wrong(first: int, op: str) -> None:
    compiler = Compiler(lambda lane, names: set(VALUES[first:]) & set(names))
    context = compiler.context(chain())
    assert first_wrong(context) == op
    assert context.runs == 1


def test_a_graph_of_one_operator_is_not_run() -> None:
    context = Compiler(lambda lane, names: set(names)).context(chain(1))
    assert (first_wrong(context), context.runs) == ("neg", 0)


def test_values_are_compared_one_by_one_where_all_together_hide_the_failure() -> None:
    """Two neighbours that are fused go wrong; as outputs both, they are not fused."""
    compiler = Compiler(lambda lane, names: set(VALUES[1:]) & set(names) if len(names) < 4 else set())
    context = compiler.context(chain())
    assert first_wrong(context) == "exp"
    assert context.runs == 3  # all; neg too; exp too


def test_the_last_operator_is_wrong_where_only_the_result_shows_the_failure() -> None:
    compiler = Compiler(lambda lane, names: {"v3"} if names == ("v3",) else set())
    assert first_wrong(compiler.context(chain())) == "tanh"


def test_values_that_are_changed_in_place_are_compared_too() -> None:
    case = case_of(
        {"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "add:inplace", "v0 x0"), ("v2", "exp", "v1")], "v2"
    )
    assert case.graph.nodes[1].form is Form.INPLACE
    compiler = Compiler(lambda lane, names: {"v1", "v2"} & set(names))
    assert first_wrong(compiler.context(case)) == "add"


@pytest.mark.parametrize(("count", "op"), [(1, "neg"), (2, "exp"), (4, "tanh")])
def test_of_what_gives_no_result_the_shortest_beginning_that_fails(count: int, op: str) -> None:
    case, error = chain(), Raised(Stage.COMPILE, "ValueError", "no")

    def run(context: Case, lanes: object) -> Result:
        lane = fakes.TVM
        right = tuple(fakes.expect([1.0, -2.0]) for _ in context.graph.outputs)
        outcomes = {
            **fakes.references(*right),
            lane: error if len(context.graph.nodes) >= count else fakes.correct(right),
        }
        return Result(outcomes)

    finding = next(iter(judge_all(case, run(case, ()).outcomes)))
    assert first_wrong(BlameContext(run, case, finding, signature_of(finding))) == op


def test_gradients_are_not_compared_with_the_values_of_the_graph() -> None:
    """The second run differs from the second operator on."""
    lane, case, right = replace(fakes.TVM, variant="gradient"), chain(), (fakes.expect([1.0, -2.0]),)

    def run(shorter: Case, lanes: Sequence[LaneSpec]) -> Result:
        gradient = fakes.unstable(right) if len(shorter.graph.nodes) >= 2 else fakes.correct(right)
        return Result({**fakes.references(*right), lane: gradient})

    (finding,) = judge_all(case, run(case, ()).outcomes)
    context = BlameContext(run, case, finding, signature_of(finding))
    assert (first_wrong(context), context.runs) == ("exp", 2)


def test_it_ends_when_its_runs_are_spent() -> None:
    context = Compiler(lambda lane, names: {"v3"} if names == ("v3",) else set()).context(chain(), most=2)
    with pytest.raises(RunLimitReached):
        first_wrong(context)
    assert context.runs == 2


# --- functions that are called by their names, as in a sweep


def called(*functions: str) -> Case:
    case = chain(len(functions))
    nodes = tuple(
        replace(node, op="torch_call", attrs={"call": f"torch.{function}(a0)", "types": ("float32[2]",)})
        for node, function in zip(case.graph.nodes, functions, strict=True)
    )
    return replace(case, graph=replace(case.graph, nodes=nodes))


def test_a_function_of_a_sweep_is_blamed_by_its_own_name_where_it_is_the_only_one() -> None:
    compiler = Compiler(lambda lane, names: set(names))
    assert [first_wrong(compiler.context(called(name))) for name in ("erf", "sinc")] == ["torch.erf", "torch.sinc"]


def test_a_torch_call_is_named_where_all_values_are_compared() -> None:
    compiler = Compiler(lambda lane, names: set(VALUES[1:]) & set(names))
    assert first_wrong(compiler.context(called("erf", "sinc", "erf"))) == "torch.sinc"


def test_a_torch_call_is_named_where_values_are_compared_one_by_one() -> None:
    compiler = Compiler(lambda lane, names: set(VALUES[1:]) & set(names) if len(names) < 3 else set())
    assert first_wrong(compiler.context(called("erf", "sinc", "erf"))) == "torch.sinc"


def test_a_torch_call_is_named_where_there_is_no_result() -> None:
    case, error = called("erf", "sinc", "cos"), Raised(Stage.COMPILE, "ValueError", "no")

    def run(shorter: Case, lanes: object) -> Result:
        right = tuple(fakes.expect([1.0, -2.0]) for _ in shorter.graph.outputs)
        outcome = error if len(shorter.graph.nodes) >= 2 else fakes.correct(right)
        return Result({**fakes.references(*right), fakes.TVM: outcome})

    finding = next(iter(judge_all(case, run(case, ()).outcomes)))
    assert first_wrong(BlameContext(run, case, finding, signature_of(finding))) == "torch.sinc"


def test_the_converter_of_a_function_of_a_sweep_is_found_by_the_last_part_of_its_name() -> None:
    trace = Trace(converters=(("erf.default", "BaseFXGraphImporter._erf"), ("cos.default", "BaseFXGraphImporter._cos")))
    assert converter_of(trace, "torch.special.erf") == converter_of(trace, "erf") == "_erf"
    assert converter_of(trace, "torch.sinc") == ""
