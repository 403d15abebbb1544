"""What the exception of a check says."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.api.checked import Checked, NothingJudged, NothingRan, NotWhole
from fuzzer.api.finding_error import FindingError
from fuzzer.api.found_failure import FoundFailure

NEW = FoundFailure(
    "s-1", "compiling `torch.clamp` fails: x", "internal-error", ("clamp",), Path("f"), Path("f/r.py"), "go"
)
KNOWN = replace(NEW, nodes=(7,), known_as="s-0")


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (NEW, "compiling `torch.clamp` fails: x"),
        (KNOWN, "the same failure as s-0, here at `clamp` (node 7): compiling `torch.clamp` fails: x"),
        (
            replace(KNOWN, operators=("clamp", "relu", "clamp"), nodes=(1, 2, 9)),
            "the same failure as s-0, here at `clamp` + `relu` (nodes 1, 2, 9): compiling `torch.clamp` fails: x",
        ),
        (
            replace(KNOWN, operators=("a", "b", "c", "d"), nodes=(0, 1, 2, 3, 4)),
            "the same failure as s-0, here at `a` + `b` + `c` and 1 more (nodes 0, 1, 2 and 2 more): "
            "compiling `torch.clamp` fails: x",
        ),
        (replace(KNOWN, nodes=()), "the same failure as s-0, here at `clamp`: compiling `torch.clamp` fails: x"),
    ],
)
def test_a_known_failure_names_the_first_one(failure: FoundFailure, line: str) -> None:
    assert str(FindingError([failure])) == f"{line}\n  f/r.py\n  go"


CHECKED = Checked(("a",), (), (), ("torch.rand (1 time): random",), 1, 2.0, not_judged=("a: it is only compiled",))


@pytest.mark.parametrize(
    "error",
    [
        FindingError([NEW, KNOWN], CHECKED),
        FindingError([NEW]),
        NotWhole(CHECKED),
        NothingJudged(CHECKED),
        NothingRan(CHECKED),
    ],
)
def test_the_exceptions_pass_from_one_process_to_another(
    error: FindingError | NotWhole | NothingJudged | NothingRan,
) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.checked) == (type(error), str(error), error.checked)
    assert getattr(again, "findings", ()) == getattr(error, "findings", ())
