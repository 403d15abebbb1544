"""The state of a campaign: what it needs to continue, and its counters."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Annotated

import msgspec

from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.layout import ASIDE
from fuzzer.campaign.store.numbers import Count
from fuzzer.system.files import write_atomically
from fuzzer.system.storage_errors import WRONG_FILE
from fuzzer.system.untrusted_files import free_for_file
from generators.graph import Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain

FORMAT = 1
NAME = "campaign.json"


Seed = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class State(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of campaign.json.

    next_test bounded like a count: a run counts on from it
    found     by signature, the number of tests that met a finding
    known     by name, the number of tests that met known behaviour
    last      by signature, the Unix time at which a test was last counted for a finding
    campaign  a random name, different for each campaign
    """

    seed: Seed
    next_test: Count = 0
    counters: Counters = msgspec.field(default_factory=Counters, name="tally")
    found: dict[str, Count] = msgspec.field(default_factory=dict, name="seen")
    known: dict[str, Count] = msgspec.field(default_factory=dict)
    campaign: str = ""
    format: int = FORMAT
    last: dict[str, Count] = msgspec.field(default_factory=dict)


def begun(seed: int | None) -> State:
    """The state of a new campaign. Without a seed, one is drawn."""
    return State(seed if seed is not None else int.from_bytes(os.urandom(4), "little"), campaign=uuid.uuid4().hex)


def read(folder: Path) -> State | None:
    """The state that was written last; None where there is none. Raise `Invalid` where the file is wrong."""
    path = folder / NAME
    try:
        state = msgspec.json.decode(read_plain(path, MOST_DOCUMENT), type=State)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno not in WRONG_FILE:
            raise
        raise Invalid(f"{path}: {error.strerror}; move it away to start afresh (findings stay)") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; move it away to start afresh (findings stay)") from None
    if state.format != FORMAT:
        raise Invalid(f"{path}: format {state.format} is not known; this version reads {FORMAT}")
    state.campaign = state.campaign or uuid.uuid4().hex  # earlier versions gave campaigns no names
    return state


def write(folder: Path, state: State) -> None:
    free_for_file(folder / NAME, folder / ASIDE)
    write_atomically(folder / NAME, msgspec.json.encode(state))
