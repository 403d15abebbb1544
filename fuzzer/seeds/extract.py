"""Make cases of a file: read it, resolve its calls, cut the graph, shrink sizes, draw inputs, check, run once."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from fuzzer.isolate.validity import CaseVerdict, Validity
from fuzzer.seeds.cut import Piece, halves, pieces, whole
from fuzzer.seeds.dialect import seeds_of
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.opened import Opened, left_open, names_in, opened_as_in_file, with_smaller_sizes
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.sample import NOTHING, Sample, require_inputs
from fuzzer.seeds.shrink import SMALL, TooLarge, shrunk
from fuzzer.seeds.torch import pt2_file
from generators.check import check
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.graph import Case, Graph, Invalid, Node, Scalar

OPENED: Mapping[str, Callable[[Path, Sample], Any]] = {
    ".pt2": lambda path, sample: pt2_file.read(path),
    ".onnx": lambda path, sample: onnx_file.read(path, sample.inputs, sample.sizes),
}
"""What reads a file of each suffix. The dialects make a model of the result (`fuzzer.seeds.dialect`)."""

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    suffix: tuple(name for name in NAMES if suffix in seeds_of(name).resolve) for suffix in OPENED
}
"""The files that are read, and the dialects in which they are read."""

MAX_PIECES = 2_000
"""The most different pieces of a file that are tried: each may take PyTorch a minute."""
INPUT_DRAWS = 3
"""How often the inputs of a case are drawn, until PyTorch's results are finite."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The cases of a file.

    repeated  the number of pieces that differ from another piece in sizes only
    dropped   the number of pieces that gave no case, by reason
    closed    why a case has numbers in place of sizes that the file leaves open; "" where none has
    """

    file: str
    resolved: Resolved
    cases: tuple[Case, ...]
    repeated: int
    dropped: Counter[str]
    closed: str = ""

    @property
    def open_sizes(self) -> str:
        """Which sizes the file leaves open, their number, and how many cases leave them open, in one sentence; "" where
        there are none."""
        there, count = left_open(self.resolved), sum(bool(case.graph.symbols) for case in self.cases)
        if there is None:
            return ""
        number = f"{there.number} in place of {there.them}"
        if count:
            leave = "1 case leaves" if count == 1 else f"{count} cases leave"
            return f"{there}: {leave} {there.them} open too, and the others have {number}"
        why = f": {self.closed}" if self.closed else ""
        return f"{there}: each case has {number}{why}"


def read(path: Path, dialects: Collection[str] = NAMES, sample: Sample = NOTHING) -> tuple[Resolved, ...]:
    """Read a file with the reader for its suffix, and return its model in each of these dialects that the file can be
    read in. Of a file of ONNX, `sample` has inputs and open sizes. Raise `Invalid` with one line that describes what is
    wrong and where, or `EnvironmentMissing`."""
    try:
        exists = path.exists()
    except OSError as error:  # its path is too long
        raise Invalid(f"{path}: {error.strerror}") from None
    if not exists:
        raise Invalid(f"{path}: no such file")
    if path.suffix not in SUFFIXES or not path.is_file():
        raise Invalid(f"{path}: expected {' or '.join(SUFFIXES)}")
    wanted = [dialect for dialect in SUFFIXES[path.suffix] if dialect in dialects]
    if not wanted:
        raise Invalid(f"{path}: a {path.suffix} file is read as {' or '.join(SUFFIXES[path.suffix])} only")
    opened = OPENED[path.suffix](path, sample)
    found = tuple(seeds_of(dialect).resolve[path.suffix](opened, path, sample.inputs) for dialect in wanted)
    require_inputs(path, sample.inputs, found[0].inputs)
    return found


def extract(resolved: Resolved, size: int, validity: Validity) -> Extracted:
    """Make cases of at most `size` operators. Equal models give equal cases. A model of ONNX that has no more, and no
    operator without a row, is one case as it is. A piece of ONNX with sizes that the file leaves open gives two cases:
    with numbers in place of them, and with open sizes."""
    dropped: Counter[str] = Counter()
    tried: set[str] = set()
    names = names_in(resolved) if dialect_named(resolved.dialect).is_file else {}
    closed = ""
    cases, repeated = [], 0
    waiting = deque(_pieces(resolved, size))
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
            case = _case(resolved, key, piece, validity)
            opened = opened_as_in_file(case, piece, resolved, names)
            cases += [case, *_open_cases(opened, validity)]
            closed = closed or (opened.why if opened else "")
        except TooLarge as why:
            dropped[str(why)] += len(piece.graph.nodes) == 1
            waiting += halves(piece)
        except Invalid as why:
            dropped[str(why)] += 1
    return Extracted(resolved.name, resolved, tuple(cases), repeated, +dropped, closed)


def _pieces(resolved: Resolved, size: int) -> Iterator[Piece]:
    nodes, types, roles = resolved.nodes, resolved.types, resolved.roles
    dialect, opset = resolved.dialect, resolved.opset
    if dialect_named(dialect).is_file and not resolved.lacking and 0 < len(nodes) <= size:
        yield whole(nodes, types, roles, resolved.returned, dialect, opset)
    else:
        yield from pieces(nodes, types, roles, size, dialect, opset)


def _case(resolved: Resolved, key: str, piece: Piece, validity: Validity) -> Case:
    """Raise `TooLarge` or `Invalid` where the piece gives no case."""
    graph = shrunk(piece.graph)
    constants = {name: resolved.constants[own] for name, own in piece.origins.items() if own in resolved.constants}
    for stream in range(INPUT_DRAWS):
        case = draw_case(NumpySource(int(key[:12], 16), 0, stream), graph, constants)
        case = replace(case, origin=f"imported from {resolved.name}")
        check(case)
        answer = validity(case)
        if answer.verdict is CaseVerdict.OK:
            return case
    if answer.verdict is CaseVerdict.NOT_FINITE:
        raise Invalid("its results are not finite")
    judges = dialect_named(resolved.dialect).words.judges
    raise Invalid(f"{judges} says {answer.verdict}: {answer.message}")


def _open_cases(found: Opened | None, validity: Validity) -> Iterator[Case]:
    """Yield the case with open sizes, if there is one. It also runs at smaller sizes where the references do."""
    if found is None or not found.open:
        return
    smaller = with_smaller_sizes(found.case)
    if smaller is None or validity(smaller.at(*smaller.also)).verdict is not CaseVerdict.OK:
        yield found.case
    else:
        yield smaller


def structure(graph: Graph) -> str:
    """A hash of everything but the sizes: operators, wiring, attributes, dtypes, ranks, and which sizes are 1. Graphs
    that differ in sizes only have the same hash."""
    parts = [
        *(f"{i.role} {i.value.type.dtype} {[size == 1 for size in i.value.type.sizes]}" for i in graph.inputs),
        *(f"{node.op} {node.args} {sorted(_attributes(node))}" for node in graph.nodes),
        *graph.outputs,
    ]
    if dialect_named(graph.dialect).opsets:
        parts += [f"{graph.dialect} {graph.opset}", *(node.form for node in graph.nodes)]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _attributes(node: Node) -> Iterator[str]:
    for key, value in node.attrs.items():
        yield f"{key} {tuple(map(_without_size, value)) if isinstance(value, tuple) else _without_size(value)!r}"


def _without_size(value: Scalar) -> Scalar:
    """One number in place of all large ones, which count as sizes."""
    return SMALL + 1 if isinstance(value, int) and value > SMALL else value
