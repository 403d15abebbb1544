"""What a case of ONNX reaches of TVM's converters: each of their versions, with each attribute, optional input and
optional output of the operator.

The converters are read from the text of TVM's importer: nothing of TVM is imported.
"""

from __future__ import annotations

import ast
import importlib.util
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from generators import syntax_tree
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Graph, Invalid, Node
from generators.onnx.operator import INPUTS, OUTPUTS, NodeForm
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS
from generators.onnx.schema import OLDEST, newest_opset
from generators.op import Op
from generators.table import TABLE
from generators.types import Invalid as InvalidFile

IMPORTER = "relax/frontend/onnx/onnx_frontend.py"
REASONS = Path(__file__).with_name("reasons.toml")
ATTEMPTS = 20


@dataclass(frozen=True, slots=True, order=True)
class Feature:
    """`operator` has its domain before its name, where that is not ONNX's own: TVM does not look at domains, and may
    have one converter for both. `version` is that of TVM's converter. `part` is an attribute, an optional input or
    output, or "" for a call."""

    operator: str
    version: int
    part: str = ""

    def __str__(self) -> str:
        return f"{self.operator} v{self.version}" + (f" {self.part}" if self.part else "")


@cache
def converters() -> Mapping[str, tuple[int, ...]]:
    """The versions of each converter of TVM's table. Raise `Invalid` where TVM's importer is not there."""
    spec = importlib.util.find_spec("tvm")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = [Path(folder) / IMPORTER for folder in folders]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        raise InvalidFile(f"TVM's importer of ONNX is not installed: no {IMPORTER}")
    module = syntax_tree.parse(found.read_text())
    classes = {each.name: each for each in module.body if isinstance(each, ast.ClassDef)}
    return {name: _versions(classes, owner) for name, owner in _table(module) if owner in classes}


def _table(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Each operator of the table, with the name of its class."""
    maker = next(each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == "_get_convert_map")
    table = next(each for each in ast.walk(maker) if isinstance(each, ast.Dict))
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(value, ast.Name):
            yield str(key.value), value.id


def _versions(classes: Mapping[str, ast.ClassDef], name: str) -> tuple[int, ...]:
    """The versions that a class and its bases have."""
    own = classes[name]
    names = [each.name for each in own.body if isinstance(each, ast.FunctionDef)]
    versions = {int(each.removeprefix("_impl_v")) for each in names if each.startswith("_impl_v")}
    for base in own.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            versions |= set(_versions(classes, base.id))
    return tuple(sorted(versions))


def converter_at(operator: str, opset: int) -> int:
    """The version that TVM takes at an opset: the newest that is not newer, or the oldest."""
    versions = converters()[operator]
    return max((version for version in versions if version <= opset), default=versions[0])


def operator_of(op: Op) -> str:
    """The operator of a row as features name it, such as `Add` or `com.microsoft.FastGelu`."""
    form = op.source
    assert isinstance(form, NodeForm)
    return ".".join(filter(None, (form.schema.domain, form.schema.name)))


def features_of(graph: Graph) -> Iterator[Feature]:
    """The features of a graph of ONNX."""
    for node in graph.nodes:
        if node.title in converters():
            yield from _of_node(node, graph.opset)


def _of_node(node: Node, opset: int) -> Iterator[Feature]:
    row = TABLE[node.op]
    form = row.source
    assert isinstance(form, NodeForm)
    operator, version = operator_of(row), converter_at(node.title, opset)
    yield Feature(operator, version)
    for key, value in node.attrs.items():
        if key == INPUTS and isinstance(value, tuple):
            names = [each for each, given in zip(form.operands, value, strict=True) if given and each.optional]
            yield from (Feature(operator, version, f"input {each.name}") for each in names)
        elif key == OUTPUTS and isinstance(value, tuple):
            results = [
                each.name for each, has in zip(form.schema.outputs, value, strict=False) if has and each.optional
            ]
            yield from (Feature(operator, version, f"output {name}") for name in results)
        elif value is not None and (key in form.schema.attributes or key in form.constants):
            what = "attribute" if key in form.schema.attributes else "input"
            yield Feature(operator, version, f"{what} {key}")


def wanted(ops: Iterable[Op] = OPS) -> frozenset[Feature]:
    """All features of rows: what their schemas have at the opsets of each version of TVM's converters."""
    return frozenset(feature for op in ops for feature in _of_row(op))


def _of_row(op: Op) -> Iterator[Feature]:
    form = op.source
    assert isinstance(form, NodeForm)
    schema = form.schema
    if schema.name not in converters():
        return
    last = newest_opset() if schema.domain or schema.last is None else min(schema.last, newest_opset())
    name = operator_of(op)
    for version in {converter_at(schema.name, opset) for opset in range(max(schema.since, OLDEST), last + 1)}:
        yield Feature(name, version)
        yield from (Feature(name, version, f"attribute {each}") for each in schema.attributes)
        optional = [each.name for each in schema.inputs if each.optional or each.name in form.constants]
        yield from (Feature(name, version, f"input {each}") for each in optional)
        yield from (Feature(name, version, f"output {each.name}") for each in schema.outputs if each.optional)


@dataclass(slots=True)
class Reached:
    """How often each feature was drawn, and how many cases were drawn for each operator."""

    times: Counter[Feature] = field(default_factory=Counter)
    cases: Counter[str] = field(default_factory=Counter)

    def draw(self, op: Op, count: int, seed: int) -> None:
        """Draw cases of an operator, at each opset in which its version is in force."""
        form = op.source
        assert isinstance(form, NodeForm)
        opsets = [opset for opset in range(OLDEST, newest_opset() + 1) if form.schema.in_force(opset)]
        for number in range(count):
            try:
                source, opset = NumpySource(seed, number), opsets[number % len(opsets)]
                case = generate(source, Limits(max_nodes=2), (op,), symbolic=False, opset=opset)
            except Invalid:
                continue
            self.times.update(set(features_of(case.graph)))
            self.cases[operator_of(op)] += 1


@cache
def reasons() -> Mapping[str, str]:
    """Why operators or features are not reached, by their names."""
    found: dict[str, str] = tomllib.loads(REASONS.read_text())
    return found


def reason_of(feature: Feature) -> str:
    """Why a feature is not reached; "" where nobody has said so. A reason may name the operator, the operator with the
    attribute, or the feature."""
    known = reasons()
    names = (str(feature), f"{feature.operator} {feature.part}", feature.operator)
    return next((known[name] for name in names if name in known), "")


def without_rows() -> list[str]:
    """The converters of TVM's table for which there is no row."""
    named = {op.name.partition("-")[0] for op in OPS}
    return sorted(name for name in converters() if name not in named)
