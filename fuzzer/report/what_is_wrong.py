"""What is wrong, as a clause: subject, verb, failure."""

from __future__ import annotations

import math
import signal
from typing import assert_never

from fuzzer.findings.record import FindingRecord
from fuzzer.report.ignored_attributes import ignores
from fuzzer.report.names import operators, pass_name, pass_of_tvm
from fuzzer.report.plain_text import first_line, size
from fuzzer.signature import compiler_that_refuses, error_of_compiler
from fuzzer.signature.blame import Place
from generators.dialect import dialect_named
from oracles.finding import Component, Excess, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import Engine, returns_gradients
from oracles.memory_access import MemoryAccess
from oracles.outcome import Cause, Died, IllFormed, Mutant, Raised, Stage, TimedOut

OWN = "fuzzer."
"""How the names of difftvm's own exceptions begin. Their message says it all, such as what a compiler has printed."""

MODEL = "a model"
"""What a title says in place of operators for which there is no room."""


def what_is_wrong(record: FindingRecord) -> str:
    """A clause for the title: subject, verb, failure. It may contain a compiler's message."""
    doc, ops = record.doc, operators(record)
    match doc.evidence.evidence:
        case Raised(message=message) if compiler_that_refuses(message):
            return ": ".join(filter(None, [refused_code(message, ops), error_of_compiler(message)]))
        case Raised(message=message, type=name):
            return f"{failing_step(record, operators(record))} fails: {_message_with_type(name, first_line(message))}"
        case Died(cause=Cause.MEMORY):
            return f"{failing_step(record, operators(record))} takes all memory"
        case Died(cause=Cause.SIGNAL, code=code):
            return f"{failing_step(record, operators(record))} ends the process ({signal.Signals(code).name})"
        case Died(code=code):
            return f"{failing_step(record, operators(record))} ends the process (exit status {code})"
        case TimedOut():
            return f"{failing_step(record, operators(record))} does not come to an end"
        case Mismatch() as mismatch:
            return ignores(record) or f"{subject(record)} {_differs(doc.kind, mismatch)}"
        case IllFormed(after="import"):
            return f"`{doc.lane.importer.row.function.name}` gives an ill-formed module for {ops}"
        case IllFormed(after=after):
            return f"the module is ill-formed after `{pass_of_tvm(after)}` of {ops}"
        case Mutant(change=change):
            return f"`relax.analysis.well_formed` accepts an ill-formed module ({change})"
        case SideEffect(modified=modified):
            does = "overwrites its input" if modified else "returns a tensor that shares memory with its input"
            return f"compiled {ops} {does}"
        case MemoryAccess() as access:
            return f"compiled {ops} {access.does}"
        case Excess(quantity=Quantity.TIME):
            return f"compiling {ops} takes too long"
        case Excess(quantity=quantity, measured=measured, allowed=allowed):
            what = quantity.value.removeprefix("bytes of ")
            times = f", {measured / allowed:.1f} times what is ample" if allowed else ""
            return f"compiling {ops} gives {size(measured)} of {what}{times}"
        case _:
            assert_never(doc.evidence.evidence)


def failure(record: FindingRecord) -> str:
    """What is wrong, with the type of an exception in place of its message, where it is no exception of difftvm."""
    match record.doc.evidence.evidence:
        case Raised(message=message) if compiler_that_refuses(message):
            return refused_code(message, operators(record))
        case Raised(type=name) if not name.startswith(OWN):
            return f"{failing_step(record, operators(record))} fails with `{name.rpartition('.')[2]}`"
    return what_is_wrong(record)


def refused_code(message: str, ops: str) -> str:
    """That a compiler refuses the code that TVM has written for these operators."""
    return f"{compiler_that_refuses(message)} refuses the code of {ops}"


def failing_step(record: FindingRecord, ops: str) -> str:
    """The failed step of these operators, as a gerund or a function: "compiling `conv2d`"."""
    doc, lane = record.doc, record.doc.lane
    culprit = doc.blame.culprit
    match doc.identity.stage:
        case Stage.IMPORT:
            return f"`{lane.importer.row.function.name}` on {ops}"
        case Stage.EXPORT | Stage.VERIFY:
            exporting = dialect_named(lane.dialect).words.exporting.format(ops=ops, opset=lane.opset)
            return f"{exporting} to ONNX" if lane.importer.row.reads.is_exported_file else exporting
        case Stage.TRANSFORM | Stage.COMPILE if doc.blame.place is Place.PASS and culprit:
            return f"`{pass_of_tvm(culprit)}` on {ops}"
        case Stage.TRANSFORM if len(lane.passes) == 1:
            return f"`{pass_name(lane.passes[0])}` on {ops}"
        case Stage.TRANSFORM:
            return f"transforming {ops}"
        case Stage.COMPILE:
            return f"compiling {ops}"
        case Stage.LOAD:
            return f"loading {_compiled(ops)}" if lane.engine is Engine.TVM else f"loading {_model_of(ops)}"
        case _:
            return f"running {_compiled(ops)}" if lane.engine is Engine.TVM else f"running {ops}"


def _compiled(ops: str) -> str:
    return "a compiled model" if ops == MODEL else f"compiled {ops}"


def _model_of(ops: str) -> str:
    return MODEL if ops == MODEL else f"{MODEL} of {ops}"


def subject(record: FindingRecord) -> str:
    """The subject of a wrong result: the operators, and the pass at fault if it is known."""
    ops, blame = operators(record), record.doc.blame
    if returns_gradients(record.doc.lane):
        return f"the gradient of {ops}"
    if record.doc.component is Component.EXPORTER:
        is_file = record.doc.lane.importer.row.reads.is_exported_file
        return f"{ops} exported to ONNX" if is_file else f"exported {ops}"
    return f"{ops} after `{pass_of_tvm(blame.culprit)}`" if blame.place is Place.PASS and blame.culprit else ops


def _differs(kind: Kind, mismatch: Mismatch) -> str:
    match kind:
        case Kind.SECOND_RUN_DIFFERS:
            return "gives different results in two runs on the same input"
        case Kind.NONDETERMINISTIC:
            return "gives different results in different processes"
        case Kind.WRONG_ARITY:
            return f"gives {mismatch.actual} instead of {mismatch.expected}"
        case Kind.WRONG_SHAPE:
            values = ", and wrong values" if mismatch.wrong else ""
            return f"gives shape {mismatch.actual} instead of {mismatch.expected}{values}"
        case Kind.WRONG_DTYPE:
            return f"gives {mismatch.actual} instead of {mismatch.expected}"
        case _ if mismatch.worst and not math.isfinite(mismatch.worst.expected + mismatch.worst.actual):
            return f"gives {_number(mismatch.worst.actual)} instead of {_number(mismatch.worst.expected)}"
        case _:
            return f"gives wrong values{f', in {mismatch.also}' if mismatch.also else ''}"


def _number(number: float) -> str:
    return "NaN" if math.isnan(number) else f"{number:.6g}"


def _message_with_type(type: str, message: str) -> str:
    """The message; with the exception's name if the message has no blank: KeyError: 'main'."""
    short = type.rpartition(".")[2]
    return message if " " in message else ": ".join(filter(None, [short, message]))
