"""How similar two issue titles are."""

from __future__ import annotations

import re

NEAR = 0.6
"""The similarity above which titles are near-equal. tests/fuzzer/filing/test_similar_titles.py has pairs of issues of
apache/tvm on either side."""

SEARCHED = 4
"""The number of words of a title that are searched for."""

_TAG = re.compile(r"^\s*(\[[^\]]*\]\s*)+")
_WORD = re.compile(r"[a-z0-9_.]*[a-z0-9]")
_STOP_WORDS = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "can",
        "does",
        "for",
        "from",
        "gives",
        "has",
        "if",
        "in",
        "is",
    }
    | {"it", "its", "not", "of", "on", "or", "that", "the", "to", "when", "where", "which", "while", "with"}
    | {"bug", "error", "issue", "tvm", "relax"}
)


def words(title: str) -> frozenset[str]:
    """The words of a title that distinguish it, without tags, plural endings and stop words."""
    return frozenset(map(_stem, _significant_words(title)))


def _significant_words(title: str) -> list[str]:
    return [word for word in _WORD.findall(_TAG.sub("", title).lower()) if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def similarity(one: str, other: str) -> float:
    """The Jaccard index of the words of two titles: 0 to 1."""
    mine, theirs = words(one), words(other)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def near(one: str, other: str) -> bool:
    return similarity(one, other) > NEAR


def longest(title: str) -> tuple[str, ...]:
    """The `SEARCHED` longest words, as written. Two near-equal titles of up to ten words share at least one of them."""
    return tuple(sorted(set(_significant_words(title)), key=lambda word: (-len(word), word))[:SEARCHED])
