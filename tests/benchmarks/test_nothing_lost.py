"""The pure parts of benchmarks/nothing_lost.py: which cases a bug gets, and the verdicts."""

from __future__ import annotations

from pathlib import Path

import nothing_lost
import pytest
from child_campaign import ROOT
from graphs_by_hand import case_of
from nothing_lost import AGAINST, THIS, Bug, Campaign
from planted import PLANTED

from fuzzer.seeds import corpus
from generators.graph import Case

FOUND = Campaign(10, 30.0, 2, "wrong-value-exp-0123456789ab")
MISSED = Campaign(10, 20.0, 1, "")
FAILED = Campaign(0, 5.0, 0, "", "exit code 69: no TVM")


def case(dtype: str, *ops: str) -> Case:
    """The operators, one after the other."""
    names = ["x0", *(f"v{place}" for place in range(len(ops)))]
    calls = [(result, op, operand) for operand, result, op in zip(names, names[1:], ops, strict=False)]
    return case_of({"x0": f"{dtype}[2,3]"}, calls, names[-1])


def test_a_bug_gets_the_smallest_cases_that_can_show_it() -> None:
    cases = {
        3: case("float32", "neg", "exp", "abs"),
        4: case("float32", "neg"),
        5: case("float16", "exp"),
        7: case("float32", "exp", "neg"),
        9: case("float32", "exp"),
    }
    assert list(nothing_lost.chosen(cases, "exp", 10)) == [9, 7, 3]
    assert list(nothing_lost.chosen(cases, "exp", 2)) == [9, 7]
    assert nothing_lost.chosen(cases, "tanh", 2) == {}
    assert list(nothing_lost.chosen(cases, "", 10)) == [4, 9, 7, 3], "a bug of all operators"


def test_other_cases_come_before_them() -> None:
    cases = {3: case("float32", "exp"), 4: case("float32", "neg"), 5: case("float16", "exp"), 6: case("float32", "abs")}
    assert list(nothing_lost.before_them(cases, "exp", 10)) == [4, 5, 6]
    assert list(nothing_lost.before_them(cases, "exp", 2)) == [4, 5]


def test_a_bug_that_is_missed_gets_more_cases_and_then_the_other_version() -> None:
    assert nothing_lost.rounds([THIS], 10, 200) == [(THIS, 10), (THIS, 200)]
    assert nothing_lost.rounds([THIS, AGAINST], 10, 200) == [(THIS, 10), (THIS, 200), (AGAINST, 200)]
    assert nothing_lost.rounds([THIS, AGAINST], 200, 200) == [(THIS, 200), (AGAINST, 200)]


@pytest.mark.slow
def test_a_campaign_runs_the_cases_in_this_order_in_tiers(tmp_path: Path) -> None:
    cases = [case("float32", op) for op in ("neg", "abs", "exp")]
    words = nothing_lost.words_of(ROOT, PLANTED[0].fault, cases, tmp_path / "this")
    assert "--lanes" not in words, "a test of lanes that the user named has no tiers"
    assert words[words.index("--tests") + 1] == 3
    assert words[words.index("--drain") + 1] == words[words.index("--triage-share") + 1] == 0
    assert [each.graph.ops for each in corpus.cases(tmp_path / "this").values()] == [("neg",), ("abs",), ("exp",)]
    faults = Path(str(words[words.index("--preload") + 1]))
    assert faults.with_name("planted").read_text() == PLANTED[0].fault


def test_the_founding_cases_are_run_by_the_other_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "fuzzer").mkdir()
    (tmp_path / "fuzzer" / "__init__.py").touch()
    (tmp_path / "fuzzer" / "cli.py").write_text('raise SystemExit("this is the other checkout")')
    assert nothing_lost.founding_cases(tmp_path) == "this is the other checkout"


@pytest.mark.long
def test_there_are_sixty_bugs_and_cases_for_each() -> None:
    assert len(PLANTED) >= 60
    cases = nothing_lost.drawn(2000)
    counts = {each.operator: len(nothing_lost.chosen(cases, each.operator, 10)) for each in PLANTED}
    assert min(counts.values()) >= 8, counts


def test_what_only_the_other_version_finds_is_named() -> None:
    bugs = [
        Bug("frontend _flip wrong", "relax-export-llvm", 10, {THIS: FOUND}),
        Bug("pass FuseOps wrong softmax", "relax-export-zero", 9, {THIS: MISSED, AGAINST: FOUND}),
        Bug("runtime vm wrong", "relax-export-llvm", 10, {THIS: MISSED, AGAINST: MISSED}),
        Bug("codegen llvm exp wrong", "relax-export-llvm", 10, {THIS: MISSED, AGAINST: FAILED}),
    ]
    assert nothing_lost.summary(bugs) == [
        "4 planted bugs: this version finds 1; the other version was asked for 3 and finds 1 of them",
        "only against: pass FuseOps wrong softmax, relax-export-zero",
    ]
    assert nothing_lost.line(bugs[1]) == (
        "missed  found   pass FuseOps wrong softmax, relax-export-zero: 9 cases, 20 and 30 CPU s"
    )
    assert nothing_lost.line(bugs[3]).endswith("20 and 5 CPU s; against: exit code 69: no TVM")
    assert nothing_lost.summary([Bug("runtime vm wrong", "relax-export-llvm", 10, {THIS: FOUND})]) == [
        "1 planted bugs: this version finds 1"
    ]


def test_a_bug_is_lost_where_only_the_other_version_finds_it_or_a_campaign_failed() -> None:
    def lost(**campaigns: Campaign) -> bool:
        return nothing_lost.bugs_lost([Bug("runtime vm wrong", "relax-export-llvm", 10, campaigns)])

    assert lost(this=MISSED, against=FOUND)
    assert lost(this=FAILED, against=MISSED)
    assert lost(this=FOUND, against=FAILED)
    assert lost(this=MISSED)
    assert not lost(this=MISSED, against=MISSED)
    assert not lost(this=FOUND, against=MISSED)
    assert not lost(this=FOUND)


def test_a_founding_case_that_only_the_other_version_gets_right_is_lost() -> None:
    good, bad = {"cond, relax-export-llvm in host": True}, {"cond, relax-export-llvm in host": False}
    assert nothing_lost.founding_lost({THIS: bad, AGAINST: good})
    assert nothing_lost.founding_lost({THIS: "no toolchain", AGAINST: good})
    assert nothing_lost.founding_lost({THIS: good, AGAINST: "no toolchain"})
    assert not nothing_lost.founding_lost({THIS: good, AGAINST: bad})
    assert not nothing_lost.founding_lost({THIS: bad, AGAINST: bad})
    assert nothing_lost.founding_lost({THIS: bad})
    assert not nothing_lost.founding_lost({THIS: good})
    assert nothing_lost.founding_lines({THIS: bad, AGAINST: "no toolchain"}) == [
        "founding cases, this: BAD cond, relax-export-llvm in host",
        "founding cases, this: 0 of 1 give what they must",
        "founding cases, against: not run: no toolchain",
    ]
