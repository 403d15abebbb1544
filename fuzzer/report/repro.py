"""`repro.py`: a script that shows one finding with torch, TVM and numpy alone, fit for a bug report."""

from __future__ import annotations

import base64
import pprint
import zlib
from typing import assert_never

import numpy as np

from fuzzer.triage.investigate import Confirmed
from generators.graph import Array, Role
from generators.torch_source import render
from oracles.finding import Finding, Kind, Mismatch, Worst
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Died, Raised, TimedOut

INLINE = 600
"""Elements up to which an array is written out."""


def script(found: Confirmed, slug: str) -> str:
    """The source. It prints what is expected and what is there; exit code 1: the bug is there, 0: gone, 2: cannot tell."""
    case, finding = found.case, found.finding
    lane = finding.lane
    params, inputs = (
        [f"    {name}={literal(array)},  # {list(array.shape)}" for name, array in case.arrays(role).items()]
        for role in (Role.PARAM, Role.INPUT)
    )
    subprocess = isinstance(finding.evidence, Died | TimedOut)
    parts = [
        f'"""{slug}\n\n{headline(finding)}\nExits 1 while the bug is there, 0 when it is gone, 2 when it cannot tell.\n"""\n',
        _imports(lane, subprocess),
        render(case.bound).split("\n\n\n", 1)[1] if "\n\n\n" in render(case.bound) else render(case.bound),
        "\n".join(["params = dict(", *params, ")", "inputs = dict(", *inputs, ")"]) + "\n",
        _RUN_MODEL,
        _lane_function(lane),
        _verdict(finding),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def headline(finding: Finding) -> str:
    """One sentence for a person."""
    lane = finding.lane.name
    match finding.evidence:
        case Raised(stage=stage, type=name, message=message):
            first = message.strip().split("\n")[0][:160]
            return f"{lane} refuses a valid PyTorch model in its {stage} step: {name}: {first}"
        case Died(stage=stage, cause=cause, code=code):
            return f"{lane} ends its process in its {stage} step ({cause} {code})."
        case TimedOut(stage=stage, seconds=seconds):
            return f"{lane} does not come back from its {stage} step within {seconds:.0f} s."
        case Mismatch() as m:
            if finding.kind is Kind.UNSTABLE:
                return f"{lane}: a second run on the same inputs gives another result; {m.actual}."
            return f"{lane}: output {m.output} should be {m.expected}, but is {m.actual}."
        case _:
            assert_never(finding.evidence)


def literal(array: Array) -> str:
    """An expression that makes exactly this array as a tensor."""
    shape, dtype = tuple(array.shape), f"torch.{array.dtype}"
    if array.size and bool(np.all(array == array.flat[0])) and float(array.flat[0]) in (0.0, 1.0):
        make = "ones" if array.flat[0] else "zeros"
        return f"torch.{make}({shape}, dtype={dtype})"
    if array.size > INLINE:
        packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
        return f"torch.frombuffer(bytearray(zlib.decompress(base64.b85decode({packed!r}))), dtype={dtype}).reshape({shape})"
    numbers = pprint.pformat(array.tolist(), width=100, compact=True).replace("\n", "\n        ")
    for word in ("nan", "inf"):
        numbers = numbers.replace(word, f'float("{word}")')
    return f"torch.tensor({numbers}, dtype={dtype})"


_RUN_MODEL = """
model = Model(**params).eval() if params else Model().eval()
with torch.no_grad():
    expected = [output.numpy() for output in model(*inputs.values())]
"""


def _imports(lane: LaneSpec, subprocess: bool) -> str:
    modules = ["base64", "sys", "zlib"] + (["subprocess"] if subprocess else [])
    if lane.importer is Importer.ONNX:
        modules.append("io")
    if lane.target == "c":
        modules += ["os", "tempfile"]
    lines = [f"import {name}" for name in sorted(modules)] + ["", "import numpy as np"]
    if lane.importer is Importer.ONNX:
        lines.append("import onnx")
        lines.append("import onnxruntime") if lane.engine is Engine.ONNXRUNTIME else None
    lines += ["import torch", "import torch.nn.functional as F"]
    if lane.engine is Engine.TVM:
        frontend = "onnx import from_onnx" if lane.importer is Importer.ONNX else "torch import from_exported_program"
        lines += ["import tvm", "from tvm import relax", f"from tvm.relax.frontend.{frontend}"]
    if lane.importer is Importer.ONNX:
        lines.append("from onnxscript import ir, optimizer")
    return "\n".join(lines)


_ONNX = """
    file = io.BytesIO()
    torch.onnx.export(model, tuple(inputs.values()), file, dynamo=False, input_names=list(inputs))
    folded = ir.serde.deserialize_model(onnx.load_from_string(file.getvalue()))
    optimizer.fold_constants(folded, onnx_shape_inference=True, should_fold=lambda node: True)
    optimizer.remove_unused_nodes(folded)
    onnx_model = ir.serde.serialize_model(folded)
"""
_ONNXRUNTIME = """
    session = onnxruntime.InferenceSession(onnx_model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [session.run(None, {item.name: inputs[item.name].numpy() for item in session.get_inputs()})] * 2
"""
_FROM_ONNX = """
    mod = from_onnx(onnx_model)
    weights = {item.name for item in onnx_model.graph.initializer}
    args = [inputs[item.name] for item in onnx_model.graph.input if item.name not in weights]
"""
_FROM_EXPORT = """
    mod = from_exported_program(torch.export.export(model, tuple(inputs.values())))
    args = list(inputs.values())
"""
_C_LIBRARY = """
    path = os.path.join(tempfile.mkdtemp(), "model.so")
    executable.export_library(path, cc="gcc")
    executable = tvm.runtime.load_module(path)
"""
_RUN_TWICE = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    results = []
    for _ in range(2):
        out = vm["main"](*(tvm.runtime.tensor(arg.numpy()) for arg in args))
        results.append([out.numpy()] if hasattr(out, "numpy") else [item.numpy() for item in out])
    return results
"""


def _lane_function(lane: LaneSpec) -> str:
    """`run_lane()`: the results of two runs."""
    body = _ONNX if lane.importer is Importer.ONNX else ""
    if lane.engine is Engine.ONNXRUNTIME:
        body += _ONNXRUNTIME
    else:
        body += _FROM_ONNX if lane.importer is Importer.ONNX else _FROM_EXPORT
        body += f'    executable = tvm.compile(mod, target="{lane.target}")\n'
        body += (_C_LIBRARY if lane.target == "c" else "") + _RUN_TWICE
    return "def run_lane():\n" + "\n".join(line for line in body.split("\n") if line.strip())


def _verdict(finding: Finding) -> str:
    match finding.evidence:
        case Raised(type=name):
            return _VERDICT_RAISED.format(short=name.rpartition(".")[2])
        case Died():
            return _VERDICT_DIED
        case TimedOut(seconds=seconds):
            return _VERDICT_TIMED_OUT.format(seconds=max(10, int(seconds)))
        case Mismatch(output=output, worst=worst):
            return _VERDICT_COMPARED.format(output=output, compare=_comparison(finding, worst))
        case _:
            assert_never(finding.evidence)


def _comparison(finding: Finding, worst: Worst | None) -> str:
    """The lines that set `wrong`, from `want`, `got` and `again`."""
    match finding.kind:
        case Kind.WRONG_ARITY:
            return "wrong = len(first) != len(expected)"
        case Kind.WRONG_SHAPE:
            return "wrong = got.shape != want.shape"
        case Kind.WRONG_DTYPE:
            return "wrong = got.dtype != want.dtype"
        case Kind.UNSTABLE:
            return "wrong = got.tobytes() != again.tobytes() or not np.allclose(got, want, 1e-3, 1e-3, equal_nan=True)"
        case _ if worst is not None and worst.tolerance > 0:
            at = f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
            return (
                f"# the tolerance is measured: how far perturbed float64 evaluations of the model stray at this element\n"
                f"difference = abs(float(got{at}) - float(want{at}))\n"
                f"wrong = not difference <= {worst.tolerance!r}"
            )
        case _:
            return "wrong = not np.array_equal(got, want, equal_nan=want.dtype.kind == 'f')"


_VERDICT_RAISED = """
try:
    run_lane()
except Exception as error:
    print("expected: a result, as PyTorch gives:", expected)
    print(f"actual: {{type(error).__name__}}: {{error}}")
    sys.exit(1 if type(error).__name__ == "{short}" else 2)
print("the bug is gone: the lane gives a result")
"""
_VERDICT_DIED = """
if sys.argv[1:] == ["run"]:
    run_lane()
    sys.exit(0)
status = subprocess.run([sys.executable, __file__, "run"]).returncode
print("expected: a result, as PyTorch gives:", expected)
print("actual: the process", f"died of signal {-status}" if status < 0 else f"ended with status {status}")
sys.exit(1 if status < 0 else 2 if status else 0)
"""
_VERDICT_TIMED_OUT = """
if sys.argv[1:] == ["run"]:
    run_lane()
    sys.exit(0)
try:
    status = subprocess.run([sys.executable, __file__, "run"], timeout={seconds}).returncode
except subprocess.TimeoutExpired:
    print("actual: no result within {seconds} s; expected:", expected)
    sys.exit(1)
sys.exit(2 if status else 0)
"""
_VERDICT_COMPARED = """
first, second = run_lane()
want, got, again = (results[min({output}, len(results) - 1)] for results in (expected, first, second))
{compare}
print("expected:", len(expected), "outputs; output {output} is", want.dtype, want.shape)
print(want)
print("actual:", len(first), "outputs; output {output} is", got.dtype, got.shape)
print(got)
print("the bug is there" if wrong else "the bug is gone")
sys.exit(1 if wrong else 0)
"""
