"""A user's own pass is a row that is made from its name alone, and a name can be nothing but a name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzzer.lanes import RELAY_ROUTES, TVM_LANES
from oracles.lane_check import invalid_reason
from oracles.siblings import additions, sibling
from oracles.transforms import LEGALIZE, ModuleForm, Rounding, own_transform, registered_name, transform_named

PLAIN = TVM_LANES[0]
LONGEST = "n" * 60


def test_the_name_alone_gives_the_row() -> None:
    row = transform_named("own:my.pass-2")
    assert row.source == 'own_pass("my.pass-2")(mod)'
    assert 'tvm.get_global_func("difftvm.own_pass." + name)' in row.helper
    assert (row.form, row.after, row.rounding) == (ModuleForm.ANYTHING, (), Rounding.SAME)
    assert (row.lowers, row.round_trip) == (False, False)
    assert row.pass_name == "own:my.pass-2"
    assert registered_name("own:my.pass-2") == "difftvm.own_pass.my.pass-2"


def test_what_is_claimed_stands_behind_the_name() -> None:
    row = transform_named("own:p:kernels:idempotent:other-order")
    assert row.source == 'own_pass_twice("p", mod)'
    assert (row.form, row.after, row.rounding) == (ModuleForm.KERNELS, (LEGALIZE,), Rounding.OTHER_ORDER)
    assert registered_name(row.name) == "difftvm.own_pass.p"
    assert [transform_named(f"own:p:{name}").rounding for name in ("fast-math", "half")] == [
        Rounding.FAST_MATH,
        Rounding.HALF,
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("own:", "own:a b", 'own:a"', "own:a\n", "own:../a", "own:é", f"own:{LONGEST}n", "Own:a", "a"),
        *("own:-a", "own:.a", "own:a:", "own:a:nonsense", "own:a:idempotent:kernels", "own:a:half:half"),
    ],
)
def test_another_form_is_no_own_pass(name: str) -> None:
    assert own_transform(name) is None
    assert invalid_reason(replace(PLAIN, passes=(name,))) == f"no pass is called {name!r}"
    with pytest.raises(KeyError):
        transform_named(name)


def test_a_lane_in_relax_may_name_one_and_a_lane_in_relay_may_not() -> None:
    lane = replace(PLAIN, passes=("LegalizeOps", f"own:{LONGEST}:idempotent"))
    assert invalid_reason(lane) is None
    relay = replace(RELAY_ROUTES[0], passes=("own:p",))
    assert invalid_reason(relay) == "no pass is called 'own:p'"


def test_the_plain_lane_is_the_sibling() -> None:
    lane = replace(PLAIN, name="relax-export-own-p", passes=("own:p",))
    assert sibling(lane, TVM_LANES) is PLAIN
    assert additions(lane) == ("own:p",)
