"""Replace open sizes by static ones, and make sizes that stay open smaller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.formal import formal
from generators.graph import Case
from generators.retype import with_sizes


def static_sizes(subject: Subject) -> Iterator[Subject]:
    """Propose no symbols (first on a lane without open sizes), one symbol less, fewer further sizes, smaller sizes."""
    case, lane = subject.case, subject.lane
    if not case.graph.symbols:
        return
    static = replace(subject, case=case.at(case.sizes))
    if lane.symbolic:
        yield replace(static, lane=replace(lane, symbolic=False))
    yield static
    for name, size in case.sizes.items() if len(case.sizes) > 1 else ():
        yield replace(subject, case=_closed(case, {name: size}))
    for index in range(len(case.also)):
        yield replace(subject, case=replace(case, also=case.also[:index] + case.also[index + 1 :]))
    for name, size in case.sizes.items():
        for smaller in sorted({1, 2, size // 2, size - 1}):
            if 0 < smaller < size:
                yield replace(subject, case=_at(case, {**case.sizes, name: smaller}))


def _closed(case: Case, known: Mapping[str, int]) -> Case:
    """Bind these symbols in all inputs. Inference gives the other types."""
    return replace(case, graph=formal(with_sizes(case.graph, case.sizes, known), case.graph.symbols))


def _at(case: Case, sizes: Mapping[str, int]) -> Case:
    """Return the case at smaller sizes, still open. Further sizes that are larger than these are dropped."""
    also = tuple(s for s in case.also if s != sizes and all(s[name] <= size for name, size in sizes.items()))
    return replace(case, tensors=case.at(sizes).tensors, sizes=sizes, also=also)


def symbol_size(case: Case) -> int:
    """Return the number of symbols, plus the number of further sizes, plus the values of the symbols."""
    return len(case.graph.symbols) + len(case.also) + sum(case.sizes.values())
