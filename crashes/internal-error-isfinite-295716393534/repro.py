"""Compiling `torch.isfinite` fails: Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false (where x0
is of floats)

Exits 1 while the bug is there, 0 when it is gone, 125 when it cannot tell. (difftvm 295716393534)
"""

import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # other failures: cannot tell

import torch
import tvm
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


try:
    run_tvm()
except Exception as error:
    print("expected: no error; PyTorch gives", *expected)
    print(f"actual: {type(error).__name__}: {error}")
    same = type(error).__name__ == "InternalError"
    sys.exit(1 if same and "Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is" in str(error) else 125)
print("the bug is gone: there is no error")
