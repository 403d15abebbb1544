"""What a comparison found, and the exit code of `fuzz diff`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.difference.changed_code import ChangedCode
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import number_of


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `fuzz diff`.

    base, patched  the toolchains, in words
    seconds        how long the tests took
    tests          how many tests ran
    lanes          how many lanes ran in both
    worse          findings of the patched toolchain: what the base does right
    aliased        findings that are no reason to fail: an output shares memory with an input, and not in the base
    unsure         such findings that not each of three runs has confirmed
    fixed          what the base does wrong, and the patched toolchain right
    perhaps_fixed  what did so once, and was not confirmed by each of three runs
    both           how many failures both have
    waiting        how many failures of the patched toolchain were not investigated in time
    reaching       how many tests reached the changed code
    reached        by the name of a function or a part, how many tests reached it
    differing      by its name, in how many tests one of the compilers did something that the other did not
    touched        what the change touches, in words; "" where that is not known
    folder         the directory of the comparison
    """

    base: str
    patched: str
    seconds: float
    tests: int
    lanes: int
    both: int
    waiting: int
    reaching: int
    changed: ChangedCode
    folder: Path
    worse: tuple[FindingDoc, ...] = ()
    aliased: tuple[FindingDoc, ...] = ()
    unsure: tuple[FindingDoc, ...] = ()
    fixed: tuple[FindingDoc, ...] = ()
    perhaps_fixed: tuple[FindingDoc, ...] = ()
    reached: dict[str, int] = field(default_factory=dict)
    differing: dict[str, int] = field(default_factory=dict)
    touched: str = ""

    @property
    def never_called(self) -> tuple[str, ...]:
        """The functions of the changed code that no test called."""
        return tuple(name for name in self.changed.called if name not in self.reached)

    @property
    def never_met(self) -> tuple[str, ...]:
        """The conditions in functions of the changed code that tests called, which no test met."""
        called = [name for name in self.changed.conditions if name.partition(" if ")[0] in self.reached]
        return tuple(name for name in called if name not in self.reached)

    @property
    def not_reached(self) -> bool:
        """Whether it is known that no test reached the changed code, and nothing differs."""
        shown = self.reaching or self.differing or self.worse or self.aliased or self.fixed or self.perhaps_fixed
        return self.changed.is_traced and not shown


def verdict(comparison: Comparison) -> Exit:
    if comparison.worse:
        return Exit.WORSE
    return Exit.NOT_REACHED if comparison.not_reached else Exit.GONE


def in_words(comparison: Comparison) -> str:
    """The verdict in one sentence."""
    if comparison.worse:
        return f"{comparison.patched} is worse than {comparison.base}"
    if comparison.not_reached:
        return "no test reached the changed code"
    if comparison.waiting or comparison.unsure:
        return "nothing worse was confirmed"
    return "nothing is worse"


def reach_in_words(comparison: Comparison) -> str:
    """How many tests reached the changed code, or why that is not known."""
    changed = comparison.changed
    if changed.untraced:
        return f"not known for {'; '.join(changed.untraced)}"
    if not changed.is_traced:
        return "not known"
    return f"{comparison.reaching:,} of {number_of(comparison.tests, 'test')}"
