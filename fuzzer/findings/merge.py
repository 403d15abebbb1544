"""Find saved findings that are the same bug: those whose final signatures, computed by the current code, agree.

A campaign may have been written by several versions of difftvm, or merged from several machines. `merged.json` beside
`crashes/` lists the duplicates. It is computed from the findings each time. No folder of a finding is changed, so that
references from elsewhere, such as filed issues, stay valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fuzzer.findings import finding_file
from fuzzer.findings.field_forms import SLUG
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature import Signature, final_signature, interchangeable_kinds, signature_of
from fuzzer.system.files import write_atomically
from generators.graph import Case, Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain

FORMAT = 1
NAME = "merged.json"


class Merge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The finding `slug` is a duplicate of the finding `into`, for the reason `why`."""

    slug: str
    into: str
    why: str


class MergeFile(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of `merged.json`."""

    format: int
    merged: list[Merge]


@dataclass(frozen=True, slots=True)
class SavedFinding:
    """A saved finding, and its current final signature."""

    doc: FindingDoc
    signature: Signature


def current_signature(doc: FindingDoc, case: Case) -> Signature:
    """Return the final signature that the current code gives to a saved finding."""
    coarse = signature_of(doc.finding)
    if not coarse.needs_ops:
        return coarse
    return final_signature(replace(coarse, where=doc.identity.where, by=doc.identity.by), case, doc.blame)


def merge(campaign: Path) -> list[Merge]:
    """Write the duplicates among a campaign's findings to `merged.json`, and return them.

    Raise `Invalid` if a finding cannot be read.
    """
    folders = finding_file.folders_in(campaign / "crashes")
    findings = [
        SavedFinding(doc, current_signature(doc, case)) for doc, case in map(finding_file.read_with_case, folders)
    ]
    found = merges(findings, {each.into for each in read(campaign).values()})
    if found or (campaign / NAME).exists():
        document = MergeFile(FORMAT, found)
        write_atomically(campaign / NAME, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    return found


def merges(findings: Iterable[SavedFinding], kept: Iterable[str] = ()) -> list[Merge]:
    """Return the duplicates, sorted by slug. The slugs `kept`, which already have duplicates, keep them.

    A finding without blame that agrees with several findings with different blame is no duplicate.
    """
    earlier = set(kept)
    groups: list[list[SavedFinding]] = []
    for finding in sorted(findings, key=lambda each: _precedence(each, earlier)):
        matching = [group for group in groups if _belongs_to(finding, group)]
        if len(matching) == 1:
            matching[0].append(finding)
        else:
            groups.append([finding])
    found = [Merge(each.doc.slug, first.doc.slug, _why(first, each)) for first, *rest in groups for each in rest]
    return sorted(found, key=lambda each: each.slug)


def _precedence(finding: SavedFinding, earlier: set[str]) -> tuple[bool, bool, bool, int, str]:
    """Return a sort key. The first of a group keeps its place; the others become its duplicates.

    First come findings that have duplicates already, then steady ones, blamed ones, and those with few operators.
    """
    doc = finding.doc
    return doc.slug not in earlier, doc.flaky, not finding.signature.blamed, len(doc.ops), doc.slug


def _belongs_to(finding: SavedFinding, group: Sequence[SavedFinding]) -> bool:
    """Return whether the finding agrees with a member, and with every member if both have a blame."""
    blamed = [member for member in group if member.signature.blamed and finding.signature.blamed]
    return any(_agree(member, finding) for member in group) and all(_agree(member, finding) for member in blamed)


def _agree(one: SavedFinding, other: SavedFinding) -> bool:
    """Return whether two findings are one bug. A flaky finding is not reduced and is identified by its message only."""
    flaky = one.doc.flaky or other.doc.flaky
    return not (flaky and one.signature.needs_ops) and one.signature.same_bug(other.signature)


def _why(one: SavedFinding, other: SavedFinding) -> str:
    first, second = one.signature, other.signature
    if interchangeable_kinds(first.kind, second.kind):
        return "the same uninitialised memory, which shows in another way"
    if first.blamed and second.blamed:
        return f"the same blame: {' '.join(first.blamed)}"
    if first.needs_ops:
        return f"the same operators, in the same lanes: {first.graph or ', '.join(first.ops)}"
    return "the same message" + (f", from {first.frame}" if first.frame else "")


def read(campaign: Path) -> dict[str, Merge]:
    """Read the duplicates in `merged.json` by slug; {} without the file. Raise `Invalid` if it is not valid."""
    path = campaign / NAME
    remedy = "delete it, and `fuzz triage --merge` writes it again"
    try:
        document = msgspec.json.decode(read_plain(path, MOST_DOCUMENT), type=MergeFile)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}; {remedy}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; {remedy}") from None
    if document.format != FORMAT:
        raise Invalid(f"{path}: format {document.format} is not known; this version reads {FORMAT}")
    merged = {each.slug: each for each in document.merged}
    if len(merged) < len(document.merged) or any(each.into in merged for each in document.merged):
        raise Invalid(f"{path}: a duplicate of a duplicate, or one finding twice; {remedy}")
    if not all(SLUG.fullmatch(name) for each in document.merged for name in (each.slug, each.into)):
        raise Invalid(f"{path}: an entry is not the name of a finding's folder; {remedy}")
    return merged


def duplicates_by_slug(docs: Sequence[FindingDoc], merged: Mapping[str, Merge]) -> dict[str, list[Merge]]:
    """Return the duplicates of each finding that is not itself a duplicate, by slug.

    An entry of `merged` counts only if both its findings are in `docs`.
    """
    present = {doc.slug for doc in docs}
    duplicates: dict[str, list[Merge]] = {doc.slug: [] for doc in docs if not _is_duplicate(doc.slug, merged, present)}
    for doc in docs:
        if _is_duplicate(doc.slug, merged, present):
            duplicates[merged[doc.slug].into].append(merged[doc.slug])
    return duplicates


def _is_duplicate(slug: str, merged: Mapping[str, Merge], present: set[str]) -> bool:
    return slug in merged and merged[slug].into in present
