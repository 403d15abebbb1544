"""The domains in which the operands of calls of ONNX are defined. Indices depend on sizes and have a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from generators.builder import Builder
from generators.choice import NumpySource
from generators.domain import ANY, MAX_BOUND, Domain, common, distinct, within
from generators.graph import Node
from generators.guards import range_of
from generators.onnx.call import Call
from generators.onnx.operator import NodeForm
from generators.onnx.ops.axes import axis_in
from generators.onnx.schema import OLDEST
from generators.onnx.unlisted import UnlistedForm, written
from generators.op import Types
from generators.shared.sizes import product
from generators.table import TABLE


def needed(node: Node, place: int, types: Types) -> Domain:
    """The domain that a node needs for its operand number `place`. For one without a row only the lengths of sequences
    are known."""
    form = TABLE[node.op].source
    if isinstance(form, UnlistedForm):
        return _of_unlisted(node, place, types)
    assert isinstance(form, NodeForm)
    call = form.call(types, node.attrs)
    name = call.names[place]
    indices = _INDICES.get((node.title, name))
    if indices is not None and types[place].dtype.is_integer:
        return indices(call)
    of_floats = types[place].dtype.is_float
    return common([domain for other, floats, domain in _drawn(node.op) if (other, floats) == (name, of_floats)])


RECURRENT = ("GRU", "LSTM", "RNN")
LENGTHS = 4
"""The number of their input with the lengths of the sequences."""


def _of_unlisted(node: Node, place: int, types: Types) -> Domain:
    inputs = written(str(node.attrs["node"])).inputs
    if node.title in RECURRENT and len(inputs) > LENGTHS and inputs[LENGTHS] == f"a{place}":
        return within(1, types[0].sizes[0])
    return ANY


def copies(node: Node, place: int) -> bool:
    """Whether the results of a node have the elements of this operand, and nothing else is computed."""
    row = TABLE[node.op]
    if isinstance(row.source, UnlistedForm):
        return False
    assert isinstance(row.source, NodeForm)
    return row.only_moves and (place == 0 or row.source.operands[-1].variadic)


DRAWS = 12


@functools.cache
def _drawn(op: str) -> tuple[tuple[str, bool, Domain], ...]:
    """The operands that a row makes in `DRAWS` draws: the input, whether it is of floats, and its domain. A Clip before
    the call counts as a range."""
    row = TABLE[op]
    assert isinstance(row.source, NodeForm)
    found = []
    for seed in range(DRAWS):
        builder = Builder(NumpySource(seed), dialect="onnx", opset=max(row.source.schema.since, OLDEST))
        if not builder.grow(row) or builder.nodes[-1].op != op:
            continue
        node = builder.nodes[-1]
        names = row.source.names(len(node.args), node.attrs)
        given = {item.value.name: item.domain for item in builder.inputs}
        guards = {value.name: range_of(other) for other in builder.nodes[:-1] for value in other.results}
        for name, arg in zip(names, node.args, strict=True):
            domain = given.get(arg, guards.get(arg, ANY))
            found.append((name, builder.type_of(arg).dtype.is_float, domain))
    return tuple(found)


# --- indices


def _index(size: int) -> Domain:
    return within(0, max(min(int(size), MAX_BOUND) - 1, 0))


def _along(call: Call) -> Domain:
    return _index(call.first.sizes[axis_in(call)])


def _once_along(call: Call) -> Domain:
    """Distinct indices where the results of writing twice to one element would depend on the order."""
    axis, size, indices = axis_in(call), call.first.sizes[axis_in(call)], call["indices"]
    if (call.has("reduction") and call.text("reduction") != "none") or indices.sizes[axis] > size:
        return _along(call)
    return distinct(0, max(size - 1, 0), axis)


def _positions(call: Call) -> Domain:
    """Positions in as many dimensions as the last size of the indices says, after the batches."""
    batches = call.integer("batch_dims") if call.has("batch_dims") else 0
    depth = call["indices"].sizes[-1]
    return _index(min(call.first.sizes[batches : batches + depth], default=1))


def _positions_once(call: Call) -> Domain:
    """Positions that differ in each column, along the longest dimension."""
    sizes, reached = call["indices"].sizes, min(call.first.sizes[: call["indices"].sizes[-1]], default=1)
    rows = sizes[:-1]
    if (call.has("reduction") and call.text("reduction") != "none") or not rows or product(rows) != max(rows):
        return _index(reached)
    axis = rows.index(max(rows))
    return distinct(0, reached - 1, axis) if rows[axis] <= reached else _index(reached)


def _visible(call: Call) -> Domain:
    """A mask that leaves keys to each query: the scores of keys that are all masked differ by less than a float keeps
    beside -10000. Ends and starts of keys are one tensor with one range, which cannot say that they leave some."""
    mask, past = call["mask_index"], call.get("past")
    keys = call["input"].sizes[1] + (past.sizes[3] if past is not None else 0)
    if mask.rank > 1:
        return within(1, 1)
    return within(1 if mask.sizes == call["input"].sizes[:1] else 0, keys)


_INDICES: Mapping[tuple[str, str], Callable[[Call], Domain]] = {
    ("Gather", "indices"): _along,
    ("GatherElements", "indices"): _along,
    ("GatherND", "indices"): _positions,
    ("Scatter", "indices"): _once_along,
    ("ScatterElements", "indices"): _once_along,
    ("ScatterND", "indices"): _positions_once,
    ("MaxUnpool", "I"): lambda call: distinct(0, max(product(call.first.sizes) - 1, 0), 0),
    ("EmbedLayerNormalization", "input_ids"): lambda call: _index(call["word_embedding"].sizes[0]),
    ("EmbedLayerNormalization", "segment_ids"): lambda call: _index(call["segment_embedding"].sizes[0]),
    ("EmbedLayerNormalization", "position_ids"): lambda call: _index(call["position_embedding"].sizes[0]),
    ("EmbedLayerNormalization", "mask"): lambda call: _index(2),
    ("Attention", "mask_index"): _visible,
}
