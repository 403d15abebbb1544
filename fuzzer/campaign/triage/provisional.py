"""Provisional causes: sightings that wait, grouped by what they are suspected of and how they show.

Sightings with a message are one cause where the message, without the names of operators in it, and the place that
raises are the same. Where C++ raises, many converters may call that place: they are one cause as long as none is
confirmed. Then those of the finding's converter are its further sightings, and the others are investigated after the
causes of which nothing is confirmed.

Other sightings are one cause where they show in the same way, with the same importer and target, and are suspected of
operators of the same name (`conv1d` and `conv2d`, `div` and `div_scalar`). Wrong dtypes of
what PyTorch computes by products of matrices are one cause (`PRODUCTS`). One whose suspect is one of a few operators
joins the largest cause of one of these. A failure with a message joins the wrong types of an operator where a wrong
type of this operator has led to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuzzer.campaign.triage.priority import severity
from fuzzer.findings.families.traits import name_of
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature import CALLED_BY, Signature, interchangeable_kinds, without_operators
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from oracles.finding import Component, Kind
from oracles.lane import LaneSpec

Key = tuple[str, ...]

FEW = 3
"""How many operators a suspect may be one of, for its sighting to join the cause of one of them."""


_LAYERS = ("gru", "lstm", "rnn_relu", "rnn_tanh")
PRODUCTS = frozenset(
    {
        *("addbmm", "addmm", "addmv", "baddbmm", "bmm", "chain_matmul", "einsum", "linear", "matmul", "matrix_power"),
        *("mm", "mv", "tensordot", "tensordot_dims"),
        *(f"{layer}{form}" for layer in _LAYERS for form in ("", "_cell", "_unbatched", "_zero_state")),
    }
)
"""Operators of PyTorch whose exported programs multiply matrices. Wrong dtypes of all of these that were labelled by
hand have one cause: TVM's importer says that a product of matrices is float32."""


def _name(kind: Kind, operator: str) -> str:
    """What operators have in common whose failures of this kind are one cause."""
    return "matmul" if kind is Kind.WRONG_DTYPE and operator in PRODUCTS else name_of(operator)


def key_of_cause(signature: Signature, lane: LaneSpec, suspect: Suspect, ops: Iterable[str]) -> Key:
    """What sightings of one provisional cause have in common. `ops` are the operators of the case, which count where
    nothing is suspected."""
    kind = Kind.WRONG_VALUE if interchangeable_kinds(signature.kind, Kind.WRONG_VALUE) else signature.kind
    component, of = signature.component, (lane.importer.row.family, lane.target)
    names = [_name(suspect.shows_as or kind, operator) for operator in suspect.operators or sorted(set(ops))]
    if suspect.shows_as:
        return component, suspect.shows_as, "", "", "", *of, *names
    if not signature.needs_ops or kind is Kind.ILL_FORMED:  # the checker's message is one where no pass is named too
        place = signature.frame.partition(CALLED_BY)[0]
        return component, kind, signature.error, without_operators(signature.skeleton), place
    how = component, kind, without_operators(signature.skeleton), signature.against, signature.by
    return *how, *of, *names


def raised_alike(one: Signature, other: Signature) -> bool:
    """Whether two failures with a message have the same one, but for names of operators, from the same place, which
    the same Python function called."""
    return _raised(one) == _raised(other)


def _raised(signature: Signature) -> Key:
    return signature.kind, signature.error, without_operators(signature.skeleton), signature.frame


def has_cause(doc: FindingDoc) -> bool:
    """Whether a finding confirms a cause."""
    return not doc.flaky


def keys_of_finding(doc: FindingDoc) -> tuple[Key, ...]:
    """The causes that a finding confirms: that of its failure, and that of the wrong type which led to it."""
    suspects = (NO_SUSPECT, doc.suspect) if doc.suspect.shows_as else (NO_SUSPECT,)
    return tuple(key_of_cause(doc.identity, doc.lane, suspect, doc.ops) for suspect in suspects)


@dataclass(frozen=True, slots=True)
class Cause:
    """A provisional cause.

    lead     the sighting that stands for it, and that is investigated first: the one with the fewest operators
    members  all of its sightings, the lead first
    """

    lead: FindingDoc
    members: tuple[FindingDoc, ...]

    @property
    def is_of_tvm(self) -> bool:
        return self.lead.component is Component.TVM


def provisional_causes(waiting: Iterable[FindingDoc], findings: Iterable[FindingDoc] = ()) -> list[Cause]:
    """The causes of the sightings that wait and that no finding confirms, the most severe first, then those with the
    most sightings."""
    confirmed = {key for doc in findings if has_cause(doc) for key in keys_of_finding(doc)}
    causes = []
    for key, members in _grouped(waiting).items():
        if key not in confirmed:
            members.sort(key=lambda doc: (doc.suspect.certainty is not Certainty.SEEN, len(doc.ops), doc.slug))
            causes.append(Cause(members[0], tuple(members)))
    return sorted(causes, key=lambda cause: (-severity(cause.lead.finding), -len(cause.members), cause.lead.slug))


def further_sightings(waiting: Iterable[FindingDoc], findings: Iterable[FindingDoc]) -> dict[str, list[FindingDoc]]:
    """By finding that confirms a cause, by its slug, the sightings that wait and have that cause. Where several
    findings confirm it, those with a finding's message from the same place are its own, and the others the first's."""
    confirming: dict[Key, list[FindingDoc]] = {}
    for doc in filter(has_cause, findings):
        for key in keys_of_finding(doc):
            confirming.setdefault(key, []).append(doc)
    further: dict[str, list[FindingDoc]] = {}
    for key, members in _grouped(waiting).items():
        for each in members if key in confirming else ():
            known = confirming[key]
            own = next((doc for doc in known if raised_alike(doc.identity, each.identity)), known[0])
            further.setdefault(own.slug, []).append(each)
    return further


def _grouped(waiting: Iterable[FindingDoc]) -> dict[Key, list[FindingDoc]]:
    docs = list(waiting)
    groups: dict[Key, list[FindingDoc]] = {}
    for key, doc in zip(_joined(docs), docs, strict=True):
        groups.setdefault(key, []).append(doc)
    return groups


def _joined(docs: Sequence[FindingDoc]) -> list[Key]:
    """The key of each sighting. One with several suspects has that of the largest cause of one of them."""
    own = [key_of_cause(doc.identity, doc.lane, doc.suspect, doc.ops) for doc in docs]
    sizes = Counter(own)

    def joined(key: Key, doc: FindingDoc) -> Key:
        if not doc.identity.needs_ops or not 1 < len(doc.suspect.operators) <= FEW:
            return key
        how = key[: len(key) - len(doc.suspect.operators)]
        others = [(*how, _name(doc.kind, operator)) for operator in doc.suspect.operators]
        largest = max(others, key=lambda each: sizes[each])
        return largest if sizes[largest] else key

    return [joined(key, doc) for key, doc in zip(own, docs, strict=True)]
