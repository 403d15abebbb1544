"""In which release a finding came, and in which it went, as far as those that were run tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compiler import Compiler, chain

from fuzzer.signature import signature_of
from fuzzer.signature.blame import NO_RELEASES, Releases, ReleaseVerdict
from fuzzer.triage.blame.releases import Release, in_releases, oldest_first, run_in_releases, verdicts_of
from oracles.finding import Component
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Raised, Skipped, Stage, Unsupported

HERE = (Release("0.27.0.post1", "host"), Release("0.25.0.post1", "old"), Release("0.26.0", "between"))


def test_the_release_that_fails_first_after_one_that_passes() -> None:
    verdicts_of = Releases(
        (("0.25.0", ReleaseVerdict.PASSES), ("0.26.0", ReleaseVerdict.FAILS), ("0.27.0", ReleaseVerdict.FAILS))
    )
    assert (verdicts_of.introduced, verdicts_of.fixed) == ("0.26.0", "")


def test_the_release_that_passes_again() -> None:
    verdicts_of = Releases(
        (("0.25.0", ReleaseVerdict.FAILS), ("0.26.0", ReleaseVerdict.NOT_RUN), ("0.27.0", ReleaseVerdict.PASSES))
    )
    assert (verdicts_of.introduced, verdicts_of.fixed) == ("", "0.27.0")


def test_one_release_or_another_failure_gives_no_release_that_introduced_it() -> None:
    assert Releases((("0.27.0", ReleaseVerdict.FAILS),)).introduced == ""
    assert Releases((("0.26.0", ReleaseVerdict.OTHERWISE), ("0.27.0", ReleaseVerdict.FAILS))).introduced == ""


def test_releases_come_in_their_own_order_and_builds_of_ones_own_last() -> None:
    given = [Release(version, "x") for version in ("0.9.0", "mine", "0.27.0.post1", "0.27.0", "0.10.dev3", "0.26.0")]
    assert [each.version for each in oldest_first(given)] == [
        *("0.9.0", "0.10.dev3", "0.26.0", "0.27.0", "0.27.0.post1", "mine"),
    ]


def test_each_release_runs_once_oldest_first() -> None:
    """Wrong from 0.26.0 on."""
    compiler = Compiler(lambda lane, names: set() if lane.toolchain == "old" else {"v3"} & set(names))
    finding = compiler.finding(chain())
    runs = list(run_in_releases(compiler.run, chain(), finding.lane, signature_of(finding), HERE))
    assert [lane.toolchain for lane in compiler.ran] == ["old", "between", "host"]
    assert verdicts_of(runs).verdicts == (
        ("0.25.0.post1", ReleaseVerdict.PASSES),
        ("0.26.0", ReleaseVerdict.FAILS),
        ("0.27.0.post1", ReleaseVerdict.FAILS),
    )
    assert verdicts_of(runs).introduced == "0.26.0"


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Unsupported(Stage.IMPORT, "no such operator"), ReleaseVerdict.NOT_RUN),
        (Skipped("there is no C compiler"), ReleaseVerdict.NOT_RUN),
        (Raised(Stage.COMPILE, "tvm.error.InternalError", "no"), ReleaseVerdict.OTHERWISE),
    ],
)
def test_what_does_not_run_there_or_fails_otherwise_is_called_so(outcome: Outcome, verdict: ReleaseVerdict) -> None:
    class Old(Compiler):
        def _compiled(self, lane: LaneSpec, names: tuple[str, ...]) -> Outcome:
            return outcome if lane.toolchain == "old" else super()._compiled(lane, names)

    compiler = Old(lambda lane, names: {"v3"} & set(names))
    finding = compiler.finding(chain())
    runs = list(run_in_releases(compiler.run, chain(), finding.lane, signature_of(finding), HERE[:2]))
    assert verdicts_of(runs).verdicts == (("0.25.0.post1", verdict), ("0.27.0.post1", ReleaseVerdict.FAILS))


def test_a_finding_of_tvm_is_run_in_each_release() -> None:
    compiler = Compiler(lambda lane, names: set() if lane.toolchain == "old" else {"v3"} & set(names))
    finding = compiler.finding(chain())
    found = in_releases(compiler.run, chain(), finding, signature_of(finding), HERE[:2])
    assert found == Releases((("0.25.0.post1", ReleaseVerdict.PASSES), ("0.27.0.post1", ReleaseVerdict.FAILS)))


def test_a_single_release_and_a_failure_of_the_exporter_are_not_run() -> None:
    compiler = Compiler(lambda lane, names: {"v3"} & set(names))
    finding = compiler.finding(chain())
    compiler.ran.clear()
    exporters = replace(finding, component=Component.EXPORTER)
    assert in_releases(compiler.run, chain(), finding, signature_of(finding), HERE[:1]) is NO_RELEASES
    assert in_releases(compiler.run, chain(), exporters, signature_of(finding), HERE) is NO_RELEASES
    assert compiler.ran == []
