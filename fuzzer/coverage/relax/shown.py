"""Which operators of TVM's registry have a row of Relax, and how often each row and each form is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from rich.console import Console
from rich.status import Status

from fuzzer.coverage.measure import CoverageOptions
from fuzzer.coverage.shown import Shown
from fuzzer.system.terminal import number_of
from generators.choice import NumpySource
from generators.graph import Invalid
from generators.relax.ops import OPS, TABLE
from generators.relax.random_graph import generate
from generators.relax.row import RelaxForm
from generators.relax.schema import PREFIX, schemas

NUMBERS = "the size of its result depends on numbers"
WHY: dict[str, str] = {
    "assert_op": "it has no result",
    "hint_on_device": "it names a device",
    "multinomial_from_uniform": "no document says which number is drawn where sums are rounded",
    "nn.attention_var_len": 'TVM 0.27 says "Legalization of attention_var_len op is not supported yet"',
    "nonzero": NUMBERS,
    "shape_of": "its result is no tensor; shape_to_tensor reads it",
    "tensor_to_shape": "its result is no tensor",
    "to_vdevice": "it names a device",
    "unique": NUMBERS,
    "wrap_param": "passes make it, for parameters that they convert",
}
"""Why an operator of the registry has no row."""

Drawn = Counter[tuple[str, str]]
"""How often each row was drawn in each form."""


def shown(options: CoverageOptions, console: Console) -> Shown:
    with Status("drawing cases ...", console=console):
        drawn = _drawn(options)
    return Shown(_document(options, drawn), _lines(options, drawn))


def _drawn(options: CoverageOptions) -> Drawn:
    found: Drawn = Counter()
    for place, op in enumerate(options.ops):
        for number in range(options.count):
            with suppress(Invalid):  # the operator fits no graph of the limits
                case = generate(NumpySource(options.seed, place * options.count + number), ops=[op])
                found.update((node.op, str(node.form)) for node in case.graph.nodes)
    return found


def _lacking() -> list[str]:
    """The operators of the registry without a row."""
    own = {row.source.schema.name for row in OPS if isinstance(row.source, RelaxForm)}
    return [name for name in schemas() if name not in own]


def _document(options: CoverageOptions, drawn: Drawn) -> dict[str, object]:
    rows = {
        op.name: {form: times for (name, form), times in sorted(drawn.items()) if name == op.name} for op in options.ops
    }
    return {"rows": rows, "no_row": {PREFIX + name: WHY[name] for name in _lacking()}}


def _lines(options: CoverageOptions, drawn: Drawn) -> Iterator[str]:
    met = {name for name, _ in drawn}
    yield f"{len(met & {op.name for op in options.ops})} of {number_of(len(options.ops), 'row')} are drawn"
    for op in options.ops:
        forms = ", ".join(f"{form} {times}" for (name, form), times in sorted(drawn.items()) if name == op.name)
        yield f"{op.name}: {forms or 'never'}"
    if len(options.ops) == len(TABLE):
        yield from (f"{PREFIX}{name}: no row, because {WHY[name]}" for name in _lacking())
