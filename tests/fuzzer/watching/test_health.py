"""A lane that stops giving results is reported; random variation is not."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.state import State
from fuzzer.lanes import ONNXRUNTIME, TORCH
from fuzzer.watching.health import RECENT, LaneHealth, failing, lanes_health
from oracles.outcome import Outcome, Raised, Ran, Stage


@pytest.mark.parametrize(
    ("recent", "earlier", "fails"),
    [
        ({"ran": 40}, {"ran": 100}, False),
        ({"raised": 40}, {"ran": 100}, True),
        ({"skipped": 40}, {"ran": 50, "built": 50}, True),  # the machine lost its C compiler
        ({"built": 40}, {"ran": 100}, False),
        ({"ran": 20, "raised": 20}, {"ran": 100}, False),
        ({"ran": 19, "raised": 21}, {"ran": 100}, True),
        ({"raised": 39}, {"ran": 100}, False),  # too few to tell
        ({"raised": 40}, {"ran": 39}, False),
        ({"raised": 40}, {"raised": 100}, False),  # it never did
        ({"ran": 1, "raised": 39}, {"ran": 10, "raised": 90}, False),  # it seldom did
        ({"ran": 6, "raised": 34}, {"ran": 50, "raised": 50}, True),
        ({"ran": 8, "raised": 32}, {"ran": 50, "raised": 50}, False),
    ],
)
def test_what_is_sudden(recent: dict[str, int], earlier: dict[str, int], fails: bool) -> None:
    assert LaneHealth("x", recent, earlier).fails is fails


@pytest.mark.slow
def test_chance_rings_no_bell() -> None:
    """A hundred lanes of all sorts, looked at a thousand times."""
    draw = random.Random(1)
    rung = 0
    for _ in range(1000):
        for percent in range(0, 101, 5):
            how = ["ran" if draw.random() * 100 < percent else "raised" for _ in range(RECENT + 200)]
            rung += LaneHealth("x", Counter(how[:RECENT]), Counter(how[RECENT:])).fails
    assert rung <= 2


def test_of_an_index_those_that_fail_come_first(tmp_path: Path) -> None:
    ran, raised = Ran(()), Raised(Stage.RUN, "E", "no")

    def outcomes(number: int) -> dict[object, Outcome]:
        return {TORCH: ran, ONNXRUNTIME: raised if number >= 160 else ran}

    with Index(tmp_path) as index:
        assert lanes_health(index) == ()
        index.write(State(1, campaign="me"), [index_row(n, 0.1, outcomes(n)) for n in range(200)])  # type: ignore[arg-type]
        found = lanes_health(index)
    assert found == (
        LaneHealth("onnxruntime", {"raised": 40}, {"ran": 160}),
        LaneHealth("torch", {"ran": 40}, {"ran": 160}),
    )
    assert failing(found) == ["onnxruntime"]
