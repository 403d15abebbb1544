"""The arguments of `check_pass` that are refused, and what its exceptions say. No compiler is started."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import CASE

from fuzzer.api.finding_error import FindingError
from fuzzer.api.found_failure import FoundFailure
from fuzzer.api.own_passes import check_backend, check_pass
from fuzzer.api.pass_check import _first, claimed, name_of
from fuzzer.toolchains.preload import MODULE

FOUND = FoundFailure("s", "`torch.neg` is wrong", "wrong-value", ("neg",), Path("f/s"), Path("f/s/repro.py"), "fuzz x")


def same(mod: object) -> object:
    return mod


class PassOfTvm:
    info = ModuleType("my.Pass 2")
    info.name = "my.Pass 2"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"on": "relay"}, "on='relay': it is 'relax' or 'kernels'"),
        ({"rounding": "some"}, "rounding='some': it is None, 'other-order', 'fast-math', 'half'"),
        ({"ops": "nosuch"}, "no operator matches 'nosuch'; `fuzz ops` lists them"),
    ],
)
def test_a_bad_argument_starts_nothing(tmp_path: Path, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        check_pass(same, folder=tmp_path / "new", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file/1: Not a directory"):
        check_backend(same, folder=tmp_path / "file")


def test_a_check_in_the_process_that_loads_the_pass_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that, a script that checks its pass outside `if __name__ == ...` would start itself for ever."""
    monkeypatch.setitem(sys.modules, MODULE, ModuleType(MODULE))
    with pytest.raises(RuntimeError, match="if __name__ == "):
        check_pass(same)


def test_the_name_of_a_pass_and_its_claims_are_the_name_in_lanes() -> None:
    assert claimed(same, "relax", idempotent=False, rounding=None) == "same"
    assert claimed("relax.Fold", "kernels", idempotent=True, rounding="half") == "relax.Fold:kernels:idempotent:half"
    assert [name_of(each) for each in (PassOfTvm(), lambda mod: mod, 3)] == ["my.Pass2", "lambda", "own_pass"]


def test_the_exception_lists_what_was_found() -> None:
    error = FindingError([FOUND])
    assert isinstance(error, AssertionError)
    assert error.findings == (FOUND,)
    assert str(error) == "`torch.neg` is wrong\n  f/s/repro.py\n  fuzz x"
    assert str(FindingError([FOUND, FOUND])).startswith("`torch.neg` is wrong; 1 more\n")


def test_the_cases_of_earlier_findings_run_first_and_then_all_others() -> None:
    others = [replace(CASE, origin=f"test {number}") for number in range(3)]
    kept = [replace(CASE, origin="earlier")]
    cases = _first(kept, lambda number: others[number])
    assert [cases(number) for number in range(4)] == [*kept, *others]
    assert [_first([], lambda number: others[number])(number) for number in range(3)] == others
