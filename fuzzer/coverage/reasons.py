"""The reasons why keys of converter tables are not reached. People reviewed them; `fuzz ops --coverage` prints them.

A key that is not reached and has no reason is a gap. A reason is stale where its key is reached, or is in no table.

The statements about PyTorch were tested with PyTorch 2.13: by exporting the samples of its own operator tests
(torch.testing's `op_db`), and programs written for the key. `torch.onnx.ops.symbolic` can write any ONNX node,
but computes nothing in PyTorch, so it does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fuzzer.coverage.question import Table


class ReasonKind(StrEnum):
    IMPOSSIBLE = "impossible"  # no PyTorch program becomes this
    LEFT_OUT = "left out"  # programs could, and the generator does not make them


@dataclass(frozen=True, slots=True)
class Reason:
    table: Table
    kind: ReasonKind
    text: str
    keys: tuple[str, ...]


def _no(table: Table, text: str, keys: str) -> Reason:
    return Reason(table, ReasonKind.IMPOSSIBLE, text, tuple(keys.split()))


def _out(table: Table, text: str, keys: str) -> Reason:
    return Reason(table, ReasonKind.LEFT_OUT, text, tuple(keys.split()))


REASONS: tuple[Reason, ...] = (
    _no(
        Table.EXPORT,
        "PyTorch has no operator of this name",
        "_adaptive_avg_pool1d.default empty.default softsign.default",
    ),
    _no(Table.EXPORT, "torch.export takes it out of every graph", "sym_constrain_range_for_size.default"),
    _out(Table.EXPORT, "an operator of torchvision, without which difftvm works", "roi_align.default"),
    _no(Table.FX, "NumPy's name: a tensor has no such method", "astype"),
    _out(
        Table.FX,
        "symbolic_trace records y += x as add, and runs torch.tensor at once; torch.compile's graphs have it",
        "iadd tensor",
    ),
    _out(
        Table.FX,
        "only where a program calls torch.ops.aten itself, or aten's own graph is imported by from_fx",
        "expand_as.default sym_size.int",
    ),
    _out(Table.FX, "an operator of torchvision, without which difftvm works", "stochastic_depth"),
    _no(
        Table.ONNX,
        "an operator of onnxruntime's, or of other tools': neither exporter writes it",
        "AllClassNMS BiasGelu EmbedLayerNormalization FastGelu MatMulInteger16 SkipLayerNormalization",
    ),
    _no(
        Table.ONNX,
        "neither exporter writes it: PyTorch's counterpart, if there is one, becomes several other operators",
        "DynamicQuantizeLinear GlobalLpPool Hardmax LRN LpPool MatMulInteger MaxUnpool Mean MeanVarianceNormalization "
        "Optional ReduceLogSum ReduceSumSquare Shrink Softsign SpaceToDepth Sum ThresholdedRelu",
    ),
    _out(Table.ONNX, "operators of torchvision, without which difftvm works", "MaxRoiPool NonMaxSuppression RoiAlign"),
    _out(
        Table.ONNX,
        "only modules of torch.jit.script have it: tracing sees no optional values, and no list that changes",
        "OptionalGetElement OptionalHasElement SequenceErase SequenceLength",
    ),
    _out(Table.ONNX, "the dynamo exporter writes Cast in its place, unless it is told not to optimize", "CastLike"),
)


def of(table: Table, key: str) -> Reason | None:
    return next((reason for reason in REASONS if reason.table is table and key in reason.keys), None)


def stale(tables: Mapping[Table, frozenset[str]], reached: Mapping[Table, Mapping[str, str]]) -> Iterator[str]:
    """A line for each stale reason."""
    for reason in REASONS:
        for key in reason.keys:
            if key not in tables[reason.table]:
                yield f"{reason.table}: {key} is in no table any more"
            elif key in reached[reason.table]:
                yield f"{reason.table}: {key} is reached by {reached[reason.table][key]}"
