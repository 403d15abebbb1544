"""Which tests a campaign takes."""

from __future__ import annotations

import pytest

from fuzzer.campaign.plan.test_numbers import ALL, Numbers, Share, parsed
from generators.graph import Invalid


def taken(numbers: Numbers, count: int = 100) -> list[int]:
    return [number for _ in range(count) if (number := numbers.take()) is not None]


def test_all_of_them() -> None:
    assert taken(Numbers(ALL, 0), 4) == [0, 1, 2, 3]
    assert taken(Numbers(ALL, 7), 2) == [7, 8]


@pytest.mark.parametrize("of", [1, 2, 3, 7])
@pytest.mark.parametrize("first", [0, 1, 5])
@pytest.mark.parametrize("next_test", [0, 4, 6])
def test_shares_are_everything_and_nothing_twice(of: int, first: int, next_test: int) -> None:
    dealt = [taken(Numbers(Share(part, of, first, 31), next_test)) for part in range(of)]
    assert sorted(number for numbers in dealt for number in numbers) == list(range(max(first, next_test), 31))
    assert all(number % of == part for part, numbers in enumerate(dealt) for number in numbers)


def test_the_first_that_is_not_done() -> None:
    numbers = Numbers(Share(1, 3, 2), 0)
    assert taken(numbers, 4) == [4, 7, 10, 13]
    assert [numbers.finish(number) for number in (7, 10, 4, 13)] == [4, 4, 13, 16]
    assert taken(Numbers(Share(1, 3, 2), 13), 1) == [13], "a killed campaign repeats it"


def test_a_share_that_is_done_is_at_its_end() -> None:
    numbers = Numbers(Share(0, 2, 0, 5), 0)
    assert [numbers.finish(number) for number in taken(numbers)] == [2, 4, 6]
    assert taken(Numbers(Share(0, 2, 0, 5), 6)) == []


def test_as_it_is_written() -> None:
    assert (parsed("1/1"), parsed("1/4"), parsed("4/4")) == ((0, 1), (0, 4), (3, 4))


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "", "a/b", "-1/4", "1/0", "1/2/3"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(Invalid, match="K/N is meant"):
        parsed(text)
