"""What counts as a fault of a decoder under its fuzzer."""

from __future__ import annotations

import pytest
from decoders.base import CORPUS, Document, Target
from mutations import Form

from generators.graph import Invalid


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 300_000


@pytest.mark.parametrize("error", [RecursionError, MemoryError, KeyError, OSError(5000, "no such error")])
def test_another_error_is_a_fault(error: Exception) -> None:
    def read(data: bytes) -> None:
        raise error

    fault = Target("t", {"a": Document(Form.BYTES, read)}).fault(b"\0")
    assert fault is not None
    assert fault.key.startswith("a: ")


def test_a_legal_end_is_no_fault() -> None:
    def refuse(data: bytes) -> None:
        raise Invalid("no")

    assert Target("t", {"a": Document(Form.BYTES, refuse), "b": Document(Form.BYTES, len)}).fault(b"\0x") is None


def test_a_slow_decoder_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decoders.base.MOST_SECONDS", -1.0)
    fault = Target("t", {"a": Document(Form.BYTES, len)}).fault(b"\0x")
    assert fault is not None
    assert fault.key == "a: slow"
