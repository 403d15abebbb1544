"""Tables, numbers and outputs of the code that documents show."""

from __future__ import annotations

import re

from snapshots import snapshot
from written_text import Written, code_block

from fuzzer.campaign.cases.around_cases import COMBINED, VARIED
from fuzzer.campaign.plan.configuration_file import MOST_VALUES
from fuzzer.campaign.plan.configurations import MOST_TUPLES
from fuzzer.campaign.store.trust import MOST_VALUE
from fuzzer.lanes.abuses import ABUSES
from fuzzer.seeds.around import SIZES
from fuzzer.watching.panel import panel
from generators.onnx.schema import FIRST_KNOWN, newest_known_opset
from generators.plain_file import MOST_BYTES, MOST_DOCUMENT, MOST_TENSORS, MOST_TEXT
from generators.undefined import ROWS as UNDEFINED

WIDTH, HEIGHT = 80, 24


def undefined(_: str) -> str:
    rows = [f"| `{row.name}` | {row.what} | {'; '.join(row.sources)} |" for row in UNDEFINED]
    return "\n".join(["| row | what has no defined value | sources |", "|---|---|---|", *rows])


def shares_around_a_model(now: str) -> str:
    """The first cells of three rows: what people read of each share stays."""
    shares = iter((VARIED, COMBINED, 100 - VARIED - COMBINED))
    return re.sub(r"^\| \d+ % \|", lambda _: f"| {next(shares)} % |", now, flags=re.MULTILINE)


def screen(_: str) -> str:
    """The screen of a campaign that is made by hand; the clock stands still."""
    return code_block("\n".join(text.plain.rstrip() for text in panel(snapshot(), 100.0, WIDTH, HEIGHT)))


def bounds_of_files(_: str) -> str:
    return (
        f"A JSON document has at most {_mib(MOST_DOCUMENT)}, a text {_mib(MOST_TEXT)}, the tensors of a case "
        f"{_mib(MOST_TENSORS)}, a folder's files together {_mib(MOST_BYTES)}, "
        f"and a value of an index {_mib(MOST_VALUE)}."
    )


def _mib(size: int) -> str:
    return f"{size >> 20} MiB"


ROWS = (
    Written("bounds-of-files", "docs/reliability.md", bounds_of_files),
    Written("undefined-values", "docs/tolerance.md", undefined),
    Written("shares-around-a-model", "docs/around.md", shares_around_a_model),
    Written("sizes-of-pieces", "docs/around.md", lambda _: "{}, {} and {}".format(*SIZES)),
    Written("bounds-of-a-configuration-file", "docs/around.md", lambda _: f"{MOST_VALUES} values, and {MOST_TUPLES:,}"),
    Written("screen", "docs/watching.md", screen),
    Written("opsets-that-are-read", "docs/import.md", lambda _: f"{FIRST_KNOWN} to {newest_known_opset()}"),
    Written("abuses", "docs/reliability.md", lambda _: f"{len(ABUSES)}"),
)
