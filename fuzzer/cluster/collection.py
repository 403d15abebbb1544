"""Updates that a node sends to the driver: the new part of its campaign, as a small campaign in bytes.

Unpacked, an update is a folder like any campaign, which `fuzzer.campaign.run.merge` merges. Packed, it is compressed
MessagePack with raw bytes. Nothing in it is executed or unpickled.
"""

from __future__ import annotations

import errno
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fuzzer.campaign.store import index, state
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.layout import FOLDER_FILES, PARKED, WAITING
from fuzzer.campaign.store.state import State
from fuzzer.findings import finding_file
from fuzzer.findings.field_forms import SLUG
from fuzzer.seeds import corpus
from fuzzer.system import temporary
from fuzzer.system.files import make_folder, write_atomically
from fuzzer.system.terminal import say
from generators.graph import Invalid
from generators.plain_file import plain_files

MOST_BYTES = 1 << 30
"""The most bytes of an update. One has the new findings, of 64 MiB at most each, and an index."""

SUMS_EVERY = 30
"""The sums are in each 30th update only: they cover the whole campaign and are many times as large as what is new
(benchmarks/cluster.py)."""


class KnownFinding(msgspec.Struct, frozen=True):
    """A finding of another node. `document` is its `finding.json`, from which a store recognises the finding."""

    slug: str
    document: bytes


class Update(msgspec.Struct, frozen=True):
    """What a node sends.

    files       the files of the small campaign by their paths; empty where no test has run yet
    next_test   the first of the node's tests that is not done
    exit_code   of the node's process; None while it runs
    log         the last lines that the process printed, once it has ended
    waiting     the names of the sightings that wait for triage on the node, in `files` or in an earlier update
    """

    files: dict[str, bytes]
    next_test: int
    exit_code: int | None = None
    log: str = ""
    waiting: tuple[str, ...] = ()

    def packed(self) -> bytes:
        return zlib.compress(msgspec.msgpack.encode(self), 1)

    @staticmethod
    def unpacked(data: bytes) -> Update:
        """Raise `Invalid` where the bytes are not an update, or have more than `MOST_BYTES` when they are unpacked."""
        unpacking = zlib.decompressobj()
        try:
            plain = unpacking.decompress(data, MOST_BYTES)
            if unpacking.unconsumed_tail:
                raise Invalid(f"an update of more than {MOST_BYTES:,} bytes")
            return msgspec.msgpack.decode(plain, type=Update)
        except (zlib.error, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"not an update of this version of difftvm: {error}") from None

    def write(self, folder: Path) -> None:
        """Write the files into a folder. Raise `Invalid` where a path leads out of the folder."""
        for name, data in self.files.items():
            path = folder / name
            if not _FILE.fullmatch(name) or not path.resolve().is_relative_to(folder.resolve()):
                raise Invalid(f"a node sent a file {name[:100]!r}")
            make_folder(path.parent, folder)
            write_atomically(path, data, folder)


EMPTY = Update({}, 0)


def corpus_of(campaign: Path) -> Update:
    """The cases of the driver's corpus, in the form of an update. Nodes begin with them."""
    folders = [campaign / corpus.FOLDER / name for name in corpus.names(campaign)]
    return Update({name: data for folder in folders for name, data in _files(campaign, folder).items()}, 0)


def add_to_corpus(cases: Update, campaign: Path) -> None:
    """Add the cases to a campaign's corpus; cases that are there already stay as they are."""
    with temporary.folder() as scratch:
        cases.write(scratch)
        for name, case in corpus.cases(scratch).items():
            corpus.add(campaign, name, case)


def _files(campaign: Path, folder: Path) -> dict[str, bytes]:
    """The files of a folder by their paths in the campaign. Where one of them is a link, print a message and return no
    files. A folder that is gone by now has none."""
    try:
        return {
            str((folder / name).relative_to(campaign)): data for name, data in plain_files(folder, FOLDER_FILES).items()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        say(f"{folder} stays here: {error.filename}: {error.strerror}")
        return {}


_FOLDERS = "|".join(("crashes", corpus.FOLDER, WAITING, PARKED))
_FILES = "|".join(map(re.escape, FOLDER_FILES))
_FILE = re.compile(rf"({re.escape(index.NAME)}|{re.escape(state.NAME)}|({_FOLDERS})/{SLUG.pattern}/({_FILES}))")
"""The files that an update may have."""


@dataclass(slots=True)
class Collector:
    """Collects what is new in a node's campaign. It remembers what the driver has: an update that was lost, or that the
    driver could not store because its disk was full, is sent again.

    waiting  the names of the sightings that waited for triage when `collect` was called
    """

    campaign: Path
    waiting: tuple[str, ...] = ()
    _acknowledged: int = 0
    _sent: set[str] = field(default_factory=set)
    _unconfirmed: set[str] = field(default_factory=set)

    def collect(self, *, last: bool = False) -> tuple[dict[str, bytes], int]:
        """The files that the driver lacks, and the campaign's next test.

        The index in it has the counters, and in each 30th update and the last one the sums too. It never has the rows
        of single tests: these stay on the node."""
        if not (self.campaign / state.NAME).exists():  # written after the index
            return {}, 0
        with Index(self.campaign, writes=False) as whole, temporary.folder() as scratch:
            counters = whole.state()  # before the folders: the sightings of all tests that it counts are there
            assert counters is not None, "an index is written with its own counters first"
            files = self._new_folders()
            with Index(scratch) as small:
                small.write(State(counters.seed, campaign=index.NAMELESS))
                sums = last or self._acknowledged % SUMS_EVERY == SUMS_EVERY - 1
                small.adopt(whole, tests=False, sums=sums)
            files[index.NAME] = (scratch / index.NAME).read_bytes()
        return files, counters.next_test

    def acknowledge(self) -> None:
        """Record that the driver has stored the last update."""
        self._sent |= self._unconfirmed
        self._unconfirmed.clear()
        self._acknowledged += 1

    def skip(self, finding: KnownFinding) -> None:
        """Never send this finding, because it came from the driver."""
        self._sent.add(f"crashes/{finding.slug}")

    def _new_folders(self) -> dict[str, bytes]:
        """The files of sightings and findings that the driver lacks. Sightings are listed first: one that is gone by
        then is a finding, or was counted as one."""
        sightings = [path for name in (WAITING, PARKED) for path in finding_file.folders_in(self.campaign / name)]
        self.waiting = tuple(path.name for path in sightings)
        self._unconfirmed.clear()
        files: dict[str, bytes] = {}
        for folder in (*sightings, *finding_file.folders_in(self.campaign / "crashes")):
            name = str(folder.relative_to(self.campaign))
            if name not in self._sent and (found := _files(self.campaign, folder)):
                self._unconfirmed.add(name)
                files |= found
        return files
