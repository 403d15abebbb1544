"""`fuzz triage`: lists the findings of a campaign, known behaviour, and duplicates."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from csv import writer as csv_writer
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.store import tables
from fuzzer.campaign.store.layout import blocked
from fuzzer.campaign.store.presence import is_campaign, why_no_index
from fuzzer.commands.options import JsonFlag, PreloadFile, ReleaseNames
from fuzzer.commands.times import moment, parsed_seconds
from fuzzer.commands.triage_list import Chosen, Listed
from fuzzer.commands.with_options import with_options
from fuzzer.findings import finding_file
from fuzzer.findings import merge as merging
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.merge import Merge
from fuzzer.system import last_list
from fuzzer.system.terminal import echo, next_line, one_sentence, print_json, say
from fuzzer.watching.cause_lines import replay
from fuzzer.watching.cause_rows import rows_of
from fuzzer.watching.causes import Causes, causes_in
from fuzzer.watching.formatting import number_of
from fuzzer.watching.on_disk import check, counted_in, findings_of
from fuzzer.watching.ranking import CSV_HEAD, Family, Grouping, Ranked, csv_rows
from fuzzer.watching.titles import Titles
from generators.graph import Invalid
from oracles.finding import Component

TOP = 20
"""How many causes are listed, of those that are confirmed and of the others."""


@dataclass(frozen=True, slots=True)
class TriageOptions:
    """What the user wrote. `fuzz triage --help` lists the options in this order."""

    campaign: Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")] = Path(".")
    unsupported: Annotated[bool, typer.Option("--unsupported", help="Count what each importer lacks.")] = False
    known: Annotated[bool, typer.Option("--known", help="Count known behaviour.")] = False
    merge: Annotated[bool, typer.Option("--merge", help="Put findings of one bug together; nothing is deleted.")] = (
        False
    )
    work: Annotated[
        bool,
        typer.Option(
            "--work",
            help="Investigate what waits, or a CAUSE alone, and again the parked sightings, whose triage failed.",
        ),
    ] = False
    seconds: Annotated[
        float | None, typer.Option(parser=parsed_seconds, metavar="TIME", help="With --work: stop after this time.")
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --work: investigations at the same time; by default one per core."),
    ] = None
    releases: ReleaseNames = ""
    preload: PreloadFile = None
    new: Annotated[bool, typer.Option("--new", help="List only what the last run found.")] = False
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="List only what was found since: 2h, 3d, or 2026-11-28.")
    ] = None
    by: Annotated[Grouping, typer.Option("--by", help="Group the causes by this.")] = Grouping.AGE
    top: Annotated[int, typer.Option(min=1, metavar="N", help="List N causes of each list.")] = TOP
    everything: Annotated[
        bool,
        typer.Option("--all", help="List all findings with all details, also in JSON, and those of other components."),
    ] = False
    component: Annotated[
        Component | None, typer.Option("--component", help="List only what this component is to blame for.")
    ] = None
    csv: Annotated[bool, typer.Option("--csv", help="Print all findings as CSV.")] = False
    json: JsonFlag = False
    cause: Annotated[
        str | None,
        typer.Argument(metavar="CAUSE", help="With --work: a cause that is not confirmed yet, by a name of its list."),
    ] = None


@with_options(TriageOptions)
def triage(options: TriageOptions) -> None:
    """List the findings of a campaign: first what the last run found, the most severe ones first. Known behaviour is
    counted, not listed."""
    _check_options(options)
    campaign = options.campaign
    folders = finding_file.folders_in(campaign / "crashes")
    if not folders and not is_campaign(campaign):
        raise Invalid(why_no_index(campaign))
    check(campaign)
    if options.work:
        _work(options)
    elif options.merge:
        _merge(options, folders)
    else:
        _list(options)


def _work(options: TriageOptions) -> None:
    from fuzzer.commands.triage_work import WorkLimits, work  # it loads the compilers' lanes: 0.3 s

    workers = options.workers or max(1, os.cpu_count() or 1)
    limits = WorkLimits(options.cause, options.seconds, workers)
    work(options.campaign, limits, options.releases, options.preload, options.json)


def _merge(options: TriageOptions, folders: Sequence[Path]) -> None:
    merged = _merged(options.campaign, folders)
    if options.json:
        print_json(merged)
    else:
        echo(*_merge_lines(merged, options.campaign), sep="\n")


def _list(options: TriageOptions) -> None:
    merging.read(options.campaign)  # what cannot be read here is refused; the other views go on without it
    if options.unsupported or options.known:
        found, unreadable = findings_of(options.campaign)
        _say_left_out(unreadable)
        _count(options, [doc for _, doc in found])
        return
    causes = causes_in(options.campaign)
    _say_left_out(causes.unreadable)
    if options.json:
        print_json(_document(causes, _chosen(options), whole=options.everything))
    elif options.csv:
        writer = csv_writer(sys.stdout, lineterminator="\n")
        writer.writerows([CSV_HEAD, *csv_rows(causes.families)])
    else:
        listed = Listed(causes, _chosen(options))
        text = list(listed.lines())
        if listed.folders:
            last_list.keep(listed.folders)  # before it is printed: `fuzz triage | head` ends the command
        echo(*text, sep="\n")


def _say_left_out(errors: Sequence[object]) -> None:
    for error in errors:
        say(one_sentence(f"left out: {error}"))


def _chosen(options: TriageOptions) -> Chosen:
    most = None if options.everything else options.top
    since = None if options.since is None else moment(options.since)
    return Chosen(options.by, most, options.component, options.new, since)


def _count(options: TriageOptions, docs: Sequence[FindingDoc]) -> None:
    """Print what importers lack, or how often known behaviour was met."""
    state = counted_in(options.campaign)
    if options.json:
        print_json(tables.lacking(state) if options.unsupported else tables.known(state, docs))
    else:
        echo(*(tables.lacking_lines(state) if options.unsupported else tables.known_lines(state, docs)), sep="\n")


def _document(causes: Causes, chosen: Chosen, *, whole: bool) -> dict[str, object]:
    """The causes; with `whole`, all that is known of each finding beside them."""
    rows = rows_of(causes, partial(replay, causes.campaign), Titles())
    names = {family.lead.doc.slug for family in replace(chosen, most=None).families(causes)}
    findings = [_of_finding(each, family, causes) for family in causes.families for each in family.members]
    return {
        "causes": [row for row in rows.confirmed if row.slug in names],
        "provisional": rows.provisional,
        "other_causes": [row for row in rows.other_confirmed if row.slug in names],
        "other_provisional": rows.other_provisional,
        **({"findings": findings} if whole else {}),
    }


def _of_finding(each: Ranked, family: Family, causes: Causes) -> dict[str, object]:
    severity = {"level": each.severity.level, "score": each.severity.score, "reasons": each.severity.reasons}
    more = {"severity": severity, "family": family.lead.doc.slug, "duplicates": causes.duplicates[each.doc.slug]}
    return {**msgspec.to_builtins(each.doc), **more}


def _check_options(options: TriageOptions) -> None:
    """Raise `Invalid` where an option would be ignored."""
    actions = ("work", "merge", "known", "unsupported")
    chosen = [f"--{name}" for name in actions if getattr(options, name)]
    if len(chosen) > 1:
        raise Invalid(f"{' and '.join(chosen)} exclude each other")
    given = [
        f"--{name}"
        for name in ("seconds", "workers", "releases", "preload")
        if getattr(options, name) not in (None, "")
    ]
    given += [options.cause] if options.cause is not None else []
    if given and not options.work:
        raise Invalid(f"{' and '.join(given)}: only together with --work")


def _merged(campaign: Path, folders: Sequence[Path]) -> list[Merge]:
    """Merge all findings or none: a finding that cannot be read would lose its duplicates."""
    try:
        return merging.merge(campaign)
    except Invalid:
        for folder in folders:
            try:
                finding_file.read_with_case(folder)
            except Invalid as error:
                raise blocked(folder, error) from None
        raise


def _merge_lines(merged: Sequence[Merge], campaign: Path) -> Iterator[str]:
    for into in dict.fromkeys(each.into for each in merged):
        yield into
        yield from (f"  and {each.slug}: {each.why}" for each in merged if each.into == into)
    bugs = len({each.into for each in merged})
    summary = f"duplicates: {len(merged)}, of {number_of(bugs, 'finding')}" if merged else "no duplicates"
    yield f"{summary}; {next_line('triage', '--campaign', campaign)}"
