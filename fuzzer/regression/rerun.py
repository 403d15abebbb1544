"""Runs a regression corpus again, and compares."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from fuzzer.isolate.fleet import Runner
from fuzzer.regression.compare import Changed, changes, expected_ends
from fuzzer.regression.record import Corpus, Entry
from fuzzer.regression.runs import ends_of
from fuzzer.toolchains.lanes import in_toolchain, runs_in
from fuzzer.toolchains.toolchain import Toolchain
from generators.graph import Invalid


def rerun(runner: Runner, kept: Corpus, where: Toolchain, workers: int) -> Iterator[list[Changed]]:
    """Yield, for each case, the lanes that end otherwise in a toolchain. A case with such lanes runs two more times in
    fresh processes, and what not all three runs show does not count."""
    lanes = {name: in_toolchain(lane, where.name) for name, lane in kept.lanes.items() if runs_in(lane, where)}
    if not lanes:
        raise Invalid(f"toolchain {where.name!r} runs none of the lanes of this corpus")

    def changed(entry: Entry) -> list[Changed]:
        specs = {name: lanes[name] for name in expected_ends(entry) if name in lanes}
        found: dict[str, Changed] = {}
        for number, run in enumerate((runner.run, runner.run_fresh, runner.run_fresh)):
            now = ends_of(run, kept.cases[entry.case], tuple(specs.values()))
            differing = {each.lane: each for each in changes(entry, specs, now)}
            if number:
                differing = {name: each for name, each in differing.items() if _same(each, found.get(name))}
            found = differing
            if not found:
                break
        return list(found.values())

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(changed, kept.entries)
        finally:
            pool.shutdown(cancel_futures=True)


def _same(now: Changed, before: Changed | None) -> bool:
    return before is not None and now.now == before.now
