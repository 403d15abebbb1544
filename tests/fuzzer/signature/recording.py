"""Recorded failures: what a lane really did, and the identity that it must be given.

`records/<bug>.txt` is one bug. Its first lines are the identity. A section for each failure follows: the case and the
lane that showed it, and the evidence (failure_text.py), at several shapes and dtypes, with several seeds, in several
lanes, toolchains and installations. Another file is another bug. `record.py` writes them; a person may as well.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from failure_text import evidence_key, evidence_of, evidence_text, header, json_of, split, with_body

from fuzzer.findings.finding_doc import StoredEvidence
from fuzzer.lanes import EVERY_LANE, TVM_LANES
from fuzzer.signature import Signature, final_signature, signature_of
from fuzzer.signature.blame import NO_BLAME, Blame
from generators.graph import Case, DType, Graph, Node, TensorType, Value
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Stage

FOLDER = Path(__file__).parent / "records"
SECTION = "\n=== "
"""Begins a failure; the rest of the line is its origin."""


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """`types` are those of the operands, for people."""

    op: str
    results: list[str]
    args: list[str] = []
    types: list[str] = []


class RecordedFailure(msgspec.Struct, forbid_unknown_fields=True):
    """One failure, and the case that showed it. `where`, `by` and `blame` are what triage adds to a final signature."""

    origin: str
    tvm: str
    lane: str
    kind: Kind
    component: Component
    stage: Stage
    evidence: StoredEvidence
    calls: list[Call]
    outputs: list[str]
    where: str = ""
    by: str = ""
    blame: Blame = NO_BLAME

    @property
    def finding(self) -> Finding:
        lane = next((lane for lane in EVERY_LANE if lane.name == self.lane), TVM_LANES[0])
        return Finding(self.kind, self.component, lane, self.stage, self.evidence.evidence)

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
        return final_signature(replace(coarse, where=self.where, by=self.by), self.case, self.blame)


class Bug(msgspec.Struct, forbid_unknown_fields=True):
    identity: Signature
    failures: list[RecordedFailure]


def paths(folder: Path = FOLDER) -> list[Path]:
    return sorted(folder.glob("*.txt"))


def read(path: Path) -> Bug:
    return bug_of(path.read_bytes().decode())


def write(path: Path, bug: Bug) -> None:
    text = text_of(bug)
    if bug_of(text) != bug:
        raise ValueError(f"{path.name}: this text is not read back as what it was written from:\n{text}")
    path.write_bytes(text.encode())


def text_of(bug: Bug) -> str:
    identity = msgspec.to_builtins(bug.identity)
    head = header([(key, value if isinstance(value, str) else ", ".join(value)) for key, value in identity.items()])
    return head + "".join(f"{SECTION}{_section(failure)}" for failure in bug.failures)


def _section(failure: RecordedFailure) -> str:
    evidence, body = evidence_text(failure.evidence.evidence)
    lines = [
        ("lane", failure.lane),
        ("tvm", failure.tvm),
        *(("call", _call_text(call)) for call in failure.calls),
        ("outputs", ", ".join(failure.outputs)),
        ("where", failure.where),
        ("by", failure.by),
        ("blame", "" if failure.blame == NO_BLAME else json_of(failure.blame)),
        evidence,
    ]
    return with_body(f"{failure.origin}\n{header(lines)}", body)


def _call_text(call: Call) -> str:
    args = ", ".join(f"{name}: {type}" for name, type in zip(call.args, call.types, strict=True))
    return f"{', '.join(call.results)} = {call.op}({args})"


def bug_of(text: str) -> Bug:
    head, *sections = text.split(SECTION)
    values: dict[str, Any] = dict(split(head)[0])
    identity = msgspec.convert(values | {key: _names(values.get(key, "")) for key in ("ops", "blamed")}, Signature)
    return Bug(identity, [_recorded_failure(identity, section) for section in sections])


def _recorded_failure(identity: Signature, section: str) -> RecordedFailure:
    origin, _, rest = section.partition("\n")
    lines, body = split(rest)
    values = dict(lines)
    name = evidence_key(origin, values)
    if unknown := values.keys() - {"lane", "tvm", "call", "outputs", "where", "by", "blame", name}:
        raise ValueError(f"{origin}: no such key: {', '.join(sorted(unknown))}")
    return RecordedFailure(
        origin,
        values.get("tvm", ""),
        values.get("lane", ""),
        identity.kind,
        identity.component,
        identity.stage,
        evidence_of(name, values[name], identity.stage, body),
        [_call(value) for key, value in lines if key == "call"],
        _names(values.get("outputs", "")),
        values.get("where", ""),
        values.get("by", ""),
        msgspec.json.decode(values["blame"], type=Blame) if "blame" in values else NO_BLAME,
    )


def _call(text: str) -> Call:
    results, op, args = re.fullmatch(r"(.*?) = (\w+)\((.*)\)", text).groups()
    pairs = [arg.split(": ") for arg in _names(args)]
    return Call(op, _names(results), [name for name, _ in pairs], [type for _, type in pairs])


def _names(text: str) -> list[str]:
    return text.split(", ") if text else []
