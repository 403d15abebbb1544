"""The figures of docs/families.md: how many findings were labelled by hand, and how good families are."""

from __future__ import annotations

from collections import Counter
from functools import cache

import families
from written_text import Written, code_block

from fuzzer.findings.families.similarity import weights


@cache
def labelled() -> list[families.Labelled]:
    return families.read()


def largest(count: int) -> list[int]:
    return [size for _, size in Counter(each.cause for each in labelled()).most_common(count)]


def causes() -> int:
    return len({each.cause for each in labelled()})


def sentence(_: str) -> str:
    one, two, three = largest(3)
    return f"{causes()} causes; the largest have {one}, {two} and {three} findings"


def output(_: str) -> str:
    threshold = weights().threshold
    scores = families.mean_scores(labelled(), seeds=5, thresholds=[threshold])[1]
    counts = f"{len(labelled())} findings, {causes()} causes; the largest have {largest(8)}"
    return code_block(f"{counts}\n{families.chosen(threshold, scores[threshold])}")


ROWS = (
    Written("labelled-findings", "docs/families.md", lambda _: f"{len(labelled())} findings"),
    Written("labelled-causes", "docs/families.md", sentence),
    Written("families-scored", "docs/families.md", output, marks=("slow",)),
)
