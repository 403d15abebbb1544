"""`fuzz file`: drafts an issue for a finding, files it, and follows the issues that were filed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from fuzzer.commands.options import FINDING, FindingCampaign, JsonFlag, Trust
from fuzzer.commands.with_options import with_options
from fuzzer.filing import draft as drafts
from fuzzer.filing import secret
from fuzzer.filing.draft import Draft
from fuzzer.filing.filing import DraftOnly, Filed, FilingOutcome, HeldBack, NotAccepted, check_gates, submit
from fuzzer.filing.gates import FilingContext
from fuzzer.filing.lines import lines
from fuzzer.filing.newest import newest
from fuzzer.filing.office import LazyFleet, TrackerOptions
from fuzzer.filing.secret import Secret
from fuzzer.filing.sync import FollowedIssue, counts, sync
from fuzzer.filing.tracker import PUBLIC, Tracker
from fuzzer.findings.named import finding_named
from fuzzer.isolate import bare_script
from fuzzer.system.terminal import echo, next_line, print_document, print_json, say
from generators.graph import Invalid


class Exit(IntEnum):
    """The exit codes of `fuzz file`; for several findings, the largest. 64 and 69 mean the same as for other verbs."""

    DONE = 0
    HELD = 65  # a gate is closed
    DENIED = 76  # the tracker refused the issue


Repository = Annotated[str | None, typer.Option("--repo", metavar="OWNER/NAME", help="The repository for the issues.")]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help=f"The file with the token; by default ${secret.VARIABLES[0]}."),
]
BaseUrl = Annotated[str, typer.Option("--base-url", metavar="URL", help="The URL of the server's REST API.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="FILE", help="The record of filed issues; by default one for all campaigns."),
]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What the user wrote. `fuzz file --help` lists the options in this order."""

    findings: Annotated[list[Path] | None, typer.Argument(metavar="FINDING...", help=FINDING)] = None
    submit: Annotated[bool, typer.Option("--submit", help="File the issues. Without it, no issue is filed.")] = False
    check: Annotated[bool, typer.Option("--check", help="Check everything that --submit checks, but send nothing.")] = (
        False
    )
    force: Annotated[
        bool, typer.Option("--force", help="File even if there is a similar issue, or TVM may be used wrongly.")
    ] = False
    trust: Trust = False
    repo: Repository = None
    token_file: TokenFile = None
    base_url: BaseUrl = PUBLIC
    ledger: LedgerFile = None
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder for drafts; by default drafts/ beside crashes/."),
    ] = None
    follow_up: Annotated[
        bool, typer.Option("--sync", help="Update the state of the filed issues, and comment where needed.")
    ] = False
    resume_filing: Annotated[bool, typer.Option("--resume-filing", help="File again after a pause.")] = False
    campaign: FindingCampaign = None
    json: JsonFlag = False

    @property
    def tracker(self) -> TrackerOptions:
        return TrackerOptions(self.repo, self.base_url, self.ledger)

    @property
    def needs_tracker(self) -> bool:
        return self.submit or self.follow_up or self.resume_filing or bool(self.check and self.repo)


@with_options(FileOptions)
def file(options: FileOptions) -> None:
    """Draft an issue for each finding; with --submit, file each exactly once. Exit code 65: a gate is closed."""
    token = secret.of_user(options.token_file) if options.submit or options.token_file else secret.from_environment()
    if not (options.findings or options.follow_up or options.resume_filing):
        raise Invalid("name a finding, or give --sync or --resume-filing")
    read = [drafts.read(finding_named(folder, options.campaign)) for folder in options.findings or []]
    _check_no_token(token, read)
    named = options.tracker
    tracker = named.tracker(token) if options.needs_tracker else None
    with named.open_ledger() as ledger, LazyFleet() as fleet:
        if tracker and options.resume_filing:
            ledger.set_pause(tracker.place, "")
        if tracker and options.follow_up:
            _follow_up(FilingContext(ledger, tracker.place, tracker, fleet, newest()), tracker, json=options.json)
        context = FilingContext(ledger, named.place)
        if options.submit or options.check:
            bare = bare_script.runner(say)
            context = FilingContext(ledger, named.place, tracker, fleet, newest(), options.trust, bare)
        outcomes = []
        for each in read:
            draft, outcome = _outcome(each, context, options.out, send=options.submit, force=options.force)
            outcomes.append((draft, outcome))
            if not options.json:
                _show(draft, outcome)
    if options.json and read:
        print_json([_document(draft, outcome) for draft, outcome in outcomes])
    raise typer.Exit(max((_exit(outcome) for _, outcome in outcomes), default=Exit.DONE))


