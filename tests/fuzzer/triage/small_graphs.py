"""Graphs by hand and as text, and the numbers that PyTorch computes for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphs_by_hand import Call, case_of, numbered

from fuzzer.lanes import SAMPLED_LANES, TORCH
from fuzzer.lanes.base.arrays import from_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.reducers import Reducer, Subject
from generators.check import check
from generators.graph import Array, Attrs, Case, Domain, Form, Layout, Node
from generators.table import TABLE
from oracles.outcome import Ran, Result

LANE = next(lane for lane in SAMPLED_LANES if lane.name == "relax-export-asserts")
"""As plain as can be: nothing of it is reduced."""


def subject_of(inputs: Mapping[str, str], calls: Sequence[Call], outputs: str) -> Subject:
    """Inputs count from 0. The n-th computed value counts from 100 n, which is not what PyTorch computes."""
    case = case_of(inputs, calls, outputs)
    computed = [value for node in case.graph.nodes for value in node.results]
    return Subject(case, LANE, {value.name: numbered(value.type, 100 * n) for n, value in enumerate(computed, 1)})


def text(subject: Subject) -> str:
    """`inputs | calls | outputs`."""
    graph = subject.graph
    inputs = " ".join(item.value.name for item in graph.inputs)
    calls = "; ".join(f"{','.join(v.name for v in n.results)}={n.op}({','.join(n.args)})" for n in graph.nodes)
    return f"{inputs} | {calls} | {' '.join(graph.outputs)}"


def shapes(subject: Subject) -> str:
    """The inputs' shapes, and the attributes that are not at their defaults if there are any."""
    inputs = " ".join(str(list(item.value.type.sizes)) for item in subject.graph.inputs)
    return " ".join([inputs, *(str(odd) for node in subject.graph.nodes if (odd := odd_attrs(node)))])


def odd_attrs(node: Node) -> Attrs:
    defaults = TABLE[node.op].defaults
    return {key: value for key, value in node.attrs.items() if key not in defaults or value != defaults[key]}


def writing(subject: Subject) -> str:
    """The inputs that are not contiguous, and of each call its form and the attributes not at their defaults."""
    inputs = [f"{i.value.name} {i.layout}" for i in subject.graph.inputs if i.layout is not Layout.CONTIGUOUS]
    calls = []
    for node in subject.graph.nodes:
        odd = ", ".join(f"{key}={value!r}" for key, value in odd_attrs(node).items())
        calls.append(f"{node.op}{'' if node.form is Form.PLAIN else f':{node.form}'}({odd})")
    return " | ".join([*([", ".join(inputs)] if inputs else []), "; ".join(calls)])


def domains(subject: Subject) -> dict[str, Domain]:
    return {item.value.name: item.domain for item in subject.graph.inputs}


# --- in PyTorch


def evaluated(case: Case) -> tuple[Array, ...]:
    """The outputs; like a child, only of a case that keeps the rules."""
    import torch

    check(case)
    torch.set_num_threads(1)
    prepared = PreparedCase(case, lambda stage: None)
    with torch.no_grad():
        outputs = model_of(prepared)(*tensors_of(prepared))
    return tuple(map(from_torch, outputs))


def values_of(case: Case) -> Mapping[str, Array]:
    """Every computed value."""
    return computed_values(lambda whole, lanes: Result({TORCH: Ran(evaluated(whole))}), case)


CHAIN = subject_of(
    {"x0": "float32[2,3]"},
    [("v0", "relu", "x0"), ("v1", "neg", "v0"), ("v2", "add", "v1 x0")],
    "v2",
)
SISTERS = subject_of(
    {"x0": "float32[4]", "w0": "float32[2]"},
    [("v0 v1", "split", "x0", {"sizes": (2, 2), "dim": 0}), ("v2", "add", "v0 w0"), ("v3", "relu", "v1")],
    "v2 v3",
)
FORK = subject_of(
    {"x0": "float32[2]"},
    [("v0", "relu", "x0"), ("v1", "neg", "v0"), ("v2", "abs", "v0"), ("v3", "sign", "x0")],
    "v1 v2 v3",
)
MIXED = subject_of(
    {"x0": "float16[2]", "x1": "int8[2]", "w0": "float16[2]", "x2": "bool[2]", "x3": "bfloat16[2]"},
    [("v0", "add", "x0 w0"), ("v1", "add", "v0 x1"), ("v2", "where", "x2 v1 x0"), ("v3", "mul", "v2 x3")],
    "v3",
)
WRITTEN = subject_of(
    {"x0": "float32[2,3] transposed", "x1": "float32[2,3] expanded", "b0": "float32[3]"},
    [
        ("v0", "add:method", "x0 x1", {"alpha": 2}),
        ("v1", "mul:inplace", "v0 b0"),
        ("v2", "softmax:module", "v1", {"dim": 1}),
        ("v3", "sum", "v2", {"dim": (0,), "keepdim": True}),
    ],
    "v3",
)
"""With one of everything: what the passes are tried on."""


def texts(propose: Reducer, subject: Subject) -> list[str]:
    return [text(candidate) for candidate in propose(subject)]
