"""Whether an exception in a lane is a fault of difftvm or of the compiler that the lane calls."""

from __future__ import annotations

import json
import sysconfig
from typing import Any

import pytest

from fuzzer.children.own_faults import ROOT, is_own_fault
from fuzzer.lanes.base.compiler_error import CompilerError

LANE = f"{ROOT}fuzzer/lanes/relax/build.py"
OTHER_LANE = f"{ROOT}fuzzer/lanes/relax_lane.py"
TVM = f"{sysconfig.get_path('purelib')}/tvm/relax/vm_build.py"
NUMPY = f"{sysconfig.get_path('purelib')}/numpy/lib/_shape.py"
JSON = json.decoder.__file__


def raised_through(*files: str, error: Exception) -> Exception:
    """The error, as it comes out of one function in each of these files. The last of them raises it."""
    names: dict[str, Any] = {"error": error}
    body = "raise error"
    for file in reversed(files):
        exec(compile(f"def function():\n    {body}", file, "exec"), names)
        names, body = {"inner": names["function"]}, "inner()"
    with pytest.raises(type(error)) as raised:
        names["inner"]()
    return error.with_traceback(raised.tb.tb_next)  # without this function


@pytest.mark.parametrize(
    ("files", "own"),
    [
        ((LANE,), True),
        ((OTHER_LANE, LANE), True),
        ((LANE, TVM), False),
        ((LANE, TVM, LANE), True),  # TVM calls a function of ours
        ((LANE, "<case>"), False),  # the module that is compiled
        ((LANE, "python/tvm_ffi/cython/function.pxi"), False),
        ((LANE, "/project/src/runtime/vm/vm.cc"), False),
        ((LANE, JSON), True),
        ((LANE, "<frozen importlib._bootstrap>"), True),
        ((LANE, NUMPY), True),
        ((LANE, TVM, NUMPY), False),
        ((LANE, TVM, JSON), False),
        ((LANE, f"{ROOT}fuzzer/lanes/faulty.py"), False),
        (("/home/me/fuzzer.py",), False),
    ],
)
def test_the_innermost_frame_decides(files: tuple[str, ...], own: bool) -> None:
    assert is_own_fault(raised_through(*files, error=KeyError("x"))) is own


def test_a_lane_reports_what_a_compiler_did() -> None:
    assert not is_own_fault(raised_through(LANE, error=CompilerError("nvcc refuses the code")))


def test_an_exception_that_was_never_raised_has_no_frame() -> None:
    assert not is_own_fault(ValueError())
