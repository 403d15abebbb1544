"""Figures of README.md that other pages have from measurements."""

from __future__ import annotations

import re

from written_text import ROOT, Written


def ratio(what: str, digits: int) -> Written:
    """How many times as much a campaign does now, in the median of the seeds of docs/guidance.md."""

    def text(_: str) -> str:
        page = (ROOT / "docs" / "guidance.md").read_text()
        median = re.findall(rf"^{what} this / against: median ([\d.]+);", page, re.MULTILINE)[0]
        return f"{float(median):.{digits}f}"

    return Written(f"ratio-of-{what}", "README.md", text)


def compared(name: str, place: int) -> Written:
    """The cells of a row about difftvm and NNSmith, after all of the CPU time of docs/comparison.md: the numbers of
    random cases, guided ones, and NNSmith's, at a place of the last numbers of a line."""

    def text(now: str) -> str:
        page = (ROOT / "docs" / "comparison.md").read_text()
        rows = re.findall(r"^(nnsmith|random|guided) +(.*)$", page, re.MULTILINE)
        last = {arm: re.findall(r"\d+", row)[-5:][place] for arm, row in rows}
        numbers = iter((last["random"], last["guided"], last["nnsmith"]))
        return re.sub(r"\d+", lambda _: next(numbers), now)

    return Written(name, "README.md", text)


ROWS = (
    ratio("tests", 0),
    ratio("distinct", 1),
    compared("failures-compared", 1),
    compared("operators-compared", 4),
)
