"""Read and write `finding.json`, the data of a finding for programs. An unknown or missing field is an error."""

from __future__ import annotations

import builtins
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from fuzzer.findings.field_forms import why_not_valid
from fuzzer.findings.finding_doc import FORMAT, FindingDoc, StoredEvidence
from fuzzer.signature.blame import NO_BLAME, NO_RELEASES
from fuzzer.system.devices import KINDS
from fuzzer.system.machine_facts import MachineFacts, this_machine
from fuzzer.triage.scope.statement import NO_SCOPE
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import LINK, MOST_DOCUMENT, read_plain
from oracles.finding import Evidence
from oracles.lane import LaneSpec
from oracles.outcome import Raised
from oracles.targets import target_named

if TYPE_CHECKING:
    from fuzzer.triage.investigate import Investigated

NAME = "finding.json"
CRASHES = "crashes"
"""The folder of a campaign with its findings."""


def document(found: Investigated, versions: dict[str, str]) -> FindingDoc:
    """Return the contents of finding.json. `versions` has the versions of the packages by name."""
    signature = found.signature
    return FindingDoc(
        FORMAT,
        slug_of(found),
        found.key,
        signature.kind,
        signature.component,
        list(found.lanes),
        list(found.case.graph.ops),
        found.flaky,
        f"{found.again} of {found.runs}",
        signature,
        found.finding.lane,
        StoredEvidence.of(_without_pointer(found.finding.evidence)),
        list(found.found_in),
        found.reduction.calls if found.reduction else 0,
        found.reduction.finished if found.reduction else False,
        case_file.digest(found.case),
        versions,
        replace(found.blame, before="", after=""),  # they are saved as files beside finding.json
        found.releases,
        found.reports,
        round(found.cpu_seconds, 2),
        script=found.script,
        machines=(_machine_of(found.finding.lane, versions),),
    )


def _machine_of(lane: LaneSpec, versions: Mapping[str, str]) -> MachineFacts:
    """This machine, with the device on which the lane ran: a worker reports it among the versions."""
    kind = target_named(lane.target).device
    name = versions.get(f"device@{lane.toolchain} {kind}", "")
    return replace(this_machine(), devices=(f"{KINDS[kind].words} {name}",) if name else ())


def _without_pointer(evidence: Evidence) -> Evidence:
    """Return the evidence without what names values of the case as they were before they were renamed."""
    if isinstance(evidence, Raised):
        return replace(evidence, facts=replace(evidence.facts, pointed="", wrong_operand=None))
    return evidence


def without_details(doc: FindingDoc) -> FindingDoc:
    """Return the document without the fields that take most memory, for campaigns that keep thousands of documents.

    The fields that recognise a finding stay.
    """
    return msgspec.structs.replace(
        doc,
        evidence=StoredEvidence(),
        case_sha256="",
        versions={},
        blame=NO_BLAME,
        releases=NO_RELEASES,
        reports=(),
        scope=NO_SCOPE,
        machines=(),
    )


def slug_of(found: Investigated) -> str:
    """Return the name of the finding's folder: kind, operators, and the signature, which alone identifies the finding.

    A flaky finding is not reduced; its name has "flaky" in place of the operators.
    """
    ops = "-".join(dict.fromkeys(found.case.graph.ops)) if not found.flaky else "flaky"
    return f"{found.signature.kind}-{ops.replace('_', '').replace('+', '-')[:40].strip('-')}-{found.signature.id}"


def encode(doc: FindingDoc) -> bytes:
    """Return the document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(with_json_numbers(msgspec.to_builtins(doc))), indent=1) + b"\n"


def with_json_numbers(value: Any) -> Any:
    """Replace NaN and the infinities, which JSON lacks, by the strings "nan", "inf" and "-inf"."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {key: with_json_numbers(item) for key, item in value.items()}
        case list() | tuple():
            return [with_json_numbers(item) for item in value]
        case _:
            return value


def with_float_numbers(doc: Any) -> Any:
    """Replace the strings that `with_json_numbers` wrote for the worst element by numbers."""
    match doc:
        case {"evidence": {"mismatch": {"worst": dict() as worst}}}:
            worst.update({key: float(item) for key, item in worst.items() if item in ("nan", "inf", "-inf")})
    return doc


