"""`fuzz bisect`: runs a finding in releases of TVM that are installed as toolchains, or in builds of commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.bisect_builds import introduction, print_builds, run_in_builds
from fuzzer.commands.options import FINDING, FindingCampaign, JsonFlag, PreloadFile
from fuzzer.commands.progress import counting, working
from fuzzer.commands.tables import print_table
from fuzzer.commands.with_options import with_options
from fuzzer.findings import replay as replaying
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.headline import headline
from fuzzer.findings.named import finding_named
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.report.add_to import add_introduction
from fuzzer.signature import signature_of
from fuzzer.signature.blame import Releases, ReleaseVerdict
from fuzzer.system import temporary
from fuzzer.system.terminal import echo, next_line, print_json, say
from fuzzer.toolchains import install, registry
from fuzzer.toolchains.builds import COMMIT, in_folder, of_commits, subject_of
from fuzzer.toolchains.lanes import named, runs_in
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST, Toolchain
from fuzzer.triage.blame.releases import Release, ReleaseRun, run_in_releases, verdicts_of, with_recorded
from generators.graph import Case, Invalid
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class BisectOptions:
    """What the user wrote. `fuzz bisect --help` lists the options in this order."""

    finding: Annotated[Path, typer.Argument(metavar="FINDING", help=FINDING)]
    toolchain: Annotated[
        str | None,
        typer.Option("--toolchain", "--toolchains", metavar="NAMES", help="Only these toolchains, comma-separated."),
    ] = None
    install_missing: Annotated[
        bool, typer.Option("--install", help="First install each release of the package index that is missing.")
    ] = False
    builds: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Builds in the order of their names: interpreters, or prefixes."),
    ] = None
    build_command: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help=f"Builds the commit ${COMMIT}, and prints the interpreter or prefix."),
    ] = None
    repository: Annotated[Path, typer.Option("--repo", metavar="DIR", help="The checkout of the commits.")] = Path(".")
    good: Annotated[str, typer.Option(metavar="REVISION", help="A commit that does not show the finding.")] = ""
    bad: Annotated[str, typer.Option(metavar="REVISION", help="A commit that shows the finding.")] = "HEAD"
    campaign: FindingCampaign = None
    preload: PreloadFile = None
    json: JsonFlag = False


@with_options(BisectOptions)
def bisect(options: BisectOptions) -> None:
    """Find the releases of TVM that introduced and fixed a finding, or the one of some builds that introduced it.

    What builds show is saved in the finding's folder and its report; what releases show is only printed.
    """
    options = replace(options, finding=finding_named(options.finding, options.campaign))
    doc, case = replaying.load(options.finding)
    if options.builds or options.build_command:
        _bisect_builds(options, doc, case)
    else:
        _bisect_releases(options, doc, case)


def _bisect_builds(options: BisectOptions, doc: FindingDoc, case: Case) -> None:
    builds, command, repository = options.builds, options.build_command, options.repository
    if options.toolchain or options.install_missing or (builds and command):
        raise Invalid("--builds, --build-command, and --toolchain with --install exclude each other")
    if command and not options.good:
        raise Invalid("--build-command needs --good, a commit that does not show the finding")
    chosen = in_folder(builds) if builds else of_commits(command or "", repository, options.good, options.bad, say)
    subject = (lambda name: subject_of(repository, name)) if command else (lambda name: "")
    found, tried = run_in_builds(doc, case, chosen, options.preload)
    introduced = introduction(chosen, found, subject)
    print_builds(doc.slug, found, introduced, tried, options.json)
    if introduced.builds:
        add_introduction(options.finding, introduced)


def _bisect_releases(options: BisectOptions, doc: FindingDoc, case: Case) -> None:
    if options.install_missing:
        _install_missing()
    chosen, finding = _toolchains(doc.lane, options.toolchain), options.finding
    with (
        working(
            f"running the finding in {len(chosen)} toolchains", lambda: f"nothing is saved; {finding} is unchanged"
        ) as shown,
        Fleet(temporary.new_folder(), finder(options.preload)) as fleet,
    ):
        releases = [Release(fleet.backend(BackendKey(each.name)).versions["tvm"], each.name) for each in chosen]
        runs = list(
            run_in_releases(counting(fleet, shown).run_fresh, case, doc.lane, signature_of(doc.finding), releases)
        )
    verdicts = with_recorded(verdicts_of(runs), doc.releases)
    if options.json:
        print_json(_document(doc.slug, runs, verdicts))
        return
    print_table(("TVM", "toolchain", "verdict", ""), _rows(runs, verdicts))
    echo(f"{doc.slug}: {_in_words(verdicts)}; {_next(finding, verdicts)}")


def _toolchains(lane: LaneSpec, names: str | None) -> list[Toolchain]:
    """The toolchains in which the lane can run. Raise `Invalid` if there is none."""
    if names is None:
        everywhere = [HOST, *(registry.read(name).toolchain for name in registry.names())]
    else:
        everywhere = list(named(names))
    chosen = [each for each in everywhere if runs_in(lane, each)]
    if not chosen:
        raise Invalid(f"lane {lane.name!r} runs in none of these toolchains; `fuzz toolchain list` lists all")
    return chosen


def _install_missing() -> None:
    for release in install.releases_on_the_index():
        if release not in registry.names() and not registry.is_host(release):
            install.add_release(release, say)


def _rows(runs: Sequence[ReleaseRun], releases: Releases) -> Iterator[tuple[str, ...]]:
    """A row for each release; a release that was not run now has what finding.json records."""
    now = {run.release.version: run for run in runs}
    for version, verdict in releases.verdicts:
        run = now.get(version)
        if run is None:
            yield version, "-", verdict, "as finding.json records it"
        else:
            yield version, run.release.toolchain, verdict, headline(run.finding) if run.finding else ""


def _in_words(releases: Releases) -> str:
    parts = [f"introduced in {releases.introduced}"] if releases.introduced else []
    parts += [f"fixed in {releases.fixed}"] if releases.fixed else []
    if parts:
        return ", ".join(parts)
    if len(releases.verdicts) < 2:
        return "no other release is installed here, and finding.json records none"
    verdicts = {verdict for _, verdict in releases.verdicts} - {ReleaseVerdict.NOT_RUN}
    if verdicts == {ReleaseVerdict.FAILS}:
        return "it shows in all of them"
    if ReleaseVerdict.FAILS not in verdicts:
        return "it shows in none of them"
    return "no release fails next to one that passes"


def _next(finding: Path, releases: Releases) -> str:
    return next_line("blame", finding) if len(releases.verdicts) > 1 else next_line("bisect", finding, "--install")


def _document(slug: str, runs: Sequence[ReleaseRun], releases: Releases) -> dict[str, object]:
    documents = [
        {
            "tvm": run.release.version,
            "toolchain": run.release.toolchain,
            "verdict": run.verdict,
            "told": headline(run.finding) if run.finding else "",
        }
        for run in runs
    ]
    now = {run.release.version for run in runs}
    recorded = [{"tvm": version, "verdict": verdict} for version, verdict in releases.verdicts if version not in now]
    return {
        "slug": slug,
        "introduced": releases.introduced,
        "fixed": releases.fixed,
        "runs": documents,
        "recorded": recorded,
    }
