"""Compiling `torch.isfinite` fails: Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false (where x0
is of floats)

Exits 1 while the bug is there, 0 when it is gone, 125 when it cannot tell. (difftvm 295716393534)
"""

import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # other failures: cannot tell

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x0):
        v0 = torch.isfinite(x0)  # bool[2,3]
        return (v0,)


torch.set_grad_enabled(False)
model = Model().eval()
inputs = (torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]),)
expected = [output.numpy() for output in model(*inputs)]


def run_tvm():
    mod = from_exported_program(torch.export.export(model, inputs))
    executable = tvm.compile(mod, "llvm")
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(x.numpy()) for x in inputs))
    return [x.numpy() for x in out]


def wrong_in(results, expected):
    """How results differ from what is expected: in their number, shapes, dtypes, and values."""
    if len(results) != len(expected):
        return [f"{len(results)} results instead of {len(expected)}"]
    wrong = []
    for place, (got, want) in enumerate(zip(results, expected)):
        if got.dtype != want.dtype:
            wrong.append(f"result {place} is {got.dtype} instead of {want.dtype}")
        if got.shape != want.shape:
            wrong.append(f"result {place} has the shape {got.shape} instead of {want.shape}")
        elif not np.array_equal(got, want):
            wrong.append(f"result {place} has wrong values")
    return wrong


try:
    got = run_tvm()
except Exception as error:
    print("expected: no error; PyTorch gives", *expected)
    print(f"actual: {type(error).__name__}: {error}")
    same = type(error).__name__ == "InternalError"
    sys.exit(1 if same and "Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is" in str(error) else 125)
wrong = wrong_in(got, expected)
if wrong:
    print("the bug is there:", *wrong, sep="\n")
else:
    print("the bug is gone: number, shapes, dtypes and values of the results are those of PyTorch")
sys.exit(1 if wrong else 0)
