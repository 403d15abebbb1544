"""When two issues' titles say the same."""

from __future__ import annotations

import re

NEAR = 0.6
"""Above it, titles are near-equal: tests/fuzzer/filing/test_titles.py has pairs of apache/tvm's on either side."""

SEARCHED = 4
"""So many words of a title are searched for."""

_TAG = re.compile(r"^\s*(\[[^\]]*\]\s*)+")
_WORD = re.compile(r"[a-z0-9_.]*[a-z0-9]")
_SAY_NOTHING = frozenset(
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
    """Without tags, order, endings, and what all titles say."""
    return frozenset(map(_stem, _telling(title)))


def _telling(title: str) -> list[str]:
    return [word for word in _WORD.findall(_TAG.sub("", title).lower()) if word not in _SAY_NOTHING]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def likeness(one: str, other: str) -> float:
    """Of all words that either title has, the part that both have: 0 to 1."""
    mine, theirs = words(one), words(other)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def near(one: str, other: str) -> bool:
    return likeness(one, other) > NEAR


def longest(title: str) -> tuple[str, ...]:
    """The words to search for, as written. Two near-equal titles of up to ten words share at least one of them."""
    return tuple(sorted(set(_telling(title)), key=lambda word: (-len(word), word))[:SEARCHED])
