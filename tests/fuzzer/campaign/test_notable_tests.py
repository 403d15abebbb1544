"""Which tests the index keeps whole, and what becomes of a damaged document."""

from __future__ import annotations

import zlib
from pathlib import Path

import fakes
import msgspec
import pytest

from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store import notable_tests
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.rows import Observations, index_row
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import TORCH, TVM_LANES
from generators import case_file
from generators.graph import Invalid
from oracles.outcome import Facts, Ran, Result

LANE = TVM_LANES[0]
RESULT = Result({TORCH: Ran(()), LANE: Ran((), facts=Facts(behaviour=("kernel add",)))}, cpu_seconds=0.25)
DOCUMENT = notable_tests.encoded(fakes.CASE, RESULT, ())


def observed(**first: int) -> Observations:
    names = {name.replace("_", " "): number for name, number in first.items()}
    return Observations(dict.fromkeys(names, 1), names)


def test_a_document_gives_the_test_back() -> None:
    test, case = notable_tests.decoded(DOCUMENT, "here")
    assert case_file.encode(case) == case_file.encode(fakes.CASE)
    assert (test.lanes, test.features, test.cpu_seconds) == ([LANE], ["kernel add"], 0.25)


def test_only_the_first_test_that_shows_something_of_the_compiler_is_kept(tmp_path: Path) -> None:
    documents = {number: lambda number=number: b"%d" % number for number in range(4)}
    with Index(tmp_path) as index:
        index.write(State(7, campaign="me"), (), None, observed(kernel_add=0, op_add=1, compiled_add=2), documents)
        index.write(State(7, campaign="me"), (), None, observed(kernel_add=3), documents)
        assert list(notable_tests.all_in(index)) == [("me", 0, b"0")]


def test_a_document_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notable_tests, "MOST_BYTES", 100)
    assert notable_tests.encoded(fakes.CASE, RESULT, ()) == b""
    with Index(tmp_path) as index:
        index.write(State(7, campaign="me"), (), None, observed(kernel_add=0), {0: lambda: b""})
        assert list(notable_tests.all_in(index)) == []


def test_what_is_offered_before_another_thread_commits_is_kept(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.offer(0, lambda: DOCUMENT)
        store.save_state(observed(kernel_add=9))  # of another test
        store.save_state(observed(kernel_mul=0))
        assert [(number, document) for _, number, document in store.ask(lambda i: list(notable_tests.all_in(i)))] == [
            (0, DOCUMENT)
        ]
        store.save_state(observed(kernel_sub=0))
        assert len(store.ask(lambda i: list(notable_tests.all_in(i)))) == 1


def test_a_merge_copies_notable_tests(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Store(tmp_path / name, 1) as store:
            store.record(index_row(0, 0.5, RESULT.outcomes))
            store.offer(0, lambda: DOCUMENT)
            store.save_state(observed(kernel_add=0))
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    with Index(tmp_path / "c", writes=False) as index:
        assert [document for *_, document in notable_tests.all_in(index)] == [DOCUMENT, DOCUMENT]


def document(**changes: object) -> bytes:
    plain = {**msgspec.json.decode(zlib.decompress(DOCUMENT)), **changes}
    return zlib.compress(msgspec.json.encode(plain))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "cut, or larger"),
        (DOCUMENT[:-5], "cut, or larger"),
        (zlib.compress(bytes(1 << 26)), "cut, or larger than 4 MiB"),
        (b"no zlib", "incorrect header"),
        (zlib.compress(b"no json"), "JSON is malformed"),
        (document(case="{}"), "missing required field"),
        (document(lanes=[{"name": "x", "engine": "tvm", "target": "z80"}]), "no target is called 'z80'"),
        (document(more=1), "unknown field `more`"),
    ],
)
def test_a_damaged_document_ends_with_one_sentence(data: bytes, why: str) -> None:
    with pytest.raises(Invalid, match=why) as error:
        notable_tests.decoded(data, "test 3 of me")
    assert str(error.value).startswith("test 3 of me")
    assert "\n" not in str(error.value)
