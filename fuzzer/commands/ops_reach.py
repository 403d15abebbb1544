"""`fuzz ops --reach`: which operators exercise a function, a file, a pass or an operator of TVM."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.commands.progress import working
from fuzzer.difference.measured_map import measured
from fuzzer.difference.reach_map import ReachMap, keep, kept
from fuzzer.difference.reach_rows import rows_of_map
from fuzzer.system.terminal import say
from fuzzer.toolchains import registry
from generators.graph import Invalid

MOST = 40
"""The most operators of a part that are printed."""


def map_of(toolchain: str, workers: int) -> ReachMap:
    """The map that is kept with a toolchain. It is made where there is none."""
    found = registry.find(toolchain)
    if known := kept(found):
        return known
    say(f"difftvm: one case of each operator shows what it reaches in {toolchain}; this takes some minutes once")
    with working("map", lambda: "nothing; the map is made anew") as shown:
        made = measured(found, rows_of_map(), workers, lambda done, _: shown.count(done, "operators"))
    keep(found, made)
    return made


def reaching(reach_map: ReachMap, wanted: str) -> dict[str, list[str]]:
    """By each part that the word means, the operators that reach it. Raise `Invalid` where no case reaches one."""
    names = reach_map.names_of(wanted)
    if not names:
        raise Invalid(
            f"no case of the map reaches {wanted!r}: a function, a file of TVM, `pass NAME`, `operator relax.NAME`"
        )
    return {name: reach_map.rows_of(name) for name in names}


def lines(found: dict[str, list[str]], all_rows: int) -> Iterator[str]:
    for name, rows in found.items():
        most = "all operators" if len(rows) == all_rows else ", ".join(rows[:MOST])
        more = f", and {len(rows) - MOST} others" if MOST < len(rows) < all_rows else ""
        yield f"{name}: {most}{more}"
