"""`fuzz bisect --builds` and `--build-command`: which build introduced a finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from fuzzer.commands.progress import working
from fuzzer.commands.tables import print_table
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.headline import headline
from fuzzer.isolate.fleet import Fleet
from fuzzer.signature import signature_of
from fuzzer.signature.blame import NO_INTRODUCTION, Introduction, ReleaseVerdict
from fuzzer.system import temporary
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.terminal import echo, print_json, say
from fuzzer.toolchains.builds import Build
from fuzzer.toolchains.preload import read as read_preload
from fuzzer.toolchains.toolchain import HOST, GraphLanguage, Toolchain, language_of
from fuzzer.triage.blame.first_failing import Bisection, first_failing
from fuzzer.triage.blame.releases import Release, ReleaseRun, run_in
from fuzzer.triage.undisturbed import joined
from generators.graph import Case
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Result


def run_in_builds(
    doc: FindingDoc, case: Case, builds: Sequence[Build], preload: Path | None
) -> tuple[Bisection, dict[int, ReleaseRun]]:
    """Run the finding in builds until the first one that shows it is known. The processes of a build end before the
    next one is made, which may replace it."""
    runs: dict[int, ReleaseRun] = {}
    signature, kind = signature_of(doc.finding), language_of(doc.lane) or GraphLanguage.RELAX
    preloaded = read_preload(preload) if preload else None

    def run(place: int) -> ReleaseVerdict:
        build = builds[place]
        runs[place] = ReleaseRun(Release(build.name, build.name), ReleaseVerdict.NOT_RUN, None)
        if made := build.toolchain(kind):
            try:
                with _fleet(replace(made, preload=preloaded)) as fleet:
                    in_both = partial(_references_in, host, fleet)
                    runs[place] = run_in(in_both, case, doc.lane, signature, runs[place].release)
            except EnvironmentMissing as error:
                say(str(error))
        return runs[place].verdict

    shown = working(f"bisecting {len(builds)} builds", lambda: f"{len(runs)} were run; the finding is unchanged")
    with shown, _fleet(HOST) as host:
        return first_failing(len(builds), run), runs


def _fleet(toolchain: Toolchain) -> Fleet:
    return Fleet(temporary.new_folder(), lambda name: toolchain)


def _references_in(host: Fleet, build: Fleet, case: Case, lanes: Sequence[LaneSpec]) -> Result:
    """Run the references in the host, and TVM's lanes in the build."""
    references = [lane for lane in lanes if lane.engine is not Engine.TVM]
    own = [lane for lane in lanes if lane.engine is Engine.TVM]
    return joined(host.run_fresh(case, references), build.run_fresh(case, own))


def introduction(builds: Sequence[Build], found: Bisection, subject: Callable[[str], str]) -> Introduction:
    """The builds of which one introduced the finding. `subject` returns the first line of a commit's message by its
    name, or ""."""
    if found.why_not:
        return NO_INTRODUCTION
    names = tuple(builds[place].name for place in found.suspects)
    passes = builds[found.suspects.start - 1].name
    return Introduction(names, subject(names[0]) if len(names) == 1 else "", passes)


def print_builds(
    slug: str, found: Bisection, introduced: Introduction, runs: Mapping[int, ReleaseRun], json: bool
) -> None:
    """Print what each build does that was run, and which one introduced the finding."""
    tried = [runs[place] for place in sorted(runs)]
    if json:
        rows = [
            {
                "build": each.release.version,
                "verdict": each.verdict,
                "told": headline(each.finding) if each.finding else "",
            }
            for each in tried
        ]
        print_json(
            {
                "slug": slug,
                "introduced_by": introduced.builds,
                "subject": introduced.subject,
                "why_not": found.why_not,
                "runs": rows,
            }
        )
        return
    shown = ((each.release.version, each.verdict, headline(each.finding) if each.finding else "") for each in tried)
    print_table(("build", "verdict", ""), shown)
    if found.why_not:
        echo(f"{slug}: {found.why_not}")
        return
    others = "" if len(introduced.builds) == 1 else ": the others cannot tell"
    echo(f"{slug}: introduced by {introduced.shown}{others}")
