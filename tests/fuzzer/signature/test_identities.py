"""Different bugs have different identities, whatever their stage, blame and number of calls.

Two recorded failures are different bugs where people put them in different files of records/ (recording.py). They stay
different where something is changed that has nothing to do with which bug they are: the stage at which both show, what
both are blamed on in the same way, and how many calls stand before the one that fails. One failure that is blamed on
two things is two bugs, and so is one failure of two compilers or of two exporters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations

import pytest
from recording import RecordedFailure, paths, read

from fuzzer.lanes import EVERY_LANE
from fuzzer.signature import Signature, final_signature, interchangeable_kinds, signature_of
from fuzzer.signature.blame import NO_BLAME, Blame, Place
from generators.graph import Case, DType, Node, TensorType, Value
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Importer, LaneSpec, is_relay
from oracles.outcome import Cause, Died, Stage

BUGS = {path.stem: read(path) for path in paths()}
FIRST = {name: bug.failures[0] for name, bug in BUGS.items()}
IDENTIFIED_BY_CASE = {name: failure for name, failure in FIRST.items() if failure.signature.needs_ops}
"""No message identifies these: wrong results, deaths, messages from anywhere."""


def collisions(signatures: Iterable[tuple[str, Signature]]) -> list[tuple[str, str]]:
    """The pairs of different bugs that would be one finding. Kinds that are interchangeable count as one kind."""
    found, first = [], {}
    for bug, signature in signatures:
        one = (
            replace(signature, kind=Kind.WRONG_VALUE)
            if interchangeable_kinds(signature.kind, Kind.WRONG_VALUE)
            else signature
        )
        other = first.setdefault(one.id, bug)
        found += [(other, bug)] if other != bug else []
    return found


def final(failure: RecordedFailure, blame: Blame, calls: int, stage: Stage | None = None) -> Signature:
    """As if it had been found with `calls` calls before its own."""
    coarse = replace(signature_of(failure.finding), stage=stage or failure.stage)
    return final_signature(replace(coarse, where=failure.where, by=failure.by), after(failure.case, calls), blame)


def after(case: Case, calls: int) -> Case:
    """The first call of the case reads what a chain of `calls` others gives."""
    if not calls:
        return case
    scalar = TensorType(DType.FLOAT32, ())
    chain = [Node("neg", (f"c{i - 1}",) if i else (), {}, (Value(f"c{i}", scalar),)) for i in range(calls)]
    first, *others = case.graph.nodes
    joined = replace(first, args=(*first.args, chain[-1].results[0].name))
    return replace(case, graph=replace(case.graph, nodes=(*chain, joined, *others)))


def last_call(failure: RecordedFailure) -> str:
    return failure.calls[-1].op if failure.calls else ""  # a message tells what it is


BLAMES: dict[str, Callable[[str], Blame]] = {
    "nobody": lambda op: NO_BLAME,
    "a converter": lambda op: Blame(Place.FRONTEND, op, f"_{op}"),
    "a frontend": lambda op: Blame(Place.FRONTEND, op),
    "one pass": lambda op: Blame(Place.PASS, op, "ConvertLayout"),
    "one pass, and no operator": lambda op: Blame(Place.PASS, "", "ConvertLayout"),
    "no pass that is known": lambda op: Blame(Place.PASS, op),
    "a legalization": lambda op: Blame(Place.LEGALIZATION, op, f"relax.{op}"),
    "all legalizations": lambda op: Blame(Place.LEGALIZATION, op, "LegalizeOps"),
    "all legalizations, and no operator": lambda op: Blame(Place.LEGALIZATION, "", "LegalizeOps"),
    "code of an operator": lambda op: Blame(Place.CODEGEN, op, "target.build.llvm"),
    "all code": lambda op: Blame(Place.CODEGEN, "", "target.build.llvm"),
    "the runtime": lambda op: Blame(Place.RUNTIME, op),
    "the runtime, and no operator": lambda op: Blame(Place.RUNTIME),
}
"""How blame may name what it found, by the operator that fails."""


def test_there_are_enough_of_both_sorts() -> None:
    assert len(IDENTIFIED_BY_CASE) >= 50
    assert len(BUGS) - len(IDENTIFIED_BY_CASE) >= 100


def test_every_two_recorded_failures_of_different_bugs_differ() -> None:
    assert collisions((name, failure.signature) for name, bug in BUGS.items() for failure in bug.failures) == []


@pytest.mark.slow
def test_a_bug_that_its_message_tells_never_counts_as_a_sighting_of_another() -> None:
    """Where Python did not tell the class of a converter of ONNX, a failure may be any converter's."""
    with_message = {name: failure.signature for name, failure in FIRST.items() if name not in IDENTIFIED_BY_CASE}
    by_message = {name: found for name, found in with_message.items() if ":_impl_v" not in found.frame}
    assert len(by_message) >= len(with_message) - 2
    pairs = [pair for pair in combinations(by_message, 2) if by_message[pair[0]].same_failure(by_message[pair[1]])]
    assert pairs == []


