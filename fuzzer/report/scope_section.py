"""The section of an issue about the scope of a bug: the statement, and, folded, all that fails and passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from fuzzer.findings.record import FindingRecord
from fuzzer.report.ignored_attributes import ignored_attributes
from fuzzer.report.markdown import cell, details, prose
from fuzzer.triage.scope.statement import Answer, Scope, Variation
from fuzzer.triage.scope.words import cut_short_in_words, listed, names_in, sentence
from generators.dialect import dialect_named
from generators.graph import Graph

SHOWN = (Answer.FAILS, Answer.PASSES, Answer.OTHER)
"""The columns of the table. What is refused or not valid is no column."""


def text(shown: FindingRecord, reduced: Graph) -> str:
    """Markdown. `shown` is what the issue shows. The table changes the reduced case, which has the graph `reduced`."""
    scope = shown.doc.scope
    table = _table(scope.variations)
    tried = [_changed(shown.case.graph, reduced) if table else "", table, _routes(scope)]
    folded = "\n\n".join(filter(None, tried))
    parts = [
        prose(sentence(scope, shown.case.graph)),
        prose(ignored_in_words(shown)),
        prose(cut_short_in_words(scope)),
        details("All that was tried", f"{folded}\n") if folded else "",
    ]
    return "\n\n".join(filter(None, parts))


def ignored_in_words(shown: FindingRecord) -> str:
    """What shows that attributes are ignored: with another value of one alone, the reference's result changes."""
    whose = dialect_named(shown.case.graph.dialect).words.reference
    return " ".join(
        f"Where `{each.attribute}` alone is {each.as_if} and not {each.value}, {whose}'s result is another one. "
        "TVM's is the same, and right."
        for each in ignored_attributes(shown)
    )


def _changed(shown: Graph, reduced: Graph) -> str:
    """Which case the table changes, where the issue shows another one."""
    names, types = names_in(shown, reduced), shown.types
    smaller = {names[each.value.name]: each.value.type for each in reduced.inputs if each.value.name in names}
    if all(types[name] == type for name, type in smaller.items()):
        return ""
    inputs = [f"{name} is `{smaller[name]}`" for name in sorted(smaller)]
    return prose(f"The table changes the smallest case that fails. In it {listed(inputs)}.")


def rows(variations: Iterable[Variation]) -> list[tuple[str, ...]]:
    """A row for each thing that was varied: its name, and the values that fail, pass and fail in another way. Things of
    which only one value is known have none."""
    return [(what, *(_joined(by[answer]) for answer in SHOWN)) for what, by in values_of(variations).items()]


def values_of(variations: Iterable[Variation]) -> dict[str, dict[Answer, list[str]]]:
    """The values of each thing that was varied, by how the case with each ends. Things of which only one value is known
    are left out."""
    values: dict[str, dict[Answer, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in variations:
        values[each.what][each.answer].append(each.value)
    return {what: by for what, by in values.items() if sum(len(by[answer]) for answer in SHOWN) > 1}


def _joined(values: Sequence[str]) -> str:
    """The values in one cell. Semicolons separate values that are lists."""
    return ("; " if any(", " in value for value in values) else ", ").join(values)


def _table(variations: Iterable[Variation]) -> str:
    found = rows(variations)
    if not found:
        return ""
    lines = ["|".join(["", *map(cell, row), ""]) for row in found]
    return "\n".join([f"|one thing changed|{'|'.join(SHOWN)}|", "|---|---|---|---|", *lines])


def _routes(scope: Scope) -> str:
    if not scope.routes:
        return ""
    lines = [f"|{cell(name)}|{_marked(answer)}|" for name, answer in scope.routes]
    return "\n".join(["|route| |", "|---|---|", *lines])


def _marked(answer: Answer) -> str:
    return f"**{answer}**" if answer is Answer.FAILS else str(answer)
