"""The part of `repro.py` that says what is differentiated, and what torch.autograd makes of it."""

from __future__ import annotations

from fuzzer import gradient
from generators.graph import Case

_EXPECTED = '''
class WeightedSum(torch.nn.Module):
    """The model's float outputs times fixed numbers, summed: a scalar to differentiate."""

    def __init__(self):
        super().__init__()
        self.model = model
        for i, output in enumerate(model(*inputs)):
            random = np.random.RandomState(i)
            numbers = random.uniform(0.5, 1.5, output.shape) * random.choice([-1.0, 1.0], output.shape)
            self.register_buffer(f"weight{i}", torch.from_numpy(np.asarray(numbers)).to(output.dtype))

    def forward(self, *args):
        outputs = self.model(*args)
        terms = [(outputs[i] * getattr(self, f"weight{i}")).sum() for i in @COUNTING@]
        return sum(terms[1:], terms[0])


summed = WeightedSum()
leaves = [inputs[i].requires_grad_() for i in @LEAVES@]
with torch.enable_grad():
    value = summed(*inputs)
    gradients = torch.autograd.grad(value, leaves, allow_unused=True, materialize_grads=True)
expected = [output.detach().numpy() for output in (value, *gradients)]
for leaf in leaves:
    leaf.requires_grad_(False)
'''
_BATCH_NORM = """
    text = mod.script()
    if "R.nn.batch_norm" in text:  # it has no gradient, what it decomposes into has
        kind = "Training" if "training=True" in text else "Inference"
        mod = getattr(relax.transform, f"DecomposeOpsFor{kind}")("main")(mod)
"""
_IMPORT = """
    mod = from_exported_program(torch.export.export(summed, inputs), unwrap_unit_return_tuple=True)
@BATCH_NORM@
    wanted = [mod["main"].params[i] for i in @LEAVES@]
    mod = relax.transform.Gradient("main", require_grads=wanted)(mod)
"""
RUN = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    value, gradients = vm["main_adjoint"](*(tvm.runtime.tensor(x.numpy()) for x in inputs))
    return [value.numpy(), *(item.numpy() for item in gradients)]
"""


def _leaves(case: Case) -> list[int]:
    """Their positions among the function's arguments."""
    return [[item.value.name for item in case.graph.inputs].index(name) for name in gradient.leaves(case)]


def expected(case: Case) -> str:
    counting = [i for i, weight in enumerate(gradient.weights(case)) if weight is not None]
    return _EXPECTED.replace("@COUNTING@", str(counting)).replace("@LEAVES@", str(_leaves(case)))


def imported(case: Case) -> str:
    """The lines that make `mod`, differentiated."""
    norm = _BATCH_NORM if any("norm" in op for op in case.graph.ops) else ""
    return _IMPORT.replace("@BATCH_NORM@", norm).replace("@LEAVES@", str(_leaves(case)))
