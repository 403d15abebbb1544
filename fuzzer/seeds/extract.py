"""Make cases of a file: read it, resolve its calls, cut the graph, shrink sizes, draw inputs, check, run in PyTorch."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fuzzer.isolate.validity import CaseVerdict, Validity
from fuzzer.seeds import onnx_file, pt2_file
from fuzzer.seeds.cut import Piece, halves, pieces
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.program import Program
from fuzzer.seeds.resolve import Resolved, resolve
from fuzzer.seeds.shrink import SMALL, TooLarge, shrunk
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Graph, Invalid, Node, Scalar

READERS: Mapping[str, Callable[[Path], Program]] = {".pt2": pt2_file.read, ".onnx": onnx_file.read}
MAX_PIECES = 2_000
"""The most different pieces of a file that are tried: each may take PyTorch a minute."""
INPUT_DRAWS = 3
"""How often the inputs of a case are drawn, until PyTorch's results are finite."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The cases of a file.

    repeated  the number of pieces that differ from another piece in sizes only
    dropped   the number of pieces that gave no case, by reason
    """

    file: str
    resolved: Resolved
    cases: tuple[Case, ...]
    repeated: int
    dropped: Counter[str]


def read(path: Path) -> Program:
    """Read a file with the reader for its suffix. Raise `Invalid` with one line that describes what is wrong and where,
    or `EnvironmentMissing`."""
    if not path.exists():
        raise Invalid(f"{path}: no such file")
    if path.suffix not in READERS or not path.is_file():
        raise Invalid(f"{path}: expected {' or '.join(READERS)}")
    return READERS[path.suffix](path)


def extract(program: Program, size: int, validity: Validity) -> Extracted:
    """Make cases of at most `size` operators. Equal programs give equal cases."""
    resolved = resolve(program)
    dropped: Counter[str] = Counter()
    tried: set[str] = set()
    cases, repeated = [], 0
    waiting = deque(pieces(resolved.nodes, resolved.types, program.roles, size))
    while waiting:
        piece = waiting.popleft()
        key = structure(piece.graph)
        if key in tried:
            repeated += 1
            continue
        if len(tried) == MAX_PIECES:
            dropped[f"{MAX_PIECES} pieces of the file were tried before them"] += 1 + len(waiting)
            break
        tried.add(key)
        try:
            cases.append(_case(program, key, piece, validity))
        except TooLarge as why:
            dropped[str(why)] += len(piece.graph.nodes) == 1
            waiting += halves(piece)
        except Invalid as why:
            dropped[str(why)] += 1
    return Extracted(program.name, resolved, tuple(cases), repeated, +dropped)


def _case(program: Program, key: str, piece: Piece, validity: Validity) -> Case:
    """Raise `TooLarge` or `Invalid` where the piece gives no case."""
    graph = shrunk(piece.graph)
    constants = {name: program.constants[own] for name, own in piece.origins.items() if own in program.constants}
    for stream in range(INPUT_DRAWS):
        case = draw_case(NumpySource(int(key[:12], 16), 0, stream), graph, constants)
        case = replace(case, origin=f"imported from {program.name}")
        check(case)
        answer = validity(case)
        if answer.verdict is CaseVerdict.OK:
            return case
    if answer.verdict is CaseVerdict.NOT_FINITE:
        raise Invalid("its results are not finite")
    raise Invalid(f"PyTorch says {answer.verdict}: {answer.message}")


def structure(graph: Graph) -> str:
    """A hash of everything but the sizes: operators, wiring, attributes, dtypes, ranks, and which sizes are 1. Graphs
    that differ in sizes only have the same hash."""
    parts = [
        *(f"{i.role} {i.value.type.dtype} {[size == 1 for size in i.value.type.sizes]}" for i in graph.inputs),
        *(f"{node.op} {node.args} {sorted(_attributes(node))}" for node in graph.nodes),
        *graph.outputs,
    ]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _attributes(node: Node) -> Iterator[str]:
    for key, value in node.attrs.items():
        yield f"{key} {tuple(map(_without_size, value)) if isinstance(value, tuple) else _without_size(value)!r}"


def _without_size(value: Scalar) -> Scalar:
    """One number in place of all large ones, which count as sizes."""
    return SMALL + 1 if isinstance(value, int) and value > SMALL else value
