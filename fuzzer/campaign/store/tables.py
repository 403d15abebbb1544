"""What a campaign counts and does not save as findings: unsupported operators and features, and known behaviour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.campaign.store.state import State
from fuzzer.findings import upstream
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature.known import count_matches
from fuzzer.system.terminal import number_of


def lacking(state: State) -> dict[str, dict[str, int]]:
    """By lane, the operators and features that it does not support, with the number of tests that needed them; the most
    frequent first."""
    return {
        lane: dict(sorted(names.items(), key=lambda item: (-item[1], item[0])))
        for lane, names in sorted(state.counters.lacking.items())
    }


def lacking_lines(state: State) -> Iterator[str]:
    for lane, names in lacking(state).items():
        met = number_of(state.counters.unsupported.get(lane, 0), "test")
        yield f"{lane}: {number_of(len(names), 'thing')} lacking, met in {met}"
        for name, count in names.items():
            yield f"  {count:5} {name}"
    for reason, count in sorted(state.counters.environment.items()):
        yield f"the machine failed {number_of(count, 'lane')}: {reason}"
    if not state.counters.lacking:
        yield "nothing is counted yet"


def known(state: State, docs: Sequence[FindingDoc]) -> list[dict[str, object]]:
    """Every entry of known_issues.toml, and how often this campaign met it."""
    counts = count_matches(state.known, [doc.identity for doc in docs])
    return [{"name": e.name, "why": e.why, "upstream": e.upstream, "met": met} for e, met in counts.items()]


def known_lines(state: State, docs: Sequence[FindingDoc]) -> Iterator[str]:
    matched, others = list[str](), list[str]()
    for row in known(state, docs):
        if row["met"]:
            matched.append(f"  {row['met']:5} {row['name']} ({row['upstream']}): {row['why']}")
        else:
            others.append(f"{row['name']} ({row['upstream']})")
    for unspecified in upstream.rows().unspecified:
        slugs = [doc.slug for doc in docs if unspecified.matches(doc)]
        words = f"unspecified upstream, apache/tvm #{unspecified.number}, read on {unspecified.read_on}"
        if slugs:
            matched.append(f"  {len(slugs):5} {unspecified.name} ({words}): {unspecified.why}")
            matched += [f"        {slug}" for slug in slugs]
        else:
            others.append(f"{unspecified.name} (apache/tvm #{unspecified.number})")
    for related in upstream.rows().related:
        if count := sum(related.matches(doc) for doc in docs):
            matched.append(f"  {count:5} perhaps {related}")
        else:
            others.append(str(related))
    yield from matched
    yield from (f"  matches nothing here: {other}" for other in others)
