"""The title of a finding's report: its area, and a sentence that says as much as has room. Nothing is cut: what has no
room is left out, the body has all of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fuzzer.findings.record import FindingRecord
from fuzzer.findings.severity import KINDS as SYMPTOMS
from fuzzer.report.area import area
from fuzzer.report.circumstances import cause, circumstances, wrong_result
from fuzzer.report.ignored_attributes import ignores
from fuzzer.report.names import as_code, operators, pass_of_tvm
from fuzzer.report.plain_text import capital, size
from fuzzer.report.what_is_wrong import MODEL, failing_step, refused_code, subject, what_is_wrong
from fuzzer.signature import compiler_that_refuses, error_of_compiler, frames_of, function_that_raised
from fuzzer.signature.blame import FOLLOWS_FROM_TYPE, Place
from fuzzer.signature.in_words import checker_in_words, in_words
from fuzzer.system.terminal import printable
from generators.dialect import dialect_named
from oracles.finding import Excess, Kind, Mismatch, Quantity
from oracles.memory_access import MemoryAccess
from oracles.outcome import IllFormed, Raised, Stage
from oracles.well_formed import IMPORT

TITLE = 90
"""The largest number of characters of a title, with its area."""


def title(record: FindingRecord) -> str:
    """The area and what is wrong, in one line of at most `TITLE` characters."""
    tags = f"[Bug]{area(record)} "
    sentences = (printable(" ".join(capital(each).split())) for each in _shorter_and_shorter(record))
    return tags + next(each for each in sentences if len(each) <= TITLE - len(tags))


def full_title(record: FindingRecord) -> str:
    """The title without its area, with the whole message and all circumstances, of whatever length."""
    return printable(" ".join(next(_shorter_and_shorter(record)).split()))


def plain_title(record: FindingRecord) -> str:
    """The title without its area, not cut."""
    return f"{what_is_wrong(record)}{_circumstance(record)}"


def _circumstance(record: FindingRecord) -> str:
    """All circumstances, in parentheses."""
    parts = circumstances(record)
    return f" ({', '.join(parts)})" if parts else ""


def _shorter_and_shorter(record: FindingRecord) -> Iterator[str]:
    """What is wrong, first with all operators, circumstances and the whole message; at last in a few words."""
    evidence = record.doc.evidence.evidence
    yield from _of_an_exception(record, evidence) if isinstance(evidence, Raised) else _of_a_result(record)
    yield SYMPTOMS[record.doc.kind][1]


def _of_an_exception(record: FindingRecord, raised: Raised) -> Iterator[str]:
    """Rather the message and the operator at fault than all operators, and then the message alone. Where the message is
    too long, the place."""
    yield from _of_a_wrong_type(record)
    if compiler_that_refuses(raised.message):
        yield from _of_refused_code(record, raised)
        return
    names = _names(record)
    several = [MODEL] if "` + `" in names[0] or " more " in names[0] else []
    for shown in (*names, *several):
        for words in in_words(raised):
            for steps in _steps(record, shown):
                yield from (f"{step} fails: {words}{some}" for some in _circumstances(record) for step in steps)
                yield from (f"{step}: {words}" for step in steps)
    for shown in (*names, MODEL):
        for how in (_at(record, raised), _with(raised)):
            yield from (f"{step} fails {how}" for steps in _steps(record, shown) for step in steps)
    yield from (f"{steps[0]} fails" for shown in (*names, MODEL) for steps in _steps(record, shown))


def _of_refused_code(record: FindingRecord, raised: Raised) -> Iterator[str]:
    """Who refuses the code of which operators, with the error where it has room."""
    refused = [refused_code(raised.message, shown) for shown in _names(record)]
    if error_of_compiler(raised.message):
        error = in_words(raised)[-1]
        yield from (f"{each}: {error}" for each in refused)
    yield from [*refused, refused_code(raised.message, MODEL)]


def _of_a_wrong_type(record: FindingRecord) -> Iterator[str]:
    """Where the importer has given a value another type, and it or a later step fails for that: its operator,
    or the importer's name of it."""
    blame = record.doc.blame
    fails_later = record.doc.identity.stage is not Stage.IMPORT
    follows = blame.place is Place.FRONTEND and (fails_later or FOLLOWS_FROM_TYPE in blame.evidence)
    if not (follows and blame.origin.made and blame.origin.right):
        return
    became = _other(blame.origin.made, blame.origin.right)
    for shown in (*_blamed(record), f"`{blame.origin.operator}`"):
        yield from (f"{shown} is imported as {became}{some}" for some in _circumstances(record))


