"""A campaign's directory: one owner, nothing torn, nothing overwritten, nothing believed unread."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import expect, references, with_lanes

from fuzzer.campaign.store import index
from fuzzer.campaign.store.judged_counts import JudgedCounts
from fuzzer.campaign.store.layout import SCRATCH
from fuzzer.campaign.store.lock import Busy
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store, add_elsewhere, repair
from fuzzer.findings import finding_file
from fuzzer.lanes import TORCH, TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.signature.known import known_issues
from fuzzer.triage.investigate import Investigated, Sighting
from generators import case_file
from generators.graph import Invalid
from oracles.finding import Component, Finding, Kind, Mismatch, WorstElement
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result, Stage, Unsupported

Make = Callable[..., tuple[Investigated, Sighting]]
VERSIONS = {"torch": "2.13.0", "tvm": "0.27.0"}
FILES = {"case.json", "tensors.safetensors", "finding.json", "repro.py", "issue.md", "log.txt", "mark.txt"}


def flaky(found: Investigated) -> Investigated:
    return replace(found, again=2)


def numeric(make: Make) -> tuple[Investigated, Sighting]:
    """A wrong value, as `make` makes errors."""
    found, sighting = make()
    worst = WorstElement((0, 0), 1.0, 2.0, 1e-6, 1e-7)
    finding = Finding(
        Kind.WRONG_VALUE, Component.TVM, found.finding.lane, Stage.RUN, Mismatch(0, "1.0", "2.0", worst, 6, 1, 0)
    )
    signature = signature_of(finding)
    named = replace(signature, ops=found.case.graph.ops, where="export")
    return replace(found, finding=finding, signature=named), replace(sighting, finding=finding, signature=signature)


# --- one owner


def test_a_second_store_is_busy_and_names_the_process(tmp_path: Path) -> None:
    with Store(tmp_path, 1), pytest.raises(Busy, match=rf"process {os.getpid()} runs this campaign"):
        Store(tmp_path, 1)
    Store(tmp_path, 1).__exit__(None, None, None)


@pytest.mark.slow
def test_another_process_is_busy_too(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from fuzzer.campaign.store.store import Store; Store(Path(sys.argv[1]), 1)"
    )
    with Store(tmp_path, 1):
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"Busy: {tmp_path}: process {os.getpid()} runs this campaign" in done.stderr


def test_a_refused_store_does_not_touch_the_owners_files(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.scratch.mkdir()
        before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        with pytest.raises(Busy):
            Store(tmp_path, 1)
        assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
        assert store.scratch.exists()


@pytest.mark.slow
def test_a_killed_owner_leaves_no_lock(tmp_path: Path) -> None:
    program = """
        import os, sys
        from pathlib import Path
        from fuzzer.campaign.store.layout import SCRATCH
        from fuzzer.campaign.store.store import Store
        store = Store(Path(sys.argv[1]), 1)
        store.finished(4)
        store.save_state()
        os.kill(os.getpid(), 9)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path)])
    assert done.returncode == -signal.SIGKILL
    with Store(tmp_path, None) as store:
        assert store.state.next_test == 4


# --- state


def test_another_seed_is_refused_with_advice(tmp_path: Path) -> None:
    with Store(tmp_path, 1):
        pass
    with pytest.raises(Invalid, match=r"campaign\.json: .* has seed 1, not 2; .*--campaign DIR"):
        Store(tmp_path, 2)
    with Store(tmp_path, 1) as store:
        assert store.state.seed == 1


def test_without_a_seed_one_is_drawn_and_kept(tmp_path: Path) -> None:
    with Store(tmp_path / "a", None) as one, Store(tmp_path / "b", None) as other:
        seeds = one.state.seed, other.state.seed
    assert seeds[0] != seeds[1]
    with Store(tmp_path / "a", None) as again:
        assert again.state.seed == seeds[0]


