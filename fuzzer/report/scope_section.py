"""The section of an issue about the scope of a bug: the statement, what fails and passes, siblings, other routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fuzzer.findings.record import FindingRecord
from fuzzer.report.markdown import prose
from fuzzer.triage.scope.statement import Answer, Scope, Variation
from fuzzer.triage.scope.words import listed, names_in, sentence
from generators.graph import Graph

SHOWN = (Answer.FAILS, Answer.PASSES, Answer.OTHER)
"""The columns of the table. What is refused or not valid is no column."""


def text(shown: FindingRecord, reduced: Graph) -> str:
    """Markdown. `shown` is what the issue shows. The table changes the reduced case, which has the graph `reduced`."""
    scope = shown.doc.scope
    table = _table(scope.variations)
    parts = [
        prose(sentence(scope, shown.case.graph)),
        _changed(shown.case.graph, reduced) if table else "",
        table,
        prose(_siblings(scope)),
        _routes(scope),
    ]
    return "\n\n".join(filter(None, parts))


def _changed(shown: Graph, reduced: Graph) -> str:
    """Which case the table changes, where the issue shows another one."""
    names, types = names_in(shown, reduced), shown.types
    smaller = {names[each.value.name]: each.value.type for each in reduced.inputs if each.value.name in names}
    if all(types[name] == type for name, type in smaller.items()):
        return ""
    inputs = [f"{name} is `{smaller[name]}`" for name in sorted(smaller)]
    return f"The table changes the smallest case that fails. In it {listed(inputs)}."


def rows(variations: Iterable[Variation]) -> list[tuple[str, ...]]:
    """A row for each thing that was varied: its name, and the values that fail, pass and fail in another way. Things of
    which only one value is known have none."""
    values: dict[str, dict[Answer, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in variations:
        values[each.what][each.answer].append(each.value)
    known = {what: by for what, by in values.items() if sum(len(by[answer]) for answer in SHOWN) > 1}
    return [(what, *(", ".join(by[answer]) for answer in SHOWN)) for what, by in known.items()]


def _table(variations: Iterable[Variation]) -> str:
    found = rows(variations)
    if not found:
        return ""
    lines = ["|".join(["", *map(prose, row), ""]) for row in found]
    return "\n".join([f"|one thing changed|{'|'.join(SHOWN)}|", "|---|---|---|---|", *lines])


def _siblings(scope: Scope) -> str:
    names = {answer: [f"`{name}`" for name, each in scope.siblings if each is answer] for answer in SHOWN}
    parts = [f"{listed(some)} {_verb(answer, len(some))}" for answer, some in names.items() if some]
    return f"Of similar operators {', '.join(parts)}." if parts else ""


def _verb(answer: Answer, count: int) -> str:
    singular = str(answer)
    return singular if count == 1 else singular.replace("fails", "fail").replace("passes", "pass")


def _routes(scope: Scope) -> str:
    if not scope.routes:
        return ""
    lines = [f"|{prose(name)}|{_marked(answer)}|" for name, answer in scope.routes]
    return "\n".join(["|route| |", "|---|---|", *lines])


def _marked(answer: Answer) -> str:
    return f"**{answer}**" if answer is Answer.FAILS else str(answer)
