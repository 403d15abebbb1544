"""The two forms of a signature: the coarse one of a single failure, and the final one.

The final signature adds the reduced case and the blame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import msgspec

from fuzzer.signature.blame import NO_BLAME, Blame, Place
from fuzzer.signature.frames import IMPORTER, failure_location, in_earlier_versions, in_this_version
from fuzzer.signature.messages import frames_of, skeleton, without_operator
from fuzzer.signature.outline import outline
from generators.graph import Case
from oracles.finding import PYTORCH, Component, Excess, Finding, Kind, Mismatch, SideEffect
from oracles.lane import is_relay
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, Stage, TimedOut


@dataclass(frozen=True, slots=True)
class Signature:
    """The identity of a finding.

    error     exception type
    skeleton  the message without the parts that differ between runs
    frame     `failure_location`; without a message, the part of the component that ran, such as "Relay"
    against   what the lane's result was compared with, if not with PyTorch's

    A final signature also has the following fields if those above do not distinguish bugs (`needs_ops`):

    ops       operators of the reduced case, sorted
    where     importers and targets that show the failure
    by        what the reduced lane does beyond its plain sibling
    graph     `outline` of the reduced graph if it has several calls
    blamed    the place and what is at fault there: ("frontend", "_flip"), ("pass", "FuseOps"), ("codegen", "relu")
    """

    kind: Kind
    component: Component
    stage: Stage
    error: str = ""
    skeleton: str = ""
    frame: str = ""
    ops: tuple[str, ...] = ()
    where: str = ""
    against: str = ""
    by: str = ""
    graph: str = ""
    blamed: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits, by which findings are identified.

        The fields `against`, `by`, `graph` and `blamed` were added later and are left out if they are empty, so that
        older findings keep their identifiers.
        """
        fields = msgspec.to_builtins(self._identifying)
        for name in ("against", "by", "graph", "blamed"):
            if not fields[name]:
                del fields[name]
        return hashlib.sha256(msgspec.json.encode(fields)).hexdigest()[:12]

    @property
    def _identifying(self) -> Signature:
        """The signature without the fields that do not identify the bug.

        If something is blamed, the remaining operators and the importers that show the failure are chance. Three fields
        stay: the graph if a pass is blamed, because one pass can have many bugs; the target if code generation is
        blamed, because each target has its own; and the frontend if an operator is blamed instead of a converter,
        because each frontend has its own converter for it.
        """
        same = replace(self, stage=self._merged_stage)
        match self.blamed:
            case ():
                return same
            case (Place.PASS, _):
                return replace(same, ops=() if self.graph else self.ops, where="")
            case (Place.CODEGEN, _):
                return replace(same, ops=(), graph="", where=self.where.partition(" ")[2])
            case (Place.FRONTEND, operator) if operator in self.ops:
                return replace(same, ops=(), graph="", where=_ONNX if _ONNX in self.where else "")
            case _:
                return replace(same, ops=(), graph="", where="")

    @property
    def _merged_stage(self) -> Stage:
        """The stage, with one value for stages in which the same code can fail.

        A pass runs in `TRANSFORM` if the lane adds it, and in `COMPILE` if the pipeline contains it. A converter runs
        in `COMPILE` if torch.compile calls the importer.
        """
        if _CONVERTER in self.frame and self.stage is Stage.COMPILE:
            return Stage.IMPORT
        return Stage.COMPILE if self.stage is Stage.TRANSFORM else self.stage

    @property
    def coarse(self) -> Signature:
        """The part that is known before reduction. `reproduces` compares it."""
        return replace(self, stage=self._merged_stage, ops=(), where="", by="", graph="", blamed=())

    @property
    def needs_ops(self) -> bool:
        """Whether the reduced case is part of the signature: there is no message, or the message has no location."""
        without_location = self.kind in _WITH_LOCATION and self.frame in ("", "import")
        return self.kind not in _IDENTIFIED_WITHOUT_OPERATORS or without_location

    def same_failure(self, other: Signature) -> bool:
        """Return whether a run with signature `other` shows this failure again.

        An earlier version may have made this signature, with a less exact `frame`.
        """
        mine, theirs = replace(self.coarse, frame=in_this_version(self.frame)), other.coarse
        if interchangeable_kinds(mine.kind, theirs.kind):
            theirs = replace(theirs, kind=mine.kind)
        has_frames = bool(mine.error)
        return mine == theirs or (has_frames and mine == replace(theirs, frame=in_earlier_versions(theirs.frame)))

    def as_finished_in(self, final: Signature) -> Signature:
        """Return this coarse signature, completed with the reduced case and the blame of `final`."""
        return replace(
            self, ops=final.ops, where=final.where, by=final.by, graph=final.graph, blamed=final.blamed, kind=final.kind
        )

    def same_bug(self, other: Signature) -> bool:
        """Return whether two final signatures name the same bug. If only one has a blame, the reduced cases decide."""
        one, two = self, replace(other, kind=self.kind) if interchangeable_kinds(self.kind, other.kind) else other
        if bool(one.blamed) is not bool(two.blamed):
            one, two = replace(one, blamed=()), replace(two, blamed=())
        return one.id == two.id


_ONNX = "onnx"
"""Part of the names of the importers that use TVM's ONNX frontend instead of its PyTorch frontend."""

