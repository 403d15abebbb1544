"""The open sizes of a given program of PyTorch, as a script exports it anew."""

from __future__ import annotations

import re
from collections.abc import Callable

from fuzzer.report.given_calls import Names, NoScript
from fuzzer.report.given_program import program_source
from fuzzer.report.repro_importers import OpenSizes, OpenSymbol
from fuzzer.report.script_source import Source, literal_of, name, source, tuple_of
from fuzzer.seeds.torch.exported import DTYPES, Meta, Size
from generators.graph import Case

_SYMBOL = re.compile(r"Symbol\('([A-Za-z_][A-Za-z_0-9]*)'(?:, [a-z]+=True)*\)|([A-Za-z_][A-Za-z_0-9]*)")
"""A formula of sizes that is one open size. Earlier versions of PyTorch write its name alone."""

_LOCALS = ("static", "auto", "sample", "program", "mod", "model", "inputs")
"""The names of the function that the export stands in."""


def program_sizes(case: Case) -> OpenSizes:
    """The sample has the sizes that the program was exported at. Sizes that are formulas of others are left to
    torch.export. Raise `NoScript` where the program cannot be written."""
    made = program_source(case)
    values, ranges = made.program.graph_module.graph.tensor_values, made.program.range_constraints
    if any(each not in values or values[each].dtype not in DTYPES for each in made.inputs):
        raise NoScript("has an input whose dtype is not known")
    metas = [values[each] for each in made.inputs]
    names, symbols = Names(_LOCALS), dict[str, Source]()
    for size in (size for meta in metas for size in meta.sizes):
        if (text := _symbol(size)) and text in ranges and text not in symbols:
            symbols[text] = names.new(text)
    return OpenSizes(
        tuple(
            OpenSymbol(written, max(ranges[text].min_val or 0, 0), ranges[text].max_val)
            for text, written in symbols.items()
        ),
        tuple_of([_zeros(meta) for meta in metas]),
        _shapes(metas, lambda size: symbols.get(_symbol(size), source("auto"))),
        _shapes(metas, lambda size: source("auto")),
    )


def _symbol(size: Size) -> str:
    """The name of the open size; "" where the size is a number or a formula."""
    match = _SYMBOL.fullmatch(size.as_expr.expr_str) if size.as_expr else None
    return match[1] or match[2] if match else ""


def _zeros(meta: Meta) -> Source:
    sizes = [size.number for size in meta.sizes]
    if None in sizes:
        raise NoScript("has an input whose size is not known")
    return source("torch.zeros({}, dtype=torch.{})", literal_of(tuple(sizes)), name(DTYPES[meta.dtype]))


def _shapes(metas: list[Meta], of: Callable[[Size], Source]) -> Source:
    return tuple_of(
        [tuple_of([source("static") if size.as_int is not None else of(size) for size in meta.sizes]) for meta in metas]
    )