@pytest.mark.parametrize("blamed_on", BLAMES)
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_they_differ_where_all_are_blamed_alike(blamed_on: str, calls: int) -> None:
    blame = BLAMES[blamed_on]
    found = {name: final(failure, blame(last_call(failure)), calls) for name, failure in IDENTIFIED_BY_CASE.items()}
    assert collisions(found.items()) == []


@pytest.mark.slow
@pytest.mark.parametrize("blamed_on", ["nobody", "one pass, and no operator", "code of an operator", "a frontend"])
@pytest.mark.parametrize("stage", list(Stage))
def test_they_differ_where_all_show_at_one_stage(blamed_on: str, stage: Stage) -> None:
    found = {name: final(failure, BLAMES[blamed_on](last_call(failure)), 0, stage) for name, failure in FIRST.items()}
    assert collisions(found.items()) == []


@pytest.mark.parametrize("blamed_on", ["nobody", "one pass, and no operator"])
def test_they_differ_from_those_that_need_more_calls(blamed_on: str) -> None:
    """Where the case decides, another wiring is another bug."""
    blame = BLAMES[blamed_on]
    found = [
        (f"{name} after {calls}", final(failure, blame(last_call(failure)), calls))
        for name, failure in IDENTIFIED_BY_CASE.items()
        for calls in (0, 1, 2)
    ]
    assert collisions(found) == []


@pytest.mark.parametrize("name", sorted(IDENTIFIED_BY_CASE))
def test_one_failure_that_is_blamed_on_two_things_is_two_bugs(name: str) -> None:
    failure = IDENTIFIED_BY_CASE[name]
    named_things = {what: final(failure, blame(last_call(failure)), 0) for what, blame in BLAMES.items()}
    blamed = {what: found for what, found in named_things.items() if found.blamed}
    twice = [
        (one, other)
        for one, other in combinations(blamed, 2)
        if blamed[one].blamed != blamed[other].blamed and blamed[one].same_bug(blamed[other])
    ]
    assert twice == []
    assert len({found.blamed for found in blamed.values()}) >= 8


# --- one failure of two products

DEATH = Died(Stage.EXPORT, Cause.SIGNAL, 11)
MISMATCH = Mismatch(0, "a", "b")


def lane(wanted: Callable[[LaneSpec], bool]) -> LaneSpec:
    return next(each for each in EVERY_LANE if wanted(each))


EXPORTERS = {
    "torch.export": lane(lambda each: each.importer is Importer.EXPORT),
    "torch.onnx": lane(lambda each: each.importer is Importer.ONNX),
    "torch.onnx through dynamo": lane(lambda each: each.importer is Importer.ONNX_DYNAMO),
}
COMPILERS = {
    "Relax": lane(lambda each: each.importer is Importer.ONNX and not is_relay(each)),
    "Relay": lane(lambda each: each.importer is Importer.ONNX and is_relay(each)),
}


@pytest.mark.parametrize("evidence", [DEATH, MISMATCH], ids=["died", "wrong"])
@pytest.mark.parametrize(
    ("component", "products"),
    [(Component.EXPORTER, EXPORTERS), (Component.TVM, COMPILERS)],
    ids=["exporters", "compilers"],
)
def test_one_operator_that_two_products_get_wrong_is_two_bugs(
    evidence: Died | Mismatch, component: Component, products: dict[str, LaneSpec]
) -> None:
    kind = Kind.DIED if isinstance(evidence, Died) else Kind.WRONG_VALUE
    case = FIRST[next(iter(IDENTIFIED_BY_CASE))].case
    found = {}
    for product, of in products.items():
        coarse = signature_of(Finding(kind, component, of, Stage.RUN, evidence))
        found[product] = final_signature(replace(coarse, where="onnx"), case)
    assert collisions(found.items()) == []
    assert not any(one.same_failure(other) for one, other in combinations(found.values(), 2))
    assert not any(other.same_failure(one) for one, other in combinations(found.values(), 2))
