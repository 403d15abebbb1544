"""Scripts of findings with cases of Relax: the module as a class, and the number that the finding is about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from graphs_by_hand import Call, case_of
from records import record

from fuzzer.lanes import MODULE_LANES, MODULE_SAMPLED_LANES
from fuzzer.report import repro, sentences
from fuzzer.report.regression_test import has_test
from fuzzer.report.title import plain_title
from generators.graph import Case, Form, Input
from oracles.finding import Evidence, Kind, Mismatch, WorstElement
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Stage

LLVM = MODULE_LANES[0]
INPUTS = next(lane for lane in MODULE_SAMPLED_LANES if lane.name == "relax-module-inputs")
CALL: Call = ("v0", "relax.add", "x0 w0")


def numbers(item: Input) -> np.ndarray:
    return np.ones(item.value.type.sizes, item.value.type.dtype.numpy)


CASE = case_of({"x0": "float32[2]", "w0": "float32[2]"}, (CALL,), "v0", numbers)
WRONG = Mismatch(0, "2.0", "3.0", WorstElement((1,), 2.0, 3.0, 1e-6, 1e-7, 2.0), 2, 1)


def script(evidence: Evidence, kind: Kind = Kind.WRONG_VALUE, case: Case = CASE, lane: LaneSpec = LLVM) -> str:
    return repro.script(record(case, kind, lane, evidence)).partition("import tvm\n")[2]


def test_a_wrong_value_is_compared_with_the_number_of_the_finding() -> None:
    assert script(WRONG) == (
        "from tvm import relax\n"
        "from tvm.script import ir as I\n"
        "from tvm.script import relax as R\n"
        "\n\n"
        "@I.ir_module\n"
        "class Module:\n"
        "    @R.function\n"
        '    def main(x0: R.Tensor((2,), dtype="float32"), w0: R.Tensor((2,), dtype="float32")):\n'
        '        R.func_attr({"num_input": 1})\n'
        "        with R.dataflow():\n"
        "            v0 = R.add(x0, w0)\n"
        "            R.output(v0)\n"
        "        return v0\n"
        "\n\n"
        'inputs = {"x0": np.ones(2, dtype="float32")}\n'
        'constants = {"w0": np.ones(2, dtype="float32")}\n'
        "\n\n"
        "def run_tvm():\n"
        "    mod = Module.clone()\n"
        '    mod = relax.transform.BindParams("main", {name: tvm.runtime.tensor(x) for name, x in constants.items()})'
        "(mod)\n"
        '    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):\n'
        '        executable = tvm.compile(mod, "llvm")\n'
        "    vm = relax.VirtualMachine(executable, tvm.cpu())\n"
        '    out = vm["main"](*(tvm.runtime.tensor(x) for x in inputs.values()))\n'
        "    return [out.numpy()]\n"
        "\n\n"
        "def wrong_in(results, expected):\n"
        '    """How results differ from what is expected: in their number, dtypes, and shapes."""\n'
        "    found = [(str(got.dtype), got.shape) for got in results]\n"
        '    wrong = [] if found == expected else [f"results of {found} instead of {expected}"]\n'
        "    # the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
        "    if not wrong and not abs(float(results[0][1]) - 2.0) <= 1e-06:\n"
        '        wrong.append("result 0 is wrong at [1]: 2.0 is expected, by the definitions of the operators")\n'
        "    return wrong\n"
        "\n\n"
        'expected, got = [("float32", (2,))], run_tvm()\n'
        "wrong = wrong_in(got, expected)\n"
        'print("expected:", *expected, sep="\\n")\n'
        'print("actual:", *got, sep="\\n")\n'
        "if wrong:\n"
        '    print("the bug is there:", *wrong, sep="\\n")\n'
        "else:\n"
        '    print("the bug is gone: number, shapes and dtypes of the results are right, '
        'and the value that this script knows")\n'
        "sys.exit(1 if wrong else 0)\n"
    )


def test_types_and_the_number_of_results_are_those_of_the_case() -> None:
    for kind in (Kind.WRONG_SHAPE, Kind.WRONG_DTYPE, Kind.WRONG_ARITY):
        text = script(Mismatch(0, "a", "b"), kind)
        assert "    found = [(str(got.dtype), got.shape) for got in results]\n" in text
        assert '\nexpected, got = [("float32", (2,))], run_tvm()\nwrong = wrong_in(got, expected)\n' in text


def test_parameters_that_stay_inputs_are_given_to_main() -> None:
    text = script(WRONG, lane=INPUTS)
    assert (
        'mod["main"] = mod["main"].with_attr("params", [tvm.runtime.tensor(x) for x in constants.values()])\n' in text
    )
    assert 'out = vm["main"](*(tvm.runtime.tensor(x) for x in inputs.values()), *params)\n' in text


def test_a_module_that_is_not_parsed_is_text() -> None:
    text = script(Raised(Stage.IMPORT, "tvm.error.DiagnosticError", "it is wrong"), Kind.REJECTED)
    assert '\ntext = """\n@I.ir_module\nclass Module:\n' in text
    assert "    mod = from_source(text, check_well_formed=False)\n" in text
    assert "from tvm.script import from_source\n" in text


def test_what_a_module_calls_by_name_is_registered_and_functions_in_main_are_lifted() -> None:
    calls: tuple[Call, ...] = (("v0", "relax.call_dps_packed-double", "x0"), ("v1", "relax.add:local", "v0 w0"))
    written = script(WRONG, case=case_of({"x0": "float32[2]", "w0": "float32[2]"}, calls, "v1", numbers))
    assert (
        '@tvm.register_global_func("difftvm.double_into", override=True)\n'
        "def double_into(a, result):\n"
        "    result.copyfrom(a.numpy() * 2)\n"
    ) in written
    assert (
        "    mod = Module.clone()\n"
        "    mod = relax.transform.LambdaLift()(mod)\n"
        '    mod = relax.transform.BindParams("main", '
    ) in written


def test_a_script_needs_no_pytorch() -> None:
    assert "torch" not in repro.script(record(CASE, Kind.WRONG_VALUE, LLVM, WRONG))


def test_words_of_a_report() -> None:
    branch = replace(CASE.graph, nodes=(replace(CASE.graph.nodes[0], form=Form.BRANCH),))
    finding = record(replace(CASE, graph=branch), Kind.WRONG_VALUE, LLVM, WRONG)
    assert plain_title(finding) == "`R.add` gives wrong values (in If)"
    assert sentences.expected(finding) == "The result agrees with that of the definitions of the operators."
    rejected = record(CASE, Kind.REJECTED, LLVM, Raised(Stage.IMPORT, "TypeError", "it is wrong"))
    assert plain_title(rejected) == "`from_source` on `R.add` fails: it is wrong"


def test_a_regression_test_shows_no_values() -> None:
    assert not has_test(record(CASE, Kind.WRONG_VALUE, LLVM, WRONG).doc)
    failed = record(CASE, Kind.INTERNAL_ERROR, LLVM, Raised(Stage.COMPILE, "TypeError", "it is wrong"))
    assert has_test(failed.doc)
