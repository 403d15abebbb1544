"""The rule of a row gives types, or refuses, whatever numbers and lists its attributes are: some rows here, and all by
`benchmarks/case_numbers.py`."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import case_numbers
import pytest
from case_numbers import MOST_SECONDS, Answered

from generators.graph import Invalid, TensorType
from generators.op import Types
from generators.table import TABLE

pytestmark = pytest.mark.filterwarnings("error")

WINDOWS = ("relax.nn.conv2d_transpose", "relax.nn.conv3d_transpose", "Resize-18", "interpolate_area", "Reshape-21")


def faults(answers: list[Answered]) -> list[str]:
    return [f"{each.op}: {each.changed[:100]}: {each.fault}" for each in answers if each.fault]


@pytest.mark.parametrize("name", WINDOWS)
def test_numbers_of_windows_and_shapes(name: str) -> None:
    row = next(row for row in case_numbers.rows() if row[0].name == name)
    call = case_numbers.drawn(*row)
    assert call is not None
    answers = list(case_numbers.answers(call))
    assert faults(answers) == []
    assert {"", "refused"} == {each.ending for each in answers}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_numbers_of_all_rows(part: int) -> None:
    rows = list(case_numbers.rows())[part::3]
    calls = [call for row in rows if (call := case_numbers.drawn(*row))]
    assert len(calls) > 0.9 * len(rows) > 200
    assert faults(list(chain.from_iterable(map(case_numbers.answers, calls)))) == []


def test_what_is_a_fault() -> None:
    done = Answered("relu", "a=1", "refused", 0.1)
    assert done.fault == ""
    assert replace(done, seconds=MOST_SECONDS + 1).fault == "it takes 2.0 s"

    def infer(types: Types, attrs: object) -> TensorType:
        raise IndexError("no such place")

    row = replace(TABLE["hardtanh"], infer=infer)
    call = case_numbers.drawn(TABLE["hardtanh"], "torch", 0)
    assert call is not None
    endings = {each.fault for each in case_numbers.answers(replace(call, op=row))}
    assert "IndexError: no such place" in endings
    with pytest.raises(Invalid):
        TABLE["hardtanh"].results(call.types, {})
