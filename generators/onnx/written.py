"""How a call of ONNX is written, in the words of reports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress

from generators.graph import Form, Node
from generators.onnx import unlisted
from generators.onnx.operator import INPUTS as INPUTS_GIVEN
from generators.onnx.operator import OUTPUTS as OUTPUTS_GIVEN
from generators.onnx.operator import NodeForm
from generators.onnx.rows import ROWS

WORDS = {
    Form.CONSTANT: "{} from Constant",
    Form.LIST: "{} from Constant",
    Form.AS_INPUT: "{} is an input",
    Form.COMPUTED: "{} computed from Shape",
    Form.IDENTITY: "after Identity",
    Form.CAST: "after Cast and Cast back",
    Form.EMPTY: "empty names of inputs",
    Form.LOCAL: "in a local function",
    Form.BRANCH: "in If",
}
"""{} are constant inputs."""

INPUTS = {"at": "`position` of SequenceAt"}
"""Constant inputs of rows of several nodes that have another name in ONNX: the input of which of these nodes."""


def written(node: Node) -> str:
    """For example "`shape` is an input"; "" for a plain call."""
    names = _constants(node)
    words = WORDS.get(node.form, "")
    if len(names) > 1 and node.form is Form.AS_INPUT:
        words = "{} are inputs"
    return words.format(" and ".join(names))


def result(node: Node, place: int) -> str:
    """The name of a result in ONNX, such as `mask`; "" for the operator's first one."""
    form, wanted = ROWS[node.op].source, node.attrs.get(OUTPUTS_GIVEN)
    outputs = form.schema.outputs if isinstance(form, NodeForm) else ()
    given = compress(outputs, wanted) if isinstance(wanted, tuple) else outputs
    names = [each.name for each in given]
    return names[place] if place < len(names) and names[place] != outputs[0].name else ""


def text(node: Node) -> list[str]:
    """The lines of a call, for people."""
    if node.op == unlisted.NAME:
        return [unlisted.text_of(node)]
    attributes = {name: value for name, value in node.attrs.items() if value is not None and name not in OF_ROWS}
    given = [f"{name}={value!r}" for name, value in attributes.items()]
    results = ", ".join(value.name for value in node.results)
    return [f"{results} = {node.title}({', '.join([*_operands(node), *given])})"]


OF_ROWS = (INPUTS_GIVEN, OUTPUTS_GIVEN)
"""Attributes that say which operands and results a call has."""


def _operands(node: Node) -> Iterator[str]:
    """The operands; "" for one that is left out before others, as in a file."""
    given, args = node.attrs.get(INPUTS_GIVEN), iter(node.args)
    pattern = given if isinstance(given, tuple) else ()
    for place, is_given in enumerate(pattern):
        if any(pattern[place:]):
            yield next(args) if is_given else '""'
    yield from args


def _constants(node: Node) -> list[str]:
    form = ROWS[node.op].source
    names = form.constants if isinstance(form, NodeForm) else ()
    return [INPUTS.get(name, f"`{name}`") for name in names if node.attrs[name] is not None]
