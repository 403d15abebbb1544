"""Types of blame: the part of TVM that is at fault, the releases of TVM that show a finding, and the build that
introduced it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise


class Place(StrEnum):
    """The part of the compiler that is at fault."""

    FRONTEND = "frontend"  # the imported module is wrong, or the import fails
    PASS = "pass"  # a pass that is optional, or that the lane adds
    LEGALIZATION = "legalization"  # operators are lowered to wrong loops
    CODEGEN = "codegen"  # loops are compiled to wrong code for the target
    RUNTIME = "runtime"  # the virtual machine, the library kernels that it calls, its memory


ALREADY_WRONG = "The imported Relax module already gives the wrong result, before any pass and any code generation"
"""The evidence where PyTorch evaluates the imported module, and no compiler is needed for the wrong result."""


FOLLOWS_FROM_TYPE = "where that is an input, the failure does not show"
"""The end of the evidence for a converter that gave a value another type, after which another one fails."""

DECLARES_INPUTS = {True: "_parse_graph_input", False: "create_input_vars"}
"""The importer's function that declares the inputs, before any converter runs: of files, and of PyTorch's programs."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What TVM ran for the reduced case, and what the case needs. Findings of one cause are recognised by it.

    lines       lines of TVM's converters and legalizations: the function, and how many lines after its first one
    calls       operators of the module as imported
    converter   the function that gave the first operator another type than the model
    operator    that operator, by the name that PyTorch's graph or the file of ONNX has for it
    made        the type that it got, e.g. float32[2, 3]
    right       the type that the model has for it
    attributes  the attributes of the reduced case that are not at their defaults, with the class of their value
    place       the file of the function that is blamed, and its first line; "" where no function of Python is
    """

    lines: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    converter: str = ""
    operator: str = ""
    made: str = ""
    right: str = ""
    attributes: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Blame:
    """What is at fault. A field that could not be determined is "" or None.

    operator  the first operator of the reduced case whose result leaves the envelope, or on which a stage fails
    culprit   the pass, converter or legalization at fault, by its name in TVM: FuseOps, `_flip`, `relax.nn.conv2d`
    evidence  one sentence for a maintainer that says how the blame was determined
    before    TVMScript before the pass at fault. `before` and `after` are saved as files beside finding.json
    after     TVMScript after the pass at fault, or the imported module where the frontend is at fault
    origin    what TVM ran for the case, whether or not something is blamed
    """

    place: Place | None = None
    operator: str = ""
    culprit: str = ""
    evidence: str = ""
    before: str = ""
    after: str = ""
    origin: Origin = field(default=Origin(), compare=False)


class ReleaseVerdict(StrEnum):
    """What a release of TVM does with the case of a finding."""

    FAILS = "fails"
    PASSES = "passes"
    OTHERWISE = "fails otherwise"
    NOT_RUN = "is not run"


@dataclass(frozen=True, slots=True)
class Releases:
    """What the installed releases of TVM do with the case: pairs of release and verdict, oldest release first."""

    verdicts: tuple[tuple[str, ReleaseVerdict], ...] = ()

    @property
    def introduced(self) -> str:
        """The latest release that fails although the release run before it passes; "" if there is none."""
        return self._latest_change(ReleaseVerdict.PASSES, ReleaseVerdict.FAILS)

    @property
    def fixed(self) -> str:
        """The latest release that passes although the release run before it fails; "" if there is none."""
        return self._latest_change(ReleaseVerdict.FAILS, ReleaseVerdict.PASSES)

    def _latest_change(self, old: ReleaseVerdict, new: ReleaseVerdict) -> str:
        """Return the latest release with verdict `new` whose predecessor has verdict `old`, skipping those not run."""
        run = [(release, verdict) for release, verdict in self.verdicts if verdict is not ReleaseVerdict.NOT_RUN]
        neighbours = reversed(list(pairwise(run)))
        return next((release for (_, first), (release, second) in neighbours if (first, second) == (old, new)), "")


@dataclass(frozen=True, slots=True)
class Introduction:
    """The build of TVM that introduced a finding, as `fuzz bisect` found it.

    builds   names of builds or commits, oldest first: the one that introduced it, or several where those between could
             not tell; none where nobody looked
    subject  the first line of the commit's message; "" where the build is no commit, or where there are several
    passes   the build before them, which does not show the finding
    """

    builds: tuple[str, ...] = ()
    subject: str = ""
    passes: str = ""

    @property
    def shown(self) -> str:
        """For example "3f2a9c1d0b7e (Fold constants of float16)"; "" where nobody looked."""
        match self.builds:
            case ():
                return ""
            case (one,):
                return f"{one} ({self.subject})" if self.subject else one
            case (first, *between, last) if len(between) > 3:
                return f"one of the {len(self.builds)} builds from {first} to {last}"
            case _:
                return f"one of {', '.join(self.builds)}"


NO_BLAME = Blame()
NO_RELEASES = Releases()
NO_INTRODUCTION = Introduction()
