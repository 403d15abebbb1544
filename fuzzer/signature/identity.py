"""Signatures, in two tiers: coarse, what one failure tells before it is reduced, and final, what the reduced case and
the blame add."""

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
from oracles.lane import Importer, is_relay
from oracles.outcome import Died, IllFormed, Mutant, Raised, Stage, TimedOut


@dataclass(frozen=True, slots=True)
class Signature:
    """The identity of a finding.

    error     exception type
    skeleton  the message without what changes from run to run
    frame     the innermost C++ and Python functions that mean something; without a message, whose code it was
    against   what the lane was held against where that is not PyTorch

    and, final, where nothing so far tells two bugs apart (`needs_ops`):

    ops       of the reduced case, sorted
    where     the importers and targets that show it
    by        what the reduced lane does that the other does not
    graph     the reduced graph (`outline`) where it has several calls; of a single call, `ops` says all
    blamed    the place, and what is to blame there: ("frontend", "_flip"), ("pass", "FuseOps"), ("codegen", "relu")
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
        """Twelve digits. A field that is empty takes no part but for the first eight, so that findings keep the names
        that they had before there were others."""
        fields = msgspec.to_builtins(self._essence)
        for name in ("against", "by", "graph", "blamed"):
            if not fields[name]:
                del fields[name]
        return hashlib.sha256(msgspec.json.encode(fields)).hexdigest()[:12]

    @property
    def _essence(self) -> Signature:
        """What counts. Who is blamed stands for what shows it: which operators are left beside, which importers lead
        there, is chance. A pass has many bugs: there the reduced graph counts too. Code of another target is other
        code. Where no converter is known, an operator is blamed, and each frontend has its own converter for it."""
        same = replace(self, stage=self._step)
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
    def _step(self) -> Stage:
        """A pass fails alike whether the lane runs it by itself or the pipeline does; so does a converter, which
        torch.compile calls while it compiles."""
        if _CONVERTER in self.frame and self.stage is Stage.COMPILE:
            return Stage.IMPORT
        return Stage.COMPILE if self.stage is Stage.TRANSFORM else self.stage

    @property
    def coarse(self) -> Signature:
        """What can be told before reduction; what `reproduces` compares."""
        return replace(self, stage=self._step, ops=(), where="", by="", graph="", blamed=())

    @property
    def needs_ops(self) -> bool:
        """Whether the reduced case is part of it: there is no message, or it might come from anywhere."""
        return self.kind not in _TOLD_WITHOUT_OPERATORS or (self.kind in _SAY_WHERE and self.frame in ("", "import"))

    def same_failure(self, other: Signature) -> bool:
        """Whether a run that gave `other` shows the failure `self` again, which perhaps knew less of frames."""
        mine, theirs = replace(self.coarse, frame=in_this_version(self.frame)), other.coarse
        if interchangeable_kinds(mine.kind, theirs.kind):
            theirs = replace(theirs, kind=mine.kind)
        has_frames = bool(mine.error)
        return mine == theirs or (has_frames and mine == replace(theirs, frame=in_earlier_versions(theirs.frame)))

    def as_finished_in(self, final: Signature) -> Signature:
        """This coarse signature, with what a final one of the same failure says of the reduced case and the blame."""
        return replace(
            self, ops=final.ops, where=final.where, by=final.by, graph=final.graph, blamed=final.blamed, kind=final.kind
        )

    def same_bug(self, other: Signature) -> bool:
        """Whether two final signatures agree. Where only one has its blame, the reduced case decides."""
        one, two = self, replace(other, kind=self.kind) if interchangeable_kinds(self.kind, other.kind) else other
        if bool(one.blamed) is not bool(two.blamed):
            one, two = replace(one, blamed=()), replace(two, blamed=())
        return one.id == two.id


_ONNX = "onnx"
"""In the names of the importers that read ONNX, whose frontend is not PyTorch's."""

_CONVERTER = f"{IMPORTER}:"
"""In the frame of what TVM's frontends of PyTorch raise."""

PLAIN_SIBLING = "its plain sibling"

