"""Calls of PyTorch as text: what is taken, what is refused, and how it is written."""

from __future__ import annotations

import pytest

from generators.graph import Attrs, Graph, Input, Invalid, Node, TensorType, Value
from generators.table import TABLE
from generators.torch.ops.aten import ATEN, RANDOM
from generators.torch.ops.calls import MOST_TEXT, SWITCHES, calls_in
from generators.torch.source import called, statements

ROW = TABLE["torch_call"]
F32 = TensorType.parse("float32[2]")

SPECTRUM = "t0 = torch.ops.aten._fft_r2c.default(a0, [0], 0, True)\ntorch.ops.aten.abs.default(t0)"
SORTED = "t0 = torch.ops.aten.sort.default(a0)\n(t0[1], torch.ops.aten.neg.default(t0[0]))"
BRANCHES = """def f0(p0):
    return (torch.ops.aten.sin.default(p0),)
def f1(p0):
    t0 = torch.ops.aten.cos.default(p0)
    return (torch.ops.aten.add.Tensor(t0, 1),)
t0 = torch.ops.higher_order.cond(a0, f0, f1, [a1])
t0[0]"""

LOOP = """def f0(p0, p1):
    t0 = torch.ops.aten.lt.Scalar(p0, 3)
    return t0
def f1(p0, p1):
    return (p1, torch.ops.aten.neg.default(p0))
t0 = torch.ops.higher_order.while_loop(f0, f1, [a0, a1], [])
(t0[0], t0[1])"""
BODY = "def f0(p0, p1):\n    return (torch.ops.aten.add.Tensor(p0, p1),)\n"
AUTOCAST = f"{BODY}torch.ops.higher_order.wrap_with_autocast('cpu', {{}}, {{}}, None, f0, a0, a1)"
NO_GRAD = "torch.ops.higher_order.wrap_with_set_grad_enabled"


def attrs(call: str, *types: str) -> Attrs:
    return {"call": call, "types": types or ("float32[2]",)}


@pytest.mark.parametrize(
    ("call", "operands", "results"),
    [
        (SPECTRUM, 1, None),
        (SORTED, 1, 2),
        (BRANCHES, 2, 1),
        (LOOP, 2, 2),
        (f"{BODY}torch.ops.higher_order.map_impl(f0, [a0], [a1])", 2, None),
        (f"{BODY}torch.ops.higher_order.scan(f0, [a0], [a1], [])", 2, None),
        (f"{BODY}{NO_GRAD}(False, f0, a0, a1)", 2, None),
        (AUTOCAST.format("None", "False"), 2, None),
        ("torch.ops.aten.mul.Tensor(a0, complex(0.5, -1.0))", 1, None),
        ("torch.ops.aten.mul.Tensor(a0, complex(0.5, float('inf')))", 1, None),
        ("torch.ops.aten.index.Tensor(a0, [None, a1])", 2, None),
        ("torch.ops.aten._to_copy.default(a0, dtype=torch.complex64)", 1, None),
        ("torch.ops.aten.to.device(a0, 'cpu', torch.float16)", 1, None),
        ("torch.ops.aten.clone.default(a0, memory_format=torch.channels_last)", 1, None),
        ("torch.ops.aten.quantize_per_tensor.default(a0, 0.1, 0, torch.qint8)", 1, None),
        ("torch.ops.aten.dropout.default(a0, 0.5, False)", 1, None),
        ("torch.ops.aten.scaled_dot_product_attention.default(a0, a0, a0)", 1, None),
        ("t0 = torch.ops.aten.item.default(a0)\ntorch.ops.aten.mul.Scalar(a1, t0)", 2, None),
    ],
)
def test_calls_of_listed_functions_are_taken(call: str, operands: int, results: int | None) -> None:
    found = calls_in(call)
    assert found is not None
    assert (found.operands, found.results) == (frozenset(range(operands)), results)


