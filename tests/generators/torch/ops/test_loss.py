"""Rows of `loss`, `margin`, `distance` and `dropout`."""

from __future__ import annotations

import numpy as np
import pytest
from eager import in_torch, inferred, run_case, types_of
from form_comparison import compare_forms
from random_calls import compare_calls, refused_by_both

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attr, Attrs, Case, Form, Graph, Invalid, Node, Profile, TensorType
from generators.random_graph import generate, with_values
from generators.torch.ops import TABLE, Op, distance, dropout, loss
from generators.torch.source import constructor, statements

EACH_ROW = pytest.mark.parametrize("op", loss.OPS, ids=lambda op: op.name)
LOSSES = [op for op in loss.OPS if "reduction" in op.schema]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.parametrize(
    "op", [op for op in (*distance.OPS, *dropout.OPS) if op.name != "cdist"], ids=lambda op: op.name
)
@pytest.mark.exhaustive
def test_pytorch_accepts_every_random_call_that_the_row_accepts(op: Op) -> None:
    assert compare_calls(op, 300).keys() <= {"accepted", "refused", "stricter"}


@EACH_ROW
@pytest.mark.exhaustive
def test_every_form_gives_the_results_of_the_plain_form(op: Op) -> None:
    compared, wrong = compare_forms(op, 60)
    assert not wrong
    assert all(compared[form] for form in op.forms)


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