def _other(made: str, right: str) -> str:
    """Two types without what they share: "float32 instead of int64"."""
    (dtype, shape), (right_dtype, right_shape) = (text.partition("[")[::2] for text in (made, right))
    if not shape:
        return f"{made} instead of a tensor"
    if dtype != right_dtype:
        return f"{dtype} instead of {right_dtype}"
    return f"shape [{shape} instead of [{right_shape}"


def _steps(record: FindingRecord, shown: str) -> list[list[str]]:
    """The step that failed. An import has two names: with its function, and without. That of an unusual importer is
    left out last."""
    step = failing_step(record, shown)
    if record.doc.identity.stage is not Stage.IMPORT:
        return [[step]]
    importing = f"importing {shown}"
    return [[step, importing]] if record.doc.lane.importer.row.usual else [[step], [importing]]


def _at(record: FindingRecord, raised: Raised) -> str:
    """Where it fails: the converter, or the function that raised; otherwise how."""
    blame, function = record.doc.blame, function_that_raised(frames_of(raised))
    if blame.place is Place.FRONTEND and blame.culprit:
        return f"in {as_code(blame.culprit)}"
    return f"in `{function}`" if function else _with(raised)


def _with(raised: Raised) -> str:
    return f"with `{raised.type.rpartition('.')[2]}`"


def _circumstances(record: FindingRecord) -> list[str]:
    """What the failure needs, in parentheses: all of it, without the converter, which result alone, nothing."""
    parts, at_fault, wrong = circumstances(record), cause(record), wrong_result(record)
    some = [parts, [part for part in parts if part != at_fault], [wrong] if wrong else [], []]
    return list(dict.fromkeys(f" ({', '.join(each)})" if each else "" for each in some))


def _names(record: FindingRecord) -> list[str]:
    """What stands for the operators, the fullest text first: all of them; the first one, and how many more there are;
    the one at fault."""
    first, *others = operators(record).split("` + `")
    if not others:
        return list(dict.fromkeys([first, *_blamed(record)]))
    more = max(len(record.case.graph.nodes) - 1, len(others))  # a call may stand for several operators
    short = f"{first}` with {more} more"
    return [operators(record), f"{short} operator{'s' * (more > 1)}", *_blamed(record), short]


def _blamed(record: FindingRecord) -> Sequence[str]:
    """The operator at fault, where one call alone has it, and the report shows this call."""
    graph = record.case.graph
    if record.shows_export:
        return []
    calls = [node for node in graph.nodes if node.title == record.doc.blame.operator]
    return [f"`{dialect_named(graph.dialect).called(graph, calls[0])}`"] if len(calls) == 1 else []


def _of_a_result(record: FindingRecord) -> Iterator[str]:
    names = operators(record)
    shown_names = (*_names(record), MODEL)
    for named in dict.fromkeys([wrong_result(record), ""]):  # rather which result is wrong than numbers
        for shown in shown_names if not named else shown_names[:-1]:
            for wrong in _with_less_and_less(record):
                for some in _circumstances(record):
                    if named in some:
                        yield wrong.replace(names, shown).replace("compiled a model", "a compiled model") + some
    if isinstance(evidence := record.doc.evidence.evidence, IllFormed):
        yield from (f"{_step_before_check(shown, evidence)} gives an ill-formed module" for shown in shown_names)


def _example(record: FindingRecord) -> str:
    """The worst number; "" where the digits do not show that it is wrong, and where the sentence names the cause."""
    evidence = record.doc.evidence.evidence
    if not isinstance(evidence, Mismatch) or evidence.worst is None or record.doc.kind is not Kind.WRONG_VALUE:
        return ""
    numbers = evidence.worst.actual, evidence.worst.expected
    if not all(map(math.isfinite, numbers)) or ignores(record):
        return ""
    pairs = [[f"{number:{digits}}" for number in numbers] for digits in DIGITS]
    return next((f"{actual} instead of {expected}" for actual, expected in pairs if actual != expected), "")