def test_state_survives(tmp_path: Path, make: Make) -> None:
    found, sighting = make()
    with Store(tmp_path, 5) as store:
        store.finished(7)
        store.finished(3)  # never back
        lane = sighting.lanes[0]
        store.state.counters.tests = 7
        store.state.counters.add(Result({lane: Unsupported(Stage.IMPORT, "no")}, {Stage.COMPILE: 1.5}))
        saved = store.save(found, VERSIONS)
        before = msgspec.to_builtins(store.state)
    with Store(tmp_path, None) as store:
        assert msgspec.to_builtins(store.state) == before
        assert store.state.next_test == 7
        assert store.state.counters.unsupported == {lane.name: 1}
        assert list(store.findings.values()) == [saved]


def test_a_new_campaign_has_an_index_once_something_is_read_from_it(tmp_path: Path) -> None:
    with Store(tmp_path, 5) as store:
        assert not (tmp_path / index.NAME).exists()
        assert store.ask(lambda read: read.tests) == 0
        assert (tmp_path / index.NAME).exists()


def test_what_was_committed_counts_although_the_copy_for_scripts_is_older(tmp_path: Path) -> None:
    """The state of a campaign that is killed between a commit and the next state."""
    with Store(tmp_path / "a", 5) as store:
        store.finished(2)
        store.save_state()
        store.finish_test(index_row(2, 0.5, {}), Result({}, {}, 2.0), 3, invalid=False)
        store.commit_tests()
        shutil.copytree(tmp_path / "a", tmp_path / "b")
    with Store(tmp_path / "b", None) as store:
        assert (store.state.next_test, store.state.counters.tests, store.done_from(0)) == (3, 1, [2])


def test_what_tests_and_triage_cost_is_counted_apart(tmp_path: Path) -> None:
    lanes: dict[LaneSpec, Outcome] = {
        TVM_LANES[0]: Ran(()),
        TVM_LANES[1]: Unsupported(Stage.IMPORT, "no"),
        TORCH: Ran(()),
    }
    with Store(tmp_path, 5) as store:
        store.finish_test(index_row(0, 0.5, {}), Result(lanes, {Stage.RUN: 0.5}, 2.0), 1, invalid=True)
        for _ in range(2):
            store.triaged(Result(lanes, {Stage.RUN: 0.25}, 3.0))
        counters = store.state.counters
    assert (counters.tests, counters.invalid, counters.lane_results, counters.triage_lane_results) == (1, 1, 1, 2)
    assert (counters.test_cpu_seconds, counters.triage_cpu_seconds, counters.triage_used) == (2.0, 6.0, 0.75)
    assert counters.stage_cpu == {Stage.RUN: 1.0}
    assert counters.unsupported == {TVM_LANES[1].name: 1}


def test_what_a_test_judges_is_counted(tmp_path: Path) -> None:
    """References alone judge nothing: no lane of TVM gave a result."""
    right = expect([1.0, 2.0, 0.0], envelope=[0.0, 3.0, 0.0])
    with Store(tmp_path, 5) as store:
        for lanes in (with_lanes((right,), {TVM_LANES[0]: Ran((right.eager,))}), references(right)):
            store.finish_test(index_row(0, 0.5, {}), Result(dict(lanes)), 1, invalid=False)
        counted = store.state.counters.judged
    assert counted == JudgedCounts(3, {"the tolerance is as wide as the number": 1}, with_floats=1, few_floats=1)


def test_torn_leftovers_are_swept(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        doc = store.save(make()[0], VERSIONS)
    assert doc is not None
    torn = tmp_path / "crashes" / ".tmp-internal-error-relu-0123456789ab"
    torn.mkdir()
    (torn / "case.json").write_bytes(b'{"form')
    (tmp_path / ".tmp-campaign.json-1").write_bytes(b"{")
    (tmp_path / SCRATCH / "child").mkdir(parents=True)
    (tmp_path / "scratch" / "mine").mkdir(parents=True)
    (tmp_path / "mine.txt").write_text("of no concern")
    with Store(tmp_path, 1) as store:
        assert [path.name for path in (tmp_path / "crashes").iterdir()] == [doc.slug]
        assert list(store.findings.values()) == [doc]
    left = {"campaign.json", "campaign.lock", "crashes", "index.sqlite", "mine.txt", "scratch"}
    assert {path.name for path in tmp_path.iterdir()} == left


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"next_test": 3}',
        b'{"seed": "1"}',
        b'{"seed": 1, "next_test": 1.5}',
        b'{"seed": 1, "surprise": 0}',
        pytest.param(
            b'{"seed": 1, "format": 99}',
        ),
    ],
)
def test_a_corrupt_state_is_refused_and_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "campaign.json"
    path.write_bytes(text)
    with pytest.raises(Invalid) as caught:
        Store(tmp_path, None)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == text
    path.unlink()
    Store(tmp_path, None).__exit__(None, None, None)  # the lock was given back


