"""The decoders under their fuzzer, in short: each input that stays, and changes of it with a fixed seed."""

from __future__ import annotations

from itertools import cycle, islice
from random import Random

import fuzz_decoders
import pytest
from decoder_targets import TARGETS
from decoders.base import CORPUS, Target
from mutations import Form, mutated

pytestmark = pytest.mark.slow

CHANGES = {"findings": 1200, "protocol": 1200, "import": 500, "index": 150, "scripts": 200}
SHARE = 5
"""One change of five is made in each run of the gate."""


def inputs(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_returns_a_value_or_its_own_error_for_each_input(name: str) -> None:
    target, kept = TARGETS[name], inputs(name)
    assert len(kept) >= 7
    assert {data[0] % len(target.names) for data in kept} == set(range(len(target.names)))
    assert [fault.text for data in kept if (fault := target.fault(data))] == []


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, SHARE))])
@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_returns_a_value_or_its_own_error_for_changes(name: str, first: int) -> None:
    target = TARGETS[name]
    each_input = islice(enumerate(cycle(inputs(name))), first, CHANGES[name], SHARE)
    changed = (target.mutated(data, seed) for seed, data in each_input)
    assert [fault.text for data in changed if (fault := target.fault(data))] == []


@pytest.mark.parametrize("form", Form)
def test_changes_are_equal_for_equal_seeds(form: Form) -> None:
    data = next(data for target in TARGETS.values() for data in contents_of(target, form))
    once, again, other = ([mutated(data, form, Random(seed + n)) for n in range(20)] for seed in (1, 1, 100))
    assert once == again
    assert once != other


def contents_of(target: Target, form: Form) -> list[bytes]:
    places = [place for place, each in enumerate(target.documents) if each.form is form]
    found = [data[1:] for data in inputs(target.name) if data[0] % len(target.documents) in places]
    return found or [b'{"a": 1}\n{"b": 2}\n'] if form is Form.LINES else found


def test_inputs_that_reach_nothing_new_are_left_out() -> None:
    target = TARGETS["findings"]
    kept = [data for data in inputs("findings") if data[0] % len(target.names) == target.names.index("attempts")]
    ordered = sorted(kept, key=lambda data: (len(data), data))
    chosen = fuzz_decoders._covering(target, [*ordered, *ordered], 10_000)
    assert chosen
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= set(kept)
    assert fuzz_decoders._covering(target, ordered, len(ordered[0])) == ordered[:1]
