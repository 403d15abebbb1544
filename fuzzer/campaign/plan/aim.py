"""What the last run of a campaign was aimed at: `aim.json`, for `fuzz status`. A run without an aim deletes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import combinations
from pathlib import Path

import msgspec

from fuzzer.system.files import write_atomically
from fuzzer.system.storage_errors import WRONG_FILE
from fuzzer.system.terminal import number_of
from generators.graph import Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain

NAME = "aim.json"

TUPLES = {1: "values", 2: "pairs of values", 3: "triples of values"}

FEATURE = "configuration"
"""How the features of a test begin that say which rows of the configurations it compiled."""


class Model(msgspec.Struct, forbid_unknown_fields=True):
    """How many pieces of the model run, and how often it calls each operator, with a row (`calls`) and without."""

    pieces: int
    calls: dict[str, int]
    lacking: dict[str, int]


class Covering(msgspec.Struct, forbid_unknown_fields=True):
    """The rows of configurations, with the number of their n-tuples. The features of tests that compiled a row begin
    with `prefix`."""

    n: int
    rows: list[tuple[int, ...]]
    tuples: int
    prefix: str

    def covered(self, features: Collection[str]) -> int:
        """How many n-tuples occur in the rows that these features name."""
        numbers = (int(name.removeprefix(self.prefix)) for name in features if name.startswith(self.prefix))
        return len({found for number in numbers for found in combinations(enumerate(self.rows[number]), self.n)})


class Aim(msgspec.Struct, forbid_unknown_fields=True):
    model: Model | None = None
    covering: Covering | None = None

    def line(self, features: Collection[str]) -> str:
        """The line of the screen and of `fuzz status`; empty where there is no aim."""
        parts = []
        if model := self.model:
            parts += [number_of(model.pieces, "piece"), f"{_operators(model.calls)} with a row"]
            parts += [f"without a row: {', '.join(model.lacking)}"] if model.lacking else ["none without a row"]
        if self.covering:
            done, what = self.covering.covered(features), f"{TUPLES[self.covering.n]} of the configurations"
            parts.append(f"{done} of {self.covering.tuples} {what} covered")
        return "; ".join(parts)


def _operators(names: Collection[str]) -> str:
    """How many operators these are; of a model that is read in two dialects, how many of each."""
    from generators.table import dialect_of  # loads the rows, which a campaign without a model does not need

    counts = Counter(dialect_of(name).title for name in names)
    return " and ".join(
        f"{number_of(count, 'operator')}{f' of {title}' if len(counts) > 1 else ''}" for title, count in counts.items()
    )


def write(folder: Path, aim: Aim) -> None:
    if aim == Aim():
        (folder / NAME).unlink(missing_ok=True)
    else:
        write_atomically(folder / NAME, msgspec.json.encode(aim))


def read(folder: Path) -> Aim:
    """The aim of the last run. Raise `Invalid` where the file is wrong."""
    path = folder / NAME
    try:
        return msgspec.json.decode(read_plain(path, MOST_DOCUMENT), type=Aim)
    except FileNotFoundError:
        return Aim()
    except OSError as error:
        if error.errno not in WRONG_FILE:
            raise
        raise Invalid(f"{path}: {error.strerror}; delete it, the next run writes it again") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; delete it, the next run writes it again") from None