def test_a_corrupt_finding_is_refused_and_named(tmp_path: Path, saved: Path) -> None:
    (saved / "finding.json").write_text("{}")
    message = f"{re.escape(str(saved / 'finding.json'))}: .*; move {saved} out of {saved.parent}/ to go on without it$"
    with pytest.raises(Invalid, match=message):
        Store(tmp_path, None)
    (tmp_path / "index.sqlite").write_bytes(b"garbage" * 999)
    with pytest.raises(Invalid, match=message):
        repair(tmp_path)
    assert (tmp_path / "index.sqlite").exists(), "nothing was moved"
    saved.rename(tmp_path / "damaged")
    repair(tmp_path)
    with Store(tmp_path, None) as store:
        assert not store.findings


def test_an_unreadable_finding_of_another_node_is_reported_once_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path, 1) as store:
        add_elsewhere(tmp_path, "x", b"{}")
        store.save_state()
        store.save_state()
    (message,) = capsys.readouterr().err.splitlines()
    assert message.startswith(f"finding of another node left out: {tmp_path / 'elsewhere' / 'x'}")


@pytest.mark.parametrize("link", ["elsewhere", "elsewhere/x"])
def test_nothing_of_another_node_is_written_through_a_link(tmp_path: Path, link: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "campaign" / link).parent.mkdir(parents=True)
    (tmp_path / "campaign" / link).symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="elsewhere"):
        add_elsewhere(tmp_path / "campaign", "x", b"{}")
    assert list((tmp_path / "mine").iterdir()) == []


# --- findings


def test_a_finding_is_seven_files_that_read_back(tmp_path: Path, make: Make) -> None:
    found, _ = make()
    with Store(tmp_path, 1) as store:
        doc = store.save(found, VERSIONS)
        assert doc is not None
    folder = tmp_path / "crashes" / doc.slug
    assert {path.name for path in folder.iterdir()} == FILES
    assert all(path.stat().st_size for path in folder.iterdir())
    read, case = finding_file.read_with_case(folder)
    assert finding_file.without_details(read) == doc
    assert case_file.encode(case) == case_file.encode(found.case)
    assert doc.signature == found.signature.id
    assert re.fullmatch(r"internal-error-[a-z0-9-]+-[0-9a-f]{12}", doc.slug)
    assert doc.slug.endswith(doc.signature)
    assert (doc.kind, doc.component, doc.lanes, doc.ops) == (
        Kind.INTERNAL_ERROR,
        Component.TVM,
        list(found.lanes),
        ["relu"],
    )
    assert (read.evidence.evidence, doc.identity, doc.lane) == (
        found.finding.evidence,
        found.signature,
        found.finding.lane,
    )
    assert (read.flaky, read.confirmed, read.found_in, read.versions) == (False, "3 of 3", ["relu", "neg"], VERSIONS)


