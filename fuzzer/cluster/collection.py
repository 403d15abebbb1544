"""What a node brings to the driver: a small campaign of what is new in its own, as bytes.

Unpacked it is a folder like any campaign's, and `fuzzer.campaign.merge` takes it. Packed it is JSON and raw bytes,
compressed; nothing in it is executed or unpickled.
"""

from __future__ import annotations

import errno
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fuzzer.campaign import index, state
from fuzzer.campaign.index import Index
from fuzzer.campaign.state import State
from fuzzer.findings import finding_file
from fuzzer.seeds import corpus
from fuzzer.system.terminal import say
from generators.graph import Invalid
from generators.plain_file import plain_files

SUMS_EVERY = 30
"""What grows with all that a campaign met costs many times what is new (benchmarks/cluster.py)."""


class Lesson(msgspec.Struct, frozen=True):
    """A finding of another node: its `finding.json`, which is all that a store needs to know it again."""

    slug: str
    document: bytes


class Harvest(msgspec.Struct, frozen=True):
    """`files` by their paths in the small campaign; none where nothing was run yet.

    next_test   the first of the node's tests that is not done
    exit_code   of the node's process; None while it runs
    log         the end of what the process said, once it has ended
    """

    files: dict[str, bytes]
    next_test: int
    exit_code: int | None = None
    log: str = ""

    def packed(self) -> bytes:
        return zlib.compress(msgspec.msgpack.encode(self), 1)

    @staticmethod
    def unpacked(data: bytes) -> Harvest:
        """Raises `Invalid`."""
        try:
            return msgspec.msgpack.decode(zlib.decompress(data), type=Harvest)
        except (zlib.error, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"no harvest of this version of difftvm: {error}") from None

    def write(self, folder: Path) -> None:
        """Raises `Invalid` where a file would lie elsewhere."""
        for name, data in self.files.items():
            path = folder / name
            if not path.resolve().is_relative_to(folder.resolve()):
                raise Invalid(f"a node sent a file {name!r}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


NOTHING = Harvest({}, 0)


def corpus_of(campaign: Path) -> Harvest:
    """The cases of a campaign's corpus, for nodes to begin with."""
    folders = [campaign / corpus.FOLDER / name for name in corpus.names(campaign)]
    return Harvest({name: data for folder in folders for name, data in _files(campaign, folder).items()}, 0)


def plant(given: Harvest, campaign: Path) -> None:
    """Put the cases into a campaign's corpus; those that are there stay as they are."""
    with tempfile.TemporaryDirectory(prefix="difftvm-") as scratch:
        given.write(Path(scratch))
        for name, case in corpus.cases(Path(scratch)).items():
            corpus.add(campaign, name, case)


def _files(campaign: Path, folder: Path) -> dict[str, bytes]:
    """The folder's files, by their paths in the campaign; none where one is a link, which is then told."""
    try:
        return {str((folder / name).relative_to(campaign)): data for name, data in plain_files(folder).items()}
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        say(f"{folder} stays here: {error.filename}: {error.strerror}")
        return {}


@dataclass(slots=True)
class Granary:
    """Knows what of a campaign the driver has. What was brought and not taken, because it was lost on its way or the
    driver's disk was full, is brought again."""

    campaign: Path
    _taken: int = 0
    _sent: set[str] = field(default_factory=set)
    _under_way: set[str] = field(default_factory=set)

    def new(self, *, last: bool = False) -> tuple[dict[str, bytes], int]:
        """Files that the driver lacks, and the campaign's next test. The index has the books alone, and its sums now
        and then, and in the last harvest: the rows of single tests stay where they were run."""
        if not (self.campaign / state.NAME).exists():  # it is written behind the index
            return {}, 0
        files: dict[str, bytes] = {}
        self._under_way.clear()
        for folder in self._folders():
            name = str(folder.relative_to(self.campaign))
            if name not in self._sent:
                self._under_way.add(name)
                files.update(_files(self.campaign, folder))
        with Index(self.campaign, writes=False) as mine, tempfile.TemporaryDirectory(prefix="difftvm-") as scratch:
            books = mine.state()
            assert books is not None, "an index is written with its own books first"
            with Index(Path(scratch)) as small:
                small.write(State(books.seed, campaign=index.NAMELESS))
                sums = last or self._taken % SUMS_EVERY == SUMS_EVERY - 1
                small.adopt(mine, tests=False, sums=sums)
            files[index.NAME] = (Path(scratch) / index.NAME).read_bytes()
        return files, books.next_test

    def taken(self) -> None:
        """The driver has the last harvest."""
        self._sent |= self._under_way
        self._under_way.clear()
        self._taken += 1

    def knows(self, lesson: Lesson) -> None:
        """It came from the driver: it need not go there."""
        self._sent.add(f"crashes/{lesson.slug}")

    def _folders(self) -> Iterator[Path]:
        yield from (path.parent for path in sorted((self.campaign / "crashes").glob(f"*/{finding_file.NAME}")))
