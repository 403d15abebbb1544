"""No text makes a link, mention, tag or heading in Markdown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_markdown import live
from script_payloads import PAYLOADS

from fuzzer.report.markdown import block, cell, code, details, heading, prose, table

WRITTEN: dict[str, Callable[[str], str]] = {
    "prose": lambda text: f"{prose(text)}\n",
    "an item": lambda text: f"- {prose(text)}\n",
    "heading": lambda text: f"# {heading(text)}\n",
    "code": lambda text: f"x {code(text)} x\n",
    "cell": lambda text: f"| a | b |\n|---|---|\n| {cell(text)} | x |\n",
    "table": lambda text: table([(text, text), ("x", text)]),
    "block": block,
    "details": lambda text: details(text, "x"),
}
PIECES = (
    *("@", "#7", "GH-7", "x/y", "://", "www.", "a" * 7, "&#64;", "`", "``", "\\", "|", "<", "<b>", ">", "!", "[", "]"),
    *("(", ")", "](/x)", "#", "-", "=", "+", "1.", "~~~", "*", "_", " ", "\n", "\n\n", "\t", "<!--", "-->", "x", ":"),
)


def found(name: str, text: str) -> list[str]:
    own = ["heading h1"] if name == "heading" else []
    what = live(WRITTEN[name](text))
    assert what[: len(own)] == own or not heading(text)
    return what[len(own) :]


@pytest.mark.parametrize("name", WRITTEN)
def test_no_payload_is_live(name: str) -> None:
    for text in PAYLOADS:
        assert found(name, text) == [], text


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_nor_is_what_payloads_are_made_of(name: str, text: str) -> None:
    assert found(name, text) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x @team", "reference '@' in 'x @team'"),
        ("&#64;team", "reference '@' in '@team'"),
        (r"\@team", "reference '@' in '@team'"),
        ("see #77", "reference '#7' in 'see #77'"),
        ("GH-77", "reference 'GH-7' in 'GH-77'"),
        ("https://x.y", "reference '://' in 'https://x.y'"),
        ("[x](https://x.y)", "link https://x.y"),
        ("![x](/y)", "image /y"),
        ("<b>", "tag <b>"),
        ("x\n===", "heading h1"),
        ("| a | b |\n|---|---|\n| `|` @x |", "reference '@' in '` @x'"),
    ],
)
def test_what_is_live_is_found(text: str, what: str) -> None:
    assert what in live(text)


def test_texts_stay_readable() -> None:
    assert prose("`relu` gives 3 [1, 2], a_b & 1 < 2.") == r"`relu` gives 3 \[1, 2\], a\_b \& 1 \< 2."
    assert heading("[Bug] a_b of `x`: (see https://x.y)") == "[Bug] a_b of `x`: (see `https://x.y`)"
    assert prose("`a`#77") == "`a`<!-- -->`#77`"
    assert cell(r"`a|b` c|d `\|`") == r"`a\|b` c\|d `\ \|`"
    assert prose("1. x") == r"1\. x"
    assert prose("0.27.0 and -1") == "0.27.0 and -1"
