"""A regression corpus on disk: cases, the lanes that each runs in, and how each lane ended when the corpus was made.

A folder with three files:

    corpus.json     the toolchain and its versions, the lanes by name, the known failures, what the cases cover
    expected.jsonl  a line for each case: its operators, where it comes from, and how its lanes ended
    cases.zip       `NAME.json` and `NAME.safetensors`, the two files of each case
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from fuzzer.seeds.archive import Archive
from fuzzer.system.files import make_folder, write_atomically
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import LINK, MOST_DOCUMENT, MOST_TENSORS, read_plain
from oracles.finding import Component, Kind
from oracles.lane import LaneSpec
from oracles.lane_check import invalid_reason

FORMAT = 1
MOST_CASES, MOST_BYTES = 2000, 5_000_000
"""The most that `fuzz corpus keep` writes: cases, and bytes of the three files together."""

DESCRIPTION, EXPECTED, CASES = "corpus.json", "expected.jsonl", "cases.zip"
MOST_NODES, MOST_UNPACKED = 50_000, 512 << 20
"""The most calls that all cases have together, and the most bytes of their files. Cases of campaigns have up to eight
calls each, and those cut from models some hundred."""

_TOO_MANY_NODES = f"its cases have more than {MOST_NODES:,} calls together; keep fewer cases"
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
_LEVEL, _HEADERS = 9, 76  # bytes of the two headers of a member of an archive, without its name, which is in both
_NAME = re.compile(r"[0-9a-f]{12}")

T = TypeVar("T")


class KnownFailure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failure that the corpus is expected to show.

    title   the failure, in one sentence
    family  the slug of the finding that stands for its family in the campaign; "" where no finding explains it. Then
            `fuzzer.regression.known` puts it into one
    """

    kind: Kind
    component: Component
    title: str
    family: str = ""


