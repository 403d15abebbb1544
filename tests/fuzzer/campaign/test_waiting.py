"""The queue of triage on the disk: what waits, what comes next, and what a kill leaves."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.store.layout import PARKED, WAITING
from fuzzer.campaign.triage import attempts
from fuzzer.campaign.triage.attempts import MOST_FAILED, MOST_KILLED, Attempts
from fuzzer.campaign.triage.priority import traits_of_saved
from fuzzer.campaign.triage.waiting import LACKING_SECONDS, MOST_ALIKE, MOST_OF_ONE_KEY, Queue
from fuzzer.campaign.triage.waiting_item import Item
from fuzzer.findings import finding_file
from fuzzer.findings.replay import load
from fuzzer.lanes import TVM_LANES
from fuzzer.lanes.base.availability import Machine
from fuzzer.signature import signature_of
from fuzzer.system.devices import Device
from fuzzer.system.terminal import command
from fuzzer.toolchains.lanes import in_toolchain
from fuzzer.triage.investigate import Sighting
from fuzzer.triage.suspect import Certainty, Suspect
from fuzzer.triage.suspicion import certain_calls
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import LaneSpec, Params
from oracles.outcome import Facts, Frame, Raised, Stage

VERSIONS = {"tvm": "0.27.0"}
LANE = TVM_LANES[0]


def case(*ops: str, dtype: str = "float32") -> Case:
    names = ["x0", *(f"v{i}" for i in range(len(ops)))]
    nodes = [(names[i + 1], op, names[i]) for i, op in enumerate(ops)]
    return case_of({"x0": f"{dtype}[2]"}, nodes, names[-1])


def sighting(found: Finding, *lanes: LaneSpec) -> Sighting:
    return Sighting(signature_of(found), found, lanes or (found.lane,))


def error(message: str = "no layout", kind: Kind = Kind.INTERNAL_ERROR) -> Sighting:
    frames = (Frame("/project/src/relax/transform/layout.cc", 7, "tvm::relax::LayoutOf(tvm::Call)"),)
    evidence = Raised(Stage.COMPILE, "ValueError", message, frames)
    return sighting(Finding(kind, Component.TVM, LANE, Stage.COMPILE, evidence))


def wrong(kind: Kind = Kind.WRONG_VALUE) -> Sighting:
    return sighting(Finding(kind, Component.TVM, LANE, Stage.RUN, Mismatch(0, "1.0", "2.0", elements=2, wrong=1)))


def taken(queue: Queue) -> Item:
    item = queue.take()
    assert item is not None
    return item


def finish(queue: Queue, item: Item) -> int:
    """End the investigation of an item; return how many tests showed it."""
    return queue.done(item, lambda tests: tests)


def folders(tmp_path: Path, where: str = WAITING) -> list[str]:
    return sorted(os.listdir(tmp_path / where)) if (tmp_path / where).exists() else []


def test_a_sighting_is_a_folder_that_replay_takes(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    whole = case("relu", "neg")
    assert queue.add(whole, error(), VERSIONS)
    (name,) = folders(tmp_path)
    assert re.fullmatch(r"internal-error-relu-neg-[0-9a-f]{12}-[0-9a-f]{8}", name)
    doc, read = load(tmp_path / WAITING / name)
    assert (doc.slug, doc.confirmed, doc.flaky, doc.finding) == (name, "0 of 0", False, error().finding)
    assert read.graph == whole.graph
    assert len(queue) == 1


def test_the_next_run_has_the_same_queue(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    lanes = (LANE, TVM_LANES[2])
    queue.add(case("relu"), sighting(error().finding, *lanes), VERSIONS)
    before = taken(queue)
    again = Queue(tmp_path)
    after = taken(again)
    assert (after.traits, after.key) == (before.traits, before.key)
    read, found = after.read()
    assert read.graph == case("relu").graph
    assert found == before.read()[1] == sighting(error().finding, *lanes)
    assert folders(tmp_path) == [after.folder.name]


def test_one_message_waits_once_and_is_counted(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    assert queue.add(case("relu"), error(), VERSIONS)
    assert not queue.add(case("neg"), error(), VERSIONS)
    assert queue.add(case("relu"), error("no buffer"), VERSIONS)
    item = taken(queue)
    assert not queue.add(case("abs"), error(), VERSIONS), "it is investigated now"
    assert (item.attempts.tests, len(queue)) == (3, 2)


def test_one_thread_of_many_adds_it(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: queue.add(case("relu"), error(), VERSIONS), range(16))) == 1
    assert taken(queue).attempts.tests == 16


def test_wrong_results_wait_for_each_case_up_to_a_limit(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    assert queue.add(case("relu"), wrong(), VERSIONS)
    assert not queue.add(case("relu"), wrong(), VERSIONS), "the same case"
    assert queue.add(case("neg"), wrong(), VERSIONS)
    for size in range(2 * MOST_ALIKE):
        queue.add(case_of({"x0": f"float32[{size + 3}]"}, [("v0", "abs", "x0")], "v0"), wrong(), VERSIONS)
    assert len(queue) == len(folders(tmp_path)) == 2 + MOST_ALIKE
    assert not queue.add(case("abs", "relu"), wrong(), VERSIONS), "it has all operators of those that wait"
    assert queue.add(case("exp"), wrong(), VERSIONS), "another operator"


def test_two_passes_that_are_wrong_on_one_case_are_two_sightings(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for by in ("FuseOps", "parameters lifted"):
        mismatch = Mismatch(0, "1.0", "2.0", against="relax-export-llvm", by=by)
        found = Finding(Kind.WRONG_VALUE, Component.TVM, LANE, Stage.RUN, mismatch)
        assert queue.add(case("relu"), sighting(found), VERSIONS)
    assert len(folders(tmp_path)) == 2


def test_the_node_that_the_evidence_points_at_is_kept(tmp_path: Path) -> None:
    evidence = error().finding.evidence
    assert isinstance(evidence, Raised)
    pointed = replace(evidence, facts=Facts(pointed="v0"))
    queue = Queue(tmp_path)
    queue.add(case("relu"), sighting(replace(error().finding, evidence=pointed)), VERSIONS)
    assert taken(Queue(tmp_path)).read()[1].finding.evidence == pointed


def test_the_suspect_is_handed_on_to_the_investigation(tmp_path: Path) -> None:
    suspect = Suspect(("abs",), "abs of float32; rank 1", Certainty.SEEN)
    queue = Queue(tmp_path)
    queue.add(case("relu", "abs"), wrong(), VERSIONS, suspect)
    read = [taken(each).read()[1] for each in (queue, Queue(tmp_path))]
    assert [each.suspect for each in read] == [suspect, suspect]
    assert [certain_calls(case("relu", "abs"), each.suspect) for each in read] == [("v1",), ("v1",)]


def test_what_is_severe_for_its_cost_comes_first(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error("refused", Kind.REJECTED), VERSIONS)
    queue.add(case("neg"), error("error"), VERSIONS)
    queue.add(case("abs"), wrong(), VERSIONS)
    queue.add(case("exp"), wrong(Kind.DIED), VERSIONS)
    order = [Kind.INTERNAL_ERROR, Kind.REJECTED, Kind.WRONG_VALUE, Kind.DIED]
    assert [taken(queue).kind for _ in range(4)] == order
    assert queue.take() is None


def test_each_fifth_is_the_most_severe_one_whatever_it_costs(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for op in ("neg", "abs", "exp", "sin", "cos", "tanh"):
        queue.add(case(op), error(f"no layout of {op}"), VERSIONS)
    queue.add(case("relu"), wrong(Kind.DIED), VERSIONS)
    kinds = [taken(queue).kind for _ in range(7)]
    assert kinds == [*[Kind.INTERNAL_ERROR] * 4, Kind.DIED, *[Kind.INTERNAL_ERROR] * 2]


def test_each_second_is_one_that_costs_least(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for op, message in (("neg", "one is refused"), ("abs", "two are refused")):
        queue.add(case(op), error(message, Kind.CHECKER_GAP), VERSIONS)
    queue.add(case("log"), error("not supported", Kind.REJECTED), VERSIONS)
    queue.add(case("sqrt"), error("not known", Kind.REJECTED), VERSIONS)
    for op in ("exp", "sin", "cos"):
        queue.add(case(op), wrong(Kind.WRONG_DTYPE), VERSIONS)
    assert [next(iter(taken(queue).ops)) for _ in range(4)] == ["exp", "log", "sin", "sqrt"]


def test_then_the_one_that_is_least_like_those_before(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for message, ops in (("no layout for conv", ("relu",)), ("no layout of conv", ("relu",)), ("bad cast", ("gru",))):
        queue.add(case("relu") if ops == ("relu",) else case("neg", dtype="float16"), error(message), VERSIONS)
    first = taken(queue)
    assert first.read()[1].finding.evidence == error("no layout for conv").finding.evidence
    finish(queue, first)
    assert taken(queue).read()[1].finding.evidence == error("bad cast").finding.evidence


def test_what_earlier_runs_found_counts_as_investigated(tmp_path: Path) -> None:
    known = [traits_of_saved(["relu"], error("no layout").signature, LANE)]
    queue = Queue(tmp_path, known)
    queue.add(case("relu"), error("no layout here"), VERSIONS)
    queue.add(case("neg"), error("bad cast"), VERSIONS)
    near, far = sorted((taken(queue), taken(queue)), key=lambda item: item.distance)
    assert (near.ops, far.ops) == ({"relu"}, {"neg"})
    assert Queue(tmp_path, known).take() is not None
    assert near.distance == pytest.approx(Queue(tmp_path, known)._waiting[near.folder.name].distance)


def test_one_of_several_that_may_be_one_bug_is_investigated_at_a_time(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu", "neg"), wrong(), VERSIONS)
    queue.add(case("neg", "abs"), wrong(Kind.SECOND_RUN_DIFFERS), VERSIONS)
    queue.add(case("exp"), wrong(), VERSIONS)
    first, second = taken(queue), taken(queue)
    assert queue.take() is None
    assert first.ops.isdisjoint(second.ops)
    for item in (first, second):
        finish(queue, item)
    assert queue.take() is not None


def test_done_deletes_the_folder(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error(), VERSIONS)
    finish(queue, taken(queue))
    assert (len(queue), folders(tmp_path)) == (0, [])
    assert queue.add(case("relu"), error(), VERSIONS), "the store knows what is known, not the queue"


def test_after_several_failures_it_is_parked_and_stands_for_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error(), VERSIONS)
    for number in range(MOST_FAILED):
        item = taken(queue)
        queue.begin(item)
        queue.failed(item, f"KeyError {number}")
    assert (len(queue), queue.parked, queue.take()) == (0, 1, None)
    assert not queue.add(case("neg"), error(), VERSIONS)
    assert (folders(tmp_path), folders(tmp_path, PARKED)) == ([], [item.folder.name])
    assert (
        f"3 investigations failed; `{command('triage', '--work', '--campaign', tmp_path)}` tries again"
        in capsys.readouterr().err
    )
    text = (tmp_path / PARKED / item.folder.name / attempts.NAME).read_text()
    assert all(f"KeyError {number}" in text for number in range(MOST_FAILED))
    queue = Queue(tmp_path)
    assert (len(queue), queue.parked) == (0, 1)
    queue.unpark()
    assert (len(queue), queue.parked, taken(queue).attempts) == (1, 0, Attempts(tests=2))


def test_a_sighting_that_kills_its_process_is_parked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Queue(tmp_path).add(case("relu"), error(), VERSIONS)
    for _ in range(MOST_KILLED):
        killed = Queue(tmp_path)
        killed.begin(taken(killed))
    queue = Queue(tmp_path)
    assert queue.take() is None
    assert (len(queue), queue.parked) == (0, 1)
    assert "10 investigations ended with their process; `" in capsys.readouterr().err


def test_what_was_tried_less_often_comes_first(tmp_path: Path) -> None:
    """A sighting that difftvm cannot investigate, or whose process is killed, holds up no other."""
    queue = Queue(tmp_path)
    queue.add(case("abs"), wrong(), VERSIONS)
    queue.add(case("relu"), error(kind=Kind.ALIASED_OUTPUT), VERSIONS)
    severe = taken(queue)
    assert severe.ops == {"abs"}
    queue.begin(severe)
    queue.failed(severe, "KeyError")
    assert taken(queue).ops == {"relu"}
    killed = Queue(tmp_path)
    for ops in ({"relu"}, {"abs"}):
        item = taken(killed)
        assert item.ops == ops
        killed.begin(item)
    assert [item.attempts for item in (item, severe)] == [Attempts(begun=2, failed=1), Attempts(begun=1, failed=1)]


def test_the_next_run_knows_how_many_tests_showed_it(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for ops in ("relu", "neg", "abs"):
        queue.add(case(ops), error(), VERSIONS)
    again = Queue(tmp_path)
    item = taken(again)
    again.begin(item)
    again.failed(item, "KeyError: it has\nbegun")
    last = Queue(tmp_path)
    item = taken(last)
    assert item.attempts == Attempts(tests=3, begun=1, failed=1)
    assert finish(last, item) == 3


def test_what_the_user_removes_is_forgotten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queue = Queue(tmp_path)
    for ops, message in (("relu", "no layout"), ("neg", "no buffer"), ("abs", "no shape")):
        queue.add(case(ops), error(message), VERSIONS)
    items = {next(iter(item.ops)): item for item in (taken(queue), taken(queue), taken(queue))}
    queue.put_back(items["relu"])
    for item in items.values():
        shutil.rmtree(item.folder)
    assert queue.add(case("relu"), error("no layout"), VERSIONS), "it waits anew"
    with pytest.raises(FileNotFoundError):
        queue.begin(items["neg"])
    assert queue.is_gone(items["neg"])
    assert finish(queue, items["abs"]) == 1, "it was investigated meanwhile"
    assert (len(queue), folders(tmp_path)) == (1, [items["relu"].name])
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"{items[ops].folder}: it was removed and is not investigated" for ops in ("relu", "neg")]


def test_the_parked_sightings_beside_one_that_the_user_removes_wait_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = Queue(tmp_path)
    for ops, message in (("relu", "no layout"), ("neg", "no buffer"), ("abs", "no shape")):
        queue.add(case(ops), error(message), VERSIONS)
    while item := queue.take():
        queue.begin(item)
        queue.failed(item, "KeyError")
    queue = Queue(tmp_path)
    first, *others = folders(tmp_path, PARKED)
    shutil.rmtree(tmp_path / PARKED / first)
    queue.unpark()
    assert (len(queue), queue.parked, folders(tmp_path)) == (2, 0, others)
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"{first}: it was removed and is not investigated")


def test_a_worker_waits_for_the_investigations_of_others(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu", "neg"), wrong(), VERSIONS)
    queue.add(case("neg", "abs"), wrong(), VERSIONS)
    first, waits = taken(queue), threading.Event()

    def may_wait() -> bool:
        waits.set()
        return True

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(queue.take, may_wait)
        assert waits.wait(120)
        finish(queue, first)
        item = second.result(120)
        assert item is not None
        waits.clear()
        nothing = pool.submit(queue.take, may_wait)
        assert waits.wait(120)
        finish(queue, item)
        assert nothing.result(120) is None


def test_what_this_machine_cannot_show_waits_untouched(tmp_path: Path) -> None:
    """A failure on a GPU and one of another release, on a machine without both."""
    bare = Machine(devices=lambda kind: (), toolchains=lambda: ("0.25",))
    queue, gpu = Queue(tmp_path, machine=bare), replace(LANE, target="cuda", params=Params.BOUND)
    for ops, lane, stage in (
        ("relu", gpu, Stage.RUN),
        ("neg", gpu, Stage.COMPILE),
        ("abs", in_toolchain(LANE, "0.24"), Stage.COMPILE),
        ("exp", in_toolchain(LANE, "0.25"), Stage.COMPILE),
    ):
        evidence = Raised(stage, "ValueError", f"no {ops}", ())
        queue.add(case(ops), sighting(Finding(Kind.INTERNAL_ERROR, Component.TVM, lane, stage, evidence)), VERSIONS)
    assert queue.lacking == {"there is no GPU": 1, "toolchain 0.24 is not installed": 1}
    here = Finding(Kind.INTERNAL_ERROR, Component.TVM, LANE, Stage.RUN, Raised(Stage.RUN, "ValueError", "no relu", ()))
    assert queue.add(case("relu", "relu"), sighting(here), VERSIONS), "this machine can show it on another lane"
    assert {tuple(taken(queue).ops) for _ in range(3)} == {("neg",), ("exp",), ("relu",)}
    assert queue.take() is None
    assert len(queue) == 5
    assert Queue(tmp_path, machine=bare).lacking == queue.lacking
    there = Machine(
        lambda name: f"/bin/{name}", devices=lambda kind: (Device("GPU-0"),), toolchains=lambda: ("0.24", "0.25")
    )
    queue = Queue(tmp_path, machine=there)
    assert queue.lacking == {}
    assert len({taken(queue).name for _ in range(4)}) == 4, "of two with one message, one at a time"


def test_an_investigation_that_goes_on_later_waits_as_a_smaller_case(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for _ in range(2):
        queue.add(case("relu", "abs", "neg"), error(), VERSIONS)
    item = taken(queue)
    queue.begin(item)
    queue.leave(item, case("relu", "abs"), error(), VERSIONS)
    assert len(folders(tmp_path)) == len(queue) == 1
    for each in (queue, Queue(tmp_path)):
        smaller = taken(each)
        assert (smaller.calls, smaller.suspect.operators) == (2, ("relu", "abs"))
        assert smaller.attempts == Attempts(tests=2, begun=1, left=1)
        assert smaller.read()[0].graph.ops == ("relu", "abs")


def test_what_goes_on_later_comes_after_the_others_but_where_it_is_the_most_severe_in_its_turn(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu", "abs"), wrong(), VERSIONS)
    severe = taken(queue)
    queue.begin(severe)
    for op in ("neg", "exp", "sin", "cos", "tanh"):
        queue.add(case(op), error(f"no layout of {op}"), VERSIONS)
    queue.leave(severe, case("relu"), wrong(), VERSIONS)
    kinds = [taken(queue).kind for _ in range(5)]
    assert kinds == [*[Kind.INTERNAL_ERROR] * 3, Kind.WRONG_VALUE, Kind.INTERNAL_ERROR]


def test_one_cause_alone_goes_on_as_the_smaller_case(tmp_path: Path) -> None:
    Queue(tmp_path).add(case("relu", "abs", "neg"), error(), VERSIONS)
    queue = Queue(tmp_path, only=frozenset(folders(tmp_path)))
    queue.add(case("exp"), error("no room"), VERSIONS)
    item = taken(queue)
    assert not queue.others_wait(item), "no other may be investigated"
    queue.begin(item)
    queue.leave(item, case("relu", "abs"), error(), VERSIONS)
    assert taken(queue).calls == 2
    assert queue.take() is None


def test_others_wait_where_another_cause_is_not_confirmed(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error("no layout"), VERSIONS)
    item = taken(queue)
    assert not queue.others_wait(item)
    queue.add(case("neg"), error("no room"), VERSIONS)
    assert queue.others_wait(item)
    queue.confirm([taken(Queue(tmp_path, only=frozenset({name}))).cause for name in queue._waiting])
    assert not queue.others_wait(item)


def test_parts_of_an_investigation_are_no_ends_of_its_process(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu", "abs"), error(), VERSIONS)
    for _ in range(MOST_KILLED + 1):
        item = taken(queue)
        queue.begin(item)
        queue.leave(item, item.read()[0], error(), VERSIONS)
    assert (len(queue), queue.parked, len(folders(tmp_path))) == (1, 0, 1)


@pytest.mark.slow
def test_the_sightings_of_one_key_that_wait_are_limited(tmp_path: Path) -> None:
    """A broken target is wrong in each test, on ever other operators."""
    queue = Queue(tmp_path)
    ops = ("relu", "neg", "abs", "exp", "sin", "cos", "tanh", "sigmoid", "square", "sqrt", "log", "erf", "sign", "ceil")
    pairs = [(one, other) for one in ops for other in ops]
    assert len(pairs) < MOST_OF_ONE_KEY
    added = 0
    for one, other in pairs:
        added += queue.add(case(one, other, one), wrong(), VERSIONS)
        added += queue.add(case(one, other), wrong(), VERSIONS)
    assert added == MOST_OF_ONE_KEY == len(queue)
    assert queue.add(case("relu"), error(), VERSIONS), "another failure"


def test_what_is_put_back_is_taken_again_and_no_attempt_has_failed(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error(), VERSIONS)
    for _ in range(2 * MOST_FAILED):
        item = taken(queue)
        queue.begin(item)
        queue.put_back(item)
    assert taken(queue) is item
    assert (item.attempts, taken(Queue(tmp_path)).attempts) == (Attempts(), Attempts())


def test_what_the_machine_lacked_something_for_is_taken_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error(), VERSIONS)
    item = taken(queue)
    queue.begin(item)
    queue.put_back(item, "less than 0.50 GB of the disk are free")
    assert queue.take() is None
    assert (queue.lacking, queue.left) == ({"less than 0.50 GB of the disk are free": 1}, 0)
    assert not queue.add(case("relu"), error(), VERSIONS), "it stands for others like it"
    now = time.monotonic()
    monkeypatch.setattr("fuzzer.campaign.triage.waiting.time.monotonic", lambda: now + LACKING_SECONDS + 1)
    assert taken(queue) is item
    assert (queue.lacking, item.attempts.failed, item.attempts.begun) == ({}, 0, 0)


def test_a_sighting_whose_folder_cannot_be_read_does_not_end_the_campaign(tmp_path: Path) -> None:
    Queue(tmp_path).add(case("relu"), error(), VERSIONS)
    (tmp_path / WAITING / folders(tmp_path)[0] / finding_file.NAME).write_text("{")
    queue = Queue(tmp_path)
    assert not queue.add(case("relu"), error(), VERSIONS)
    assert queue.add(case("neg"), error(), VERSIONS)


def test_one_that_cannot_be_read_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queue = Queue(tmp_path)
    queue.add(case("relu"), error(), VERSIONS)
    queue.add(case("neg"), error("no buffer"), VERSIONS)
    (tmp_path / WAITING / folders(tmp_path)[0] / finding_file.NAME).write_text("{")
    assert len(Queue(tmp_path)) == 1
    assert "sighting left out: " in capsys.readouterr().err
    assert len(folders(tmp_path)) == 2


def test_sightings_of_another_campaign_are_copied_once(tmp_path: Path) -> None:
    theirs, mine = Queue(tmp_path / "a"), Queue(tmp_path / "b")
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
    theirs.add(case("relu"), error(), VERSIONS)
    theirs.add(case("neg"), error("no buffer"), VERSIONS)
    parked = taken(theirs)
    for number in range(MOST_FAILED):
        theirs.begin(parked)
        theirs.failed(parked, str(number))
        parked = replace(parked) if number == MOST_FAILED - 1 else taken(theirs)
    mine.add(case("abs"), error(), VERSIONS)
    assert mine.adopt(tmp_path / "a") == 1
    assert mine.adopt(tmp_path / "a") == 0
    assert (len(mine), mine.parked, len(Queue(tmp_path / "b"))) == (2, 0, 2)
    while mine:
        mine.done(taken(mine), lambda tests: None)
    assert Queue(tmp_path / "b").adopt(tmp_path / "a") == 0, "it was investigated here"


def test_sightings_of_another_campaign_are_new_here_and_all_are_counted(tmp_path: Path) -> None:
    theirs, mine = Queue(tmp_path / "a"), Queue(tmp_path / "b")
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
    for ops in ("relu", "neg", "abs"):
        theirs.add(case(ops), wrong(), VERSIONS)
    begun = taken(theirs)
    theirs.begin(begun)
    theirs.failed(begun, "KeyError")
    mine.add(case("abs"), wrong(), VERSIONS)
    assert mine.adopt(tmp_path / "a") == 2, "one of them waits here already"
    for queue in (mine, Queue(tmp_path / "b")):
        assert [taken(queue).attempts for _ in range(3)] == [Attempts()] * 3
