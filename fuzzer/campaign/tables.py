"""What a campaign counts and does not save as findings: unsupported operators and features, and known behaviour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.campaign.state import State
from fuzzer.findings import upstream
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.signature.known import count_matches


def lacking(state: State) -> dict[str, dict[str, int]]:
    """By lane, the operators and features that it does not support, with the number of tests that needed them; the most
    frequent first."""
    return {
        lane: dict(sorted(names.items(), key=lambda item: (-item[1], item[0])))
        for lane, names in sorted(state.counters.lacking.items())
    }


def lacking_lines(state: State) -> Iterator[str]:
    for lane, names in lacking(state).items():
        yield f"{lane}: {len(names)} things lacking, met in {state.counters.unsupported.get(lane, 0)} tests"
        for name, count in names.items():
            yield f"  {count:5} {name}"
    for reason, count in sorted(state.counters.environment.items()):
        yield f"the machine failed {count} lanes: {reason}"
    if not state.counters.lacking:
        yield "nothing is counted yet"


def known(state: State, docs: Sequence[FindingDoc]) -> list[dict[str, object]]:
    """Every entry of known_issues.toml, and how often this campaign met it."""
    counts = count_matches(state.known, [doc.identity for doc in docs])
    return [{"name": e.name, "why": e.why, "upstream": e.upstream, "met": met} for e, met in counts.items()]


def known_lines(state: State, docs: Sequence[FindingDoc]) -> Iterator[str]:
    rows = known(state, docs)
    for row in rows:
        if row["met"]:
            yield f"  {row['met']:5} {row['name']} ({row['upstream']}): {row['why']}"
    for row in rows:
        if not row["met"]:
            yield f"  matches nothing here: {row['name']} ({row['upstream']})"
    yield from _upstream_lines(docs)


def _upstream_lines(docs: Sequence[FindingDoc]) -> Iterator[str]:
    for row in upstream.rows().unspecified:
        slugs = [doc.slug for doc in docs if row.matches(doc)]
        if not slugs:
            yield f"  matches nothing here: {row.name} (apache/tvm #{row.number})"
            continue
        upstream_words = f"unspecified upstream, apache/tvm #{row.number}, read on {row.read_on}"
        yield f"  {len(slugs):5} {row.name} ({upstream_words}): {row.why}"
        yield from (f"        {slug}" for slug in slugs)
    for related in upstream.rows().related:
        count = sum(related.matches(doc) for doc in docs)
        yield f"  {count:5} perhaps {related}" if count else f"  matches nothing here: {related}"