def test_the_same_signature_twice_is_one_folder_and_a_count(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        first = store.save(make()[0], VERSIONS)
        assert first is not None
        files = {path.name: path.read_bytes() for path in (tmp_path / "crashes" / first.slug).iterdir()}
        assert store.save(make(op="neg", size=5)[0], VERSIONS) is None
        assert store.state.found == {first.signature: 2}
    assert [path.name for path in (tmp_path / "crashes").iterdir()] == [first.slug]
    assert {path.name: path.read_bytes() for path in (tmp_path / "crashes" / first.slug).iterdir()} == files
    with Store(tmp_path, 1) as store:
        assert store.save(make()[0], VERSIONS) is None
        assert store.state.found == {first.signature: 3}


def test_other_signatures_are_other_folders(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        docs = [store.save(make(message)[0], VERSIONS) for message in ("no layout", "no buffer")]
        assert all(docs)
        assert list(store.findings.values()) == docs
    assert len(list((tmp_path / "crashes").iterdir())) == 2


# --- findings that their case and blame tell apart


def wrong(make: Make, kind: Kind = Kind.WRONG_VALUE, **final: Any) -> tuple[Investigated, Sighting]:
    found, sighting = make()
    finding = replace(found.finding, kind=kind, stage=Stage.RUN, evidence=Mismatch(0, "a", "b"))
    signature = replace(signature_of(finding), **{"where": "export", "ops": ("relu",), **final})
    return replace(found, finding=finding, signature=signature), replace(sighting, signature=signature, finding=finding)


@pytest.mark.parametrize("kind", [Kind.WRONG_VALUE, Kind.SECOND_RUN_DIFFERS])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"ops": ("split",), "blamed": ("pass", "ConvertLayout")}, {"blamed": ("pass", "ConvertLayout")}),
        ({"blamed": ("pass", "FuseOps")}, {"blamed": ("pass", "ConvertLayout")}),
        ({"blamed": ("codegen", "torch.erf")}, {"blamed": ("codegen", "torch.sinc")}),
        ({"blamed": ("frontend", "relu")}, {"blamed": ("frontend", "relu"), "where": "onnx"}),
    ],
)
def test_two_bugs_are_two_findings(
    tmp_path: Path, make: Make, one: dict[str, Any], other: dict[str, Any], kind: Kind
) -> None:
    with Store(tmp_path, 1) as store:
        assert store.save(wrong(make, **one)[0], VERSIONS) is not None
        assert store.save(wrong(make, kind, **other)[0], VERSIONS) is not None
        assert store.save(wrong(make, **one)[0], VERSIONS) is None, "known"


@pytest.mark.parametrize(("lane", "known"), [("a", True), ("b", False)])
def test_garbage_of_other_kinds_is_one_bug_where_a_lane_shows_both(
    tmp_path: Path, make: Make, lane: str, known: bool
) -> None:
    one, other = wrong(make)[0], wrong(make, Kind.SECOND_RUN_DIFFERS, where="onnx")[0]
    with Store(tmp_path, 1) as store:
        assert store.save(replace(one, lanes=("a", "c")), VERSIONS) is not None
        assert store.holds(replace(other, lanes=(lane,))) is known
        assert (store.save(replace(other, lanes=(lane,)), VERSIONS) is None) is known


def test_a_finding_that_was_saved_before_exporters_had_names_is_known(tmp_path: Path, make: Make) -> None:
    found, _ = wrong(make)
    finding = replace(found.finding, component=Component.EXPORTER)
    today = replace(signature_of(finding), ops=("relu",), where="export")
    assert today.frame == "torch.export"
    before = replace(found, finding=finding, signature=replace(today, frame=""))
    with Store(tmp_path, 1) as store:
        assert store.save(before, VERSIONS) is not None
    with Store(tmp_path, 1) as store:
        assert store.save(replace(before, signature=today), VERSIONS) is None
        assert store.save(replace(before, signature=replace(today, ops=("neg",))), VERSIONS) is not None


def test_threads_save_one_folder(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store, ThreadPoolExecutor(4) as pool:
        docs = list(pool.map(lambda _: store.save(make()[0], VERSIONS), range(8)))
        (doc,) = (doc for doc in docs if doc is not None)
        assert store.state.found == {doc.signature: 8}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("case.json", b'"relu"', b'"neg"'), ("case.json", b'"x0"', b'"x7"'), ("tensors.safetensors", b"\x80?", b"\x00@")],
)
def test_an_edited_case_is_refused(saved: Path, name: str, old: bytes, new: bytes) -> None:
    path = saved / name
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(Invalid, match=re.escape(str(saved)) + r"/(case\.json|tensors\.safetensors): "):
        finding_file.read_with_case(saved)


