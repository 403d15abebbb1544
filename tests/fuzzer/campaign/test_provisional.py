"""Sightings that wait are grouped into provisional causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from labs import FakeLab
from sightings_by_hand import ABS, ERF, FRAMES, chain, raised, sighting, waits, wrong

from fuzzer.campaign.lanes.activity import Activity
from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, PausableLab, Stopping
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.provisional import provisional_causes
from fuzzer.campaign.triage.triage import Triage
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature import without_operators
from fuzzer.triage.suspect import Certainty, Suspect
from generators.graph import Case
from oracles.finding import Kind
from oracles.lane import LaneSpec
from oracles.outcome import Frame, IllFormed, Result


def sizes(*docs: FindingDoc) -> list[int]:
    return [len(cause.members) for cause in provisional_causes(docs)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Unresolved call tirx.acos", "Unresolved call tirx.cos"),
        ("unknown intrinsic Op(tirx.sinh)", "unknown intrinsic Op(tirx.erf)"),
        ("CodeGenVM cannot emit relax.nn.relu", "CodeGenVM cannot emit relax.call_tir"),
        ("unknown intrinsic tirx.sinh", "unknown intrinsic tirx.acosh"),
        ("R.add uses two dtypes", "R.multiply uses two dtypes"),
        ("Missing outputs. Got 1 in MaxPool.", "Missing outputs. Got 1 in Unique."),
        ("'Var' object has no attribute 'value'", "'Mul' object has no attribute 'value'"),
        ("The buffer x_red_temp_v0 has dtype int64", "The buffer y_red_temp_v1 has dtype int64"),
        ("Var storage is not defined.", "Var storage7 is not defined."),
        ("object of type 'Var' has no len()", "object of type 'DataflowVar' has no len()"),
        ("Cannot convert sub with type <class 'Node'>", "Cannot convert getitem with type <class 'Node'>"),
        ("too many values to unpack (expected 2)", "not enough values to unpack (expected 2, got 1)"),
    ],
)
def test_the_name_of_an_operator_in_a_message_tells_no_causes_apart(one: str, other: str) -> None:
    assert without_operators(one) == without_operators(other) != one
    assert sizes(waits(chain("acos"), raised(one)), waits(chain("cos"), raised(other))) == [2]
    assert sizes(waits(chain("acos"), raised(one)), waits(chain("cos"), raised("no layout"))) == [1, 1]


CONVERTERS = [(*FRAMES, Frame("/tvm/base_fx_graph_translator.py", 1, name)) for name in ("_addmm", "_clamp", "_addmm")]
MESSAGES = [raised("two dtypes", frames=frames[::-1]) for frames in CONVERTERS]


def test_one_check_in_cpp_is_one_cause_whichever_converter_called_it() -> None:
    assert len({each.signature for each in MESSAGES}) == 2
    assert sizes(*(waits(chain("abs"), each) for each in MESSAGES)) == [3]


def test_messages_of_an_ill_formed_import_are_one_cause_whatever_the_case_has() -> None:
    evidence = IllFormed("import", "ValueError", "Var n is not defined.")
    found = replace(wrong().finding, kind=Kind.ILL_FORMED, evidence=evidence)
    assert sizes(*(waits(chain(op), sighting(found)) for op in ("abs", "neg"))) == [2]


def test_a_message_to_which_a_wrong_type_has_led_is_with_the_wrong_types_of_that_operator() -> None:
    docs = [waits(chain("erf", "neg"), wrong(Kind.WRONG_DTYPE), ERF)]
    led = replace(ERF, shows_as=Kind.WRONG_DTYPE)
    docs += [waits(chain("erf", op), raised(f"{op} takes no float"), led) for op in ("abs", "neg")]
    assert sizes(*docs) == [3]
    assert sizes(*docs, waits(chain("erf", "abs"), raised("abs takes no float"), ABS)) == [3, 1]


def test_wrong_results_are_one_cause_where_one_operator_is_suspected() -> None:
    docs = [waits(chain("erf", *rest), wrong(), ERF) for rest in (("abs", "neg"), ("neg",))]
    (cause,) = provisional_causes(docs)
    assert cause.lead.ops == ["erf", "neg"], "the smallest stands for the cause"
    assert sizes(*docs, waits(chain("abs", "erf"), wrong(), ABS)) == [2, 1]
    assert sizes(*docs, waits(chain("erf"), wrong(Kind.WRONG_DTYPE), ERF)) == [2, 1]
    assert sizes(*(waits(chain(op, "neg"), wrong()) for op in ("sin", "cos"))) == [1, 1], "nothing is suspected"


@pytest.mark.parametrize(("one", "other"), [("conv1d", "conv2d"), ("div", "div_scalar")])
def test_wrong_results_of_operators_of_one_name_are_one_cause(one: str, other: str) -> None:
    suspects = [Suspect((op,), f"{op} of int8; rank 2", Certainty.SEEN) for op in (one, other, "erf")]
    assert sizes(*(waits(chain("abs"), wrong(), suspect) for suspect in suspects)) == [2, 1]


@pytest.mark.parametrize(("kind", "groups"), [(Kind.WRONG_DTYPE, [3, 1]), (Kind.WRONG_VALUE, [1, 1, 1, 1])])
def test_wrong_dtypes_of_products_of_matrices_are_one_cause(kind: Kind, groups: list[int]) -> None:
    operators = ("mm", "lstm_unbatched", "einsum", "erf")
    suspects = [Suspect((op,), f"{op} of float16; rank 2", Certainty.SEEN) for op in operators]
    assert sizes(*(waits(chain("abs"), wrong(kind), suspect) for suspect in suspects)) == groups


def test_one_of_a_few_suspects_joins_the_largest_cause() -> None:
    docs = [waits(chain("erf", op), wrong(), ERF) for op in ("neg", "abs")]
    few = Suspect(("abs", "erf"), certainty=Certainty.ONE_OF)
    many = Suspect(("abs", "erf", "neg", "sin"), certainty=Certainty.ONE_OF)
    assert sizes(*docs, waits(chain("abs"), wrong(), ABS), waits(chain("abs", "erf"), wrong(), few)) == [3, 1]
    assert sizes(*docs, waits(chain("abs", "erf", "neg", "sin"), wrong(), many)) == [2, 1]


def test_each_cause_has_its_turn_and_the_plainest_sighting_is_first(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for ops in (("erf", "neg", "abs"), ("erf", "neg"), ("erf", "relu")):
        queue.add(chain(*ops), wrong(), {}, ERF)
    queue.add(chain("abs", "neg", "sin", "cos"), replace(wrong(Kind.WRONG_DTYPE)), {}, ABS)
    taken = []
    for _ in range(4):
        item = queue.take()
        assert item is not None
        taken.append(item.calls)
        queue.done(item, lambda tests: tests)
    assert taken == [4, 2, 2, 3]


class StoppedLab(FakeLab):
    def __init__(self) -> None:
        super().__init__(lambda case, lane, lanes: None)

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        raise Stopping


def test_a_sighting_waits_without_a_suspect_where_the_campaign_stops(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        lab = LabOfTriage(PausableLab(StoppedLab(), PauseSwitch(), lambda: False), lambda result: None)
        triage = Triage(Settings(tmp_path, 1), store, lab, Activity())
        triage.add(chain("erf", "neg"), [wrong()])
        assert len(triage.queue) == 1


def test_one_of_a_cause_is_investigated_at_a_time(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for message in ("Unresolved call tirx.acos", "Unresolved call tirx.cos"):
        queue.add(chain("acos"), raised(message), {})
    first = queue.take()
    assert first is not None
    assert queue.take() is None
    queue.done(first, lambda tests: tests)
    assert queue.take() is not None


def test_one_cause_alone_may_be_investigated(tmp_path: Path) -> None:
    docs = [waits(chain("erf", op), wrong(), ERF) for op in ("neg", "abs")]
    queue = Queue(tmp_path, only=frozenset({docs[1].slug}))
    for op in ("neg", "abs"):
        queue.add(chain("erf", op), wrong(), {}, ERF)
    item = queue.take()
    assert item is not None
    assert (item.name, queue.left, len(queue)) == (docs[1].slug, 1, 2)
    queue.done(item, lambda tests: tests)
    assert queue.take() is None
    assert (queue.left, len(queue)) == (0, 1)
