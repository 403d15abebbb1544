"""Planted bugs as data: an operator, and the conditions under which it fails."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Condition, Property, Relation, Statement
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Invalid, Scalar
from generators.table import TABLE
from generators.torch.random_graph import generate


def when(subject: str, what: str, relation: Relation, *values: Scalar) -> Condition:
    return Condition(Property(0, subject, what), relation, values)


IN, NOT_IN, AT_LEAST, AT_MOST = Relation.IN, Relation.NOT_IN, Relation.AT_LEAST, Relation.AT_MOST
X, Y = "operand 0", "operand 1"
BOTH = "operands 0 and 1"


@dataclass(frozen=True, slots=True)
class Trigger:
    op: str
    conditions: tuple[Condition, ...]

    @property
    def statement(self) -> Statement:
        return Statement(self.conditions)

    def fires(self, case: Case) -> bool:
        return self.statement.holds(properties(case))

    def first_case(self, seed: int = 0, tries: int = 3000, among: int = 8) -> Case:
        """The smallest of the first cases that fail."""
        source, found = NumpySource(seed, 7), list[Case]()
        for _ in range(tries):
            try:
                case = generate(source, Limits(max_nodes=1), [TABLE[self.op]], symbolic=False, motif_percent=0)
            except Invalid:
                continue
            if len(case.graph.nodes) == 1 and self.fires(case):
                found.append(case)
            if len(found) == among:
                break
        return min(found, key=lambda case: sum(value.type.numel for value in case.graph.values()))

    def __str__(self) -> str:
        parts = (f"{c.property.subject} {c.property.what} {c.relation} {list(c.values)}" for c in self.conditions)
        return f"{self.op}: {' and '.join(parts)}"


def trigger(op: str, *conditions: Condition) -> Trigger:
    return Trigger(op, conditions)


TRIGGERS = (
    # dtypes
    trigger("relu", when(X, "dtype", IN, "float16")),
    trigger("add", when(X, "dtype", IN, "bfloat16", "float16")),
    trigger("layer_norm", when(X, "dtype", IN, "float16")),
    trigger("conv2d", when(X, "dtype", NOT_IN, "float32")),
    trigger("mul", when(BOTH, "same dtype", IN, False)),
    trigger("where", when("operands 1 and 2", "same dtype", IN, False)),
    trigger("div", when("result 0", "dtype of operand 0", IN, False)),
    # ranks and sizes
    trigger("sum", when(X, "rank", IN, 0)),
    trigger("softmax", when(X, "rank", IN, 1)),
    trigger("matmul", when(X, "rank", IN, 1)),
    trigger("pad_reflect", when(X, "rank", IN, 3)),
    trigger("neg", when(X, "size -1", Relation.REMAINDER, 4, 1)),
    trigger("exp", when(X, "size -1", AT_LEAST, 17)),
    trigger("abs", when(X, "elements", IN, 0)),
    trigger("bmm", when(X, "size 0", IN, 1)),
    trigger("squeeze", when(X, "smallest size", IN, 1), when(X, "rank", IN, 2)),
    # axes
    trigger("cumsum", when("dim", "value", AT_MOST, -1)),
    trigger("select", when("index", "value", AT_MOST, -1)),
    trigger("unsqueeze", when("dim", "from the end", IN, -1)),
    trigger("log_softmax", when("dim", "from the end", AT_MOST, -2)),
    trigger("transpose", when("dim0", "value", AT_MOST, -1), when(X, "dtype", IN, "bool")),
    trigger("cat", when("dim", "value", AT_MOST, -1), when(X, "dtype", IN, "int32", "int64")),
    # attributes, alone and in pairs
    trigger("avg_pool2d", when("ceil_mode", "value", IN, True)),
    trigger("avg_pool2d", when("ceil_mode", "value", IN, True), when("count_include_pad", "value", IN, False)),
    trigger("max_pool2d", when("stride", "item 0", AT_LEAST, 2)),
    trigger("argmax", when("dim", "value", IN, None)),
    trigger("mean", when("keepdim", "value", IN, True)),
    trigger("sort_values", when("descending", "value", IN, True)),
    trigger("add", when("alpha", "value", NOT_IN, 1)),
    trigger("flip", when("dims", "length", AT_LEAST, 2)),
    trigger("gelu", when("approximate", "value", IN, "tanh")),
    trigger("conv2d", when("groups", "value", AT_LEAST, 2)),
    trigger("conv2d", when("dilation", "item 0", AT_LEAST, 2), when("padding", "item 0", AT_LEAST, 1)),
    trigger("clamp", when("max", "value", IN, None)),
    trigger("topk_values", when("k", "value", IN, 0)),
    trigger("cumsum", when("dtype", "value", NOT_IN, None)),
    trigger("tril", when("diagonal", "value", AT_LEAST, 1), when(X, "dtype", IN, "bool")),
    # operands
    trigger("conv2d", when("call", "operands", IN, 3)),
    trigger("layer_norm", when("call", "operands", IN, 1)),
    trigger("embedding", when(Y, "constant", IN, True)),
    trigger("sigmoid", when(X, "layout", IN, "transposed")),
    # numbers
    trigger("tanh", when(X, "negative numbers", IN, "all")),
    trigger("sqrt", when(X, "NaN", IN, "all", "some")),
    trigger("round", when(X, "fractions", IN, "all", "some")),
)
