"""Which tests each node of a cluster runs, and how far all nodes have come. Tests are assigned again only where the
number of shares changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.system.files import write_atomically
from generators.graph import Invalid
from generators.plain_file import read_plain

NAME = "cluster.json"


class Assignment(msgspec.Struct, frozen=True):
    """The share of one node: part `part` of `of` of the tests of `seed`, from test `first` on and below test `end`.

    program     the command that runs the share; its arguments are the pid of its parent, and then those of `fuzz`. If
                it is empty, the node's own Python runs `fuzz`
    arguments   options of the driver's command line that every node gets unchanged
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
        """The command line that runs the share in a campaign of the node."""
        options = ["--campaign", campaign, "--seed", self.seed, "--share", f"{self.part + 1}/{self.of}"]
        options += ["--first", self.first, "--workers", self.workers]
        options += [] if self.end is None else ["--end", self.end]
        program = self.program or [sys.executable, "-P", "-m", "fuzzer.children.node"]
        return [*program, str(os.getpid()), "run", *map(str, options), *self.arguments]


class Round(msgspec.Struct):
    """One division of a seed's tests into shares, stored in the driver's campaign. `next_tests` has the first test of
    each share that is not done, as far as the driver knows."""

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

    def advance(self, part: int, next_test: int) -> None:
        """Record the next test of a share; older news changes nothing."""
        self.next_tests[part] = max(self.next_tests[part], next_test)


def current_round(campaign: Path, shares: int | None, nodes: int, tests: int | None) -> Round:
    """The round of the campaign where it can continue, else a new one that begins after all tests of the last.

    A round continues where it is not done, has the number of shares that is requested, and has an end exactly where
    one is requested. A new round has `nodes` shares if `shares` is None, and ends after `tests` tests."""
    last, first = read(campaign), 0
    if last and not last.done and shares in (None, last.shares) and (last.end is None) == (tests is None):
        return last
    if last:
        first = last.end if last.end is not None and last.done else max(last.next_tests)
    count = shares or nodes
    starts = [Share(part, count, first).at(first) for part in range(count)]
    return Round(first, None if tests is None else first + tests, starts)


def read(campaign: Path) -> Round | None:
    """The round that a campaign stores; None where there is none. Raise `Invalid` where it cannot be read."""
    path = campaign / NAME
    try:
        return msgspec.json.decode(read_plain(path), type=Round)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; without it the tests are assigned anew") from None


def write(campaign: Path, stored: Round) -> None:
    write_atomically(campaign / NAME, msgspec.json.encode(stored))


Shape = tuple[int, int]
"""CPUs and GPUs of a node."""


def shapes_of(nodes: Sequence[dict[str, float]], count: int | None) -> list[Shape]:
    """The CPUs and GPUs of each of `count` shares; None means one share for each node.

    Each share gets the shape of one node. Further shares get the shape of the largest node: Ray waits for such nodes,
    or asks an autoscaler. Raise `Invalid` where no node has a CPU."""
    available = _with_cpus(nodes)
    if not available:
        raise Invalid("no node of the cluster has a CPU to give")
    shares = len(available) if count is None else count
    return [available[part] if part < len(available) else available[0] for part in range(shares)]


def fitting(shape: Shape, nodes: Sequence[dict[str, float]]) -> Shape:
    """The shape where a node can hold it, else the part of it that the largest node can hold. Without any node the
    shape stays, because a node may still come."""
    available = _with_cpus(nodes)
    if not available or any(cpus >= shape[0] and gpus >= shape[1] for cpus, gpus in available):
        return shape
    return min(shape[0], available[0][0]), min(shape[1], available[0][1])


def _with_cpus(nodes: Sequence[dict[str, float]]) -> list[Shape]:
    """The shapes of the nodes that have a CPU, the largest first."""
    shapes = sorted(((int(node.get("CPU", 0)), int(node.get("GPU", 0))) for node in nodes), reverse=True)
    return [shape for shape in shapes if shape[0]]
