"""Compiling `torch.isfinite` fails: Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false (where x0
is bfloat16, float16, float32 or float64)

For tests/python/codegen/test_target_codegen_llvm.py of TVM. (difftvm 295716393534)
"""

import torch
import tvm
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


@torch.no_grad()
def test_isfinite_internal_error():
    class Model(torch.nn.Module):
        def forward(self, x0):
            v0 = torch.isfinite(x0)  # bool[2,3]
            return (v0,)

    model = Model().eval()
    inputs = (torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]),)
    expected = [output.numpy() for output in model(*inputs)]

    def run_tvm():
        mod = from_exported_program(torch.export.export(model, inputs))
        executable = tvm.compile(mod, "llvm")
        vm = relax.VirtualMachine(executable, tvm.cpu())
        out = vm["main"](*(tvm.runtime.tensor(x.numpy()) for x in inputs))
        return [x.numpy() for x in out]

    actual = run_tvm()
    assert len(actual) == len(expected)
    for got, want in zip(actual, expected):
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        tvm.testing.assert_allclose(got, want, rtol=1e-05, atol=1e-05)


if __name__ == "__main__":
    tvm.testing.main()
