"""What a check of a pass answers that found nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class PassNotReached(AssertionError):
    """No test changed a module with the pass, so that nothing was checked."""


@dataclass(frozen=True, slots=True)
class PassReport:
    """What a check did that found nothing.

    tests    how many models ran that PyTorch accepts
    ran      in how many of them the pass ran and the compiled program gave a result
    changed  in how many of them the pass changed the module
    lanes    the names of the lanes with the pass
    seed     with this seed, a check of as many tests draws the same models
    flaky    how many failures were found that did not show again in three runs
    folder   the folder of the campaign
    aliased  how many findings are an output that shares memory with an input. They are no failure unless `aliasing` is
             given
    """

    tests: int
    ran: int
    changed: int
    lanes: tuple[str, ...]
    seed: int
    flaky: int
    folder: Path
    aliased: int = 0
