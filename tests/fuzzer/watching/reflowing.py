"""A terminal that wraps its lines again when its window changes, as most do: what it shows after some output."""

from __future__ import annotations

import re

CONTROL = re.compile(r"\x1b\[(\??)(\d*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n])")


class Reflowing:
    """A terminal of `width` columns. Lines longer than it are wrapped, and a line that was wrapped is one line when the
    width changes. Its height is not limited."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows = [""]
        self._goes_on = [False]  # whether the next row is the rest of the same line
        self._row = self._column = 0

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self._rows]

    def resize(self, width: int) -> None:
        lines, at = [""], (0, 0)
        for number, (row, goes_on) in enumerate(zip(self._rows, self._goes_on, strict=True)):
            if number == self._row:
                at = len(lines) - 1, len(lines[-1]) + self._column
            lines[-1] += row
            if not goes_on:
                lines.append("")
        self.width, self._rows, self._goes_on = width, [], []
        for number, text in enumerate(lines[:-1]):
            pieces = [text[place : place + width] for place in range(0, len(text), width)] or [""]
            if number == at[0]:
                self._row = len(self._rows) + min(at[1] // width, len(pieces) - 1)
                self._column = at[1] - width * min(at[1] // width, len(pieces) - 1)
            self._rows += pieces
            self._goes_on += [True] * (len(pieces) - 1) + [False]

    def write(self, output: str) -> None:
        for private, count, letter, start, line, character in CONTROL.findall(output):
            if start:
                self._column = 0
            elif line:
                self._down()
                self._column = 0
            elif character:
                self._put(character)
            elif not private:
                self._control(letter, int(count or 0))

    def _control(self, letter: str, count: int) -> None:
        match letter:
            case "A":
                self._row = max(0, self._row - max(1, count))
            case "K":
                self._rows[self._row], self._goes_on[self._row] = "", False
            case "J":
                self._rows[self._row] = self._rows[self._row][: self._column]
                del self._rows[self._row + 1 :], self._goes_on[self._row + 1 :]
                self._goes_on[self._row] = False
            case _:
                pass

    def _put(self, character: str) -> None:
        if self._column == self.width:
            self._goes_on[self._row] = True
            self._down()
            self._column = 0
        row = self._rows[self._row].ljust(self._column)
        self._rows[self._row] = row[: self._column] + character + row[self._column + 1 :]
        self._column += 1

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append("")
            self._goes_on.append(False)
