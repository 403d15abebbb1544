"""What is to blame for a finding: a place in the compiler, an operator, a pass, a release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise


class Place(StrEnum):
    """The part of the compiler that goes wrong."""

    FRONTEND = "frontend"  # the module is wrong, or not there, as imported
    PASS = "pass"  # a pass that the pipeline can do without, or that the lane asked for
    LEGALIZATION = "legalization"  # operators become loops otherwise than they should
    CODEGEN = "codegen"  # loops become code of the target otherwise than they should
    RUNTIME = "runtime"  # the virtual machine, kernels that it calls, memory


@dataclass(frozen=True, slots=True)
class Blame:
    """What is to blame, as far as it was found out; "" or None where it was not.

    operator  the first operator of the reduced case whose result leaves the envelope, or that a step fails on
    culprit   the pass, the converter or the legalization, as TVM calls it: FuseOps, `_flip`, `relax.nn.conv2d`
    evidence  one sentence for a maintainer that says how this was told
    before    TVMScript before the culprit; `after` behind it. Kept in files of their own beside the finding
    """

    place: Place | None = None
    operator: str = ""
    culprit: str = ""
    evidence: str = ""
    before: str = ""
    after: str = ""


class ReleaseVerdict(StrEnum):
    """What a release does with a finding."""

    FAILS = "fails"
    PASSES = "passes"
    OTHERWISE = "fails otherwise"
    NOT_RUN = "is not run"


@dataclass(frozen=True, slots=True)
class Releases:
    """How the releases of TVM that are installed here fare, oldest first: (release, verdict)."""

    verdicts: tuple[tuple[str, ReleaseVerdict], ...] = ()

    @property
    def introduced(self) -> str:
        """The release that fails first, where the one before it passes; "" where that cannot be told."""
        return self._turn(ReleaseVerdict.PASSES, ReleaseVerdict.FAILS)

    @property
    def fixed(self) -> str:
        """The release that passes again, where the one before it fails; "" where that cannot be told."""
        return self._turn(ReleaseVerdict.FAILS, ReleaseVerdict.PASSES)

    def _turn(self, before: ReleaseVerdict, after: ReleaseVerdict) -> str:
        told = [(release, verdict) for release, verdict in self.verdicts if verdict is not ReleaseVerdict.NOT_RUN]
        pairs = list(pairwise(told))
        return next((b for (_, one), (b, other) in reversed(pairs) if (one, other) == (before, after)), "")


NO_BLAME = Blame()
NO_RELEASES = Releases()
