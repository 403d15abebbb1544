"""Values for the part of `repro.py` that writes the module of a case of Relax, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuzzer.report.repro_values import NUMPY, literal
from fuzzer.report.script_source import NOTHING, Source, joined, own_text, quoted, source
from generators.dialect import dialect_named
from generators.graph import Array, Case
from oracles.finding import Finding
from oracles.outcome import FAILURES, IllFormed, Stage


@dataclass(frozen=True, slots=True)
class Module:
    """The class, the inputs of main, and its constants.

    as_text    whether TVM's parser reads the class in a string: where it fails, the script must go on
    is_lifted  whether LambdaLift runs first
    helpers    functions that the module calls by name
    """

    source: Source
    as_text: bool
    is_lifted: bool
    helpers: tuple[Source, ...]
    inputs: Source
    constants: Source


def parts(case: Case, finding: Finding) -> Module:
    """The sizes of the case are open where those of the lane are."""
    dialect = dialect_named(case.graph.dialect)
    assert dialect.module is not None, "the model of another dialect is no module"
    graph = case.graph if finding.lane.symbolic else case.bound
    made = dialect.module(graph)
    return Module(
        own_text(made.text.rstrip()),
        _is_not_parsed(finding),
        made.is_lifted,
        tuple(map(own_text, made.helpers)),
        _named(dialect.inputs(case)),
        _named(case.owned),
    )


def _is_not_parsed(finding: Finding) -> bool:
    """Whether TVM's parser, or the checker that it calls, may refuse the module."""
    evidence = finding.evidence
    failed = isinstance(evidence, FAILURES) and finding.stage is Stage.IMPORT
    return failed or (isinstance(evidence, IllFormed) and evidence.after == "import")


def _named(arrays: Mapping[str, Array]) -> Source:
    items = [source("{}: {}", quoted(name), literal(array, NUMPY)) for name, array in arrays.items()]
    return source("{{{}}}", joined(", ", items)) if items else NOTHING
