"""What a Relax lane is requested to record while it compiles, and what it recorded. Blame is assigned by it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

AS_IMPORTED = -1
"""The position before all passes."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """What a lane is requested to record.

    limit  how many of the passes that can be left out run, counted from the first; None: all of them
    show   the position in `Trace.passes` of the pass whose program is recorded before and after it, AS_IMPORTED for the
           program that the importer gives; None: no program is recorded
    """

    limit: int | None = None
    show: int | None = None


@dataclass(frozen=True, slots=True)
class PassRun:
    """One pass, including the passes that it runs.

    optional  whether the program is right without it too
    ran       whether it was run
    changed   whether it changed the module, or did not return
    """

    name: str
    optional: bool
    ran: bool
    changed: bool


INTERPRET_OPERATORS, INTERPRET_KERNELS, CALL_BUILT_KERNELS = "interpreted", "interpreted-kernels", "interpreted-built"
"""The variants of lanes that evaluate a Relax module operator by operator and compile no module.

The value of an operator is, in this order: what the operator's definition gives; what its kernels give, interpreted;
what its kernels give, built and called. These lanes use neither Relax's virtual machine nor a pass of Relax.
"""

Translation = tuple[str, str]
"""An operator, by the name that its graph has for it, and the function of TVM that translated it."""


class Correctness(StrEnum):
    """Whether a computed value is right."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class OperatorCheck:
    """One operator of a Relax module, legalized alone and compared with its definition on the case's own numbers.

    by           the function that legalizes it
    interpreted  whether its kernels are right when difftvm's interpreter runs them
    built        whether its kernels are right when they are compiled for the lane's target and called directly
    off          the largest error of the interpreted kernels, relative to the largest element
    """

    operator: str
    by: str
    interpreted: Correctness
    built: Correctness
    off: float = 0.0


@dataclass(frozen=True, slots=True)
class MistypedOperator:
    """An operator that an importer translated to another type than the model gives it.

    by     the operator and the importer's function
    made   the type after the translation, e.g. float32[2, 3]
    right  the type in PyTorch's graph, or in the graph of a case of ONNX
    value  the value of the case's graph that has this type, or a result of the node that computes it; "" if unknown
    """

    by: Translation
    made: str
    right: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a lane recorded, up to the point where it ended.

    passes         the passes, in the order in which they were to run
    under_way      passes that had not ended, outermost first
    converters     operators that the importer translated; the translation of the last one may not have ended
    legalizations  operators that were translated to kernels
    left           operators that LegalizeOps left in the module, and that the virtual machine cannot run
    mistyped       the first operator that the importer gave a wrong type, where the model has a type for it
    types          the types of main's results as imported, e.g. float32[2, 3]
    before, after  TVMScript of the functions that the shown pass changed
    examined       the checks of single operators, in the order of computation, by the lanes `interpreted*`
    outside        the message, where the module as imported reads elements outside a tensor
    contradiction  the message, where it declares a call with another shape than the operator's definition gives
    other_types    the message, where it declares another type of a value than the graph has
    wrong_result   the place of the first result of main whose declared type is not the graph's; None: unknown
    lines          lines of TVM's Python that ran below a converter or a legalization: the name of the function, and
                   how many lines after its first one, e.g. _linear+7
    calls          operators of the module as imported, each once
    places         the functions that converted or legalized, with their files and first lines:
                   ("BaseFXGraphImporter._flip", "tvm/relax/frontend/torch/base_fx_graph_translator.py:1480")
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
    contradiction: str = ""
    other_types: str = ""
    wrong_result: int | None = None
    lines: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