_TOLD_WITHOUT_OPERATORS = frozenset(
    {Kind.INTERNAL_ERROR, Kind.REJECTED, Kind.ILL_FORMED, Kind.CHECKER_GAP, Kind.ALIASED_OUTPUT}
)
"""Most have a message. Aliases are one behaviour, whatever operators amount to an identity: TVM hands out the input."""
_SAY_WHERE = frozenset({Kind.INTERNAL_ERROR, Kind.REJECTED, Kind.ILL_FORMED})
_AGAINST_ITSELF = frozenset({Kind.UNSTABLE, Kind.NONDETERMINISTIC})
_GARBAGE = _AGAINST_ITSELF | {Kind.WRONG_VALUE}


def interchangeable_kinds(one: Kind, other: Kind) -> bool:
    """Unwritten memory shows now as a wrong value, now as a second run or another process that differs."""
    return one is not other and {one, other} <= _GARBAGE


def signature_of(finding: Finding) -> Signature:
    """The coarse signature of what an oracle saw."""
    coarse = Signature(finding.kind, finding.component, finding.stage)
    match finding.evidence:
        case Raised() as raised:
            text, frame = skeleton(raised.message), failure_location(frames_of(raised)) or _checked_source(finding)
            text = without_operator(text) if _CONVERTER in frame else text
            return replace(coarse, error=raised.type, skeleton=text, frame=frame)
        case Mismatch(against=against, by=by) if against != PYTORCH and finding.kind not in _AGAINST_ITSELF:
            # whose sibling it is, is no part of it: where that is right, the importer is not to blame
            return replace(coarse, against=PLAIN_SIBLING if by else against, frame=_whose(finding))
        case Died() | TimedOut() | Mismatch() | SideEffect():
            # a corrupted heap dies anywhere: only the operators of the reduced case tell deaths apart
            return replace(coarse, frame=_whose(finding))
        case IllFormed(after=after, type=name, message=message):
            of_pass = after.partition("-")[0]  # whatever its options
            return replace(coarse, error=name, skeleton=skeleton(message), frame=of_pass)
        case Mutant(change=change, fate=fate):
            return replace(coarse, skeleton=skeleton(f"{change}: {fate}"))
        case Excess(quantity=quantity, against=against):
            return replace(coarse, skeleton=quantity.value, against=against, frame=_whose(finding))
        case _:
            assert_never(finding.evidence)


def _whose(finding: Finding) -> str:
    """In place of a frame, whose code it was, where a component is made of several. What was there first has no name:
    Relax, and the exporter of TorchScript."""
    importer = finding.lane.importer
    if finding.component is not Component.EXPORTER:
        return "Relay" if is_relay(finding.lane) else ""
    return "torch.export" if importer.is_exported else str(importer) if importer is Importer.ONNX_DYNAMO else ""


def _checked_source(finding: Finding) -> str:
    """In place of a frame, for which target TVM wrote what a checker does not take: its code generator is to blame,
    as where a C compiler stops, and the operators that bring it there are chance."""
    refused = isinstance(finding.evidence, Raised) and finding.evidence.type.endswith(".written.Refused")
    return finding.lane.target if refused else ""


def final_signature(signature: Signature, case: Case, blame: Blame = NO_BLAME) -> Signature:
    """The final signature of a finding whose reduced case this is.

    Pure: to be called again when the blame is known, and before anything is written, for the folder's name holds the
    signature. What a message and its frames tell stays as it is.
    """
    if not signature.needs_ops:
        return signature
    ops = tuple(sorted(set(case.graph.ops)))
    graph = outline(case.graph) if len(case.graph.nodes) > 1 else ""
    return replace(signature, ops=ops, graph=graph, blamed=_blamed(blame, ops))


def _blamed(blame: Blame, ops: Sequence[str]) -> tuple[str, ...]:
    """The place and the name of what is to blame there; () where nothing is named, so that the reduced case decides.

    Converters and passes have names. So have legalizations, by the operator of Relax; where LegalizeOps as a whole is
    blamed, and in generated code and at run time, the operator of the case says more.
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
"""The row of the operator table that calls any function by its name: what earlier versions of difftvm blamed."""


def _title(operator: str, ops: Sequence[str]) -> str:
    """What people call the blamed operator, one of `ops`; "" where an earlier version did not say which one it is."""
    if operator != _CALL:
        return operator
    return ops[0] if len(ops) == 1 else ""
