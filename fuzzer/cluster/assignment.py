"""What a node is asked to do, and how far all have come: dealt anew only where the number of shares changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fuzzer.campaign.test_numbers import Share
from fuzzer.system.files import write_atomically
from generators.graph import Invalid

NAME = "cluster.json"


class Deal(msgspec.Struct, frozen=True):
    """The share that a node takes: part `part` of `of` of the tests of `seed`, from `first` on and below `end`.

    program     what runs it: takes its parent's pid, and then what `fuzz` takes
    arguments   of the driver's command line, that every node takes as they are
    """

    part: int
    of: int
    seed: int
    first: int
    end: int | None
    workers: int
    arguments: tuple[str, ...] = ()
    program: tuple[str, ...] = ()

    def command(self, campaign: Path) -> list[str]:
        """Without a program, it is `fuzz` of the node's own Python."""
        words = ["--campaign", campaign, "--seed", self.seed, "--share", f"{self.part + 1}/{self.of}"]
        words += ["--first", self.first, "--workers", self.workers]
        words += [] if self.end is None else ["--end", self.end]
        program = self.program or [sys.executable, "-P", "-m", "fuzzer.children.node"]
        return [*program, str(os.getpid()), "run", *map(str, words), *self.arguments]


class Round(msgspec.Struct):
    """One division of a seed's tests, kept in the driver's campaign; `next_tests` are the shares' first tests that are
    not done, as far as the driver knows."""

    first: int
    end: int | None
    next_tests: list[int]

    @property
    def shares(self) -> int:
        return len(self.next_tests)

    def is_done(self, part: int) -> bool:
        return self.end is not None and self.next_tests[part] >= self.end

    @property
    def done(self) -> bool:
        return all(self.is_done(part) for part in range(self.shares))

    def note(self, part: int, next_test: int) -> None:
        self.next_tests[part] = max(self.next_tests[part], next_test)


def the_round(campaign: Path, shares: int | None, found: int, tests: int | None) -> Round:
    """The campaign's round, if it is not through, has as many shares as wanted, and an end where one is wanted; else
    the next one, behind all tests of the last. `found`: shares where nobody wants a number; `tests`: of a new round."""
    last, first = read(campaign), 0
    if last and not last.done and shares in (None, last.shares) and (last.end is None) == (tests is None):
        return last
    if last:
        first = last.end if last.end is not None and last.done else max(last.next_tests)
    count = shares or found
    starts = [Share(part, count, first).at(first) for part in range(count)]
    return Round(first, None if tests is None else first + tests, starts)


def read(campaign: Path) -> Round | None:
    """Raises `Invalid`."""
    path = campaign / NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Round)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path}: {error}; without it the tests are dealt anew") from None


def write(campaign: Path, dealt: Round) -> None:
    write_atomically(campaign / NAME, msgspec.json.encode(dealt))


Shape = tuple[int, int]
"""CPUs and GPUs."""


def shapes_of(nodes: Sequence[dict[str, float]], count: int | None) -> list[Shape]:
    """Of each share: those of a node that is there; where more are wanted, of nodes like the largest, for whom Ray
    waits, or asks an autoscaler. Raises `Invalid` where no node has a CPU."""
    there = _that_compute(nodes)
    if not there:
        raise Invalid("no node of the cluster has a CPU to give")
    wanted = len(there) if count is None else count
    return [there[place] if place < len(there) else there[0] for place in range(wanted)]


def fitting(shape: Shape, nodes: Sequence[dict[str, float]]) -> Shape:
    """The shape, where a node that is there can hold it; else what of it the largest can. Where nobody is there it
    stays: somebody will come."""
    there = _that_compute(nodes)
    if not there or any(cpus >= shape[0] and gpus >= shape[1] for cpus, gpus in there):
        return shape
    return min(shape[0], there[0][0]), min(shape[1], there[0][1])


def _that_compute(nodes: Sequence[dict[str, float]]) -> list[Shape]:
    """The largest first."""
    there = sorted(((int(node.get("CPU", 0)), int(node.get("GPU", 0))) for node in nodes), reverse=True)
    return [shape for shape in there if shape[0]]
