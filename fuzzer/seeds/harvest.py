"""A file's cases: read, resolved, cut, made small, given numbers, checked, and run once in PyTorch."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fuzzer.isolate.validity import Validity, Verdict
from fuzzer.seeds import onnx_file, pt2_file
from fuzzer.seeds.cut import Piece, halves, pieces
from fuzzer.seeds.domains import with_numbers
from fuzzer.seeds.program import Program
from fuzzer.seeds.resolve import Resolved, resolve
from fuzzer.seeds.shrink import SMALL, TooLarge, shrunk
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Graph, Invalid, Node, Scalar

READERS: Mapping[str, Callable[[Path], Program]] = {".pt2": pt2_file.read, ".onnx": onnx_file.read}
MAX_PIECES = 2_000
"""Different pieces of a file that are tried: each may cost PyTorch a minute."""
NUMBERS = 3
"""Draws of numbers for a case, until PyTorch's results are finite."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """What a file gave.

    lacking   steps without a row, by title and reason; how often
    repeated  pieces that another piece equals, but for its sizes
    dropped   pieces that are no case, by reason; how many
    """

    file: str
    resolved: Resolved
    cases: tuple[Case, ...]
    repeated: int
    dropped: Counter[str]


def read(path: Path) -> Program:
    """Raise `Invalid` with one line that says what is wrong and where; `EnvironmentMissing`."""
    if not path.exists():
        raise Invalid(f"{path}: no such file")
    if path.suffix not in READERS or not path.is_file():
        raise Invalid(f"{path}: expected {' or '.join(READERS)}")
    return READERS[path.suffix](path)


def harvest(program: Program, size: int, ask: Validity) -> Harvest:
    """`size` is the most operators of a case. Equal programs give equal cases."""
    resolved = resolve(program)
    dropped: Counter[str] = Counter()
    seen: set[str] = set()
    cases, repeated = [], 0
    waiting = deque(pieces(resolved.nodes, resolved.types, program.roles, size))
    while waiting:
        piece = waiting.popleft()
        key = structure(piece.graph)
        if key in seen:
            repeated += 1
            continue
        if len(seen) == MAX_PIECES:
            dropped[f"{MAX_PIECES} pieces of the file were tried before them"] += 1 + len(waiting)
            break
        seen.add(key)
        try:
            cases.append(_case(program, key, piece, ask))
        except TooLarge as why:
            dropped[str(why)] += len(piece.graph.nodes) == 1
            waiting += halves(piece)
        except Invalid as why:
            dropped[str(why)] += 1
    return Harvest(program.name, resolved, tuple(cases), repeated, +dropped)


def _case(program: Program, key: str, piece: Piece, ask: Validity) -> Case:
    graph = shrunk(piece.graph)
    constants = {name: program.constants[own] for name, own in piece.origins.items() if own in program.constants}
    for stream in range(NUMBERS):
        case = with_numbers(NumpySource(int(key[:12], 16), 0, stream), graph, constants)
        case = replace(case, origin=f"imported from {program.name}")
        check(case)
        answer = ask(case)
        if answer.verdict is Verdict.OK:
            return case
    if answer.verdict is Verdict.NOT_FINITE:
        raise Invalid("its results are not finite")
    raise Invalid(f"PyTorch says {answer.verdict}: {answer.told}")


def structure(graph: Graph) -> str:
    """The same for graphs that differ in sizes alone: operators, wiring, attributes, dtypes, ranks, and where a size
    is 1."""
    said = [
        *(f"{i.role} {i.value.type.dtype} {[size == 1 for size in i.value.type.sizes]}" for i in graph.inputs),
        *(f"{node.op} {node.args} {sorted(_attributes(node))}" for node in graph.nodes),
        *graph.outputs,
    ]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def _attributes(node: Node) -> Iterator[str]:
    for key, value in node.attrs.items():
        yield f"{key} {tuple(map(_plain, value)) if isinstance(value, tuple) else _plain(value)!r}"


def _plain(value: Scalar) -> Scalar:
    """Large numbers are sizes."""
    return SMALL + 1 if isinstance(value, int) and value > SMALL else value
