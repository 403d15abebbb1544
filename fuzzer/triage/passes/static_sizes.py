"""Static sizes in place of open ones, and the smallest that will do where they must stay open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.formal import formal
from generators.graph import Case
from generators.retype import with_sizes


def static_sizes(subject: Subject) -> Iterator[Subject]:
    """No symbol at all (then the lane need not keep sizes open either), one symbol less, no further sizes, smaller
    sizes."""
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
    """With these symbols bound for good in all inputs; the rest follows by inference."""
    return replace(case, graph=formal(with_sizes(case.graph, case.sizes, known), case.graph.symbols))


def _at(case: Case, sizes: Mapping[str, int]) -> Case:
    """Open as before, at smaller sizes; further ones that are larger than these go."""
    also = tuple(s for s in case.also if s != sizes and all(s[name] <= size for name, size in sizes.items()))
    return replace(case, tensors=case.at(sizes).tensors, sizes=sizes, also=also)


def symbol_size(case: Case) -> int:
    """How many sizes are open, how many further ones the case is for, and how large its own are."""
    return len(case.graph.symbols) + len(case.also) + sum(case.sizes.values())