class Coverage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the features of one kind the cases have, of all that the campaigns met."""

    covered: int
    of: int


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of `corpus.json`.

    cpu_seconds  what one run of all cases cost
    failures     by the id of the failure (`fuzzer.regression.runs.failure_id`)
    """

    format: int
    toolchain: str
    versions: dict[str, str]
    cpu_seconds: float
    coverage: dict[str, Coverage]
    lanes: dict[str, dict[str, Any]]
    failures: dict[str, KnownFailure]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of `expected.jsonl`: a case with its lanes by name.

    case         the name of the case: the first 12 digits of its digest
    source       the finding or the test that it comes from
    right        lanes in which nothing fails
    unsupported  lanes that do not support the case
    fails        lanes that fail, with the ids of their failures
    """

    case: str
    ops: list[str]
    source: str
    right: list[str] = []
    unsupported: list[str] = []
    fails: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Corpus:
    """`lanes` are those of `description`, and `cases` those of `entries`, by name."""

    description: Description
    entries: Sequence[Entry]
    lanes: Mapping[str, LaneSpec]
    cases: Mapping[str, Case]


def name_of(case: Case) -> str:
    return case_file.digest(case)[:12]


def short(lane: LaneSpec) -> dict[str, Any]:
    """The fields of a lane that do not have their default."""
    plain = msgspec.to_builtins(lane)
    return {
        each.name: plain[each.name]
        for each in fields(lane)
        if each.default is MISSING or getattr(lane, each.name) != each.default
    }


def is_corpus(folder: Path) -> bool:
    return (folder / DESCRIPTION).exists()


def packed_size(case: Case) -> int:
    """The bytes that a case takes in `cases.zip`, exactly: its two files, compressed one by one, with their headers."""
    names = _members(name_of(case))
    packed = sum(len(_deflated(data)) for data in case_file.encode(case))
    return packed + sum(_HEADERS + 2 * len(name) for name in names)


def _deflated(data: bytes) -> bytes:
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packing.compress(data) + packing.flush()


def write(folder: Path, description: Description, entries: Sequence[Entry], cases: Mapping[str, Case]) -> None:
    """Write a corpus, or replace the one that is there. Equal contents give equal files. Raise `Invalid` where it takes
    `MOST_BYTES` or more, has cases of more than `MOST_NODES` calls together, or cannot be written."""
    if sum(len(cases[entry.case].graph.nodes) for entry in entries) > MOST_NODES:
        raise Invalid(f"{folder}: {_TOO_MANY_NODES}")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for entry in entries:
            for name, data in zip(_members(entry.case), case_file.encode(cases[entry.case]), strict=True):
                archive.writestr(zipfile.ZipInfo(name, _FIRST_TIME), data, zipfile.ZIP_DEFLATED, _LEVEL)
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    text = msgspec.json.format(msgspec.json.encode(description), indent=1) + b"\n"
    files = {CASES: packed.getvalue(), EXPECTED: lines, DESCRIPTION: text}
    if (size := sum(map(len, files.values()))) >= MOST_BYTES:
        raise Invalid(f"{folder}: it would take {size:,} bytes, and {MOST_BYTES:,} are too many; keep fewer cases")
    try:
        make_folder(folder)
        for name, data in files.items():
            write_atomically(folder / name, data)
    except OSError as error:
        raise Invalid(f"{error.filename or folder}: {error.strerror}") from None


def read(folder: Path) -> Corpus:
    """Raise `Invalid`, in one line, where a file cannot be read or is wrong."""
    if not is_corpus(folder):
        why = f"it has no {DESCRIPTION}" if folder.is_dir() else "there is no such folder"
        raise Invalid(f"{folder}: no corpus: {why}; `fuzz corpus keep` makes one of campaigns")
    description = _decoded(folder / DESCRIPTION, _text(folder / DESCRIPTION), Description)
    if description.format != FORMAT:
        raise Invalid(f"{folder / DESCRIPTION}: format {description.format} is not known; this version reads {FORMAT}")
    lanes = {name: _lane(folder / DESCRIPTION, name, plain) for name, plain in description.lanes.items()}
    lines = _text(folder / EXPECTED).splitlines()
    if not 0 < len(lines) <= MOST_CASES:
        raise Invalid(f"{folder / EXPECTED}: {len(lines):,} cases; a corpus has 1 to {MOST_CASES:,}")
    entries = [_decoded(folder / f"{EXPECTED}, line {number}", line, Entry) for number, line in enumerate(lines, 1)]
    names: set[str] = set()
    for number, entry in enumerate(entries, 1):
        if entry.case in names:
            raise Invalid(f"{folder / EXPECTED}, line {number}: a second line of the case {entry.case!r}")
        names.add(entry.case)
        unknown = {*entry.right, *entry.unsupported, *entry.fails} - lanes.keys()
        unknown |= set(entry.fails.values()) - description.failures.keys()
        if unknown or not _NAME.fullmatch(entry.case):
            what = sorted(unknown)[0] if unknown else entry.case
            raise Invalid(f"{folder / EXPECTED}, line {number}: {what!r} is not in {DESCRIPTION}")
    return Corpus(description, entries, lanes, _cases(folder / CASES, entries))


def _cases(path: Path, entries: Sequence[Entry]) -> dict[str, Case]:
    if path.is_symlink():
        raise Invalid(f"{path}: {LINK}")
    found: dict[str, Case] = {}
    nodes = 0
    with Archive(path) as archive:
        members = {name for entry in entries for name in _members(entry.case)}
        if sum(map(archive.size, members & archive.names)) > MOST_UNPACKED:
            raise Invalid(f"{path}: its cases take more than {MOST_UNPACKED >> 20} MiB together")
        for entry in entries:
            graph, tensors = _members(entry.case)
            text, values = archive.read(graph, MOST_DOCUMENT), archive.read(tensors, MOST_TENSORS)
            case = case_file.decode(text, values, f"{path}/{entry.case}")
            nodes += len(case.graph.nodes)
            if nodes > MOST_NODES:
                raise Invalid(f"{path}: {_TOO_MANY_NODES}")
            found[entry.case] = case
    return found


def _members(case: str) -> tuple[str, str]:
    return f"{case}.json", f"{case}.safetensors"


def _text(path: Path) -> bytes:
    try:
        return read_plain(path, MOST_DOCUMENT)
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None


def _decoded(path: Path, text: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}") from None


def _lane(path: Path, name: str, plain: dict[str, Any]) -> LaneSpec:
    if unknown := sorted(plain.keys() - set(LaneSpec.__slots__)):  # msgspec accepts unknown fields of a dataclass
        raise Invalid(f"{path}: the lane {name!r} has no field {unknown[0]!r}")
    try:
        lane = msgspec.convert(plain, LaneSpec)
    except msgspec.ValidationError as error:
        raise Invalid(f"{path}: the lane {name!r}: {error}") from None
    if reason := invalid_reason(lane):
        raise Invalid(f"{path}: the lane {name!r}: {reason}")
    return lane
