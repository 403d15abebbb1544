"""A node without Ray: a process that runs a campaign, and the updates that it sends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import simulated_node

from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store import index, lock, store
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.cluster import node as node_module
from fuzzer.cluster.assignment import Assignment
from fuzzer.cluster.collection import Collector, KnownFinding, Update, corpus_of
from fuzzer.cluster.node import NodeProcess
from fuzzer.findings import finding_file
from fuzzer.seeds import corpus
from fuzzer.triage.investigate import Investigated, Sighting
from generators import case_file
from generators.graph import Invalid

pytestmark = pytest.mark.slow

PROGRAM = (sys.executable, simulated_node.__file__)
ALL_BUGS = sum(bug is not None for bug in simulated_node.BUGS)
Make = Callable[..., tuple[Investigated, Sighting]]


def signatures(folder: Path) -> set[str]:
    return {finding_file.read(path).signature for path in (folder / "crashes").iterdir()}


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def unpacked(update: Update, folder: Path) -> Path:
    Update.unpacked(update.packed()).write(folder)
    return folder


# --- updates


def test_an_update_has_only_what_is_new(tmp_path: Path) -> None:
    one, into = tmp_path / "one", tmp_path / "into"
    collector = Collector(one)
    assert collector.collect() == ({}, 0), "nothing was begun yet"
    simulated_node.run(one, Share(end=4))
    first, next_test = collector.collect()
    assert next_test == 4
    collector.acknowledge()
    merge([unpacked(Update(first, 4), tmp_path / "first")], into)
    assert signatures(into) == signatures(one)
    simulated_node.run(one, Share(end=9))
    second, next_test = collector.collect(last=True)
    assert next_test == 9
    assert {name.split("/")[1] for name in first if name.startswith("crashes")}.isdisjoint(
        name.split("/")[1] for name in second if name.startswith("crashes")
    )
    merge([unpacked(Update(second, 9), tmp_path / "second")], into)
    merge([one], tmp_path / "whole")
    with Index(into, writes=False) as brought, Index(tmp_path / "whole", writes=False) as whole:
        assert [row[2] for row in brought.origins()[1:]] == [row[2] for row in whole.origins()[1:]]
        assert [counters.tests for _, _, counters in brought.origins()] == [0, 9]
        assert brought.operators() == whole.operators()
        assert (brought.tests, whole.tests) == (0, 9), "rows of single tests stay on the node"
    assert signatures(into) == signatures(one)
    assert len(signatures(one)) == ALL_BUGS
    merge([one], into)
    with Index(into, writes=False) as brought:
        assert brought.tests == 9, "a merge of the node's own campaign has them"


def test_each_update_brings_the_sightings_that_wait_and_names_them(tmp_path: Path, make: Make) -> None:
    one, into = tmp_path / "one", tmp_path / "into"
    simulated_node.run(one, Share(end=4))
    found, sighting = make()
    Queue(one).add(found.case, sighting, {"tvm": "0.27.0"})
    collector = Collector(one)
    files, _ = collector.collect()
    (name,) = collector.waiting
    assert [path for path in files if path.endswith(f"{name}/finding.json")] == [f"waiting/{name}/finding.json"]
    merge([unpacked(Update(files, 4), tmp_path / "first")], into)
    assert [path.name for path in finding_file.folders_in(into / "waiting")] == [name]
    collector.acknowledge()
    assert not [path for path in collector.collect()[0] if path.startswith("waiting/")]
    assert collector.waiting == (name,)
    shutil.rmtree(one / "waiting" / name)
    collector.collect()
    assert collector.waiting == ()


def test_an_update_that_was_not_acknowledged_is_sent_again(tmp_path: Path) -> None:
    one = tmp_path / "one"
    simulated_node.run(one, Share(end=7))
    collector = Collector(one)
    brought = [set(collector.collect()[0]) for _ in range(3)]
    assert brought[0] == brought[1] == brought[2]
    simulated_node.run(one, Share(end=14))
    collector.acknowledge()
    assert set(collector.collect()[0]) == {index.NAME}


def test_sums_are_in_every_third_update_and_again_until_they_are_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.cluster.collection.SUMS_EVERY", 3)
    simulated_node.run(tmp_path / "one", Share(end=7))
    collector, have = Collector(tmp_path / "one"), []
    for turn, acknowledged in enumerate((True, True, False, True, True)):
        folder = unpacked(Update(*collector.collect()), tmp_path / str(turn))
        with Index(folder, writes=False) as brought:
            have.append(bool(brought.operators()))
        if acknowledged:
            collector.acknowledge()
    assert have == [False, False, True, True, False]


def test_the_drivers_corpus_is_there_before_the_first_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, node = tmp_path / "driver", tmp_path / "n"
    there = []

    class Starts(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            there.append(corpus.names(node))
            super().__init__(*arguments, **named)

    monkeypatch.setattr(node_module.subprocess, "Popen", Starts)
    for number in range(3):
        corpus.add(driver, f"case-{number}", simulated_node.case(number))
    corpus.add(node, "case-1", simulated_node.case(7))
    seed_cases = Update.unpacked(corpus_of(driver).packed())
    NodeProcess(Assignment(0, 1, 1, 0, 1, 1, (), PROGRAM), node, seed_cases).stop()
    assert there == [["case-0", "case-1", "case-2"]], "before the process starts"
    digests = {name: case_file.digest(case) for name, case in corpus.cases(node).items()}
    assert digests["case-2"] == case_file.digest(simulated_node.case(2))
    assert digests["case-1"] == case_file.digest(simulated_node.case(7)), "a case that was there stays"


@pytest.mark.parametrize(
    "name", ["../x", "/x", "crashes/x/../../../x", "x", "crashes/x", "crashes/x/run.sh", "crashes/.x/case.json", ""]
)
def test_an_update_has_files_of_campaigns_only(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="a node sent a file"):
        Update({name: b""}, 1).write(tmp_path / "small")


def test_an_update_is_not_unpacked_beyond_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Update({"index.sqlite": b"x" * 10_000}, 1)
    assert Update.unpacked(whole.packed()) == whole
    monkeypatch.setattr("fuzzer.cluster.collection.MOST_BYTES", 5_000)
    with pytest.raises(Invalid, match="an update of more than 5,000 bytes"):
        Update.unpacked(whole.packed())


def test_what_another_node_saved_is_known_and_not_saved_again(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path / "a", 1) as one:
        doc = one.save(make()[0], {})
        assert doc is not None
    found, sighting = make()
    with Store(tmp_path / "b", 1) as other:
        assert other.claim(found.case, sighting)
        document = (tmp_path / "a" / "crashes" / doc.slug / finding_file.NAME).read_bytes()
        store.add_elsewhere(tmp_path / "b", doc.slug, document)
        other.save_state()
        assert not other.claim(found.case, sighting)
        assert other.save(found, {}) is None, "both nodes investigated it"
        assert (other.findings, other.state.found) == ({}, {doc.signature: 2})
    with Store(tmp_path / "b", 1) as other:
        assert not other.claim(found.case, sighting), "it stays known"


def test_the_name_of_a_finding_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="is not the name of a finding"):
        store.add_elsewhere(tmp_path / "b", "../x", b"")


# --- the process


def test_a_share_is_done_and_the_process_ends(tmp_path: Path) -> None:
    node = NodeProcess(Assignment(0, 2, 1, 0, 14, 1, (), PROGRAM), tmp_path / "n")
    wait_for(lambda: node._process.poll() is not None)
    update = node.collect()
    assert (update.exit_code, update.next_test) == (0, 14)
    with Index(tmp_path / "n", writes=False) as read:
        assert [number for (number,) in read.rows(tuple, "SELECT number FROM tests")] == list(range(0, 14, 2))


def test_findings_of_other_nodes_are_known_and_not_sent_back(tmp_path: Path) -> None:
    simulated_node.run(tmp_path / "other", Share(end=7))
    slugs = {path.name for path in (tmp_path / "other" / "crashes").iterdir()}
    findings = [
        KnownFinding(slug, (tmp_path / "other" / "crashes" / slug / finding_file.NAME).read_bytes()) for slug in slugs
    ]
    for finding in findings:
        store.add_elsewhere(tmp_path / "n", finding.slug, finding.document)
    node = NodeProcess(Assignment(0, 1, 1, 0, 7, 1, (), PROGRAM), tmp_path / "n")
    wait_for(lambda: node._process.poll() is not None)
    assert list((tmp_path / "n" / "crashes").iterdir()) == []
    assert not [name for name in node.collect(findings).files if name.startswith("crashes")]


def test_the_last_update_of_a_failed_process_has_its_log(tmp_path: Path) -> None:
    node = NodeProcess(Assignment(0, 1, 1, 0, 7, 1, ("--fail",), PROGRAM), tmp_path / "n")
    wait_for(lambda: node._process.poll() is not None)
    assert node.collect() == Update({}, 0, 1, "no compiler here\n")


@pytest.mark.long
def test_a_stopped_process_ends_cleanly_and_the_next_continues(tmp_path: Path) -> None:
    share = Assignment(0, 1, 1, 0, 40, 1, ("--pace", "0.05"), PROGRAM)
    node = NodeProcess(share, tmp_path / "n")
    wait_for(lambda: node.collect().next_test > 3)
    node.stop()
    then = node.collect()
    assert (then.exit_code, 3 < then.next_test < 40) == (0, True)
    again = NodeProcess(share, tmp_path / "n")
    wait_for(lambda: again._process.poll() is not None)
    assert again.collect().next_test == 40
    with Index(tmp_path / "n", writes=False) as read:
        assert read.tests == 40
    assert len(signatures(tmp_path / "n")) == ALL_BUGS


SUPERVISOR = """
import sys, time
from pathlib import Path
from fuzzer.cluster.assignment import Assignment
from fuzzer.cluster.node import NodeProcess
NodeProcess(Assignment(0, 1, 1, 0, None, 1, ("--pace", "0.05"), tuple(sys.argv[2:])), Path(sys.argv[1]))
print("started", flush=True)
time.sleep(60)
"""


def test_a_campaign_ends_with_its_supervisor(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SUPERVISOR, str(tmp_path / "n"), *PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "started\n"
        wait_for(lambda: lock.holder(tmp_path / "n") is not None)
        os.kill(supervisor.pid, signal.SIGKILL)
    wait_for(lambda: lock.holder(tmp_path / "n") is None)
    with Store(tmp_path / "n", 1) as read:
        assert read.state.next_test == read.ask(lambda index: index.tests)
