"""Each gate, open and shut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from desk import REPO, Bare, Place, Shows
from github_server import GitHubServer

from fuzzer.filing import gates
from fuzzer.filing.draft import Draft
from fuzzer.filing.filing import Filed, HeldBack, submit
from fuzzer.filing.gates import DAILY, REPRODUCTIONS, STOP, FilingContext, GateAnswer, GateVerdict
from fuzzer.filing.ledger import Ledger, LedgerEntry, state_folder
from fuzzer.filing.newest import Newest
from fuzzer.findings import made_here, record
from fuzzer.isolate.bare_script import BareRun
from fuzzer.isolate.reports import ScriptRun
from fuzzer.report import own_script, repro
from fuzzer.report.issue import marker
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.install import NotOffered
from oracles.finding import Component, Kind

pytestmark = pytest.mark.slow

DAY = 24 * 3600.0
NOON = 20_000 * DAY + DAY / 2


def test_the_script_of_a_finding_from_elsewhere_is_not_run(finding: Draft, context: FilingContext) -> None:
    shows = Shows(finding)
    (finding.folder / made_here.NAME).unlink()
    answer = gates.script_shows(finding, replace(context, backend=lambda: shows))
    assert answer.verdict is GateVerdict.CLOSED
    assert answer.reason.startswith("its script is not run: it comes from elsewhere")
    assert not answer.forcible
    assert not shows.sources
    assert is_open(gates.script_shows(finding, replace(context, backend=lambda: shows, trusts=True)))
    assert shows.sources
    bare = Bare()
    assert gates.shows_bare(finding, replace(context, bare=bare)) == answer
    assert bare.runs == []
    assert is_open(gates.shows_bare(finding, replace(context, bare=bare, trusts=True)))


@pytest.fixture
def context(place: Place, finding: Draft) -> Any:
    made = place.context(finding)
    with made.ledger:
        yield made


def with_doc(draft: Draft, **changes: Any) -> Draft:
    return replace(draft, doc=msgspec.structs.replace(draft.doc, **changes))


def on_lane(draft: Draft, **changes: Any) -> Draft:
    return with_doc(draft, lane=replace(draft.doc.lane, **changes))


def is_open(answer: GateAnswer) -> bool:
    return answer.verdict is GateVerdict.OPEN


@pytest.mark.parametrize(
    ("gate", "change", "reason"),
    [
        (gates.of_tvm, lambda d: with_doc(d, component=Component.EXPORTER), "it is exporter's fault"),
        (gates.of_tvm, lambda d: on_lane(d, variant="relay"), "it is in Relay, which left TVM with 0.20"),
        (gates.steady, lambda d: with_doc(d, flaky=True, confirmed="2 of 3"), "flaky: 2 of 3"),
        (gates.of_plain_tvm, lambda d: with_doc(d, versions={"preload": "a.py 12"}), "found with --preload a.py 12"),
        (gates.script_showed, lambda d: with_doc(d, script=ScriptRun(0)), "its repro.py says that the bug is gone"),
        (gates.script_showed, lambda d: with_doc(d, script=ScriptRun(125)), "its repro.py cannot tell whether"),
        (gates.script_showed, lambda d: with_doc(d, script=ScriptRun(2)), "its repro.py cannot tell whether"),
        (gates.script_showed, lambda d: with_doc(d, script=ScriptRun(-11)), "its repro.py ends with SIGSEGV"),
        (
            gates.script_showed,
            lambda d: with_doc(d, script=ScriptRun(None, "x")),
            "its repro.py was not run to its end: x",
        ),
        (gates.no_misuse, lambda d: with_doc(d, kind=Kind.SLOW), "compile-time: TVM promises no time"),
        (gates.not_known, lambda d: square_root(d), "square-root-of-integers: apache/tvm #18443"),
        (gates.presentable, lambda d: replace(d, title="x" * 257), "title 257 of at most 256 characters"),
        (gates.presentable, lambda d: replace(d, body="x" * 65_537), "text 65537 of 65536"),
        (gates.presentable, lambda d: replace(d, body=f"in {d.campaign}/x"), "it names "),
    ],
)
def test_a_look_at_the_finding(
    context: FilingContext, finding: Draft, gate: gates.GateCheck, change: Callable[[Draft], Draft], reason: str
) -> None:
    assert is_open(gate(finding, context))
    shut = gate(change(finding), context)
    assert shut.verdict is GateVerdict.CLOSED
    assert reason in shut.reason


def square_root(draft: Draft) -> Draft:
    skeleton = "relax.sqrt requires the input tensor to have float dtype"
    return with_doc(draft, identity=replace(draft.doc.identity, skeleton=skeleton, kind=Kind.INTERNAL_ERROR))


@pytest.mark.parametrize("where", [state_folder, None])
def test_the_kill_switch(context: FilingContext, finding: Draft, where: Callable[[], Path] | None) -> None:
    assert is_open(gates.not_stopped(finding, context))
    folder = where() if where else finding.campaign
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STOP).touch()
    assert gates.not_stopped(finding, context) == GateAnswer(GateVerdict.CLOSED, f"{folder / STOP} is there")
    assert isinstance(submit(finding, context), HeldBack)


def test_a_pause_and_its_end(context: FilingContext, finding: Draft) -> None:
    context.ledger.set_pause(context.place, "only 1 of 5 are confirmed")
    assert gates.not_paused(finding, context).reason == "only 1 of 5 are confirmed; --resume-filing allows it again"
    assert isinstance(submit(finding, context), HeldBack)
    assert is_open(gates.not_paused(finding, replace(context, place="api.github.com/another/place")))
    context.ledger.set_pause(context.place, "")
    assert is_open(gates.not_paused(finding, context))


def entry(context: FilingContext, fingerprint: str, intended: float) -> LedgerEntry:
    return LedgerEntry(context.place, fingerprint, "nonce", "title", "/x", "0.27.0", intended)


def test_three_a_day(context: FilingContext, finding: Draft) -> None:
    now = [NOON]
    context.ledger.clock = lambda: now[0]
    for count, seconds in enumerate((-DAY, -DAY / 2 - 1, -DAY / 2, 0.0, 60.0)):
        filed = entry(context, str(count), NOON + seconds)
        context.ledger.intend(filed)
        if count != 3:  # one of them is an intent that nobody knows the end of
            context.ledger.filed(filed, count, "https://example.org/7")
    refused = entry(context, "refused", NOON)
    context.ledger.intend(refused)
    context.ledger.refused(refused, "no")
    assert gates.below_the_limit(finding, context) == GateAnswer(GateVerdict.CLOSED, f"3 of {DAILY} today (UTC)")
    assert is_open(gates.below_the_limit(finding, replace(context, place="api.github.com/another/place")))
    now[0] = NOON + DAY / 2
    assert gates.below_the_limit(finding, context) == GateAnswer(GateVerdict.OPEN, f"0 of {DAILY} today (UTC)")


def test_the_fourth_waits_for_tomorrow(place: Place, server: GitHubServer, findings: list[Draft]) -> None:
    outcomes = []
    for draft in findings:
        context = place.context(draft)
        with context.ledger:
            outcomes.append(submit(draft, context, force=True))
    assert [type(outcome) for outcome in outcomes] == [Filed] * 3 + [HeldBack] * 3
    assert len(server.issues(REPO)) == 3


@pytest.mark.parametrize(
    ("code", "verdict"), [(1, GateVerdict.OPEN), (0, GateVerdict.CLOSED), (125, GateVerdict.CLOSED)]
)
def test_the_script_that_the_issue_holds_is_run_and_must_show_the_bug(
    context: FilingContext, finding: Draft, code: int, verdict: GateVerdict
) -> None:
    shows = Shows(finding)
    shows.script = ScriptRun(code)
    answer = gates.script_shows(finding, replace(context, backend=lambda: shows))
    assert answer.verdict is verdict
    assert shows.sources == [repro.script(record.read(finding.folder))]


NEEDED = ("torch", "apache-tvm==0.27.0", "numpy")
ALONE = f"with {' '.join(NEEDED)} alone"


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (ScriptRun(1), GateAnswer(GateVerdict.OPEN, ALONE)),
        (
            ScriptRun(0),
            GateAnswer(GateVerdict.CLOSED, f"its repro.py says that the bug is gone (exit code 0), {ALONE}"),
        ),
        (
            ScriptRun(125),
            GateAnswer(
                GateVerdict.CLOSED, f"its repro.py cannot tell whether the bug is there (exit code 125), {ALONE}"
            ),
        ),
    ],
)
def test_the_script_must_show_the_bug_where_only_its_packages_are(
    context: FilingContext, finding: Draft, run: ScriptRun, expected: GateAnswer
) -> None:
    bare = Bare()
    bare.script = run
    assert gates.shows_bare(finding, replace(context, bare=bare)) == expected
    assert bare.runs == [(repro.script(record.read(finding.folder)), NEEDED, finding.doc.lane.target)]


def test_nothing_is_filed_without_that(context: FilingContext, finding: Draft, server: GitHubServer) -> None:
    held = submit(finding, replace(context, bare=None), force=True)
    assert isinstance(held, HeldBack)
    assert held.gates[-1].gate.name == "is shown by repro.py in a bare environment"
    assert server.issues(REPO) == []


def test_a_tvm_that_pip_does_not_find_is_left_to_a_person(context: FilingContext, finding: Draft) -> None:
    def not_offered(source: str, requirements: Sequence[str], target: str) -> BareRun:
        raise NotOffered("pip finds no apache-tvm 0.28.dev0")

    own_build = replace(context, bare=not_offered)
    expected = GateAnswer(GateVerdict.CLOSED, "pip finds no apache-tvm 0.28.dev0", forcible=True)
    assert gates.shows_bare(finding, own_build) == expected
    assert isinstance(submit(finding, own_build), HeldBack)
    assert isinstance(submit(finding, own_build, force=True), Filed)


def test_a_script_that_needs_a_device_is_left_to_a_person(
    context: FilingContext, finding: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_script, "lacks_a_device", lambda stored: "it needs a GPU, and there is none here")
    bare = Bare()
    answer = gates.shows_bare(finding, replace(context, bare=bare))
    assert answer == GateAnswer(GateVerdict.CLOSED, "it needs a GPU, and there is none here", forcible=True)
    assert bare.runs == []


def test_an_index_that_cannot_be_reached_ends_the_command(context: FilingContext, finding: Draft) -> None:
    """It says nothing about the finding, which waits in a campaign."""

    def unreachable(source: str, requirements: Sequence[str], target: str) -> BareRun:
        raise EnvironmentMissing("pip finds no release of torch: is the package index reachable?")

    with pytest.raises(EnvironmentMissing):
        submit(finding, replace(context, bare=unreachable))


def test_a_finding_of_an_earlier_version_has_no_run_of_its_script_and_passes(
    context: FilingContext, finding: Draft
) -> None:
    assert finding.doc.script is None
    assert is_open(gates.script_showed(finding, context))


@pytest.mark.parametrize("times", [0, 4, REPRODUCTIONS - 1, REPRODUCTIONS])
def test_ten_of_ten(context: FilingContext, finding: Draft, times: int) -> None:
    shows = Shows(finding, times)
    answer = gates.reproduces(finding, replace(context, backend=lambda: shows))
    assert answer.reason == f"{times} of {REPRODUCTIONS} fresh runs"
    assert is_open(answer) is (times == REPRODUCTIONS)
    assert shows.runs == min(times + 1, REPRODUCTIONS)


def test_the_newest_release(context: FilingContext, finding: Draft) -> None:
    shows = Shows(finding, 15)
    here = replace(context, backend=lambda: shows)
    assert gates.in_the_newest(finding, here) == GateAnswer(GateVerdict.OPEN, "0.27.0, where it ran")
    assert shows.runs == 0
    newer = replace(here, newest=Newest("0.28.0", "0.28.0"))
    assert gates.in_the_newest(finding, newer) == GateAnswer(GateVerdict.OPEN, "0.28.0: 10 of 10 fresh runs")
    assert shows.toolchains == ["0.28.0"] * 10
    assert gates.in_the_newest(finding, newer) == GateAnswer(GateVerdict.CLOSED, "0.28.0: 5 of 10 fresh runs")


def test_a_draft_without_a_tracker_leaves_these_gates_unchecked(finding: Draft, tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        verdicts = {gate.name: gate.check(finding, FilingContext(ledger)).verdict for gate in gates.GATES}
    assert [name for name, verdict in verdicts.items() if verdict is GateVerdict.NOT_ASKED] == [
        "is wanted there",
        "was not filed before",
        "has a cause that was not filed",
        "is within the daily limit",
        "shows in fresh runs",
        "is shown by repro.py today",
        "fails in the newest release",
        "is shown by repro.py in a bare environment",
        "is in no other issue",
    ]


@pytest.mark.parametrize("state", ["open", "closed"])
@pytest.mark.parametrize("found_by", ["the search", "the list"])
def test_the_same_fingerprint_is_never_filed_again(
    context: FilingContext, finding: Draft, server: GitHubServer, state: str, found_by: str
) -> None:
    server.add_issue(REPO, "hand-written", f"seen {marker(finding.fingerprint)}", state=state)
    if found_by == "the search":
        server.repository(REPO).issues[0]["updated_at"] = "2020-01-01T00:00:00Z"
        server.index()
    held = submit(finding, context, force=True)
    assert isinstance(held, HeldBack)
    reason = f"the same signature: {server.url}/{REPO}/issues/1 ({state}) hand-written"
    assert held.gates[-1].answer == GateAnswer(GateVerdict.CLOSED, reason)


def test_a_near_equal_title_is_shown_and_blocks_unless_forced(
    context: FilingContext, finding: Draft, server: GitHubServer
) -> None:
    server.add_issue(REPO, finding.title.replace("[Bug]", "[Bug][LLVM]"), state="closed")
    server.index()
    held = submit(finding, context)
    assert isinstance(held, HeldBack)
    assert held.gates[-1].answer.forcible
    assert "(closed) [Bug][LLVM]" in held.gates[-1].answer.reason
    forced = submit(finding, context, force=True)
    assert isinstance(forced, Filed)
    assert [result.gate.name for result in forced.gates if result.forced] == ["is in no other issue"]


def test_others_are_compared_and_let_pass(context: FilingContext, finding: Draft, server: GitHubServer) -> None:
    server.add_issue(REPO, "[Bug] softmax of float16 overflows")
    assert gates.not_there(finding, context) == GateAnswer(GateVerdict.OPEN, "1 issues compared")


def test_only_what_a_person_may_judge_can_be_forced(context: FilingContext, finding: Draft) -> None:
    held = submit(with_doc(finding, flaky=True), context, force=True)
    assert isinstance(held, HeldBack)
    forced = submit(on_lane(finding, passes=("LegalizeOps", "MetaSchedule-0")), context, force=True)
    assert isinstance(forced, Filed)
    assert [result.answer.reason.partition(":")[0] for result in forced.gates if result.forced] == [
        "unmeasured-schedule"
    ]


def test_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_folder() == tmp_path / "state" / "difftvm"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local" / "state" / "difftvm"


def test_a_cause_is_filed_once(context: FilingContext, finding: Draft) -> None:
    """The family of a draft are other findings of the same cause."""
    other = msgspec.structs.replace(finding.doc, slug="other", signature="f" * 12)
    draft = replace(finding, relatives=(replace(finding.record, doc=other),))
    assert gates.family_not_filed(draft, context).verdict is GateVerdict.OPEN
    entry = LedgerEntry(context.place, other.signature, "a", "title", "other", "0.27.0", 0.0)
    context.ledger.intend(entry)
    context.ledger.filed(entry, 7, "https://example.org/7")
    answer = gates.family_not_filed(draft, context)
    assert (answer.verdict, answer.forcible) == (GateVerdict.CLOSED, True)
    assert answer.reason == "other is of the same family; https://example.org/7"
    assert gates.family_not_filed(finding, context).verdict is GateVerdict.OPEN
