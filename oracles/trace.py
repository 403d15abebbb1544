"""What a lane of Relax is asked to tell of its way, and what it tells: blame is put by it. Data alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

AS_IMPORTED = -1
"""The place before all passes."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """What is asked of a lane.

    limit  of the passes that can be left out only so many run, the first ones; None: all of them
    show   the place in `Trace.passes` of the one whose program is told before and after it, AS_IMPORTED for what the
           importer gives; None: no program
    """

    limit: int | None = None
    show: int | None = None


@dataclass(frozen=True, slots=True)
class PassRun:
    """One pass, with all that it runs inside. `optional`: the program is right without it too. `changed` the module, or
    did not come back."""

    name: str
    optional: bool
    ran: bool = False
    changed: bool = False


INTERPRET_OPERATORS, INTERPRET_KERNELS, CALL_BUILT_KERNELS = "interpreted", "interpreted-kernels", "interpreted-built"
"""The variants of a lane that compiles no module. The value of an operator is what it means; what its kernels compute
as they are written; what they compute as they are built. None has a virtual machine, nor a pass of Relax."""

Translation = tuple[str, str]
"""What was translated (an operator, as its graph calls it), and the function of TVM's that did it."""


class Correctness(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class OperatorCheck:
    """One operator of a Relax module, legalized alone and held against what it means on the numbers that reach it.

    by           the function that legalizes it
    interpreted  its kernels, as an interpreter of ours reads them
    built        its kernels as compiled for the lane's target, called directly
    off          how far the interpreted kernels are off at most, relative to the largest element
    """

    operator: str
    by: str
    interpreted: Correctness
    built: Correctness
    off: float = 0.0


@dataclass(frozen=True, slots=True)
class MistypedOperator:
    """What an importer's function made of an operator, and what PyTorch says that this gives: float32[2, 3]."""

    by: Translation
    made: str
    right: str


@dataclass(frozen=True, slots=True)
class Trace:
    """What a lane tells, up to where it came.

    passes         in the order in which they were asked for
    under_way      passes that had not ended, outermost first
    converters     operators that the importer translated; the last one may be under way
    legalizations  operators that became kernels
    left           operators that are still there behind LegalizeOps, and that no virtual machine runs
    mistyped       the first that was translated to another type than PyTorch gives it, where the graph says that
    types          of main's results, as imported: float32[2, 3]
    before, after  TVMScript of the functions in which the two differ
    examined       operators, in the order in which they are computed, by the lane `interpreted`
    outside        what it says where the module as imported asks for elements that are not there
    """

    passes: tuple[PassRun, ...] = ()
    under_way: tuple[str, ...] = ()
    converters: tuple[Translation, ...] = ()
    legalizations: tuple[Translation, ...] = ()
    left: tuple[str, ...] = ()
    mistyped: MistypedOperator | None = None
    types: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    examined: tuple[OperatorCheck, ...] = ()
    outside: str = ""
