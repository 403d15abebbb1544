"""Fresh cases are made of operators that reach the changed code; without any, the cases end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import CASE

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.settings import Settings
from fuzzer.difference.cases import FRESH_TESTS, ComparedCases
from fuzzer.difference.kept_cases import kept_in
from fuzzer.difference.reach import Reach
from fuzzer.difference.runs import cases_of_earlier_runs
from fuzzer.regression import record
from fuzzer.regression.record import Description, Entry
from generators import case_file
from generators.choice import NumpySource
from generators.graph import Case, Graph, Invalid
from generators.op import Op
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.random_graph import generate

SOURCE = NumpySource(1)


def made_of(*ops: str) -> Case:
    """A case whose graph has these operators; it is not valid."""
    (node,) = CASE.graph.nodes
    nodes = tuple(replace(node, op=op) for op in ops)
    return replace(CASE, graph=Graph(CASE.graph.inputs, nodes, CASE.graph.outputs))


def drawn(reach: Reach, times: int = 400) -> Counter[tuple[str, ...]]:
    return Counter(tuple(reach.operators(NumpySource(7, number))) for number in range(times))


def others(reach: Reach, tests: int) -> Reach:
    """The same after `tests` tests that reach nothing."""
    for _ in range(tests):
        reach.learn(made_of("exp"), [])
    return reach


def test_it_is_selective_where_some_tests_reach_the_change_and_most_do_not() -> None:
    reach = Reach()
    assert not reach.is_selective
    reach.learn(made_of("relu"), ["f"])
    assert not reach.is_selective
    others(reach, 1)
    assert reach.is_selective


def test_what_most_tests_reach_is_not_aimed_at() -> None:
    reach = Reach()
    reach.learn(made_of("relu"), ["everywhere", "seldom"])
    for op in ("exp", "neg"):
        reach.learn(made_of(op), ["everywhere"])
    assert drawn(reach) == {("relu",): 400}


def test_nothing_is_known_at_first() -> None:
    assert Reach().operators(SOURCE) == ()
    assert Reach().case(SOURCE) is None


def test_the_operator_that_always_reaches_it() -> None:
    reach = Reach()
    for other in ("relu", "add", "exp"):
        reach.learn(made_of("conv2d", other), ["f"])
        reach.learn(made_of(other), [])
    assert (reach.tests, reach.reaching, reach.by_name) == (6, 3, {"f": 3})
    assert drawn(reach) == {("conv2d",): 400}


def test_the_rarer_a_function_the_more_often_its_operators_are_drawn() -> None:
    reach = Reach()
    for _ in range(9):
        reach.learn(made_of("relu"), ["often"])
    reach.learn(made_of("conv2d"), ["seldom"])
    counts = drawn(others(reach, 20))
    assert set(counts) == {("relu",), ("conv2d",)}
    assert counts["conv2d",] > 5 * counts["relu",]


def test_what_the_compilers_do_otherwise_counts_twice_as_much_as_the_functions() -> None:
    reach = Reach()
    reach.learn(made_of("relu"), ["f"])
    reach.learn(made_of("neg"), [], ["- kernel negative"])
    counts = drawn(others(reach, 2))
    assert set(counts) == {("relu",), ("neg",)}
    assert counts["neg",] == pytest.approx(267, abs=40)


def test_what_the_compilers_do_otherwise_counts_where_no_function_is_known() -> None:
    reach = Reach()
    reach.learn(made_of("add"), [], ["- pass FuseOps"])
    others(reach, 1)
    assert (reach.reaching, reach.differing) == (0, {"- pass FuseOps": 1})
    assert reach.operators(SOURCE) == ["add"]
    assert reach.case(SOURCE) is not None


def compared(
    reach: Reach, kept: Sequence[Case] = (), ops: Sequence[Op] = OPS, traced: bool = False, text: str = ""
) -> ComparedCases:
    return ComparedCases(1, Guidance(Settings(Path("."), 1), 1), reach, kept, {"torch": ops}, traced, text)


def graph_of(case: Case | None) -> tuple[str, ...]:
    assert case is not None
    return tuple(case.graph.ops)


def test_kept_cases_come_first_and_then_an_operator_each() -> None:
    kept = [generate(NumpySource(5, number), symbolic=False) for number in range(3)]
    have = {op for case in kept for op in case.graph.ops}
    ops = (TABLE["relu"], TABLE["conv2d"], TABLE["exp"])
    cases = compared(Reach(), kept=kept, ops=ops)
    assert [cases(number) for number in range(3)] == kept
    assert cases(1) == kept[1], "a test that is repeated has the same case"
    rest = [op.name for op in ops if op.name not in have]
    assert [graph_of(cases(3 + place)) for place in range(len(rest))] == [(name,) for name in rest]
    assert cases.opening == 3 + len(rest)


def test_operators_that_the_change_names_come_first() -> None:
    cases = compared(Reach(), text="def maxpool2d(x): ...  # conv2d too")
    assert {graph_of(cases(number)) for number in range(2)} == {("conv2d",), ("max_pool2d",)}


@pytest.mark.slow
def test_the_corpus_follows_those_with_named_operators_first() -> None:
    corpus = [made_of(name) for name in ("add", "conv2d", "exp")]
    cases = ComparedCases(
        1, Guidance(Settings(Path("."), 1), 1), Reach(), [], {"torch": OPS}, text="conv2d", corpus=corpus
    )
    drawn = [cases(number) for number in range(len(OPS) + 3)]
    assert [case for case in drawn if case in corpus] == [corpus[1], corpus[0], corpus[2]]


@pytest.mark.slow
def test_fresh_cases_are_near_the_change() -> None:
    reach = Reach()
    reach.learn(generate(NumpySource(3), ops=[TABLE["conv2d"]]), ["f"])
    others(reach, 1)
    cases = compared(reach, ops=())
    drawn = [cases(number) for number in range(60)]
    near = sum("conv2d" in graph_of(case) for case in drawn)
    assert 35 <= near <= 60, near


def test_the_cases_end_where_nothing_reaches_the_change() -> None:
    reach = Reach()
    cases = compared(reach, ops=OPS[:10], traced=True)
    reach.tests = 10 + FRESH_TESTS - 1
    assert cases(0) is not None
    reach.tests += 1
    assert cases(0) is None
    assert compared(reach, ops=OPS[:10]).is_hopeless is False, "it is not known what reaches it"
    reach.differing["+ pass FuseOps"] = 1
    assert cases.is_hopeless is False


@pytest.mark.parametrize("name", ["corpus", "crashes"])
def test_cases_are_not_read_through_a_link_in_a_campaign(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside" / "one").mkdir(parents=True)
    text, tensors = case_file.encode(CASE)
    (tmp_path / "outside" / "one" / case_file.JSON_NAME).write_bytes(text)
    (tmp_path / "outside" / "one" / case_file.TENSORS_NAME).write_bytes(tensors)
    (tmp_path / "runs" / "1").mkdir(parents=True)
    (tmp_path / "runs" / "1" / name).symlink_to(tmp_path / "outside")
    with pytest.raises(Invalid, match=rf"{name}: it is a link"):
        kept_in([tmp_path / "runs" / "1"])
    if name == "crashes":
        with pytest.raises(Invalid, match="crashes: it is a link"):
            cases_of_earlier_runs(tmp_path / "runs")


def test_an_earlier_run_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "1").symlink_to(tmp_path / "outside")
    with pytest.raises(Invalid, match=r"runs/1: it is a link"):
        cases_of_earlier_runs(tmp_path / "runs")


def test_kept_cases_of_a_corpus_of_a_campaign_and_of_a_case(tmp_path: Path) -> None:
    for name in ("corpus/one", "crashes/two", "three"):
        (tmp_path / name).mkdir(parents=True)
        text, tensors = case_file.encode(CASE)
        (tmp_path / name / case_file.JSON_NAME).write_bytes(text)
        (tmp_path / name / case_file.TENSORS_NAME).write_bytes(tensors)
    assert [len(kept_in([tmp_path / place])) for place in ("corpus", "crashes/two", ".")] == [1, 1, 3]
    description = Description(1, "host", {}, 0.0, {}, {"a": {"name": "a", "engine": "tvm"}}, {})
    name = record.name_of(CASE)
    record.write(tmp_path / "kept", description, [Entry(name, ["relu"], "", ["a"])], {name: CASE})
    assert len(kept_in([tmp_path / "kept"])) == 1
    (tmp_path / "empty").mkdir()
    with pytest.raises(Invalid, match=r"empty: no case, no corpus and no campaign$"):
        kept_in([tmp_path / "empty"])
