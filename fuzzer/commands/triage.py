"""`fuzz triage`: lists the findings of a campaign, known behaviour, and duplicates."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from csv import writer as csv_writer
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign import tables
from fuzzer.campaign.layout import blocked
from fuzzer.campaign.presence import is_campaign, why_no_index
from fuzzer.commands.options import JsonFlag, PreloadFile, ReleaseNames
from fuzzer.findings import finding_file
from fuzzer.findings import merge as merging
from fuzzer.findings.merge import Merge
from fuzzer.findings.related import causes
from fuzzer.system.terminal import campaign_option, command, echo, next_line, one_sentence, print_json, say
from fuzzer.watching.finding_summary import found_line
from fuzzer.watching.formatting import findings_of_causes, number_of, waiting_line
from fuzzer.watching.on_disk import check, counted_in, findings_of, waiting_in
from fuzzer.watching.ranking import (
    CSV_HEAD,
    KNOWN,
    UNSPECIFIED,
    Family,
    Grouping,
    Ranked,
    apart,
    csv_rows,
    grouped,
    lines_of,
    ranked,
)
from generators.graph import Invalid

TOP = 20
"""How many causes are listed."""


def triage(
    campaign: Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")] = Path("."),
    unsupported: Annotated[bool, typer.Option("--unsupported", help="Count what each importer lacks.")] = False,
    known: Annotated[bool, typer.Option("--known", help="Count known behaviour.")] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Put findings of one bug together; nothing is deleted.")
    ] = False,
    work: Annotated[
        bool,
        typer.Option("--work", help="Investigate what waits, and again the parked sightings, whose triage failed."),
    ] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="With --work: begin no investigation after this.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --work: investigations at the same time; by default one per core.")
    ] = None,
    releases: ReleaseNames = "",
    preload: PreloadFile = None,
    by: Annotated[Grouping, typer.Option("--by", help="Group the causes by this.")] = Grouping.SEVERITY,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="List so many causes, each by its most severe finding.")
    ] = TOP,
    everything: Annotated[bool, typer.Option("--all", help="List all findings.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print all findings as CSV.")] = False,
    json: JsonFlag = False,
) -> None:
    """List the findings of a campaign, the most severe ones first. Known behaviour is counted, not listed."""
    of_work = {"--seconds": seconds, "--workers": workers, "--releases": releases or None, "--preload": preload}
    _check_options({"--work": work, "--merge": merge, "--known": known, "--unsupported": unsupported}, of_work)
    folders = finding_file.folders_in(campaign / "crashes")
    if not folders and not is_campaign(campaign):
        raise Invalid(why_no_index(campaign))
    check(campaign)
    if work:
        from fuzzer.commands.triage_work import work as investigate_waiting  # it loads the compilers' lanes: 0.3 s

        investigate_waiting(campaign, seconds, workers or max(1, os.cpu_count() or 1), releases, preload, json)
        return
    if merge:
        merged = _merged(campaign, folders)
        if json:
            print_json(merged)
        else:
            echo(*_merge_lines(merged, campaign), sep="\n")
        return
    findings, unreadable = findings_of(campaign)
    docs = [doc for _, doc in findings]
    for error in unreadable:
        say(one_sentence(f"left out: {error}"))
    if unsupported or known:
        state = counted_in(campaign)
        if json:
            print_json(tables.lacking(state) if unsupported else tables.known(state, docs))
        else:
            echo(*(tables.lacking_lines(state) if unsupported else tables.known_lines(state, docs)), sep="\n")
        return
    under = merging.duplicates_by_slug(docs, merging.read(campaign))
    found = ranked((folder, doc) for folder, doc in findings if doc.slug in under)
    if json:
        print_json([_document(each, family, under) for family in found for each in family.members])
    elif csv:
        writer = csv_writer(sys.stdout, lineterminator="\n")
        writer.writerows([CSV_HEAD, *csv_rows(found)])
    else:
        echo(*_lines(found, under, campaign, len(unreadable), by, None if everything else top), sep="\n")


def _document(each: Ranked, family: Family, under: Mapping[str, list[Merge]]) -> dict[str, object]:
    severity = {"level": each.severity.level, "score": each.severity.score, "reasons": each.severity.reasons}
    more = {"severity": severity, "family": family.lead.doc.slug, "duplicates": under[each.doc.slug]}
    return {**msgspec.to_builtins(each.doc), **more}


def _check_options(actions: Mapping[str, bool], of_work: Mapping[str, object]) -> None:
    """Raise `Invalid` where an option would be ignored."""
    chosen = [name for name, is_chosen in actions.items() if is_chosen]
    if len(chosen) > 1:
        raise Invalid(f"{' and '.join(chosen)} exclude each other")
    given = [name for name, value in of_work.items() if value is not None]
    if given and not actions["--work"]:
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


def _lines(
    found: Sequence[Family],
    under: Mapping[str, list[Merge]],
    campaign: Path,
    unreadable: int,
    by: Grouping,
    most: int | None,
) -> Iterator[str]:
    """`most` is the number of families that are listed by their first findings; None lists all findings of all."""
    if not found:
        yield _nothing(campaign, unreadable)
        return
    docs = [each.doc for family in found for each in family.members]
    counted = Counter(map(apart, docs))
    new = [left for family in found if (left := family.without(apart))]
    findings = [each.doc for family in new for each in family.members]
    caused = causes(findings)
    shown = {family.lead.doc.slug for family in new[:most]}
    for name, some in grouped(new, by).items():
        listed = [family for family in some if family.lead.doc.slug in shown]
        if listed:
            yield f"{name}: {len(some)}"
        for family in listed:
            yield from lines_of(family)
            for each in family.members if most is None else [family.lead]:
                if each is not family.lead:
                    yield f"        {found_line(each.doc)}"
                yield from (f"      and {other.slug}: {other.why}" for other in under[each.doc.slug])
                cause = caused.get(each.doc.signature)
                if cause and all(cause.slug != other.doc.slug for other in family.members):
                    yield f"      perhaps a consequence of {cause.slug}"
    if len(shown) < len(new):
        others = command("triage", "--all", *campaign_option(campaign))
        yield f"{len(new) - len(shown)} more of {number_of(len(new), 'cause')}: `{others}` lists them"
    more = sum(len(under[doc.slug]) for doc in findings)
    hint = f" ({more} more are duplicates)" if more else ""
    hint += f", {len(caused)} of them perhaps consequences of others" if caused else ""
    hint += f", and {counted[KNOWN]} of known behaviour (`--known`)" if counted[KNOWN] else ""
    hint += f", and {counted[UNSPECIFIED]} that TVM leaves unspecified (`--known`)" if counted[UNSPECIFIED] else ""
    hint += f"; {unreadable} cannot be read" if unreadable else ""
    if line := waiting_line(*waiting_in(campaign), campaign):
        yield line
    first = campaign / "crashes" / (new or found)[0].lead.doc.slug
    yield f"{findings_of_causes(len(findings), len(new))}{hint}; {next_line('--replay', first)}"


def _nothing(campaign: Path, unreadable: int) -> str:
    """The only line where there is no finding to list."""
    if unreadable:
        none = f"{number_of(unreadable, 'finding')} that cannot be read, no other"
        return f"{none}; next: move them out of {campaign / 'crashes'}"
    if line := waiting_line(*waiting_in(campaign), campaign):
        return f"no findings yet; {line}"
    return f"no findings; {next_line('run', *campaign_option(campaign))}"


def _merge_lines(merged: Sequence[Merge], campaign: Path) -> Iterator[str]:
    for into in dict.fromkeys(each.into for each in merged):
        yield into
        yield from (f"  and {each.slug}: {each.why}" for each in merged if each.into == into)
    bugs = len({each.into for each in merged})
    summary = f"duplicates: {len(merged)}, of {number_of(bugs, 'finding')}" if merged else "no duplicates"
    yield f"{summary}; {next_line('triage', '--campaign', campaign)}"
