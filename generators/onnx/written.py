"""How a call of ONNX is written, in the words of reports."""

from __future__ import annotations

from generators.graph import Form, Node
from generators.onnx import unlisted
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


def written(node: Node) -> str:
    """For example "`shape` is an input"; "" for a plain call."""
    names = _constants(node)
    words = WORDS.get(node.form, "")
    if len(names) > 1 and node.form is Form.AS_INPUT:
        words = "{} are inputs"
    return words.format(" and ".join(names))


def text(node: Node) -> list[str]:
    """The lines of a call, for people."""
    if node.op == unlisted.NAME:
        return [unlisted.text_of(node)]
    given = [f"{name}={value!r}" for name, value in node.attrs.items() if value is not None]
    results = ", ".join(value.name for value in node.results)
    return [f"{results} = {node.title}({', '.join([*node.args, *given])})"]


def _constants(node: Node) -> list[str]:
    form = ROWS[node.op].source
    names = form.constants if isinstance(form, NodeForm) else ()
    return [f"`{name}`" for name in names if node.attrs[name] is not None]