def _check_no_token(token: Secret | None, read: list[Draft]) -> None:
    for each in read:
        if token and token.is_in(each.text):
            raise Invalid(f"{each.folder}: its report contains the token")


def _outcome(
    draft: Draft, context: FilingContext, out: Path | None, *, send: bool, force: bool
) -> tuple[Draft, FilingOutcome]:
    if send:
        return draft, submit(draft, context, force=force)
    drafts.write(draft, out or drafts.own_folder(draft))  # first: the gates take minutes
    if context.backend is not None:
        draft = drafts.with_scope(draft, context.backend())
    outcome = check_gates(draft, context)
    draft = drafts.after_gates(draft)
    drafts.write(draft, out or drafts.own_folder(draft))
    return draft, outcome


def _exit(outcome: FilingOutcome) -> Exit:
    match outcome:
        case DraftOnly() | Filed():
            return Exit.DONE
        case HeldBack():
            return Exit.HELD
        case NotAccepted():
            return Exit.DENIED
        case _:
            assert_never(outcome)


# --- what is printed


def _show(draft: Draft, outcome: FilingOutcome) -> None:
    if isinstance(outcome, DraftOnly):
        print_document(draft.text)
    echo(*lines(draft, outcome), sep="\n", flush=True)


def _name(outcome: FilingOutcome) -> str:
    match outcome:
        case DraftOnly():
            return "drafted"
        case HeldBack():
            return "held"
        case Filed():
            return "filed"
        case NotAccepted():
            return "denied"
        case _:
            assert_never(outcome)


def _document(draft: Draft, outcome: FilingOutcome) -> dict[str, object]:
    gates = [
        {"gate": each.gate.name, "verdict": each.answer.verdict, "told": each.answer.reason, "forced": each.forced}
        for each in outcome.gates
    ]
    return {
        "slug": draft.doc.slug,
        "fate": _name(outcome),
        "url": outcome.url if isinstance(outcome, Filed) else "",
        "told": outcome.reason if isinstance(outcome, NotAccepted) else "",
        "title": draft.title,
        "gates": gates,
    }


def _follow_up(context: FilingContext, tracker: Tracker, *, json: bool) -> None:
    found = sync(context, tracker)
    if json:
        listed = [_issue_document(each) for each in found.issues]
        print_json({"issues": listed, "paused": found.paused})
        return
    for each in found.issues:
        entry = each.entry
        state = f"{entry.state}{f' as {entry.reason}' if entry.reason else ''}"
        news = f"commented: {each.comment}" if each.comment else each.note
        echo(f"  {entry.url}  {state}, {each.standing}" + (f"; {news}" if news else ""))
    echo(f"{len(found.issues)} issues: {', '.join(counts(found.issues)) or 'none was filed'}")
    if found.paused:
        resume = next_line("file", "--resume-filing", "--repo", tracker.repository)
        echo(f"filing there is paused: {found.paused}; {resume}")


def _issue_document(issue: FollowedIssue) -> dict[str, object]:
    entry = issue.entry
    fields = ("fingerprint", "url", "state", "reason", "labels", "release")
    return {
        **{name: getattr(entry, name) for name in fields},
        "standing": issue.standing,
        "told": issue.note,
        "comment": issue.comment,
    }
