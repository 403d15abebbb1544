"""Notable tests: those in which the compiler did something that it had done in no earlier test of the campaign.

The index keeps their cases with their lanes, so that `fuzz corpus keep` can choose a regression corpus among them. The
index decides which tests are notable when it writes what they showed.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from fuzzer.campaign.store.adoption import Source
from fuzzer.campaign.store.features import features_of, is_of_compiler
from fuzzer.campaign.store.rows import Observations
from generators import case_file
from generators.graph import Case, Invalid
from oracles.finding import Finding
from oracles.lane import Engine, LaneSpec
from oracles.lane_check import invalid_reason
from oracles.outcome import Result

MOST_BYTES = 4 << 20
"""A test with a larger document, or with a larger one before it is compressed, is not kept. Most have 2 kB."""


WriteDocument = Callable[[], bytes]
Documents = Mapping[int, WriteDocument]
"""By the number of a test, what gives its document."""

NO_DOCUMENTS: Documents = {}


class NotableTest(msgspec.Struct, forbid_unknown_fields=True):
    """A test that can run again.

    case, tensors  the two files of the case
    lanes          the lanes of TVM
    features       what the compiler did
    cpu_seconds    what the test cost
    """

    case: str
    tensors: bytes
    lanes: list[LaneSpec]
    features: list[str]
    cpu_seconds: float


def encoded(case: Case, result: Result, found: Sequence[Finding]) -> bytes:
    """Return the document of a test; nothing where it is too large."""
    text, tensors = case_file.encode(case)
    lanes = [lane for lane in result.outcomes if lane.engine is Engine.TVM]
    features = sorted(features_of(result.outcomes, found))
    test = NotableTest(text.decode(), tensors, lanes, features, round(result.cpu_seconds, 3))
    document = msgspec.json.encode(test)
    return zlib.compress(document) if len(document) <= MOST_BYTES else b""


def decoded(data: bytes, where: str) -> tuple[NotableTest, Case]:
    """Read a document, and the case in it. Raise `Invalid` where it is damaged; `where` names it."""
    reader = zlib.decompressobj()
    try:
        document = reader.decompress(data, MOST_BYTES)
        if not reader.eof:
            raise Invalid(f"{where}: it is cut, or larger than {MOST_BYTES >> 20} MiB")
        test = msgspec.json.decode(document, type=NotableTest)
    except (zlib.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}: {error}") from None
    if reason := next(filter(None, map(invalid_reason, test.lanes)), None):
        raise Invalid(f"{where}: {reason}")
    return test, case_file.decode(test.case.encode(), test.tensors, where)


def write(db: sqlite3.Connection, origin: int, observations: Observations, documents: Documents) -> None:
    """Write the documents of tests that are the first to show something that the compiler did. What these tests showed
    must not have been written yet."""
    first = {name: test for name, test in observations.first.items() if is_of_compiler(name) and test in documents}
    known = "SELECT 1 FROM features WHERE name = ?"
    notable = {test for name, test in first.items() if db.execute(known, (name,)).fetchone() is None}
    written = ((origin, number, document) for number in sorted(notable) if (document := documents[number]()))
    db.executemany("INSERT OR REPLACE INTO notable_tests VALUES (?, ?, ?)", written)


def all_in(index: Source) -> Iterator[tuple[str, int, bytes]]:
    """(campaign, number, document) of each notable test of an index, also of campaigns that were merged into it."""
    query = "SELECT campaign, test, document FROM notable_tests JOIN origins ON origins.id = origin"
    return index.each(tuple[str, int, bytes], f"{query} ORDER BY campaign, test")
