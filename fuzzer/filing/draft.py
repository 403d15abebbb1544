"""What would be sent of a finding: its report, in the form of an issue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzer.findings import record
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.report import issue
from fuzzer.system.files import write_atomically
from generators.graph import Case, Invalid


@dataclass(frozen=True, slots=True)
class Draft:
    """`body` holds the fingerprint in a comment that nobody sees, by which other copies of difftvm find the issue."""

    folder: Path
    doc: FindingDoc
    case: Case
    title: str
    body: str

    @property
    def fingerprint(self) -> str:
        return self.doc.signature

    @property
    def campaign(self) -> Path:
        return self.folder.absolute().parent.parent

    @property
    def text(self) -> str:
        return f"# {self.title}\n\n{self.body}"


def read(folder: Path) -> Draft:
    """The report that today's code makes of a finding. Raise `Invalid` where the folder holds none."""
    stored = record.read(folder)
    return Draft(folder, stored.doc, stored.case, issue.title(stored), issue.body(stored))


def write(draft: Draft, folder: Path) -> Path:
    """Beside other drafts; what an earlier one said is replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{draft.doc.slug}.md"
        write_atomically(path, draft.text.encode())
    except OSError as error:
        raise Invalid(f"{folder}: {error.strerror}") from None
    return path
