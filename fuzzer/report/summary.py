"""How an issue begins: three lines, the smallest table that tells failing from passing values, a control that passes,
and the operators of the same kind that were tried.

Maintainers fix within days what names the failing values, the place in the source, and the siblings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.findings.record import FindingRecord
from fuzzer.report import sentences
from fuzzer.report.circumstances import wrong_result
from fuzzer.report.markdown import cell, prose
from fuzzer.report.plain_text import capital
from fuzzer.report.requirements import versions_of
from fuzzer.report.scope_section import rows, values_of
from fuzzer.report.source_link import source_link
from fuzzer.report.what_is_wrong import failure
from fuzzer.triage.scope.statement import Answer, Scope, Variation
from fuzzer.triage.scope.table_conditions import special_numbers
from fuzzer.triage.scope.words import listed, phrase
from generators.dialect import dialect_named
from oracles.finding import Mismatch
from oracles.tolerance import of_elements

MOST_ROWS = 4
"""The most rows of the table."""

MOST_NAMES = 8
"""The most operators, or ways to compile, in one line."""

NO_ELEMENTS = "0"
"""A size for which everything passes, because there is nothing to compute."""


def text(record: FindingRecord, family: Sequence[FindingRecord] = ()) -> str:
    """Markdown. `record` is what the issue shows, `family` are findings of perhaps the same cause."""
    lines = (("What", _what(record)), ("Where", _where(record)), ("Since", _since(record)))
    parts = [
        "\n".join(f"- **{name}**: {line}" for name, line in lines),
        _table(record.doc.scope.variations),
        _bold("Control", _control(record.doc.scope)),
        _bold("Siblings", _siblings(record, family)),
    ]
    return "\n\n".join(filter(None, parts))


def _bold(name: str, line: str) -> str:
    return f"**{name}**: {prose(line)}" if line else ""


def _what(record: FindingRecord) -> str:
    """What fails, an example of a wrong result, and the condition if it is known."""
    scope = record.doc.scope
    wrong = wrong_result(record)
    parts = [failure(record), wrong and f"in its {wrong}", _example(record)]
    if scope.is_certain and scope.statement and scope.statement.conditions:
        parts.append(phrase(scope.statement, record.case.graph))
    elif special := special_numbers(scope):
        parts.append(f"where {special}")
    return prose(f"{capital(', '.join(filter(None, parts)))}.")


def _example(record: FindingRecord) -> str:
    """The worst element, and how many are wrong; "" where a shape or a dtype is wrong, or where there is no number."""
    mismatch = record.doc.evidence.evidence
    if not isinstance(mismatch, Mismatch) or mismatch.worst is None:
        return ""
    worst = mismatch.worst
    at = f" at {list(worst.index)}" if worst.index else ""
    of = of_elements(mismatch.wrong, mismatch.elements)
    short, right = f"{worst.actual:.6g}", f"{worst.expected:.6g}"
    if short == right:
        short, right = repr(worst.actual), repr(worst.expected)
    return f"for example {short} instead of {right}{at}{of}"


def _where(record: FindingRecord) -> str:
    """The part at fault, its line in the source, how it was found, and the steps."""
    culprit, link = sentences.culprit(record) or "not located", source_link(record)
    place = f", {link}" if link else ""
    steps = f"Steps: {sentences.steps_of(record)}{_opset(record)}."
    rest = " ".join(filter(None, [sentences.blame_evidence(record), steps]))
    return f"{prose(culprit)}{place}. {prose(rest)}"


def _opset(record: FindingRecord) -> str:
    graph = record.case.graph
    as_it_is = dialect_named(graph.dialect).opsets and not record.doc.lane.opset
    return f", model of opset {graph.opset}" if as_it_is else ""


def _since(record: FindingRecord) -> str:
    version = versions_of(record.doc).get("tvm", "")
    known = [sentences.compared(record), sentences.released(record), sentences.introduced(record)]
    alone = f"Seen in TVM {version}; no other release was run." if version else "Not known."
    return prose(" ".join(filter(None, known)) or alone)


def telling(variations: Sequence[Variation]) -> list[tuple[str, str, str]]:
    """The rows of the scope's table with values that fail and values that pass: what was changed, and both."""
    found = [(what, fails, passes) for what, fails, passes, _ in rows(variations) if fails and passes]
    return [row for row in found if not (row[0].startswith("size") and row[2] == NO_ELEMENTS)][:MOST_ROWS]


def _table(variations: Sequence[Variation]) -> str:
    found = telling(variations)
    if not found:
        return ""
    lines = ["|".join(["", *map(cell, row), ""]) for row in found]
    return "\n".join(["|changed alone|fails|passes|", "|---|---|---|", *lines])


def _control(scope: Scope) -> str:
    """What is nearest to the failing case and passes: a value of the table, another way to compile the same model."""
    by = values_of(scope.variations)
    values = [f"with {_changed(row[0], by[row[0]][Answer.PASSES][0])}" for row in telling(scope.variations)[:1]]
    routes = [f"`{name}`" for name, answer in scope.routes if answer is Answer.PASSES][:MOST_NAMES]
    parts = [*values, *([f"unchanged through {listed(routes)}"] if routes else [])]
    return f"the model passes {', and '.join(parts)}." if parts else ""


def _changed(what: str, value: str) -> str:
    """What of a variation is an attribute where it is one word, and else such as "dtype of x0"."""
    return f"the {what} changed to {value}" if " " in what or what == "size" else f"`{what}={value}`"


def _siblings(record: FindingRecord, family: Sequence[FindingRecord]) -> str:
    """Operators that are implemented alike and were tried, and those of findings of perhaps the same cause."""
    answers = dict(record.doc.scope.siblings[:MOST_NAMES])
    own = set(record.doc.ops)
    others = [name for each in family for name in each.doc.ops if name not in own and name not in answers]
    parts = [*_by_answer(answers), *_of_the_family(list(dict.fromkeys(others))[:MOST_NAMES])]
    return f"{'; '.join(parts)}." if parts else ""


def _by_answer(answers: dict[str, Answer]) -> Iterator[str]:
    words = {Answer.FAILS: "fail{} too", Answer.OTHER: "fail{} in another way", Answer.PASSES: "pass{}"}
    for answer, word in words.items():
        if names := [f"`{name}`" for name, each in answers.items() if each is answer]:
            ending = "" if len(names) > 1 else "es" if answer is Answer.PASSES else "s"
            yield f"{listed(names)} {word.format(ending)}"


def _of_the_family(names: list[str]) -> Iterator[str]:
    if names:
        yield f"findings of {listed([f'`{name}`' for name in names])} have perhaps the same cause"
