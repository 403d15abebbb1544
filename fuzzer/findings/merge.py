"""Which saved findings are one bug: those whose final signatures, as today's code makes them, agree.

A campaign that ran for weeks was written by many versions of difftvm, and perhaps put together from several machines.
`merged.json` beside its `crashes/` says which findings stand under which; no folder is changed for it, so that what was
said of a finding elsewhere (a filed issue, a script in a mail) stays true. It is made anew each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.signature import Signature, final_signature, interchangeable_kinds, signature_of
from fuzzer.system.files import write_atomically
from generators.graph import Case, Invalid

FORMAT = 1
NAME = "merged.json"


class Merge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The finding `slug` is the bug of the finding `into`."""

    slug: str
    into: str
    why: str


class MergeFile(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    merged: list[Merge]


@dataclass(frozen=True, slots=True)
class SavedFinding:
    """A saved finding, and its signature."""

    doc: FindingDoc
    signature: Signature


def current_signature(doc: FindingDoc, case: Case) -> Signature:
    """The final signature that today's code gives to a saved finding."""
    coarse = signature_of(doc.finding)
    if not coarse.needs_ops:
        return coarse
    return final_signature(replace(coarse, where=doc.identity.where, by=doc.identity.by), case, doc.blame)


def merge(campaign: Path) -> list[Merge]:
    """Write down which findings of a campaign are one. Raises `Invalid` where one cannot be read."""
    folders = sorted(path.parent for path in (campaign / "crashes").glob(f"*/{finding_file.NAME}"))
    findings = [
        SavedFinding(doc, current_signature(doc, case)) for doc, case in map(finding_file.read_with_case, folders)
    ]
    found = merges(findings, {each.into for each in read(campaign).values()})
    if found or (campaign / NAME).exists():
        document = MergeFile(FORMAT, found)
        write_atomically(campaign / NAME, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    return found


def merges(findings: Iterable[SavedFinding], kept: Iterable[str] = ()) -> list[Merge]:
    """Each finding that stands under another, by slug. `kept` are those that others stood under until now: they stay.

    A finding without blame may agree with several that are blamed differently: then it stands alone.
    """
    before = set(kept)
    groups: list[list[SavedFinding]] = []
    for finding in sorted(findings, key=lambda each: _order(each, before)):
        fitting = [group for group in groups if _fits(finding, group)]
        if len(fitting) == 1:
            fitting[0].append(finding)
        else:
            groups.append([finding])
    found = [Merge(each.doc.slug, first.doc.slug, _why(first, each)) for first, *rest in groups for each in rest]
    return sorted(found, key=lambda each: each.slug)


def _order(finding: SavedFinding, before: set[str]) -> tuple[bool, bool, bool, int, str]:
    """Whom others stand under: who did before; steady; blamed; with the smallest case."""
    doc = finding.doc
    return doc.slug not in before, doc.flaky, not finding.signature.blamed, len(doc.ops), doc.slug


def _fits(finding: SavedFinding, group: Sequence[SavedFinding]) -> bool:
    """It is some member's bug, and blamed as all are that are blamed."""
    blamed = [member for member in group if member.signature.blamed and finding.signature.blamed]
    return any(_agree(member, finding) for member in group) and all(_agree(member, finding) for member in blamed)


def _agree(one: SavedFinding, other: SavedFinding) -> bool:
    """A flaky finding is not reduced: only a message can say what it is."""
    flaky = one.doc.flaky or other.doc.flaky
    return not (flaky and one.signature.needs_ops) and one.signature.same_bug(other.signature)


def _why(one: SavedFinding, other: SavedFinding) -> str:
    mine, its = one.signature, other.signature
    if interchangeable_kinds(mine.kind, its.kind):
        return "unwritten memory, seen otherwise"
    if mine.blamed and its.blamed:
        return f"both are put down to {' '.join(mine.blamed)}"
    if mine.needs_ops:
        return f"the same operators, in the same lanes: {mine.graph or ', '.join(mine.ops)}"
    return "the same message" + (f", from {mine.frame}" if mine.frame else "")


def read(campaign: Path) -> dict[str, Merge]:
    """What was merged, by slug; nothing where nothing was. Raises `Invalid` where it cannot be read."""
    path = campaign / NAME
    try:
        document = msgspec.json.decode(path.read_bytes(), type=MergeFile) if path.exists() else MergeFile(FORMAT, [])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path}: {error}; `fuzz triage --merge` makes it anew when it is gone") from None
    if document.format != FORMAT:
        raise Invalid(f"{path}: format {document.format} is not known; this version reads {FORMAT}")
    return {each.slug: each for each in document.merged}


def duplicates_by_slug(docs: Sequence[FindingDoc], merged: Mapping[str, Merge]) -> dict[str, list[Merge]]:
    """By slug, what stands under a finding; of findings that are there."""
    there = {doc.slug for doc in docs}
    of: dict[str, list[Merge]] = {doc.slug: [] for doc in docs if not _stands_under(doc.slug, merged, there)}
    for doc in docs:
        if _stands_under(doc.slug, merged, there):
            of[merged[doc.slug].into].append(merged[doc.slug])
    return of


def _stands_under(slug: str, merged: Mapping[str, Merge], there: set[str]) -> bool:
    return slug in merged and merged[slug].into in there
