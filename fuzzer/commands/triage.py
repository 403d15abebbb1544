"""`fuzz triage`: lists the findings of a campaign, known behaviour, and duplicates."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign import tables
from fuzzer.campaign.layout import blocked
from fuzzer.campaign.lock import is_campaign, why_no_index
from fuzzer.commands.options import JsonFlag, PreloadFile, ReleaseNames
from fuzzer.findings import finding_file
from fuzzer.findings import merge as merging
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.merge import Merge
from fuzzer.findings.related import causes
from fuzzer.signature import known as known_behaviour
from fuzzer.system.terminal import campaign_option, next_line, print_json, say
from fuzzer.watching.finding_summary import found_line
from fuzzer.watching.formatting import number_of, waiting_line
from fuzzer.watching.on_disk import check, counted_in, findings_of, waiting_in
from generators.graph import Invalid
from oracles.finding import Component


def triage(
    campaign: Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")] = Path("."),
    unsupported: Annotated[bool, typer.Option("--unsupported", help="Count what each importer lacks.")] = False,
    known: Annotated[bool, typer.Option("--known", help="Count known behaviour.")] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Put findings of one bug together; nothing is deleted.")
    ] = False,
    work: Annotated[
        bool, typer.Option("--work", help="Investigate the sightings that wait, also those that are parked.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="With --work: begin no investigation after this.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --work: investigations at the same time; by default one per core.")
    ] = None,
    releases: ReleaseNames = "",
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """List the findings of a campaign. Known behaviour is counted, not listed."""
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
        found = _merged(campaign, folders)
        if json:
            print_json(found)
        else:
            print(*_merge_lines(found, campaign), sep="\n")
        return
    findings, unreadable = findings_of(campaign)
    docs = [doc for _, doc in findings]
    for error in unreadable:
        say(f"left out: {error}")
    if unsupported or known:
        state = counted_in(campaign)
        if json:
            print_json(tables.lacking(state) if unsupported else tables.known(state, docs))
        else:
            print(*(tables.lacking_lines(state) if unsupported else tables.known_lines(state, docs)), sep="\n")
        return
    under = merging.duplicates_by_slug(docs, merging.read(campaign))
    docs = [doc for doc in docs if doc.slug in under]
    if json:
        print_json([{**msgspec.to_builtins(doc), "duplicates": under[doc.slug]} for doc in docs])
    else:
        print(*_lines(docs, under, campaign, len(unreadable)), sep="\n")


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


def _lines(docs: Sequence[FindingDoc], under: dict[str, list[Merge]], campaign: Path, unreadable: int) -> Iterator[str]:
    if unreadable and not docs:
        none = f"{number_of(unreadable, 'finding')} that cannot be read, no other"
        yield f"{none}; next: move them out of {campaign / 'crashes'}"
        return
    if not docs:
        if line := waiting_line(*waiting_in(campaign), campaign):
            yield f"no findings yet; {line}"
        else:
            yield f"no findings; {next_line('run', *campaign_option(campaign))}"
        return
    known_docs = [doc for doc in docs if known_behaviour.match(doc.identity)]
    new = [doc for doc in docs if doc not in known_docs]
    caused = causes(new)
    for component in Component:
        of_it = [doc for doc in new if doc.component is component]
        if of_it:
            yield f"{component}: {len(of_it)}"
        for doc in of_it:
            yield f"  {found_line(doc)}"
            yield from (f"      and {each.slug}: {each.why}" for each in under[doc.slug])
            if doc.signature in caused:
                yield f"      perhaps a consequence of {caused[doc.signature].slug}"
    more = sum(len(under[doc.slug]) for doc in new)
    hint = f" ({more} more are duplicates)" if more else ""
    hint += f", {len(caused)} of them perhaps consequences of others" if caused else ""
    hint += f", and {len(known_docs)} of known behaviour (`--known`)" if known_docs else ""
    hint += f"; {unreadable} cannot be read" if unreadable else ""
    if line := waiting_line(*waiting_in(campaign), campaign):
        yield line
    first = campaign / "crashes" / (new or docs)[0].slug
    yield f"{number_of(len(new), 'finding')}{hint}; {next_line('--replay', first)}"


def _merge_lines(merged: Sequence[Merge], campaign: Path) -> Iterator[str]:
    for into in dict.fromkeys(each.into for each in merged):
        yield into
        yield from (f"  and {each.slug}: {each.why}" for each in merged if each.into == into)
    bugs = len({each.into for each in merged})
    summary = f"duplicates: {len(merged)}, of {number_of(bugs, 'finding')}" if merged else "no duplicates"
    yield f"{summary}; {next_line('triage', '--campaign', campaign)}"
