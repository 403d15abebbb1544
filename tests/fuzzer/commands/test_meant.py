"""What is proposed in place of a verb that does not exist."""

from __future__ import annotations

import pytest

from fuzzer.cli import VERBS
from fuzzer.commands.meant import INSTEAD, MEANT, proposal


def test_each_word_stands_for_a_verb_and_is_none() -> None:
    assert {verb.split()[0] for verb in MEANT.values()} <= VERBS.keys()
    assert not VERBS.keys() & {*MEANT, *INSTEAD}
    assert not MEANT.keys() & INSTEAD.keys()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("No such command 'bugs'.", "No such command 'bugs'; `fuzz triage` does that"),
        ("No such command 'minimise'. Did you mean 'minimize'?",
         "No such command 'minimise'; did you mean 'minimize'?"),
        ("No such command 'zebra'. Did you mean 'scope'?", "No such command 'zebra'; `fuzz help` lists the commands"),
        ("No such command 'config'.",
         "No such command 'config'; there is no file of settings: `fuzz run --help` lists the options"),
        ("No such option: --zebra", "No such option: --zebra"),
    ],
)  # fmt: skip
def test_what_was_perhaps_meant(message: str, expected: str) -> None:
    assert proposal(message, list(VERBS), "fuzz") == expected