REFUSED: list[tuple[str, str, dict[str, Attr], str]] = [
    ("mse_loss", "float32[2,3] float32[2]", {}, "do not broadcast"),
    ("mse_loss", "int64[2] int32[2]", {}, "is not defined for int64"),
    ("mse_loss", "float32[2] bool[2] float32[2]", {}, "is not defined for bool"),
    ("mse_loss", "float32[2] float32[2] float32[1]", {}, "as large as float32[2]"),
    ("l1_loss", "float32[2] bool[2]", {}, "is not defined for bool"),
    ("l1_loss", "int64[2] int64[2]", {}, "there is no mean of int64"),
    ("smooth_l1_loss", "float32[2] float32[2]", {"beta": -1}, "beta must not be negative"),
    ("smooth_l1_loss", "float32[2] bool[2]", {"beta": 0}, "is not defined for bool"),
    ("huber_loss", "float32[2] float32[2]", {"delta": 0}, "delta must be positive"),
    ("huber_loss", "int64[2] float32[2]", {}, "is not defined for int64"),
    ("kl_div", "float32[2] int64[2]", {}, "is not defined for int64"),
    ("poisson_nll_loss", "float32[2] bool[2]", {"full": True}, "no Stirling approximation of bool"),
    ("gaussian_nll_loss", "float32[2,3] float32[2,3] float32[1,1]", {}, "is no variance of"),
    ("gaussian_nll_loss", "float32[2] float32[2] float16[2]", {"eps": 1e5}, "100000.0 is too large for float16"),
    ("binary_cross_entropy", "float32[2] float64[2]", {}, "must be of the type float32[2]"),
    ("binary_cross_entropy", "float32[2] float32[1]", {}, "must be of the type float32[2]"),
    ("binary_cross_entropy", "float32[2] float32[2] float32[2,2]", {}, "does not expand to"),
    ("binary_cross_entropy_with_logits", "float32[2] int64[2]", {}, "is not defined for int64"),
    ("soft_margin_loss", "float32[] float32[2]", {}, "does not expand to float32[]"),
    ("cross_entropy", "float32[2,3] int64[3]", {}, "must be [2], not int64[3]"),
    ("cross_entropy", "float32[2,3] int32[2]", {}, "is not defined for int32"),
    ("cross_entropy", "float32[2,3,4] uint8[2,4]", {}, "is not defined for uint8"),
    ("cross_entropy", "float32[2,3] uint8[2] float32[3]", {"label_smoothing": 0.1}, "is not defined for uint8"),
    ("cross_entropy", "float32[2,3] int64[2] float32[2]", {}, "the weight must be float32[3]"),
    ("cross_entropy", "float32[2,3] int64[2] float64[3]", {}, "the weight must be float32[3]"),
    ("cross_entropy", "float32[2,3] int64[2]", {"label_smoothing": 1.5}, "goes from 0 to 1"),
    ("cross_entropy", "float32[2,0] int64[2]", {}, "no class to choose"),
    ("cross_entropy_probabilities", "float32[] float32[]", {}, "no classes in float32[]"),
    ("multi_margin_loss", "float32[2,3,4] int64[2,4]", {}, "takes [samples, classes]"),
    ("multi_margin_loss", "float16[2,3] int64[2]", {}, "is not defined for float16"),
    ("multi_margin_loss", "float32[2,3] int64[2]", {"p": 3}, "p must be 1 or 2"),
    ("multilabel_margin_loss", "float32[2,3] int64[3]", {}, "no list of classes"),
    ("multilabel_soft_margin_loss", "float32[] float32[]", {}, "no classes in float32[]"),
    ("margin_ranking_loss", "float32[2] float32[2] float32[]", {}, "tensors of one rank"),
    ("cosine_embedding_loss", "float32[2,3] float32[2,3] int64[]", {}, "takes tensors of rank 1"),
    ("triplet_margin_loss", "float32[2,3] float32[3] float32[2,3]", {}, "tensors of one rank"),
    ("triplet_margin_loss", "float32[2] float32[2] float32[2]", {"margin": 0}, "margin must be positive"),
    ("cosine_similarity", "float32[3] float32[3]", {}, "dim 1 is out of range for rank 1"),
    ("cosine_similarity", "int64[2,3] int64[2,3]", {}, "is not defined for int64"),
    ("pairwise_distance", "float32[2,0] float32[2,0]", {"p": "inf"}, "no largest difference"),
    ("pairwise_distance", "float32[2] bool[2]", {}, "is not defined for bool"),
    ("cdist", "float32[2,3] float32[2,4]", {}, "differ in length"),
    ("cdist", "float32[3] float32[2,3]", {}, "takes matrices"),
    ("cdist", "float16[2,3] float16[2,3]", {}, "is not defined for float16"),
    ("cdist", "float32[2,3] float32[2,3]", {"p": -1}, "p must not be negative"),
    ("bilinear", "float32[2,3] float32[1,4] float32[5,3,4]", {}, "differ in more than features"),
    ("bilinear", "float32[2,3] float32[2,4] float32[5,4,3]", {}, "does not fit"),
    ("bilinear", "float32[2,0] float32[2,4] float32[5,0,4]", {}, "does not fit"),
    ("bilinear", "float32[2,3] float32[2,4] float32[5,3,4] float32[1]", {}, "the bias must be [5]"),
    ("dropout", "float32[2]", {"p": 1.5}, "p must be a probability"),
    ("dropout1d", "float32[2,2,2,2]", {}, "takes rank 2 or 3"),
]


@pytest.mark.parametrize(("op", "types", "given", "message"), REFUSED)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    refused_by_both(op, types_of(types), attrs_of(op, **given), message)