def test_the_layout_of_case_json_does_not_matter(saved: Path) -> None:
    path = saved / "case.json"
    path.write_bytes(msgspec.json.format(path.read_bytes(), indent=0))
    finding_file.read_with_case(saved)


def test_a_flaky_finding_is_kept_apart(tmp_path: Path, make: Make) -> None:
    found, _ = make()
    with Store(tmp_path, 1) as store:
        unsure = store.save(flaky(found), VERSIONS)
        steady = store.save(found, VERSIONS)
    assert unsure is not None
    assert (unsure.flaky, unsure.confirmed) == (True, "2 of 3")
    assert "flaky" in unsure.slug
    assert steady is not None
    assert (steady.flaky, "flaky" in steady.slug) == (False, False)


def test_a_flaky_finding_does_not_stand_in_the_way_of_a_steady_one_in_the_next_run(tmp_path: Path, make: Make) -> None:
    found, _ = make()
    with Store(tmp_path, 1) as store:
        assert store.save(flaky(found), VERSIONS) is not None
    with Store(tmp_path, 1) as store:
        assert store.save(found, VERSIONS) is not None
        assert len(list((tmp_path / "crashes").iterdir())) == 2


def test_a_folder_that_is_in_the_way_is_not_overwritten(saved: Path, tmp_path: Path, make: Make) -> None:
    """finding.json has gone, so that the finding counts as new."""
    (saved / "finding.json").unlink()
    (saved / "notes.txt").write_text("mine")
    with Store(tmp_path, 1) as store, pytest.raises(OSError, match="not empty"):
        store.save(make()[0], VERSIONS)
    assert (saved / "notes.txt").read_text() == "mine"
    assert not (saved / "finding.json").exists()


# --- claims


def test_a_raised_signature_is_known_after_saving(tmp_path: Path, make: Make) -> None:
    found, sighting = make()
    another, _ = make(op="neg")
    with Store(tmp_path, 1) as store:
        assert store.claim(found.case, sighting)
        store.save(found, VERSIONS)
        assert not any(store.claim(case, sighting) for case in (found.case, another.case) * 4)
        assert store.state.found == {found.signature.id: 9}
    with Store(tmp_path, 1) as store:
        assert not store.claim(found.case, sighting)
        assert store.state.found == {found.signature.id: 10}


def claims(store: Store, found: Investigated, sighting: Sighting, number: int) -> list[bool]:
    return [store.claim(found.case, sighting) for _ in range(number)]


def test_the_2nd_the_4th_and_the_8th_of_a_known_wrong_result_are_investigated(tmp_path: Path, make: Make) -> None:
    found, sighting = numeric(make)
    with Store(tmp_path, 1) as store:
        assert store.claim(found.case, sighting)
        store.save(found, VERSIONS)
        assert claims(store, found, sighting, 8) == [True, False, True, False, False, False, True, False]
        assert store.state.found == {found.signature.id: 6}, "the end of their investigations counts the other three"


def test_claims_beside_a_flaky_wrong_result(tmp_path: Path, make: Make) -> None:
    found, sighting = numeric(make)
    with Store(tmp_path, 1) as store:
        assert store.claim(found.case, sighting)
        doc = store.save(flaky(found), VERSIONS, tests=2)
        assert doc is not None
        assert claims(store, found, sighting, 3) == [False, True, False]
        assert store.state.found == {doc.signature: 4}
    with Store(tmp_path, 1) as store:
        assert claims(store, found, sighting, 4) == [False, False, False, True]


def test_every_test_that_showed_known_behaviour_is_counted(tmp_path: Path, make: Make) -> None:
    entry = known_issues()[0]
    found, _ = make()
    with Store(tmp_path, 1) as store, pytest.MonkeyPatch.context() as patched:
        patched.setattr("fuzzer.campaign.store.store.known_behaviour.match", lambda signature: entry)
        assert store.save(found, VERSIONS, tests=5) is None
        assert store.state.known == {entry.name: 5}
