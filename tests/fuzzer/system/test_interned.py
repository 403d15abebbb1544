"""Equal values are in memory once."""

from __future__ import annotations

from fuzzer.system.interned import interned


def test_the_first_of_equal_values_is_returned() -> None:
    first, second = (frozenset({"add", word}) for word in ("mul", "mul"))
    assert first is not second
    assert interned(first) is interned(second)
    assert interned(frozenset({"add"})) == frozenset({"add"})
