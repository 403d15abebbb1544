"""Write an issue or a comment exactly once over a connection that may break.

GitHub's requests have no idempotency keys. So each issue and comment has a random word in an HTML comment (a nonce),
and the ledger has that word before the request is sent. After a lost answer, the tracker's list is searched for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from fuzzer.filing.tracker import Lost, Patience, Refused, Written

Find = Callable[[], Written | None]
"""Search a list of the tracker. May raise `Unreachable`."""


def nonce() -> str:
    return secrets.token_hex(12)


def marker(word: str) -> str:
    """An HTML comment with the random word. A page does not show it."""
    return f"<!-- difftvm-sent: {word} -->"


def write_once(send: Callable[[], Written | Refused | Lost], find: Find, patience: Patience) -> Written | Refused:
    """Send until the tracker has written or refused it. Raise `Unreachable` if that cannot be found out now."""
    reason = ""
    for _ in range(patience.attempts):
        match send():
            case Written() | Refused() as known:
                return known
            case Lost(reason=reason):
                if there := _settled(find, patience):
                    return there
    return Refused(f"{reason}; sent {patience.attempts} times, and never written")


def found_again(find: Find, intended: float, patience: Patience) -> Written | None:
    """What an earlier process wrote, if it did. `intended` is when it saved its intent, in seconds since 1970."""
    long_ago = patience.clock() - intended > patience.whole
    return find() if long_ago else _settled(find, patience)


def _settled(find: Find, patience: Patience) -> Written | None:
    """Search for `settle` seconds: a server may still carry out a request whose sender gave up or died."""
    over = patience.clock() + patience.settle
    while True:
        last_look = patience.clock() >= over
        if (there := find()) or last_look:
            return there
        patience.sleep(max(0.0, min(patience.poll, over - patience.clock())))