D = TypeVar("D", bound="Document")


class Document(Protocol):
    """A JSON document with evidence, and the number of its format."""

    format: int


def read_document(path: Path, type: builtins.type[D], format: int) -> D:
    """Read a document. Raise `Invalid` with one line if it is not valid; FileNotFoundError and NotADirectoryError if
    there is no such file."""
    return _decoded(path, _contents(path), type, format)


def _contents(path: Path) -> bytes:
    try:
        return read_plain(path, MOST_DOCUMENT)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None


def _decoded(path: Path, data: bytes, type: builtins.type[D], format: int) -> D:
    try:
        doc: D = msgspec.convert(with_float_numbers(msgspec.json.decode(data)), type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}") from None
    if doc.format != format:
        raise Invalid(f"{path}: format {doc.format} is not known; this version reads {format}")
    return doc


def read(folder: Path) -> FindingDoc:
    """Read finding.json of a folder. Raise `Invalid` with one line if it is missing or not valid."""
    path = folder / NAME
    if folder.parent.name == CRASHES and folder.parent.is_symlink():
        raise Invalid(f"{folder.parent}: {LINK}")
    try:
        data = _contents(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Invalid(why_not_a_finding(folder)) from None
    doc, contents = _decoded(path, data, FindingDoc, FORMAT), hashlib.blake2b(data, digest_size=16).digest()
    if contents not in _valid:
        if reason := why_not_valid(doc):
            raise Invalid(f"{path}: {reason}")
        if len(_valid) >= MOST_VALID:
            _valid.clear()
        _valid.add(contents)
    return doc


MOST_VALID = 10_000

_valid: set[bytes] = set()
"""The digests of documents whose fields were found to be valid: a campaign that is watched reads its documents again
and again, and to check them takes twice as long as to read them."""


LEAST_PART = 3
"""The letters of a part of a name, such as `softsign`, that a slip is compared with."""


def _did_you_mean(folder: Path) -> str:
    """Name the finding beside it, or among those of the current directory, whose name, or a part of it, is most
    alike."""
    others = {each.name: each for parent in (Path("crashes"), folder.parent) for each in folders_in(parent)}
    parts = {part: each for name, each in others.items() for part in name.split("-") if len(part) >= LEAST_PART}
    for names, alike in ((others, 0.6), (parts, 0.75)):
        if found := get_close_matches(folder.name, names, n=1, cutoff=alike):
            return f"; did you mean {names[found[0]]}?"
    return ", nor a finding with this in its name; `fuzz triage --all` lists them" if folder.name == str(folder) else ""


def why_not_a_finding(folder: Path) -> str:
    """Return one sentence that says why the path is not the folder of a finding."""
    if not folder.exists():
        return f"{folder}: there is no such folder{_did_you_mean(folder)}"
    if not folder.is_dir():
        return f"{folder}: not the folder of a finding, but a file"
    for parent in (folder, folder / "crashes"):
        if found := folders_in(parent):
            return f"{folder}: not one finding, but a folder that holds {len(found)}; name one, such as {found[0]}"
    return f"{folder}: not the folder of a finding: there is no {NAME} in it"


def folders_in(parent: Path) -> list[Path]:
    """The folders of findings in a folder, sorted by name. A folder that is still being written has a name that begins
    with a dot, and is left out. Raise `Invalid` where the folder is a link."""
    if parent.is_symlink():
        raise Invalid(f"{parent}: {LINK}")
    return sorted(path.parent for path in parent.glob(f"[!.]*/{NAME}"))


def readable(folders: Iterable[Path]) -> Iterator[tuple[Path, FindingDoc]]:
    """Yield the findings that can be read, each with its folder. `fuzz triage` reports the others."""
    for folder in folders:
        try:
            yield folder, read(folder)
        except Invalid:
            continue


def read_with_case(folder: Path) -> tuple[FindingDoc, Case]:
    """Read a finding and its case. Raise `Invalid` also if the case is not the one that was saved with the finding."""
    doc, case = read(folder), case_file.read(folder)
    if case_file.digest(case) != doc.case_sha256:
        raise Invalid(f"{folder / case_file.JSON_NAME}: not the case of this finding (its contents were changed)")
    return doc, case
