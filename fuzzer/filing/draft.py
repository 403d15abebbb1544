"""The issue that a finding would be: its report as a title and a body. The body says where its script was run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fuzzer.findings import record
from fuzzer.findings.families.grouping import relatives
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import FindingRecord
from fuzzer.isolate import bare_script
from fuzzer.isolate.fleet import Lab
from fuzzer.report import issue, repro
from fuzzer.report.markdown import heading
from fuzzer.report.requirements import requirements_of
from fuzzer.system.files import make_folder, write_atomically
from fuzzer.triage.scope.find import scope_of
from generators.graph import Case, Invalid


@dataclass(frozen=True, slots=True)
class Draft:
    """`body` has the fingerprint in an HTML comment. Other copies of difftvm find the issue by it. It is written from
    `record` and from `relatives`, the other findings of the same cause, which it lists."""

    folder: Path
    doc: FindingDoc
    case: Case
    title: str
    body: str
    record: FindingRecord
    relatives: tuple[FindingRecord, ...] = ()

    @property
    def fingerprint(self) -> str:
        return self.doc.signature

    @property
    def campaign(self) -> Path:
        return self.folder.absolute().parent.parent

    @property
    def text(self) -> str:
        return f"# {heading(self.title)}\n\n{self.body}"


def read(folder: Path) -> Draft:
    """The report that the current code writes. Raise `Invalid` if the folder has no finding."""
    stored, others = record.read(folder), tuple(record.readable(relatives(folder)))
    title, body = issue.title(stored), _body(stored, others)
    return Draft(folder, stored.doc, stored.case, title, body, stored, others)


def with_scope(draft: Draft, lab: Lab) -> Draft:
    """The draft with the scope of the finding, if nobody has looked for it: what passes and which siblings fail. The
    finding's folder stays as it is."""
    stored = draft.record
    if stored.doc.scope.cases or stored.natural:
        return draft
    scope = scope_of(lab, stored.case, stored.finding)
    known = replace(stored, doc=msgspec.structs.replace(stored.doc, scope=scope))
    return replace(draft, record=known, title=issue.title(known), body=_body(known, draft.relatives))


def after_gates(draft: Draft) -> Draft:
    """The draft, whose body names a run in a bare environment that the gates have made since it was read."""
    return replace(draft, body=_body(draft.record, draft.relatives))


def _body(stored: FindingRecord, others: Sequence[FindingRecord]) -> str:
    run = bare_script.known(repro.script(stored), requirements_of(stored))
    return issue.body(stored, others, run)


def own_folder(draft: Draft) -> Path:
    """The folder for drafts of the campaign. Raise `Invalid` where it is a link: the campaign may come from
    elsewhere."""
    folder = draft.campaign / "drafts"
    if folder.is_symlink():
        raise Invalid(f"{folder}: it is a link, and no draft is written through one; name another folder with --out")
    return folder


def write(draft: Draft, folder: Path) -> Path:
    """Write the draft to `folder`, in place of an earlier draft of the finding. Return its path."""
    try:
        make_folder(folder)
        path = folder / f"{draft.doc.slug}.md"
        write_atomically(path, draft.text.encode())
    except OSError as error:
        raise Invalid(f"{folder}: {error.strerror}") from None
    return path