@pytest.mark.parametrize(
    ("op", "types", "given"),
    [
        ("huber_loss", "float32[2] float64[2]", {}),  # the steps of its decomposition accept it
        ("binary_cross_entropy_with_logits", "float64[2] float32[2]", {}),
        ("hinge_embedding_loss", "int64[2] int64[2]", {"reduction": "none"}),
        ("cosine_embedding_loss", "int64[2,3] float16[2,3] int64[2]", {}),
        (
            "multilabel_margin_loss",
            "float32[0,3] int64[0,3]",
            {"reduction": "sum"},
        ),  # PyTorch returns uninitialized memory
        ("multi_margin_loss", "float32[3] int64[]", {"reduction": "none"}),  # its decomposition gives [1]
        ("cosine_similarity", "float16[2,3] float16[2,3]", {}),  # 1e-8 is 0 in float16
        ("cdist", "float32[26,3] float32[2,3]", {}),  # computed by a matrix product, whose rounding errors are large
        ("pairwise_distance", "float32[2,3] float32[2,3]", {"p": -1}),
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, given: dict[str, Attr]) -> None:
    in_torch(op, types_of(types), attrs_of(op, **given))
    with pytest.raises(Invalid):
        inferred(op, types_of(types), attrs_of(op, **given))


@pytest.mark.parametrize(
    ("op", "types", "given", "result"),
    [
        ("mse_loss", "int8[] float16[2]", {"reduction": "none"}, "float16[2]"),
        ("mse_loss", "float64[] bool[2]", {}, "float64[]"),
        ("mse_loss", "float64[] float32[2]", {"reduction": "none"}, "float64[2]"),
        ("l1_loss", "uint8[2] int8[2]", {"reduction": "none"}, "int16[2]"),
        ("l1_loss", "uint8[2] int8[2]", {"reduction": "sum"}, "int64[]"),
        ("huber_loss", "bfloat16[2] int64[3,1] bfloat16[2]", {"reduction": "none"}, "bfloat16[3,2]"),
        ("kl_div", "float32[] float64[]", {"reduction": "batchmean"}, "float64[]"),
        ("kl_div", "float16[2,3] bfloat16[3]", {"reduction": "batchmean", "log_target": True}, "float32[]"),
        ("gaussian_nll_loss", "float32[2,3] int8[3] float64[2]", {"reduction": "none"}, "float64[2,3]"),
        ("gaussian_nll_loss", "float32[3] float32[3] float64[]", {"reduction": "none"}, "float64[3]"),
        ("binary_cross_entropy", "float16[2,3] float16[2,3] float64[]", {"reduction": "none"}, "float16[2,3]"),
        ("binary_cross_entropy_with_logits_pos_weight", "float32[2,3] float32[2,3] float64[3]", {}, "float32[]"),
        ("soft_margin_loss", "float16[2] bool[]", {"reduction": "none"}, "float16[2]"),
        ("cross_entropy", "float32[3] int64[]", {"reduction": "none"}, "float32[]"),
        ("cross_entropy", "float16[0,3,2,1] int64[0,2,1]", {"reduction": "none"}, "float16[0,2,1]"),
        (
            "cross_entropy_probabilities",
            "float16[2,3,4] bfloat16[2,3,4] int8[3]",
            {"reduction": "none"},
            "float32[2,4]",
        ),
        ("nll_loss", "float32[2,3] uint8[2]", {"reduction": "none"}, "float32[2]"),
        ("multi_margin_loss", "float64[2,3] int64[2] float64[3]", {"reduction": "none"}, "float64[2]"),
        ("multilabel_soft_margin_loss", "float16[2,3] uint8[4,2,3]", {"reduction": "none"}, "float16[4,3]"),
        ("margin_ranking_loss", "int8[1,2] int8[3,1] int8[3,2]", {"reduction": "none"}, "float32[3,2]"),
        ("cosine_embedding_loss", "float32[1,3] float16[2,3] bool[2]", {"reduction": "none"}, "float32[2]"),
        ("triplet_margin_loss", "float32[] float64[] float16[]", {"swap": True}, "float64[]"),
        ("cosine_similarity", "float16[2,1,3] float64[]", {"dim": -2, "eps": 1}, "float64[2,3]"),
        ("pairwise_distance", "int8[] int8[]", {"keepdim": True, "p": 0}, "float32[]"),
        ("pairwise_distance", "float32[2,1,3] float16[4,1]", {"keepdim": True, "p": "inf"}, "float32[2,4,1]"),
        ("cdist", "float32[5,1,2,0] float32[3,4,0]", {"p": 0.5}, "float32[5,3,2,4]"),
        ("bilinear", "int8[2,3] int8[2,4] int8[5,3,4] int8[5]", {}, "int8[2,5]"),
        ("dropout", "bool[]", {"p": 1}, "bool[]"),
    ],
)
def test_corners_that_both_accept(op: str, types: str, given: dict[str, Attr], result: str) -> None:
    assert inferred(op, types_of(types), attrs_of(op, **given)) == result
    assert in_torch(op, types_of(types), attrs_of(op, **given)) == result


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
