"""What an exception says, in the words of a person: what titles have in place of a message of many lines.

A message without a row of `message_table` says what its main clause says. A failed check without a text says which
function made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuzzer.signature.frames import function_that_raised
from fuzzer.signature.message_table import CHECKER, MESSAGES
from fuzzer.signature.messages import MOST, compiler_that_refuses, frames_of, readable
from oracles.outcome import Outcome, Raised, why_no_result

ROWS = tuple((re.compile(pattern), texts) for pattern, *texts in MESSAGES)
_OF_CHECKER = tuple((re.compile(pattern), text) for pattern, text in CHECKER)

SHORT = 3
"""A message of so few words says too little without the function that raised it."""

OF_PYTHON = ("AttributeError", "IndexError", "KeyError", "ZeroDivisionError")
"""Nor do the messages of these say more than that something has failed."""


def in_words(raised: Raised) -> tuple[str, ...]:
    """What the exception says, the fullest text first: what follows "it fails: ". Empty where it has no message."""
    return tuple(dict.fromkeys(_texts(raised)))


def plain_reason(outcome: Outcome) -> str:
    """Why a lane gave no result, in one line; "" where it gave one. Where an exporter says that something else failed,
    it is that."""
    if isinstance(outcome, Raised) and (words := in_words(outcome)):
        return f"{outcome.stage}: {outcome.type}: {words[0].removeprefix(f'{outcome.type}: ')}"
    return why_no_result(outcome)


def _texts(raised: Raised) -> Iterator[str]:
    message, place = readable(raised.message), function_that_raised(frames_of(raised))
    whole = " ".join(message.split())
    for pattern, texts in ROWS:
        if found := pattern.search(whole):
            called = f"`{place}`" if place else "code generation"
            compiler = compiler_that_refuses(raised.message)
            yield from (text.format(*found.groups(), place=called, compiler=compiler) for text in texts)
            return
    first = next(filter(None, map(str.strip, message.split("\n"))), "")
    yield from _own_words(" ".join(first.split()), raised.type.rpartition(".")[2], place)


def _own_words(message: str, kind: str, place: str) -> Iterator[str]:
    """The message itself, in full and shorter; which function fails a check, where it has no text."""
    text, clause = without_condition(message), main_clause(message)
    at = f" in `{place}`" if place else ""
    if text.startswith("Check failed"):
        yield from [f"a check fails{at}"] if at else []
    elif kind == "AssertionError" and not text:
        yield from [f"an assertion fails{at}", f"an assert fails in `{place.rpartition('.')[2]}`"] if at else []
    elif text:
        shown = text if " " in text else ": ".join(filter(None, [kind, text]))
        yield from [shown + at] if at and (len(text.split()) <= SHORT or kind in OF_PYTHON) else []
        yield shown
        yield from [clause] if " " in clause else []


def checker_in_words(message: str) -> str:
    """What TVM's checker of modules says: "a variable is not defined"."""
    read = message[:MOST]
    return next((text for pattern, text in _OF_CHECKER if pattern.search(read)), main_clause(read))


_PREFIX = re.compile(r"^(?:error: )?(?:Check failed: .*?(?: \(.{,60}? vs\. .{,60}?\)| is false) ?: *:? *)?(?=\S)")
_END_OF_CLAUSE = re.compile(r"(?<=\w)(?:\. |; |: | \(| -->)|(?<=[\w)]), but ")
_NEEDS_MORE = ("as", "at", "by", "for", "from", "in", "is", "not", "of", "on", "or", "to", "with")
"""A clause does not end after these words: "should be in shape of (a, b)"."""


def without_condition(message: str) -> str:
    """A message without the condition of the check that failed; the whole where that has no text."""
    return _PREFIX.sub("", message, count=1).rstrip(" .:,") or message.rstrip(" .:")


def main_clause(message: str) -> str:
    """The first clause of a message, without the condition of a failed check."""
    text = without_condition(message)
    ends = (found.start() for found in _END_OF_CLAUSE.finditer(text))
    end = next((end for end in ends if text[:end].rpartition(" ")[2].lower() not in _NEEDS_MORE), len(text))
    return text[:end].rstrip(" .:,")