DIGITS = (".4g", *(f"#.{digits}g" for digits in range(5, 10)))
"""How a wrong number and the right one are written: with as many digits as tell them apart."""


def _with_less_and_less(record: FindingRecord) -> Iterator[str]:
    """What is wrong, and then without numbers and shapes."""
    names, kind = operators(record), record.doc.kind
    what = subject(record)
    evidence = record.doc.evidence.evidence
    if isinstance(evidence, IllFormed):
        yield from _ill_formed(names, evidence)
        return
    example = _example(record)
    if example:
        yield f"{what_is_wrong(record)}: {example}"
    yield what_is_wrong(record)
    match evidence:
        case Excess(quantity=quantity, measured=measured) if quantity is not Quantity.TIME:
            yield f"compiling {names} gives {size(measured)} of {quantity.value.removeprefix('bytes of ')}"
        case MemoryAccess() if kind in _ACCESSES:
            yield from (f"compiled {names} {does}" for does in _ACCESSES[kind])
        case Mismatch(wrong=wrong, expected=expected, actual=actual) if kind is Kind.WRONG_SHAPE:
            yield f"{what} gives shape {actual.replace(', ', ',')} instead of {expected.replace(', ', ',')}"
            yield from [f"{what} gives a wrong shape and wrong values"] if wrong else []
            yield f"{what} gives a wrong shape"
        case Mismatch() if kind in (Kind.SECOND_RUN_DIFFERS, Kind.NONDETERMINISTIC):
            yield f"{what} gives different results each time"
        case Mismatch(also=also) if kind is Kind.WRONG_VALUE and not ignores(record):
            yield from [f"{what} gives wrong values, in {also.partition(' ')[0]}"] if also else []
            yield from [f"{what} gives wrong values: {example}"] if example else []
            yield f"{what} gives wrong values"


def _ill_formed(names: str, evidence: IllFormed) -> Iterator[str]:
    problem, step = checker_in_words(evidence.message), _step_before_check(names, evidence)
    if evidence.follows:
        then = FOLLOWS.get(Kind(evidence.follows), "gives wrong results")
        yield f"{step} gives an ill-formed module, which {then}: {problem}"
        if then != NO_RESULT:  # else the problem says more
            yield f"{step} gives an ill-formed module, which {then}"
            yield f"{step} gives a module that {then}"
            yield f"{step}: the module {then}"
            yield f"{step}: it {then}"
    yield f"{step} gives an ill-formed module: {problem}"
    yield f"{step}: {problem}"


def _step_before_check(names: str, evidence: IllFormed) -> str:
    """What made the module that the checker refuses."""
    return f"importing {names}" if evidence.after == IMPORT else f"`{pass_of_tvm(evidence.after)}` on {names}"


NO_RESULT = "gives no result"

FOLLOWS = {
    Kind.INTERNAL_ERROR: NO_RESULT,
    Kind.REJECTED: NO_RESULT,
    Kind.DIED: "ends the process",
    Kind.TIMED_OUT: "does not come to an end",
    Kind.OUT_OF_MEMORY: "takes all memory",
    Kind.OUT_OF_BOUNDS_READ: "reads memory that is not its own",
    Kind.OUT_OF_BOUNDS_WRITE: "writes memory that is not its own",
    Kind.UNINITIALISED_READ: "uses memory that nothing has written",
    Kind.MODIFIED_INPUT: "overwrites its input",
}
"""What an ill-formed module does then; wrong results have no row."""

_ACCESSES = {
    Kind.OUT_OF_BOUNDS_READ: ("reads memory that is not its own", "reads outside a tensor"),
    Kind.OUT_OF_BOUNDS_WRITE: ("writes memory that is not its own", "writes outside a tensor"),
    Kind.UNINITIALISED_READ: ("uses memory that nothing has written", "reads unwritten memory"),
}
"""What a compiled model does to memory, in full and in brief."""
