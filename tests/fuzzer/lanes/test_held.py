"""Results in dtypes that a case holds in wider ones, and files with such inputs and outputs."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import onnx
import pytest
from given_by_hand import case_of
from onnx import TensorProto, helper

from fuzzer.cases.parts_of_bytes import bits_of, has_parts_of_bytes, not_fed
from fuzzer.lanes.base.compiler_error import OtherDtype
from fuzzer.lanes.base.held import with_held_results
from fuzzer.lanes.onnx.held_ends import as_in_file, with_held_ends
from fuzzer.lanes.onnx.witnesses import by_interpreter
from generators.graph import SMALL_DTYPES, Case
from generators.onnx.small_types import SMALL_TYPES
from oracles.outcome import Built, Ran

ONES = np.ones(2, np.float32)
SMALL = ONES.astype(ml_dtypes.float8_e4m3fn)


def case(**small: str) -> Case:
    return case_of("onnx", "Neg-13", b"", {"x0": "x"}, {"x0": ONES}, opset=19, small=small)


def test_results_are_those_that_the_case_holds() -> None:
    found = with_held_results(case(v0="float8_e4m3fn"), Ran((SMALL,), (SMALL,)))
    assert isinstance(found, Ran)
    assert found.again is not None
    for array in (*found.outputs, *found.again):
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, ONES)


def test_a_result_of_another_dtype_is_a_fault_of_the_compiler() -> None:
    with pytest.raises(OtherDtype, match=r"^output 0 is float32, not float8_e4m3fn$"):
        with_held_results(case(v0="float8_e4m3fn"), Ran((ONES,)))


def test_other_results_stay() -> None:
    ran = Ran((ONES,))
    assert with_held_results(case(x0="float8_e4m3fn"), ran) == ran
    assert with_held_results(replace(case(), given=None), ran) is ran
    assert with_held_results(case(v0="float8_e4m3fn"), Built()) == Built()


def test_numbers_smaller_than_a_byte_are_not_given_to_a_compiled_model() -> None:
    assert not_fed(case(x0="int4")) == "TVM takes no array of numpy for its input 'x' of int4"
    assert (not_fed(case(x0="float8_e5m2")), not_fed(case(v0="int4"))) == ("", "")
    assert (has_parts_of_bytes(case(v0="int4")), has_parts_of_bytes(case(v0="float8_e5m2"))) == (True, False)


def test_the_name_of_a_dtype_says_its_bits() -> None:
    assert {dtype: bits_of(dtype) for dtype in SMALL_DTYPES} == {
        small.name: small.bits for small in SMALL_TYPES.values()
    }


def moved(opset: int = 21) -> onnx.ModelProto:
    """A file that moves numbers of float8."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT8E4M3FN, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def test_references_run_a_file_whose_ends_are_held() -> None:
    model, inputs = with_held_ends(moved(), {"x": ONES})
    onnx.checker.check_model(model, full_check=True)
    assert [item.type.tensor_type.elem_type for item in (*model.graph.input, *model.graph.output)] == [1, 1]
    (y,) = by_interpreter(model, inputs)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, ONES)


def test_a_file_without_such_ends_stays_as_it_is() -> None:
    model, inputs = moved(), {"x": ONES}
    for item in (*model.graph.input, *model.graph.output):
        item.type.tensor_type.elem_type = TensorProto.FLOAT
    same = with_held_ends(model, inputs)
    assert same[0] is model
    assert same[1] is inputs


def test_tvm_gets_an_input_in_the_type_of_the_file() -> None:
    assert as_in_file(moved().graph.input[0], ONES).dtype == ml_dtypes.float8_e4m3fn
