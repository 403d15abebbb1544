"""Remembers the results of pure functions by the identity of their arguments.

Twenty oracles ask for the same reference of a case, and compare the same outputs with it. Arrays cannot be keys of
`functools.cache`; nothing changes those of an outcome.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

REFERENCES = 4
"""How many references are remembered. A test has one, perhaps another one of its gradients, and one for its
witness."""

OUTPUTS = 16
"""How many outputs of references are remembered. Few cases have more than four."""


def remembered(most: int, of: int = 0) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for a function of positional arguments, for which equal objects are not the same argument.

    Each thread keeps the results for the `most` objects that were last used as argument number `of`: all results for
    one of them. It keeps the arguments too, so that no other object gets the identity of one."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        thread = threading.local()

        def result_of(*arguments: P.args, **none: P.kwargs) -> R:
            kept: OrderedDict[int, dict[tuple[int, ...], tuple[Any, R]]]
            kept = thread.__dict__.setdefault("kept", OrderedDict())
            results = kept.setdefault(id(arguments[of]), {})
            kept.move_to_end(id(arguments[of]))
            key = tuple(map(id, arguments))
            if key not in results:
                results[key] = arguments, function(*arguments, **none)
            if len(kept) > most:
                kept.popitem(last=False)
            return results[key][1]

        return result_of

    return decorated
