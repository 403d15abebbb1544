"""Write exactly once over a connection that may break: after a lost answer, look whether it is there.

GitHub has no keys that make a repeated request harmless. So each thing that is written carries a random word of its own
(a nonce, in a comment that nobody sees), which is in the ledger before it is sent.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from fuzzer.filing.tracker import Lost, Patience, Refused, Written

Find = Callable[[], Written | None]
"""Looks in a list of the tracker's. May raise `Unreachable`."""


def nonce() -> str:
    return secrets.token_hex(12)


def marker(word: str) -> str:
    """What a page does not show and its source does."""
    return f"<!-- difftvm-sent: {word} -->"


def write_once(send: Callable[[], Written | Refused | Lost], find: Find, patience: Patience) -> Written | Refused:
    """Send until it is there, or refused. Raise `Unreachable` where that cannot be found out now: then nobody knows."""
    told = ""
    for _ in range(patience.attempts):
        match send():
            case Written() | Refused() as known:
                return known
            case Lost(told=told):
                if there := _settled(find, patience):
                    return there
    return Refused(f"{told}; sent {patience.attempts} times, and never there")


def found_again(find: Find, intended: float, patience: Patience) -> Written | None:
    """What a process that is no more was about to write, if it did: `intended` is when it said so."""
    long_ago = patience.clock() - intended > patience.whole
    return find() if long_ago else _settled(find, patience)


def _settled(find: Find, patience: Patience) -> Written | None:
    """A server may still be at a request whose sender has given up, or died: only what is not there `settle` seconds
    later will not be."""
    over = patience.clock() + patience.settle
    while True:
        last_look = patience.clock() >= over
        if (there := find()) or last_look:
            return there
        patience.sleep(max(0.0, min(patience.poll, over - patience.clock())))
