"""What is live in Markdown as GitHub shows it: links, images, mentions, references, tags and headings."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fuzzer.report.markdown import LINKED
from fuzzer.report.source_link import SOURCE

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

OWN_TAGS = re.compile(
    r"<!-- -->|<!-- difftvm: [\w-]+ -->\n?"
    r"|<details>\n<summary>(?:[^<>]|<code>[^<>]*</code>)*</summary>\n?|</details>\n?"
)
"""The tags that reports have. In a summary, only code may have what GitHub makes a link of."""


def live(text: str) -> list[str]:
    """Each link, image, mention, reference and tag that is not one of difftvm's own, and each heading with its level.

    GitHub makes links of addresses, mentions and so on after it has parsed a text, wherever they stand but in code. So
    each text outside of code is searched."""
    return list(_live(_PARSER.parse(text)))


def _live(tokens: list[Token]) -> Iterator[str]:
    within_link = False
    for token in tokens:
        match token.type:
            case "heading_open":
                yield f"heading {token.tag}"
            case "link_open":
                within_link = True
                if not str(token.attrs["href"]).startswith(f"{SOURCE}/v"):
                    yield f"link {token.attrs['href']}"
            case "link_close":
                within_link = False
            case "image":
                yield f"image {token.attrs['src']}"
            case "html_inline" | "html_block":
                if not OWN_TAGS.fullmatch(token.content):
                    yield f"tag {token.content}"
                without_code = re.sub(r"<code>.*?</code>|<!--.*?-->|</?\w+>", "", token.content, flags=re.S)
                yield from _linked(html.unescape(without_code))
            case "text" if not within_link:
                yield from _linked(token.content)
            case "fence":
                if token.info not in ("", "python"):
                    yield f"language {token.info}"
            case _ if token.children is not None:
                yield from _live(_joined(token.children))


def _joined(tokens: list[Token]) -> list[Token]:
    """Texts beside each other are one: an escaped character is a token of its own."""
    joined: list[Token] = []
    for token in tokens:
        token.type = "text" if token.type == "text_special" else token.type
        if token.type == "text" and joined and joined[-1].type == "text":
            joined[-1].content += token.content
        else:
            joined.append(token)
    return joined


def _linked(text: str) -> Iterator[str]:
    if found := LINKED.search(text):
        yield f"reference {found[0]!r} in {text[max(0, found.start() - 20) : found.end() + 20]!r}"