@pytest.mark.parametrize(
    "call",
    [
        # operators that are not listed
        "torch.ops.aten.from_file.default('x')",
        "torch.ops.aten._print.default('x')",
        "torch.ops.aten.add_.Tensor(a0, a0)",
        "torch.ops.aten.add.out(a0, a0, out=a0)",
        "torch.ops.aten.empty.memory_format([2])",
        "torch.ops.aten.resize.default(a0, [200])",
        "torch.ops.aten.rand.default([2])",
        "torch.ops.aten.dropout.default(a0, 0.5, True)",
        "torch.ops.aten.dropout.default(a0, 0.5, a1)",
        "torch.ops.aten.abs(a0)",
        "torch.ops.aten.abs.default.py_kernels(a0)",
        "torch.ops.mine.abs.default(a0)",
        "torch.ops.load_library('x')",
        "torch.ops.higher_order.while_loop(a0, a0)",
        # statements
        "import os\ntorch.sin(a0)",
        "t0 = torch.sin(a0)",
        "t0 = torch.sin(a0)\nt1",
        "t0 = torch.sin(a0)\nimport os",
        "t1 = torch.sin(a0)\nt1",
        "t0 = torch.sin(t0)\nt0",
        "t0 = t1 = torch.sin(a0)\nt0",
        "t0, t1 = torch.sort(a0)\nt0",
        "t0: int = torch.sin(a0)\nt0",
        "t0 = a0\nt0",
        "t0 = torch.sin(a0)\nt0 += torch.sin(a0)\nt0",
        "a0 = torch.sin(a0)\na0",
        "torch = torch.sin(a0)\ntorch",
        "if torch.sin(a0):\n    pass",
        "(t0 := torch.sin(a0))",
        "a0",
        "(a0,)",
        "()",
        # values
        "t0 = torch.sin(a0)\nt0.data",
        "t0 = torch.sin(a0)\nt0[a0]",
        "t0 = torch.sin(a0)\nt0['x']",
        "t0 = torch.sin(a0)\nt0[0][0]",
        "t0 = torch.sin(a0)\nt0[True]",
        "torch.sin(a0[0])",
        "torch.sin(t0)",
        "torch.sin(p0)",
        "torch.einsum('{out0}', a0)",
        "torch.sin(torch.sin(a0))",
        "torch.ops.aten.to.dtype(a0, torch.load)",
        # branches
        "def f0(p0):\n    return (p0,)",
        "def f0(p0):\n    return a0\ntorch.sin(a0)",
        "def f0(p0):\n    return torch.ops.aten.sin.default(p0)\ntorch.sin(a0)",
        f"{BODY}torch.ops.higher_order.while_loop(f0, [a0], [a1], [])",
        f"{BODY}torch.ops.higher_order.while_loop(a0, f0, [a1], [])",
        f"{BODY}torch.ops.higher_order.map_impl(f0, [a0], [a1], [])",
        f"{BODY}torch.ops.higher_order.scan(f0, [a0], [f0], [])",
        f"{BODY}torch.ops.higher_order.associative_scan(f0, [a0], [])",
        f"{BODY}{NO_GRAD}(f0, a0, a1)",
        f"{BODY}{NO_GRAD}(False)",
        AUTOCAST.format("torch.bfloat16", "True"),
        AUTOCAST.format("torch.bfloat16", "a0"),
        "torch.ops.aten.mul.Tensor(a0, complex(0.5, a0))",
        "torch.ops.aten.mul.Tensor(a0, complex('1j'))",
        "torch.ops.aten.mul.Tensor(a0, complex(real=0.5))",
        "def f1(p0):\n    return (p0,)\ntorch.sin(a0)",
        "def f0(p0):\n    return (a0,)\ntorch.sin(a0)",
        "def f0(p1):\n    return (p1,)\ntorch.sin(a0)",
        "def f0(p0=torch.sin):\n    return (p0,)\ntorch.sin(a0)",
        "def f0(*p0):\n    return (p0,)\ntorch.sin(a0)",
        "def f0(p0: torch.load('x')):\n    return (p0,)\ntorch.sin(a0)",
        "def f0(p0) -> torch.load('x'):\n    return (p0,)\ntorch.sin(a0)",
        "@torch.load\ndef f0(p0):\n    return (p0,)\ntorch.sin(a0)",
        "async def f0(p0):\n    return (p0,)\ntorch.sin(a0)",
        "def f0(p0):\n    import os\n    return (p0,)\ntorch.sin(a0)",
        "def f0(p0):\n    return (torch.load('x'),)\ntorch.sin(a0)",
        "def f0(p0):\n    t0 = torch.ops.higher_order.cond(p0, f0, f0, [p0])\n    return (t0[0],)\ntorch.sin(a0)",
        "torch.ops.higher_order.cond(a0, f0, f0, [a0])",
        "torch.ops.higher_order.cond(a0, torch.sin, torch.sin, [a0])",
        "def f0(p0):\n    return (p0,)\ntorch.ops.higher_order.cond(a0, f0, [a0])",
        "def f0(p0):\n    return (p0,)\ntorch.ops.higher_order.cond(a0, f0, f0, operands=[a0])",
        "def f0(p0):\n    return (p0,)\ntorch.sin(f0)",
        "class f0:\n    pass\ntorch.sin(a0)",
        # sizes of texts
        "torch.sin(a0)" + "\ntorch.sin(a0)" * 20_000,
        "t0 = torch.sin(" + "(" * 3000 + "a0" + ")" * 3000 + ")\nt0",
        "torch.sin(" + "[" * 90 + "]" * 90 + ")" + " " * MOST_TEXT,
        "torch.sin(a0)\x00",
        "torch.sin(a0)\n\n",
        "t0 = torch.sin(a0)\n\nt0",
        "t0 = torch.sin(a0); t0",
        "t0 = torch.sin(a0) # t0\nt0",
        "ｔ0 = torch.sin(a0)\nt0",
    ],
)
def test_anything_else_is_refused(call: str) -> None:
    assert calls_in(call) is None
    with pytest.raises(Invalid, match=r"^call must be "):
        ROW.results((F32,), attrs(call))


