"""Recorded failures: what a lane really did, and the identity that it must be given.

`records/<bug>.json` is one bug: its identity, and what was seen of it, at several shapes and dtypes, with several
seeds, in several lanes, toolchains and installations. Another file is another bug. `record.py` writes them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from fuzzer.lanes import TVM_LANES
from fuzzer.report.finding_file import Told
from fuzzer.triage.blame import NOBODY, Blame
from fuzzer.triage.signature import Signature, named, signature_of
from generators.graph import Case, DType, Graph, Node, TensorType, Value
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Stage

FOLDER = Path(__file__).parent / "records"


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """`types` are those of the operands, for people."""

    op: str
    results: list[str]
    args: list[str] = []
    types: list[str] = []


class Seen(msgspec.Struct, forbid_unknown_fields=True):
    """One failure, and the case that showed it. `where`, `by` and `blame` are what triage adds to a final signature."""

    origin: str
    tvm: str
    lane: str
    kind: Kind
    component: Component
    stage: Stage
    evidence: Told
    calls: list[Call]
    outputs: list[str]
    where: str = ""
    by: str = ""
    blame: Blame = NOBODY

    @property
    def finding(self) -> Finding:
        """Of whichever lane: a signature knows none."""
        return Finding(self.kind, self.component, TVM_LANES[0], self.stage, self.evidence.evidence)

    @property
    def case(self) -> Case:
        """What a signature knows of it: the calls."""
        scalar = TensorType(DType.FLOAT32, ())
        nodes = (
            Node(call.op, tuple(call.args), {}, tuple(Value(name, scalar) for name in call.results))
            for call in self.calls
        )
        return Case(Graph((), tuple(nodes), tuple(self.outputs)), {})

    @property
    def signature(self) -> Signature:
        """What today's code makes of it."""
        coarse = signature_of(self.finding)
        if not coarse.needs_ops:
            return coarse
        return named(replace(coarse, where=self.where, by=self.by), self.case, self.blame)


class Bug(msgspec.Struct, forbid_unknown_fields=True):
    identity: Signature
    seen: list[Seen]


def read(path: Path) -> Bug:
    return msgspec.json.decode(path.read_bytes(), type=Bug)


def write(path: Path, bug: Bug) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(_bare(msgspec.to_builtins(bug))), indent=1) + b"\n")


def _bare(value: Any) -> Any:
    """Without fields that are as they are by default."""
    match value:
        case dict():
            bare = {key: _bare(item) for key, item in value.items()}
            return {key: item for key, item in bare.items() if item is not False and item not in (None, "", [], {})}
        case list() | tuple():
            return [_bare(item) for item in value]
        case _:
            return value
