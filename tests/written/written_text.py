"""A text of a document or of a golden file that follows from the project itself, and its place in the file.

In a document it stands between two comments, which readers of the page do not see:

    <!-- written by make docs: NAME -->...<!-- end -->
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

END = "<!-- end -->"
BEGIN = re.compile(r"<!-- written by make docs: ([\w-]+) -->")
BLOCK = re.compile(rf"{BEGIN.pattern}(.*?){END}", re.DOTALL)


class Unmarked(ValueError):
    """A file has no place for a text, or more than one."""


@dataclass(frozen=True, slots=True)
class Written:
    """What `make docs` writes at one place.

    name   how its markers and the command name it
    file   the file, from the root of the checkout
    text   what must stand there: a function of what stands there now, because some quoted outputs also have figures of
           a campaign, which stay, and tables keep their order
    whole  the text is the whole file: it has no markers
    marks  those of the test that compares it: "slow" where the function takes more than 0.2 seconds, "long" where it
           takes more than five, "tvm" where it needs a compiler
    """

    name: str
    file: str
    text: Callable[[str], str]
    whole: bool = False
    marks: tuple[str, ...] = ()

    def now(self, root: Path = ROOT) -> str:
        """What stands in the file. Raise `Unmarked` where a document does not have the markers exactly once."""
        path = root / self.file
        if self.whole:
            return path.read_text() if path.exists() else ""
        return _content(self._block(path.read_text())[2])

    def write(self, new: str, root: Path = ROOT) -> None:
        """Put a text in the place of what stands there."""
        path = root / self.file
        if self.whole:
            path.write_text(new)
            return
        page = path.read_text()
        found = self._block(page)
        lines = "\n" if found[2].startswith("\n") else ""
        path.write_text(f"{page[: found.start(2)]}{lines}{new}{lines}{page[found.end(2) :]}")

    def _block(self, page: str) -> re.Match[str]:
        found = [match for match in BLOCK.finditer(page) if match[1] == self.name]
        if len(found) != 1:
            raise Unmarked(
                f"{self.file} has {len(found)} places for {self.name}: put one text between "
                f"<!-- written by make docs: {self.name} --> and {END}"
            )
        return found[0]


def _content(text: str) -> str:
    """What stands between markers: those around whole lines have lines of their own."""
    return text.removeprefix("\n").removesuffix("\n") if text.startswith("\n") else text


def code_block(text: str, language: str = "") -> str:
    return f"```{language}\n{text}\n```"


def lines_of_block(text: str) -> list[str]:
    """The lines between the fences of a code block."""
    return text.splitlines()[1:-1]


def figures(text: str, pattern: str, *values: object) -> str:
    """The text with other values in the groups of a pattern, which is there exactly once; the rest of the text stays.
    Raise `ValueError` where it is not."""
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if len(found) != 1:
        raise ValueError(f"{len(found)} places are of the form {pattern!r} in:\n{text}")
    (match,) = found
    for number, value in reversed(list(enumerate(values, 1))):
        text = f"{text[: match.start(number)]}{value}{text[match.end(number) :]}"
    return text
