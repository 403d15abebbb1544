"""How a graph of Relax is written in TVMScript."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attr, Case, Form, Graph, Input, Node, Role, Symbol, TensorType, Value
from generators.relax.calls import called
from generators.relax.dialect import DIALECT
from generators.relax.ops import TABLE
from generators.relax.source import inputs_of_module, module, render, text, written


def values(**types: str) -> tuple[Input, ...]:
    roles = {"x": Role.INPUT, "w": Role.PARAM}
    return tuple(Input(Value(name, TensorType.parse(type)), roles[name[0]]) for name, type in types.items())


def node(op: str, args: str, results: str, form: Form = Form.PLAIN, **attrs: Attr) -> Node:
    made = dict(each.split(":") for each in results.split())
    named = tuple(Value(name, TensorType.parse(type)) for name, type in made.items())
    return Node(f"relax.{op}", tuple(args.split()), attrs, named, form)


def graph(inputs: tuple[Input, ...], *nodes: Node, outputs: str, symbols: tuple[Symbol, ...] = ()) -> Graph:
    return Graph(inputs, nodes, tuple(outputs.split()), DIALECT.name, symbols)


HEAD = "@I.ir_module\nclass Module:\n    @R.function\n    def main("


def test_calls_that_may_be_in_one_dataflow_block_are_in_one() -> None:
    made = graph(
        values(x0="float32[2,3]", w0="float32[3]"),
        node("add", "x0 w0", "v0:float32[2,3]"),
        node("sum", "v0", "v1:float32[2]", axis=(1,), keepdims=False),
        outputs="v1",
    )
    assert render(made) == HEAD + (
        'x0: R.Tensor((2, 3), dtype="float32"), w0: R.Tensor((3,), dtype="float32")):\n'
        '        R.func_attr({"num_input": 1})\n'
        "        with R.dataflow():\n"
        "            v0 = R.add(x0, w0)\n"
        "            v1 = R.sum(v0, axis=[1])\n"
        "            R.output(v1)\n"
        "        return v1\n"
    )


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (Form.BINDING, ["v0 = R.add(x0, x1)"]),
        (Form.BRANCH, ["if cond:", "    v0 = R.add(x0, x1)", "else:", "    v0 = R.add(x0, x1)"]),
        (
            Form.TUPLE,
            [
                "with R.dataflow():",
                "    a_v0 = (x0, (x0, x1,))",
                "    v0 = R.add(a_v0[1][0], a_v0[1][1])",
                "    R.output(v0)",
            ],
        ),
        (
            Form.MATCH_CAST,
            [
                "with R.dataflow():",
                '    m_v0 = R.match_cast(x0, R.Tensor((2,), dtype="float32"))',
                "    v0 = R.add(m_v0, x1)",
                "    R.output(v0)",
            ],
        ),
    ],
)
def test_a_form_is_written(form: Form, lines: list[str]) -> None:
    made = graph(values(x0="float32[2]", x1="float32[2]"), node("add", "x0 x1", "v0:float32[2]", form), outputs="v0 x1")
    body = "".join(f"        {line}\n" for line in lines)
    number = 3 if form is Form.BRANCH else 2
    assert render(made).endswith(f'        R.func_attr({{"num_input": {number}}})\n{body}        return (v0, x1)\n')


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (Form.TWICE, ["n_v0 = R.where(x0, x1, x2)", "v0 = R.where(x0, x1, x2)"]),
        (Form.SAME_NAME, ["v0 = (x0, x1, x2,)", "v0 = R.where(v0[0], v0[1], v0[2])"]),
        (
            Form.CLOSURE,
            [
                "@R.function",
                'def c_v0(a1: R.Tensor((2,), dtype="int8"), a2: R.Tensor((2,), dtype="int8")) -> '
                'R.Tensor((2,), dtype="int8"):',
                "    with R.dataflow():",
                "        result = R.where(x0, a1, a2)",
                "        R.output(result)",
                "    return result",
                "v0 = c_v0(x1, x2)",
            ],
        ),
    ],
)
def test_a_form_is_written_in_a_dataflow_block(form: Form, lines: list[str]) -> None:
    call = node("where", "x0 x1 x2", "v0:int8[2]", form)
    made = module(graph(values(x0="bool[2]", x1="int8[2]", x2="int8[2]"), call, outputs="v0"))
    body = "".join(f"            {line}\n" for line in (*lines, "R.output(v0)"))
    assert made.text.endswith(f"        with R.dataflow():\n{body}        return v0\n")
    assert made.is_lifted is (form is Form.CLOSURE)


def test_open_sizes_of_what_a_function_in_main_returns() -> None:
    call = node("nn.relu", "x0", "v0:float32[n]", Form.LOCAL)
    made = render(graph(values(x0="float32[n]"), call, outputs="v0", symbols=(Symbol("n", 1, 4),)))
    assert '            def c_v0(a0: R.Tensor((n,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):\n' in made
    assert '            v0 = R.match_cast(r_v0, R.Tensor((n,), dtype="float32"))\n' in made


def test_a_recursive_function_counts_its_calls() -> None:
    call = node("nn.relu", "x0", "v0:int8[n]", Form.RECURSION)
    made = render(graph(values(x0="int8[n]"), call, outputs="v0", symbols=(Symbol("n", 1, 4),)))
    assert made.startswith(
        "@I.ir_module\n"
        "class Module:\n"
        "    @R.function(private=True)\n"
        '    def f_v0(count: R.Tensor((), dtype="int64"), sizes: R.Shape(["n"]), a0: R.Tensor(("n",), dtype="int8")) '
        '-> R.Tensor(("n",), dtype="int8"):\n'
        "        n = T.int64()\n"
        "        cls = Module\n"
        '        more = R.greater(count, R.const(0, "int64"))\n'
        "        if more:\n"
        '            less = R.subtract(count, R.const(1, "int64"))\n'
        "            result = cls.f_v0(less, R.shape([n]), a0)\n"
        "        else:\n"
        "            result = R.nn.relu(a0)\n"
        "        return result\n"
    )
    assert 'v0 = cls.f_v0(R.const(2, "int64"), R.shape([n]), x0)' in made


def test_a_private_function_takes_sizes_as_numbers() -> None:
    call = node("nn.relu", "x0", "v0:int8[3,2*n]", Form.PRIMITIVE)
    made = render(graph(values(x0="int8[3,2*n]"), call, outputs="v0", symbols=(Symbol("n", 1, 4),)))
    assert '    def f_v0(s0: T.int64, s1: T.int64, a0: R.Tensor(("s0", "s1"), dtype="int8")):\n' in made
    assert "            r_v0 = cls.f_v0(T.int64(3), 2 * n, x0)\n" in made
    assert '            v0 = R.match_cast(r_v0, R.Tensor((3, 2 * n), dtype="int8"))\n' in made


def test_functions_that_are_called_by_name_are_helpers() -> None:
    calls = (
        node("call_pure_packed-double", "x0", "v0:float32[2]"),
        node("call_dps_packed-difference", "v0 x0", "v1:float32[2]"),
        node("call_pure_packed-double", "v1", "v2:float32[2]"),
    )
    made = module(graph(values(x0="float32[2]"), *calls, outputs="v2"))
    assert 'v0 = R.call_pure_packed("difftvm.double", x0, ty_args=(R.Tensor((2,), dtype="float32"),))' in made.text
    assert (
        'v1 = R.call_dps_packed("difftvm.difference_into", (v0, x0,), out_ty=R.Tensor((2,), dtype="float32"))'
        in made.text
    )
    assert [helper.splitlines()[1] for helper in made.helpers] == [
        "def double(a):",
        "def difference_into(a, b, result):",
    ]
    assert not made.is_lifted


def test_sizes_of_the_operand_are_variables() -> None:
    call = node("sum", "x0", "v0:float32[2]", Form.OPEN, axis=(1,), keepdims=False)
    assert render(graph(values(x0="float32[2,3]"), call, outputs="v0")).endswith(
        "        with R.dataflow():\n"
        "            v0_0 = T.int64()\n"
        "            v0_1 = T.int64()\n"
        '            m_v0 = R.match_cast(x0, R.Tensor((v0_0, v0_1), dtype="float32"))\n'
        "            r_v0 = R.sum(m_v0, axis=[1])\n"
        '            v0 = R.match_cast(r_v0, R.Tensor((2,), dtype="float32"))\n'
        "            R.output(v0)\n"
        "        return v0\n"
    )


def test_a_private_function_takes_open_sizes_first() -> None:
    made = graph(
        values(x0="float32[n,2*n]"),
        node("nn.relu", "x0", "v0:float32[n,2*n]", Form.SUBROUTINE),
        outputs="v0",
        symbols=(Symbol("n", 1, 4),),
    )
    assert render(made) == (
        "@I.ir_module\n"
        "class Module:\n"
        "    @R.function(private=True)\n"
        '    def f_v0(sizes: R.Shape(["n"]), a0: R.Tensor(("n", "2 * n"), dtype="float32")) -> '
        'R.Tensor(("n", "2 * n"), dtype="float32"):\n'
        "        n = T.int64()\n"
        "        with R.dataflow():\n"
        "            result = R.nn.relu(a0)\n"
        "            R.output(result)\n"
        "        return result\n"
        "\n"
        "    @R.function\n"
        '    def main(x0: R.Tensor(("n", "2 * n"), dtype="float32")):\n'
        '        R.func_attr({"num_input": 1})\n'
        "        n = T.int64()\n"
        "        cls = Module\n"
        "        with R.dataflow():\n"
        "            v0 = cls.f_v0(R.shape([n]), x0)\n"
        "            R.output(v0)\n"
        "        return v0\n"
    )


def test_results_of_several_are_items_of_a_tuple() -> None:
    call = node("split", "x0", "v0:float32[1] v1:float32[1]", Form.BINDING, indices_or_sections=2, axis=0)
    written = render(graph(values(x0="float32[2]"), call, outputs="v1"))
    assert "        t_v0 = R.split(x0, indices_or_sections=2)\n        v0 = t_v0[0]\n        v1 = t_v0[1]\n" in written


def test_operands_stand_where_the_operator_takes_them() -> None:
    assert text(node("full", "x0", "v0:float32[2,2]", shape=(2, 2))) == ["v0 = R.full(shape=[2, 2], fill_value=x0)"]
    assert text(node("concat", "x0 x1", "v0:float32[4]", axis=0)) == ["v0 = R.concat((x0, x1,))"]
    assert text(node("index_put", "x0 x1 x2 x3", "v0:float32[4,4]", accumulate=True)) == [
        "v0 = R.index_put(x0, (x1, x2,), x3, accumulate=True)"
    ]


def test_arguments_that_are_no_literals() -> None:
    assert text(node("shape_to_tensor", "x0", "v0:int64[2]")) == ["v0 = R.shape_to_tensor(R.shape_of(x0))"]
    called = node("layout_transform", "x0", "v0:int8[2,2]", index_map="lambda i0: (i0 // 2, i0 % 2,)", pad_value=None)
    assert text(called) == ["v0 = R.layout_transform(x0, index_map=lambda i0: (i0 // 2, i0 % 2,))"]


def test_a_result_of_no_known_size_is_given_its_type_in_each_branch() -> None:
    call = node("dynamic_strided_slice", "x0", "v0:float32[1]", Form.BRANCH, begin=(0,), end=(1,), strides=(1,))
    lines = [
        'u_v0 = R.dynamic_strided_slice(x0, begin=R.const([0], "int64"), end=R.const([1], "int64"), '
        'strides=R.const([1], "int64"))',
        'v0 = R.match_cast(u_v0, R.Tensor((1,), dtype="float32"))',
    ]
    body = "".join(f"            {line}\n" for line in lines)
    made = render(graph(values(x0="float32[2]"), call, outputs="v0"))
    assert made.endswith(f"        if cond:\n{body}        else:\n{body}        return v0\n")


def test_a_kernel_is_a_function_of_the_module() -> None:
    call = node("call_tir-row_sum", "x0", "v0:float32[2]")
    made = render(graph(values(x0="float32[2,n]"), call, outputs="v0", symbols=(Symbol("n", 1, 4),)))
    assert made.startswith(
        "@I.ir_module\n"
        "class Module:\n"
        "    @T.prim_func(private=True, s_tir=True)\n"
        "    def row_sum_v0(a_handle: T.handle, c_handle: T.handle):\n"
        "        n0 = T.int64()\n"
        '        a = T.match_buffer(a_handle, (T.int64(2), n0), "float32")\n'
        '        c = T.match_buffer(c_handle, (T.int64(2),), "float32")\n'
        "        for i0, i1 in T.grid(T.int64(2), n0):\n"
        '            with T.sblock("block"):\n'
        '                v0, v1 = T.axis.remap("SR", [i0, i1])\n'
        "                with T.init():\n"
        "                    c[v0] = T.float32(0)\n"
        "                c[v0] = c[v0] + a[v0, v1]\n"
    )
    assert 'v0 = R.call_tir(cls.row_sum_v0, (x0,), out_ty=R.Tensor((2,), dtype="float32"))' in made


def test_branches_read_a_condition_that_is_an_input() -> None:
    call = node("nn.relu", "x0", "v0:float32[2]", Form.BRANCH)
    case = Case(graph(values(x0="float32[2]"), call, outputs="v0"), {"x0": np.zeros(2, np.float32)})
    assert {name: str(array.dtype) for name, array in inputs_of_module(case).items()} == {
        "x0": "float32",
        "cond": "bool",
    }
    plain = replace(case, graph=replace(case.graph, nodes=(replace(call, form=Form.PLAIN),)))
    assert list(inputs_of_module(plain)) == ["x0"]


def test_words_of_reports() -> None:
    call = node("nn.relu", "x0", "v0:float32[2]", Form.SUBROUTINE)
    assert (called(call), written(call)) == ("R.nn.relu", "in a private function")
    assert called(node("call_tir-turn", "x0", "v0:float32[2,2]")) == "R.call_tir"


def test_the_builder_makes_no_tensor_without_elements() -> None:
    builder = Builder(NumpySource(2), dialect=DIALECT.name)
    assert all(0 not in builder.shape(2) for _ in range(300))
    assert TABLE["relax.add"].name in DIALECT.rows()
