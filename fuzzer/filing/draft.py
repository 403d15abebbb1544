"""The issue that a finding would be: its report as a title and a body."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzer.findings import record
from fuzzer.findings.families.grouping import relatives
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.report import issue
from fuzzer.report.markdown import heading
from fuzzer.system.files import write_atomically
from generators.graph import Case, Invalid


@dataclass(frozen=True, slots=True)
class Draft:
    """`body` has the fingerprint in an HTML comment. Other copies of difftvm find the issue by it. `family` are the
    other findings of the same cause, which the body lists."""

    folder: Path
    doc: FindingDoc
    case: Case
    title: str
    body: str
    family: tuple[FindingDoc, ...] = ()

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
    stored, family = record.read(folder), list(record.readable(relatives(folder)))
    title, body = issue.title(stored), issue.body(stored, family)
    return Draft(folder, stored.doc, stored.case, title, body, tuple(each.doc for each in family))


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
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{draft.doc.slug}.md"
        write_atomically(path, draft.text.encode())
    except OSError as error:
        raise Invalid(f"{folder}: {error.strerror}") from None
    return path
