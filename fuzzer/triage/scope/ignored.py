"""Attributes that a lane ignores: with another value of one alone, the reference's result changes, and the lane's does
not. What is wrong is then said in three words: `sub` ignores `alpha`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fuzzer.isolate.fleet import Runner
from fuzzer.signature import signature_of
from fuzzer.triage.investigate import may_run_in_used_children
from fuzzer.triage.reproduce import Observation, observe
from fuzzer.triage.scope.neighbours import is_valid, with_attributes
from fuzzer.triage.scope.statement import Answer, Ignored
from fuzzer.triage.scope.variations import Varied, attribute_in_words
from generators.dialect import dialect_named
from generators.graph import Array, Attr, Case
from oracles.finding import Finding, Kind
from oracles.outcome import Ran
from oracles.reference import eager_run

SHOWN_BY_RESULTS = frozenset({Kind.WRONG_VALUE, Kind.WRONG_SHAPE, Kind.WRONG_DTYPE})
"""The kinds of findings that may be an ignored attribute."""

Key = tuple[int, str]
"""The number of a call, and the name of one of its attributes."""


def ignored(
    runner: Runner,
    case: Case,
    finding: Finding,
    table: Sequence[tuple[Varied, Answer]],
    has_time: Callable[[], bool],
) -> tuple[Ignored, ...]:
    """Return the attributes of `case`, which fails, that the finding's lane ignores, as long as there is time.

    `table` are cases with one thing changed, and what the lane does with them. An attribute is looked at where a value
    of it passes. It is ignored if the lane gives the same result for each value that was tried, bit for bit, and this
    result is right for another value than that of the case. One run for each value is made."""
    if finding.kind not in SHOWN_BY_RESULTS:
        return ()
    run = _observer(runner, finding)
    values, first = _values(case, table), None
    found = []
    for (call, name), others in values.items():
        if not has_time():
            break
        first = first or run(case)
        right = _as_if(run, case, first, finding, [(call, name, other) for other in others])
        if right is not None:
            node = case.graph.nodes[call]
            texts = [attribute_in_words(node, name, value)[1] for value in (node.attrs[name], right[0])]
            found.append(Ignored(call, name, *texts))
    return tuple(found)


def _observer(runner: Runner, finding: Finding) -> Callable[[Case], Observation]:
    run, signature = runner.run if may_run_in_used_children(finding) else runner.run_fresh, signature_of(finding)
    return lambda case: observe(run, case, finding.lane, signature)


def _values(case: Case, table: Sequence[tuple[Varied, Answer]]) -> dict[Key, list[Attr]]:
    """The other values of each attribute that the table has, where one of them passes."""
    tried: dict[Key, list[tuple[Attr, Answer]]] = {}
    for varied, answer in table:
        for call, name, value in _changed(case, varied.case):
            tried.setdefault((call, name), []).append((value, answer))
    return {
        key: [value for value, _ in some]
        for key, some in tried.items()
        if any(answer is Answer.PASSES for _, answer in some)
    }


def _changed(case: Case, other: Case) -> Iterator[tuple[int, str, Attr]]:
    """The attribute in which another case with the same calls differs; nothing where it is more than one, or where its
    inputs have other types."""
    mine, its = case.graph, other.graph
    if [item.value for item in mine.inputs] != [item.value for item in its.inputs] or len(mine.nodes) != len(its.nodes):
        return
    of_parts = dialect_named(mine.dialect).parts.attributes
    found = [
        (call, name, new.attrs[name])
        for call, (old, new) in enumerate(zip(mine.nodes, its.nodes, strict=True))
        if old.op == new.op and old.attrs.keys() == new.attrs.keys()
        for name in old.attrs
        if repr(old.attrs[name]) != repr(new.attrs[name]) and name not in of_parts
    ]
    if len(found) == 1:
        yield from found


def _as_if(
    run: Callable[[Case], Observation],
    case: Case,
    first: Observation,
    finding: Finding,
    others: Sequence[tuple[int, str, Attr]],
) -> tuple[Attr] | None:
    """The value for which the lane's result is right, in a tuple; None where the lane does not ignore the attribute."""
    result, right = first.result.outcomes.get(finding.lane), None
    if not isinstance(result, Ran) or not first.findings:
        return None
    for call, name, value in others:
        changed = with_attributes(case, call, {name: value})
        if changed is None or not is_valid(changed):
            continue
        observed = run(changed)
        own = observed.result.outcomes.get(finding.lane)
        if not observed.valid or not isinstance(own, Ran):
            continue
        if not _same(own.outputs, result.outputs):
            return None
        passes = not observed.findings and _reference_differs(first, observed, value)
        right = right or ((value,) if passes else None)
    return right


def _reference_differs(one: Observation, other: Observation, value: Attr) -> bool:
    """Whether the attribute changes the reference's result. A number must change the numbers of it: `x & 0` and
    `x & False` differ in dtype alone, and may be the same bits."""
    first, second = eager_run(one.result.outcomes), eager_run(other.result.outcomes)
    if first is None or second is None:
        return False
    return not _same(first.outputs, second.outputs, in_dtype=not isinstance(value, bool | int | float))


def _same(one: Sequence[Array], other: Sequence[Array], *, in_dtype: bool = True) -> bool:
    """Whether all outputs are the same, NaN included, and in their dtypes where `in_dtype`."""
    return len(one) == len(other) and all(
        a.shape == b.shape and (a.dtype == b.dtype or not in_dtype) and bool(np.all((a == b) | ((a != a) & (b != b))))
        for a, b in zip(one, other, strict=True)
    )
