"""Text that comes from compilers and models, made harmless in Markdown: no mention, link or tag of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence


def code(text: str) -> str:
    """Text within a line, as code: nothing in it means anything to Markdown. As CommonMark says, between more backticks
    than it holds itself."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}" if line else ""


def prose(text: str) -> str:
    """Text with code spans in it; what stands outside of them mentions nobody, links nowhere and opens no tag."""
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(piece if index % 2 else _harmless(piece) for index, piece in enumerate(pieces))


def _harmless(text: str) -> str:
    text = re.sub(r"([\\<>\[\]*_|~])", r"\\\1", text)
    return re.sub(r"([@#])(?=\w)", r"\1<!-- -->", text.replace("`", "\\`"))


def block(text: str, language: str = "") -> str:
    """Lines of code, between more backticks than they hold themselves."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns, the second as code, less the rows that say nothing."""
    told = [(key, code(value).replace("|", "\\|")) for key, value in rows if value]
    lines = "".join(f"| {key} | {value} |\n" for key, value in told)
    return f"| | |\n|---|---|\n{lines}"


def details(summary: str, body: str) -> str:
    """Folded away. `summary` is ours, never a compiler's."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n</details>\n"


def shortened(text: str, lines: int, width: int = 160) -> str:
    """The first and last lines of a long text, none of them wider than `width`."""
    every = [line if len(line) <= width else line[: width - 3] + "..." for line in text.rstrip().split("\n")]
    if len(every) <= lines:
        return "\n".join(every)
    head = lines * 2 // 3
    return "\n".join([*every[:head], f"... {len(every) - lines} lines ...", *every[len(every) - (lines - head) :]])