def test_results_and_operands_are_counted() -> None:
    two = ("float32[2]", "int64[2]")
    assert ROW.results((F32,), attrs(SORTED, *two)) == tuple(map(TensorType.parse, two))
    with pytest.raises(Invalid, match=r"^the calls have 2 results, there are 1 types$"):
        ROW.results((F32,), attrs(SORTED))
    with pytest.raises(Invalid, match=r"^the call reads operands \[0\], there are 2$"):
        ROW.results((F32, F32), attrs(SPECTRUM))


def node(call: str, args: tuple[str, ...], *types: str) -> Node:
    results = tuple(Value(f"v{index}", TensorType.parse(type)) for index, type in enumerate(types))
    return Node("torch_call", args, attrs(call, *types), results)


def test_statements_have_names_that_no_value_has() -> None:
    assert statements(node(SPECTRUM, ("x0",), "float32[2]"), ("self.t0",)) == [
        "v0_t0 = torch.ops.aten._fft_r2c.default(self.t0, [0], 0, True)",
        "v0 = torch.ops.aten.abs.default(v0_t0)",
    ]
    assert statements(node(SORTED, ("x0",), "int64[2]", "float32[2]"), ("x0",)) == [
        "v0_t0 = torch.ops.aten.sort.default(x0)",
        "v0, v1 = (v0_t0[1], torch.ops.aten.neg.default(v0_t0[0]))",
    ]
    assert statements(node(BRANCHES, ("x0", "x1"), "float32[2]"), ("x0", "x1")) == [
        "def v0_f0(p0):",
        "    return (torch.ops.aten.sin.default(p0),)",
        "def v0_f1(p0):",
        "    t0 = torch.ops.aten.cos.default(p0)",
        "    return (torch.ops.aten.add.Tensor(t0, 1),)",
        "v0_t0 = torch.ops.higher_order.cond(x0, v0_f0, v0_f1, [x1])",
        "v0 = v0_t0[0]",
    ]


def test_in_double_precision_dtypes_are_wider() -> None:
    call = "torch.ops.aten._to_copy.default(a0, dtype=torch.{})"
    for narrow, wide in (("float16", "float64"), ("complex64", "complex128"), ("int32", "int32")):
        text = statements(node(call.format(narrow), ("x0",), "float32[2]"), ("x0",), float64=True)
        assert text == [f"v0 = {call.format(wide).replace('a0', 'x0')}"]


@pytest.mark.parametrize(
    ("call", "title"),
    [
        ("torch.sin(a0)", "torch.sin"),
        ("torch.nn.functional.pad(a0, float('nan'))", "torch.nn.functional.pad"),
        (SPECTRUM, "aten._fft_r2c+aten.abs"),
        (BRANCHES, "higher_order.cond+aten.sin+aten.cos+aten.add"),
        (LOOP, "higher_order.while_loop+aten.lt+aten.neg"),
        (
            "\n".join(
                f"t{index} = torch.ops.aten.special_shifted_chebyshev_polynomial_{kind}.default(a0, a0)"
                for index, kind in enumerate("tuvw")
            )
            + "\nt3",
            "aten.special_shifted_chebyshev_polynomial_t+3-more",
        ),
    ],
)
def test_a_title_names_the_functions(call: str, title: str) -> None:
    assert node(call, ("x0",), "float32[2]").title == title


def test_a_report_names_the_first_operator() -> None:
    call = node(SPECTRUM, ("x0",), "float32[2]")
    graph = Graph((Input(Value("x0", F32)),), (call,), ("v0",))
    assert called(graph, call) == "torch.ops.aten._fft_r2c.default"


def test_the_errors_of_several_calls_add_up() -> None:
    assert ROW.terms is not None
    assert [ROW.terms((F32,), attrs(call)) for call in ("torch.sin(a0)", SPECTRUM, SORTED)] == [2, 8, 8]


def test_what_draws_random_numbers_is_listed_apart() -> None:
    assert {name for name in SWITCHES if name.startswith("torch.ops.")} <= RANDOM
    assert not ATEN & RANDOM
    assert "torch.ops.aten.dropout.default" in RANDOM
