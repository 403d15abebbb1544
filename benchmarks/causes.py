"""Count the causes of a campaign's findings, and what their scopes cost and say. Nothing is run.

    python benchmarks/causes.py DIR

Counts the findings of TVM that are not flaky, their families, and how many findings the largest families have. Of their
scopes: the CPU seconds, how many have a statement, how many of these are certain, and how many held-out cases agree,
inside and outside of their statements, and with how many statements all of them agree. Then how many findings have a
usual case, and how many a regression test.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from fuzzer.findings import finding_file, natural_file
from fuzzer.findings.families.grouping import families
from fuzzer.report.regression_test import NAME as TEST
from fuzzer.triage.scope.statement import Hits, Scope
from oracles.finding import Component


def lines(sizes: Sequence[int], scopes: Sequence[Scope]) -> Iterator[str]:
    """`sizes` are those of the families."""
    largest, several = sorted(sizes, reverse=True)[:6], sum(size > 1 for size in sizes)
    yield (
        f"{sum(sizes)} findings, {len(sizes)} families of {median(sizes):g} in the median; {several} have several"
        f" findings; the largest have {largest}"
    )
    known = [scope for scope in scopes if scope.cases]
    if not known:
        yield "no scopes"
        return
    seconds = [scope.cpu_seconds for scope in known]
    yield f"{len(known)} scopes: {median(seconds):.1f} CPU s in the median, {sum(seconds):.0f} in all"
    stated = [scope for scope in known if scope.statement is not None]
    certain = sum(scope.is_certain for scope in stated)
    yield f"{len(stated)} statements, {certain} of them certain; held-out cases that agree: {_agree(stated)}"
    held_out = [_sum([scope.inside, scope.outside]) for scope in stated]
    tried = [hits for hits in held_out if hits.of]
    agreed = sum(hits.right == hits.of for hits in tried)
    yield f"statements with which all held-out cases agree: {agreed} of {len(tried)}"


def _agree(scopes: Sequence[Scope]) -> str:
    inside, outside = _sum([scope.inside for scope in scopes]), _sum([scope.outside for scope in scopes])
    return f"{inside.right} of {inside.of} inside, {outside.right} of {outside.of} outside"


def _sum(hits: Sequence[Hits]) -> Hits:
    return Hits(sum(each.right for each in hits), sum(each.of for each in hits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaign", type=Path, metavar="DIR")
    found = list(finding_file.readable(finding_file.folders_in(parser.parse_args().campaign / "crashes")))
    of_tvm = [(path, doc) for path, doc in found if doc.component is Component.TVM and not doc.flaky]
    print(*lines([len(family) for family in families(of_tvm)], [doc.scope for _, doc in of_tvm]), sep="\n")
    usual, tests = (sum((path / name).exists() for path, _ in of_tvm) for name in (natural_file.NAME, TEST))
    print(f"{usual} findings have a usual case, {tests} a regression test")


if __name__ == "__main__":
    main()
