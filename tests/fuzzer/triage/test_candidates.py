"""Candidates are checked in one order for every width, each once, and the result again at the end."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from graphs_by_hand import Call, case_of
from small_graphs import LANE, subject_of, values_of

from fuzzer.triage.candidates import Candidate, CandidateChecks, Effort, EffortUsedUp, Predicate, key_of
from fuzzer.triage.reduce import Reduction, reduce
from fuzzer.triage.reducers import REDUCERS, Reducer, Subject
from fuzzer.triage.reducers.keep_region import keep_region
from fuzzer.triage.reproduce import Reproduction
from generators import case_file
from generators.graph import Array, Case
from generators.renumber import renumbered
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Stage

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

INPUTS = {"x0": "float16[2,3] transposed", "w0": "float32[3]"}
CALLS: list[Call] = [
    ("v0", "neg", "x0"),
    ("v1", "add:method", "v0 w0", {"alpha": 2}),
    ("v2", "softmax", "v1", {"dim": 1, "dtype": None}),
    ("v3", "mul", "v1 v2"),
    ("v4", "tanh", "v3"),
    ("v5", "sum", "v4", {"dim": (0,), "keepdim": True}),
    ("v6", "sub", "v5 v0"),
    ("v7", "gelu", "v6", {"approximate": "none"}),
]
CASE = case_of(INPUTS, CALLS, "v7")


def has(*ops: str) -> Callable[[Case], bool]:
    return lambda case: set(ops) <= set(case.graph.ops)


def reduced(predicate: Predicate, width: int = 1, case: Case = CASE, passes: Sequence[Reducer] = REDUCERS) -> Reduction:
    return reduce(Subject(case, LANE, {}), predicate, values_of, Effort(5000, 300.0), passes, width=width)


def failure(message: str) -> Finding:
    raised = Raised(Stage.COMPILE, "ValueError", message)
    return Finding(Kind.INTERNAL_ERROR, Component.TVM, LANE, Stage.COMPILE, raised)


# --- the width


@pytest.mark.slow
@pytest.mark.parametrize("ops", [("softmax",), ("softmax", "sum"), ("neg", "gelu"), ("add", "mul", "sub")])
def test_the_width_has_no_part_in_the_result(ops: tuple[str, ...]) -> None:
    """Late answers to early questions included: every third one takes its time."""

    def slowly(case: Case, lane: LaneSpec) -> Reproduction:
        time.sleep(0.004 if int(case_file.digest(renumbered(case))[:4], 16) % 3 == 0 else 0.0)
        return Reproduction(
            has(*ops)(case), () if has(*ops)(case) else (failure(f"{len(case.graph.nodes)} of them left"),)
        )

    alone, *others = (reduced(slowly, width) for width in (1, 2, 4))
    assert alone.ahead == 0
    for other in others:
        assert case_file.encode(other.case) == case_file.encode(alone.case)
        assert (other.steps, other.calls, other.finished) == (alone.steps, alone.calls, True)
        assert [case_file.digest(other_failure.case) for other_failure in other.other_failures] == [
            case_file.digest(other_failure.case) for other_failure in alone.other_failures
        ]
        assert other.ahead > 0


def test_as_many_are_under_way_as_the_width_says() -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def counted(case: Case, lane: LaneSpec) -> Reproduction:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.01)
        with lock:
            inside -= 1
        return Reproduction(False)

    assert reduced(counted, 3).steps == ()
    assert most == 3


def test_calls_ahead_are_counted_apart() -> None:
    called: list[LaneSpec] = []

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        called.append(lane)
        return Reproduction(has("softmax")(case))

    reduction = reduced(shows, 4)
    assert reduction.calls + reduction.ahead == len(called)
    assert set(called) == {LANE}


def test_a_reduction_that_reaches_its_limit_has_not_finished() -> None:
    reduction = reduce(Subject(CASE, LANE, {}), lambda case, lane: Reproduction(False), values_of, Effort(2))
    assert (reduction.finished, reduction.gone, reduction.calls) == (False, False, 2)


def test_no_call_goes_on_after_the_end() -> None:
    begun: list[Case] = []
    ended: list[Case] = []

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        begun.append(case)
        time.sleep(0.02 * len(begun))
        ended.append(case)
        return Reproduction(False)

    sizes = [subject_of({"x0": f"float32[{size}]"}, [("v0", "neg", "x0")], "v0") for size in (1, 2, 3, 4)]
    with CandidateChecks(shows, Effort(), 4) as checks:
        next(checks.results(Candidate(keep_region, subject) for subject in sizes))
    assert len(begun) == len(ended) == checks.calls + checks.ahead


@pytest.mark.parametrize("width", [1, 2])
def test_no_call_is_made_beyond_the_effort(width: int) -> None:
    called: list[Case] = []

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        called.append(case)
        return Reproduction(False)

    candidates = [
        Candidate(keep_region, subject_of({"x0": f"float32[{size}]"}, [("v0", "neg", "x0")], "v0"))
        for size in (1, 2, 3)
    ]
    for calls in (0, 2):
        called.clear()
        with CandidateChecks(shows, Effort(calls), width) as checks, pytest.raises(EffortUsedUp):
            list(checks.results(candidates))
        assert checks.calls == calls
        assert len(called) == calls + checks.ahead <= calls + (width - 1) * (calls > 0)


# --- answers are kept


def test_the_same_case_under_other_names_is_run_once() -> None:
    called: list[Case] = []

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        called.append(case)
        return Reproduction(False)

    subject = subject_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    other = replace(subject, case=renumbered(subject_of({"x7": "float32[2]"}, [("v9", "neg", "x7")], "v9").case))
    another_lane = replace(subject, lane=replace(LANE, opt_level=0))
    with CandidateChecks(shows, Effort(), 1) as checks:
        candidates = [Candidate(keep_region, each) for each in (subject, other, subject, another_lane)]
        assert [answer.same for _, answer in checks.results(candidates)] == [False] * 4
        assert (checks.calls, len(called)) == (2, 2)
        assert key_of(subject) == key_of(other) != key_of(another_lane)


def test_asking_again_asks_and_counts() -> None:
    answers = iter([True, False])
    with CandidateChecks(lambda case, lane: Reproduction(next(answers)), Effort(), 1) as checks:
        subject = Subject(CASE, LANE, {})
        assert [checks.repeat(subject).same for _ in range(2)] == [True, False]
        assert checks.calls == 2
        assert [answer.same for _, answer in checks.results([Candidate(keep_region, subject)])] == [False]


# --- values are computed once


def test_pytorch_computes_again_only_what_a_step_has_changed() -> None:
    """A cut changes no number. Other steps do."""
    computed: list[tuple[str, ...]] = []

    def values(case: Case) -> Mapping[str, Array]:
        computed.append(case.graph.ops)
        return values_of(case)

    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "exp", "v0"), ("v2", "tanh", "v1")], "v2")
    reduction = reduce(
        Subject(case, LANE, {}), lambda case, lane: Reproduction(has("exp", "tanh")(case)), values, Effort(5000)
    )
    assert reduction.steps == ("keep_region", "shrink_dims")
    assert computed == [("neg", "exp", "tanh"), ("exp", "tanh")], "at the start, and after the second step"


# --- the order of the passes


def test_the_graph_is_run_again_once_after_all_tidying_steps() -> None:
    calls: list[Call] = [("v0", "neg:method", "x0"), ("v1", "softmax", "v0", {"dim": 1, "dtype": None})]
    case, called = case_of({"x0": "float16[2,3] transposed"}, calls, "v1"), Counter[tuple[str, ...]]()

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        called[case.graph.ops] += 1
        return Reproduction(has("neg", "softmax")(case))

    reduction = reduced(shows, case=case)
    assert reduction.steps == (
        "plain_writing",
        "plain_types",
        "shrink_dims",
        "shrink_dims",
        "lower_rank",
    )
    assert called == {("neg",): 2, ("softmax",): 2 * 2, ("neg", "softmax"): len(reduction.steps) + 2}


def test_after_a_cut_the_first_pass_proposes_first() -> None:
    order = ""

    def first(subject: Subject) -> Iterator[Subject]:
        nonlocal order
        order += "1"
        yield from ()

    def second(subject: Subject) -> Iterator[Subject]:
        nonlocal order
        order += "2"
        yield from ()

    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "exp", "v0")], "v1")
    reduction = reduced(lambda case, lane: Reproduction(has("exp")(case)), 1, case, (first, second, keep_region))
    assert (reduction.steps, order) == (("keep_region",), "1212")


# --- what fails otherwise


def test_another_failure_is_returned_once_for_each_signature_with_its_case() -> None:
    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        if has("softmax", "sum")(case):
            return Reproduction(True, (failure("planted"),))
        left = [op for op in ("softmax", "sum") if op in case.graph.ops]
        return Reproduction(False, tuple(failure(f"only {op} is left of {len(case.graph.nodes)}") for op in left))

    reduction = reduced(shows)
    assert reduction.case.graph.ops == ("softmax", "sum")
    messages = [other_failure.finding.evidence.message for other_failure in reduction.other_failures]
    assert sorted(message.split(" is")[0] for message in messages) == ["only softmax", "only sum"]
    for other_failure, message in zip(reduction.other_failures, messages, strict=True):
        assert (message.split()[1] in other_failure.case.graph.ops, has("softmax", "sum")(other_failure.case)) == (
            True,
            False,
        )


def test_a_plainer_operator_that_fails_by_itself_is_another_failure_where_operators_identify_it() -> None:
    """gelu fed by exp fails; so does neg alone, which may stand for exp: that is another bug."""
    case = case_of({"x0": "float32[2]"}, [("v0", "exp", "x0"), ("v1", "gelu", "v0")], "v1")

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        bad = "neg" in case.graph.ops or has("exp", "gelu")(case)
        return Reproduction(bad, (failure("planted"), failure("beside it")) if bad else ())

    kept, replaced = (
        reduce(Subject(case, LANE, {}, kept), shows, values_of, Effort(5000, 300.0)) for kept in (True, False)
    )
    assert kept.case.graph.ops == ("exp", "gelu")
    assert [other_failure.case.graph.ops for other_failure in kept.other_failures] == [("neg",)]
    assert replaced.case.graph.ops == ("neg",)  # the message identifies the failure


# --- a predicate that is not sure


def flaky_predicate(truth: Callable[[Case], bool], inverts: Callable[[str, int], bool]) -> Predicate:
    """Give the contrary where `inverts` holds for the hash of the case and the number of its runs so far."""
    times: Counter[str] = Counter()

    def answer(case: Case, lane: LaneSpec) -> Reproduction:
        key = case_file.digest(renumbered(case))
        times[key] += 1
        return Reproduction(truth(case) != inverts(key, times[key]))

    return answer


@pytest.mark.slow
@pytest.mark.parametrize("ops", [("softmax",), ("softmax", "sum"), ("gelu",)])
def test_what_shows_once_and_never_again_is_not_the_result(ops: tuple[str, ...]) -> None:
    """Yes to every case that does not fail, the first time."""
    truth = has(*ops)
    reduction = reduced(flaky_predicate(truth, lambda key, times: times == 1), case=CASE)
    assert truth(reduction.case)


@pytest.mark.parametrize("salt", range(12))
def test_a_flaky_predicate_never_ends_in_a_case_that_does_not_fail(salt: int) -> None:
    """One answer of six is wrong, either way."""
    truth, rng = has("softmax"), np.random.default_rng(salt)
    draws: dict[tuple[str, int], bool] = {}

    def inverts(key: str, times: int) -> bool:
        return draws.setdefault((key, times), bool(rng.random() < 1 / 6) and times < 2)

    reduction = reduced(flaky_predicate(truth, inverts))
    assert truth(reduction.case)
    assert reduction.finished


@pytest.mark.slow
def test_where_only_the_whole_shows_it_each_time_the_whole_comes_back() -> None:
    case = case_of(INPUTS, CALLS[:2], "v1")
    whole = case_file.digest(renumbered(case))
    reduction = reduced(flaky_predicate(lambda case: False, lambda key, times: times == 1 or key == whole), case=case)
    assert case_file.digest(reduction.case) == whole
    assert reduction.steps == ()
