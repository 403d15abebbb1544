"""What a run of `fuzz diff` has compared."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from fuzzer.difference.failures import is_refusal
from fuzzer.signature import Signature, signature_of
from oracles.finding import Finding

ALWAYS = 4
"""This many times a failure is compared. After that, at its 8th, 16th, 32nd, ... time."""


@dataclass(slots=True)
class Comparisons:
    """How many lanes were compared, and what failed in both toolchains. Thread-safe.

    lanes    how many lanes ran in both
    both     by coarse signature, how often it failed in both
    refused  the same for what neither of them supports
    """

    lanes: int = 0
    both: Counter[Signature] = field(default_factory=Counter)
    refused: Counter[Signature] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ran(self, lanes: int) -> None:
        with self._lock:
            self.lanes += lanes

    def failed_in_both(self, failure: Finding) -> None:
        with self._lock:
            self._counter(failure)[signature_of(failure)] += 1

    def is_known(self, failure: Finding) -> bool:
        """Whether a failure with a message was the same in both so often that it need not be compared now. Then it is
        counted."""
        signature = signature_of(failure)
        with self._lock:
            counter = self._counter(failure)
            count = counter[signature] + 1
            if signature.needs_ops or count <= ALWAYS or count & (count - 1) == 0:
                return False
            counter[signature] = count
        return True

    def _counter(self, failure: Finding) -> Counter[Signature]:
        return self.refused if is_refusal(failure) else self.both
