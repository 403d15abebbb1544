"""What a log says of new failures: each once, when it is seen, and once more when it is confirmed."""

from __future__ import annotations

from dataclasses import replace

from snapshots import SEEN, snapshot

from fuzzer.watching.news import News

FOUND = [
    "found: critical  `torch.squeeze` + `F.linear` gives wrong values",
    "found: high  `torch.where` gives float32 instead of int64 (converter `_where`)",
]
SUSPECTED = [
    "seen, not confirmed yet: Perhaps `acos` or `cos` fails: Unresolved call Op(tirx.acos)",
    "seen, not confirmed yet: A model of 4 operators gives wrong values",
]


def test_each_failure_has_one_line_when_it_shows_and_one_when_it_is_confirmed() -> None:
    news = News()
    begun = replace(SEEN, confirmed=SEEN.confirmed[2:])
    assert list(news.since(snapshot(causes=begun))) == SUSPECTED, "what earlier runs found is no news"
    assert list(news.since(snapshot())) == FOUND
    assert list(news.since(snapshot())) == []