_CONVERTER = f"{IMPORTER}:"
"""Part of `Signature.frame` if a converter of TVM's PyTorch frontends failed."""

PLAIN_SIBLING = "its plain sibling"
"""The value of `Signature.against` if the lane was compared with its plain sibling."""

_IDENTIFIED_WITHOUT_OPERATORS = frozenset(
    {Kind.INTERNAL_ERROR, Kind.REJECTED, Kind.ILL_FORMED, Kind.CHECKER_GAP, Kind.ALIASED_OUTPUT}
)
"""Kinds whose failures have a message. Aliased outputs have none, but all have one cause: TVM returns its input."""
_WITH_LOCATION = frozenset({Kind.INTERNAL_ERROR, Kind.REJECTED, Kind.ILL_FORMED})
_AGAINST_ITSELF = frozenset({Kind.SECOND_RUN_DIFFERS, Kind.NONDETERMINISTIC})
_OF_OTHER_MEMORY = _AGAINST_ITSELF | {Kind.WRONG_VALUE, Kind.OUT_OF_BOUNDS_READ, Kind.UNINITIALISED_READ}


def interchangeable_kinds(one: Kind, other: Kind) -> bool:
    """Return whether two different kinds can be one bug.

    A read of memory that is none of the model's shows as such, as a wrong value, as a second run that differs, or as
    another process that differs.
    """
    return one is not other and {one, other} <= _OF_OTHER_MEMORY


def signature_of(finding: Finding) -> Signature:
    """Return the coarse signature of a finding."""
    coarse = Signature(finding.kind, finding.component, finding.stage)
    match finding.evidence:
        case Raised() as raised:
            text, frame = skeleton(raised.message), failure_location(frames_of(raised)) or _checked_source(finding)
            text = without_operator(text) if _CONVERTER in frame else text
            return replace(coarse, error=raised.type, skeleton=text, frame=frame)
        case Mismatch(against=against, by=by) if against != PYTORCH and finding.kind not in _AGAINST_ITSELF:
            # the name of the sibling is left out: it contains the importer, which is right in the sibling
            return replace(coarse, against=PLAIN_SIBLING if by else against, frame=_part_of_component(finding))
        case Died() | TimedOut() | Mismatch() | SideEffect() | MemoryAccess():
            # with a corrupted heap, a process dies anywhere: only the reduced operators distinguish deaths
            return replace(coarse, frame=_part_of_component(finding))
        case IllFormed(after=after, type=name, message=message):
            pass_name = after.partition("-")[0]  # without its options
            return replace(coarse, error=name, skeleton=skeleton(message), frame=pass_name)
        case Mutant(change=change, fate=fate):
            return replace(coarse, skeleton=skeleton(f"{change}: {fate}"))
        case Excess(quantity=quantity, against=against):
            return replace(coarse, skeleton=quantity.value, against=against, frame=_part_of_component(finding))
        case _:
            assert_never(finding.evidence)


def _part_of_component(finding: Finding) -> str:
    """Return which part of the component ran, in place of a location: "Relay", "torch.export", "onnx-dynamo" or "".

    "" stands for Relax and for the TorchScript exporter, which were the only parts when the field was introduced.
    """
    if finding.component is not Component.EXPORTER:
        return "Relay" if is_relay(finding.lane) else ""
    return finding.lane.importer.row.reads.exporter


def _checked_source(finding: Finding) -> str:
    """Return the target if a checker refused the source that TVM generated, in place of a location; "" otherwise.

    The code generator of the target is at fault. Which operators were compiled is chance.
    """
    refused = isinstance(finding.evidence, Raised) and finding.evidence.type.endswith(".written.Refused")
    return finding.lane.target if refused else ""


def final_signature(signature: Signature, case: Case, blame: Blame = NO_BLAME) -> Signature:
    """Return the final signature of a finding with the reduced case `case`.

    If a message and its location identify the failure, the signature is returned as it is. The function is called again
    when the blame is known, before anything is saved: the name of the finding's folder contains the identifier.
    """
    if not signature.needs_ops:
        return signature
    ops = tuple(sorted(set(case.graph.ops)))
    graph = outline(case.graph) if len(case.graph.nodes) > 1 else ""
    return replace(signature, ops=ops, graph=graph, blamed=_blamed(blame, ops))


def _blamed(blame: Blame, ops: Sequence[str]) -> tuple[str, ...]:
    """Return the place and the name of what is at fault there, or () if it has no name.

    Converters, passes and the legalizations of Relax operators have names. If LegalizeOps as a whole, code generation
    or the runtime is blamed, the operator of the case is the name.
    """
    operator = _title(blame.operator, ops)
    match blame.place:
        case None:
            return ()
        case Place.FRONTEND | Place.PASS:
            what = blame.culprit or operator
        case Place.LEGALIZATION:
            what = blame.culprit if blame.culprit.startswith("relax.") else operator
        case Place.CODEGEN | Place.RUNTIME:
            what = operator
        case _:
            assert_never(blame.place)
    return (blame.place.value, what) if what else ()


_CALL = "torch_call"
"""The row of the operator table that calls any function by its name. Earlier versions blamed the row itself."""


def _title(operator: str, ops: Sequence[str]) -> str:
    """Return the name of the blamed operator, one of `ops`, or "" if an earlier version did not record which one."""
    if operator != _CALL:
        return operator
    return ops[0] if len(ops) == 1 else ""
