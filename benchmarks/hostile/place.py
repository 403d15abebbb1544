"""The folders of one run, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzer.system import last_list

TOOLCHAIN = "own"

FINDING = "wrong-value-selu-253a62bf677c"
"""A shipped finding with a natural case."""

ONNX_FINDING = "rejected-tile-34f780f878bb"
CORPUS_CASE = "cond"
SECRET = "CANARY-of-a-file-outside-5d1f"


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one run.

    campaign  the one that is hostile
    good      one that is not, which it is merged with
    out       what commands write
    outside   nothing here may be read or written
    """

    root: Path

    @property
    def campaign(self) -> Path:
        return self.root / "given"

    @property
    def good(self) -> Path:
        return self.root / "good"

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def outside(self) -> Path:
        return self.root.with_name(f"{self.root.name}-outside")

    @property
    def finding(self) -> Path:
        return self.campaign / "crashes" / FINDING

    @property
    def onnx_finding(self) -> Path:
        return self.campaign / "crashes" / ONNX_FINDING

    @property
    def corpus_case(self) -> Path:
        return self.campaign / "corpus" / CORPUS_CASE

    @property
    def kept(self) -> Path:
        """A regression corpus."""
        return self.campaign / "kept"

    @property
    def shown(self) -> Path:
        """The list that was shown last, in the folder of the user's state."""
        return self.out / "state" / "difftvm" / last_list.NAME

    @property
    def earlier(self) -> Path:
        """A finding of an earlier run of `fuzz diff`."""
        return self.campaign / "diff" / "1" / "crashes" / FINDING

    @property
    def preload(self) -> Path:
        return self.good / "preload.py"

    @property
    def waiting(self) -> Path:
        folder = self.campaign / "waiting"
        return next(iter(folder.glob("*")), folder / "gone")  # a row may have put something else in its place
