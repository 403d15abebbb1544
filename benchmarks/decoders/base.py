"""What decoders have in common: documents, targets and faults."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from mutations import Form, mutated

from fuzzer.system.storage_errors import remedy
from generators.graph import Invalid

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "decoder_corpus"
MOST_SECONDS = 1.0


@dataclass(frozen=True)
class Document:
    """What one decoder reads.

    read   decodes the contents; raises one of `legal` where they are wrong
    seeds  valid contents, or nearly
    """

    form: Form
    read: Callable[[bytes], object]
    legal: tuple[type[Exception], ...] = (Invalid,)
    seeds: Callable[[], Iterator[bytes]] = lambda: iter(())


@dataclass(frozen=True, slots=True)
class Fault:
    """`key` is equal for faults that are probably one: the exception and the line that raised it."""

    key: str
    text: str


class Target:
    """A group of decoders that are fuzzed together."""

    def __init__(self, name: str, documents: Mapping[str, Document]) -> None:
        self.name = name
        self.names = list(documents)
        self.documents = list(documents.values())

    def fault(self, data: bytes) -> Fault | None:
        """Decode an input; return what is wrong with how the decoder ended."""
        if not data:
            return None
        place = data[0] % len(self.documents)
        document, name = self.documents[place], self.names[place]
        began = time.thread_time()
        try:
            document.read(data[1:])
        except document.legal:
            pass
        except OSError as error:
            if not remedy(error):
                return _fault(name, error)
        except Exception as error:
            return _fault(name, error)
        seconds = time.thread_time() - began
        return Fault(f"{name}: slow", f"{name}: {seconds:.1f} s of CPU") if seconds > MOST_SECONDS else None

    def mutated(self, data: bytes, seed: int) -> bytes:
        """An input near another one; its document stays the same."""
        source = Random(seed)
        form = self.documents[data[0] % len(self.documents)].form
        return data[:1] + mutated(data[1:], form, source)

    def seeds(self) -> Iterator[tuple[str, bytes]]:
        """Inputs to begin with, each with the name of its document."""
        for place, (name, document) in enumerate(zip(self.names, self.documents, strict=True)):
            for contents in document.seeds():
                yield name, bytes((place,)) + contents


def _fault(name: str, error: Exception) -> Fault:
    frames = traceback.extract_tb(error.__traceback__)
    own = next((each for each in reversed(frames) if str(ROOT) in each.filename), frames[-1])
    key = f"{name}: {type(error).__name__} at {Path(own.filename).name}:{own.lineno}"
    return Fault(key, f"{key}: {str(error)[:200]}\n{''.join(traceback.format_exception(error)[-6:])}")


@cache
def scratch() -> Path:
    """A folder of this process, in memory where there is such a file system."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="difftvm-", dir=memory if memory.is_dir() else None))


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """A decoder that gets the folder of a file with the contents."""

    def from_bytes(data: bytes) -> object:
        folder = scratch() / "folder"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
        try:
            return read(folder)
        finally:
            (folder / name).unlink()

    return from_bytes


def shipped(pattern: str, most: int = 4) -> Callable[[], Iterator[bytes]]:
    """The smallest files of the project that match."""

    def seeds() -> Iterator[bytes]:
        found = sorted(ROOT.glob(pattern), key=lambda path: (path.stat().st_size, path))
        yield from (path.read_bytes() for path in found[:most])

    return seeds


def pair(data: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(data[:4], "little")
    return data[4 : 4 + size], data[4 + size :]


def paired(first: bytes, second: bytes) -> bytes:
    return len(first).to_bytes(4, "little") + first + second
