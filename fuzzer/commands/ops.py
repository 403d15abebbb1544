"""`fuzz ops`: lists the operators, or the converters of TVM's importers that they reach."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.status import Status

from fuzzer.commands.options import JsonFlag
from fuzzer.commands.selection import ops_of_dialects
from fuzzer.commands.tables import print_table
from fuzzer.coverage import measure as coverage_of
from fuzzer.coverage import onnx_report
from fuzzer.coverage import report as coverage_report
from fuzzer.system.terminal import echo, print_json
from generators.graph import Invalid
from generators.op import no_attrs


def ops(
    coverage: Annotated[
        bool, typer.Option("--coverage", help="List the converters of TVM that are reached, and why others are not.")
    ] = False,
    only: Annotated[str, typer.Option("--ops", metavar="GLOB", help="Only these operators.")] = "*",
    count: Annotated[int, typer.Option(min=1, help="With --coverage: programs of each operator.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="With --coverage: the seed of the programs.")] = 0,
    dynamo: Annotated[bool, typer.Option(help="With --coverage: also use the slow ONNX exporter.")] = True,
    workers: Annotated[int, typer.Option(min=1, help="With --coverage: programs at the same time.")] = max(
        1, os.cpu_count() or 1
    ),
    dialect: Annotated[str, typer.Option(metavar="NAME", help="torch or onnx.")] = "torch",
    json: JsonFlag = False,
) -> None:
    """List the operators."""
    torch, onnx = ops_of_dialects(only, dialect)
    if torch and onnx:
        raise Invalid("--dialect takes one dialect here: torch or onnx")
    if coverage and onnx:
        with Status("drawing cases ...", console=Console(stderr=True)):
            found = onnx_report.measured(onnx, count, seed)
        if json:
            print_json(onnx_report.document(found))
        else:
            echo(*onnx_report.text(found), sep="\n")
        return
    if coverage:
        measured = _measured(coverage_of.CoverageOptions(torch, count, seed, dynamo, workers))
        if json:
            print_json(coverage_report.document(measured))
        else:
            echo(*coverage_report.text(measured), sep="\n")
        return
    if json:
        print_json([{"name": op.name, "arity": op.arity, "attrs": sorted(op.schema)} for op in (*torch, *onnx)])
        return
    rows = []
    for op in (*torch, *onnx):
        low, high = op.arity
        schema = op.schema if op.attrs is not no_attrs else {}
        attrs = ", ".join(f"{key}: {kind.description}" for key, kind in schema.items())
        rows.append((op.name, str(low) if low == high else f"{low} to {high}", attrs))
    print_table(("operator", "operands", "attributes"), rows)


def _measured(options: coverage_of.CoverageOptions) -> coverage_of.Coverage:
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("exporting programs", total=coverage_of.number_of_trials(options))
        return coverage_of.measure(options, lambda coverage: progress.update(task, completed=coverage.trials))
