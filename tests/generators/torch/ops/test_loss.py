"""Rows of `loss`, `margin`, `distance` and `dropout`."""

from __future__ import annotations

import numpy as np
import pytest
from eager import run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attr, Attrs, Case, Form, Graph, Node, Profile, TensorType
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op, dropout, loss
from generators.torch.random_graph import generate
from generators.torch.source import constructor, statements

LOSSES = [op for op in loss.OPS if "reduction" in op.schema]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


def drawn(op: Op, count: int, profile: Profile = Profile.NORMAL) -> list[Case]:
    builders = [Builder(NumpySource(5, index), Limits(max_numel=256), profile) for index in range(count)]
    return [with_values(builder) for builder in builders if builder.grow(op)]


def call(graph: Graph) -> tuple[Node, tuple[TensorType, ...]]:
    return graph.nodes[-1], graph.arg_types(graph.nodes[-1])


@pytest.mark.parametrize("op", LOSSES, ids=lambda op: op.name)
def test_all_reductions_are_drawn(op: Op) -> None:
    reductions = set()
    for case in drawn(op, 80):
        node, types = call(case.graph)
        reductions.add(node.attrs["reduction"])
        one, *_ = op.results(types, {**node.attrs, "reduction": "none"})
        assert node.attrs["reduction"] not in ("mean", "batchmean") or one.numel  # no elements have no mean
        if node.attrs["reduction"] != "none":
            assert op.results(types, node.attrs)[0].rank == 0
    assert reductions == {"none", "mean", "sum", *(["batchmean"] if op.name == "kl_div" else [])}


@pytest.mark.parametrize(
    ("op", "count", "given", "text"),
    [
        ("mse_loss", 3, {"reduction": "sum"}, 'F.mse_loss(a0, a1, weight=a2, reduction="sum")'),
        (
            "binary_cross_entropy_with_logits",
            4,
            {},
            "F.binary_cross_entropy_with_logits(a0, a1, weight=a2, pos_weight=a3)",
        ),
        (
            "binary_cross_entropy_with_logits_pos_weight",
            3,
            {},
            "F.binary_cross_entropy_with_logits(a0, a1, pos_weight=a2)",
        ),
        ("poisson_nll_loss_of_rates", 2, {}, "F.poisson_nll_loss(a0, a1, log_input=False)"),
        ("triplet_margin_loss", 3, {"p": "inf"}, 'F.triplet_margin_loss(a0, a1, a2, p=float("inf"))'),
        ("dropout", 1, {"p": 0.1}, "F.dropout(a0, training=False, p=0.1)"),
        ("feature_dropout", 1, {"p": 0.1}, "torch.feature_dropout(a0, 0.1, False)"),
    ],
)
def test_source_texts(op: str, count: int, given: dict[str, Attr], text: str) -> None:
    names = tuple(f"a{i}" for i in range(count))
    assert TABLE[op].render(names, attrs_of(op, **given)).replace("'", '"') == text


def test_layers_own_weights_and_are_called_with_the_other_operands() -> None:
    types = types_of("float32[2,3] int64[2] float32[3]")
    node = Node("cross_entropy", ("x0", "x1", "w0"), attrs_of("cross_entropy", ignore_index=1), (), Form.MODULE)
    names = ("x0", "x1", "self.w0")
    assert constructor(node, names, types, "m") == [
        "m = torch.nn.CrossEntropyLoss(ignore_index=1)",
        "m.weight = self.w0",
    ]
    rates = Node("poisson_nll_loss_of_rates", names[:2], attrs_of("poisson_nll_loss_of_rates"), (), Form.MODULE)
    assert constructor(rates, names[:2], types[:2], "m") == ["m = torch.nn.PoissonNLLLoss(log_input=False)"]
    assert statements(rates, names[:2], "m")[0].endswith("= m(x0, x1)")


@pytest.mark.parametrize("op", ["mse_loss", "l1_loss", "huber_loss"])
def test_layers_of_differences_have_no_weight(op: str) -> None:
    types = types_of("float32[2] float32[2] float32[2]")
    assert TABLE[op].expresses(Form.MODULE, types[:2], attrs_of(op))
    assert not TABLE[op].expresses(Form.MODULE, types, attrs_of(op))


def test_binary_cross_entropy_counts_one_term() -> None:
    op = TABLE["binary_cross_entropy"]
    assert op.terms
    assert op.terms(types_of("float32[2,3] float32[2,3]"), op.defaults) == 1


@pytest.mark.slow
@pytest.mark.parametrize("op", ["cross_entropy", "nll_loss", "multi_margin_loss", "multilabel_margin_loss"])
def test_classes_are_in_range_for_every_size_of_a_symbol(op: str) -> None:
    symbolic = 0
    for index in range(60):
        case = generate(NumpySource(3, index), Limits(1), [TABLE[op]], profile=Profile.NORMAL, symbolic=True)
        symbolic += bool(case.graph.symbols)
        for instance in case.instances():
            run_case(instance)
    assert symbolic > 20


def test_dropout_returns_its_input() -> None:
    for op in dropout.OPS:
        if op.name == "dropout_training":  # its result may be zeros
            continue
        assert op.view or op.name == "dropout_inplace"
        for case in drawn(op, 10):
            (name,) = case.graph.nodes[-1].args
            np.testing.assert_array_equal(run_case(case)[0].float().numpy(), case.tensors[name].astype(np.float32))
