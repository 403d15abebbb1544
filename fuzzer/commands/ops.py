"""`fuzz ops`: lists the operators, the converters of TVM's importers that they reach, or those that reach a part."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fuzzer.campaign.plan.selection import ops_named, ops_with
from fuzzer.commands.ops_options import OpsOptions
from fuzzer.commands.ops_reach import lines, map_of, reaching
from fuzzer.commands.tables import print_table
from fuzzer.commands.with_options import with_options
from fuzzer.coverage.measure import CoverageOptions
from fuzzer.coverage.shown import shown
from fuzzer.system.terminal import echo, print_json
from generators.graph import Invalid
from generators.op import Op, no_attrs


@with_options(OpsOptions)
def ops(options: OpsOptions) -> None:
    """List the operators."""
    if options.reach is not None:
        if options.part:
            raise Invalid(f"{options.part}: --reach lists all operators that reach a part; leave out {options.part}")
        _print_reach(options, options.reach)
        return
    operators = ops_with(options.part, ops_named(options.ops, options.dialect), options.dialect)
    if options.coverage:
        _print_coverage(options, operators)
    elif options.json:
        print_json([{"name": op.name, "arity": op.arity, "attrs": sorted(op.schema)} for op in operators])
    else:
        print_table(("operator", "operands", "attributes"), [_row(op) for op in operators])


def _print_reach(options: OpsOptions, wanted: str) -> None:
    reach_map = map_of(options.toolchain, options.workers)
    parts = reaching(reach_map, wanted)
    if options.json:
        print_json(parts)
    else:
        echo(*lines(parts, len(reach_map.rows)), sep="\n")


def _print_coverage(options: OpsOptions, operators: Sequence[Op]) -> None:
    measured = CoverageOptions(tuple(operators), options.count, options.seed, options.dynamo, options.workers)
    found = shown(options.dialect, measured, Console(stderr=True))
    if options.json:
        print_json(found.document)
    else:
        echo(*found.lines, sep="\n")


def _row(op: Op) -> tuple[str, str, str]:
    low, high = op.arity
    schema = op.schema if op.attrs is not no_attrs else {}
    attrs = "; ".join(f"{key}: {kind.description}" for key, kind in schema.items())
    return op.name, str(low) if low == high else f"{low} to {high}", attrs
