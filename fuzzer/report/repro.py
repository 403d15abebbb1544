"""`repro.py`: a script that shows one finding with torch, TVM and numpy alone, fit for a bug report."""

from __future__ import annotations

import base64
import pprint
import re
import signal
import textwrap
import zlib
from typing import assert_never

import numpy as np

from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.signature import readable
from generators.graph import Array, Case, DType, Input, Layout
from generators.torch_source import HEADER, render
from oracles.finding import PYTORCH, Excess, Finding, Kind, Mismatch, SideEffect, Worst
from oracles.lane import DEFAULT_OPT_LEVEL, Engine, Importer, LaneSpec
from oracles.outcome import Cause, Died, IllFormed, Mutant, Raised, TimedOut

INLINE = 600
"""Elements up to which an array is written out."""


def script(found: Confirmed, slug: str) -> str:
    """The source. It prints expected and actual; exits 1 while the bug is there, 0 when gone, 2 if it cannot tell."""
    finding = found.finding
    told = textwrap.fill(headline(finding), 110, break_long_words=False)
    graph = found.case.bound
    seen = [item.value.type for item in graph.inputs if not item.role.is_owned] + list(graph.output_types)
    half = any(type.dtype is DType.BFLOAT16 for type in seen)
    blocks = [
        render(graph).removeprefix(HEADER),
        *([_AS_NUMPY] if half else []),
        _data(found.case),
        _lane_function(finding.lane),
        _verdict(finding),
    ]
    body = "\n\n".join(block.strip("\n") for block in blocks)
    if half:
        body = re.sub(r"\b(arg|output)\.numpy\(\)", r"as_numpy(\1)", body)
    body = re.sub(r"\n{2,}(?=def |class )|(?<=\S)\n\n(?=torch.set_grad|result|try|if )", "\n\n\n", body)
    exits = "Exits 1 while the bug is there, 0 when it is gone, 2 when it cannot tell."
    return f'"""{slug}\n\n{told}\n{exits}\n"""\n\n{_imports(body)}\n\n\n{body.strip()}\n'


def _data(case: Case) -> str:
    """Model, inputs, and what eager PyTorch makes of them."""
    params = "\n".join(f"    {name}={literal(array)}," for name, array in case.owned.items())
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    inputs = "\n".join(f"    {item.value.name}={_laid_out(item, case.tensors[item.value.name])}," for item in items)
    make = f"Model(\n{params}\n)" if params else "Model()"
    return (
        f"torch.set_grad_enabled(False)\nmodel = {make}.eval()\ninputs = dict(\n{inputs}\n)\n"
        "expected = [output.numpy() for output in model(*inputs.values())]"
    )


_AS_NUMPY = """
def as_numpy(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()
"""


def _laid_out(item: Input, array: Array) -> str:
    """As `fuzzer.lanes.base.laid_out` does it."""
    match item.layout:
        case Layout.CONTIGUOUS:
            return literal(array)
        case Layout.TRANSPOSED:
            order = tuple(reversed(range(array.ndim)))
            return f"{literal(array)}.permute({order}).contiguous().permute({order})"
        case Layout.STRIDED:
            return f"{literal(array)}.repeat_interleave(2, -1)[..., ::2]"
        case Layout.EXPANDED:
            return f"{literal(array[:1])}.expand({array.shape})"


def headline(finding: Finding) -> str:
    """One sentence for a person."""
    lane = finding.lane.name
    match finding.evidence:
        case Raised(stage=stage, type=name, message=message):
            first = readable(message).split("\n")[0][:200]
            return f"{lane} refuses a valid PyTorch model in its {stage} step: {name}: {first}"
        case Died(stage=stage, cause=cause, code=code):
            how = signal.Signals(code).name if cause is Cause.SIGNAL else f"{cause} {code}"
            return f"{lane} ends its process in its {stage} step ({how})."
        case TimedOut(stage=stage, seconds=seconds):
            return f"{lane} does not come back from its {stage} step within {seconds:.0f} s."
        case Mismatch() as m:
            if finding.kind is Kind.UNSTABLE:
                return f"{lane}: a second run on the same inputs gives another result; {m.actual}."
            whose = "" if m.against == PYTORCH else f", as in {m.against}"
            how = f" ({m.by})" if m.by else ""
            return f"{lane}{how}: output {m.output} should be {m.expected}{whose}, but is {m.actual}."
        case IllFormed(after=after, message=message):
            first = readable(message).split("\n")[0][:200]
            return f"{lane}: the module is ill-formed after {after}: {first}"
        case Mutant(change=change, fate=fate):
            return f"{lane}: the checker lets an ill-formed module pass ({change}); what becomes of it: {fate}."
        case SideEffect(modified=modified, aliases=aliases):
            shared = [f"output {output} shares memory with input {name}" for output, name in aliases]
            changed = [f"input {name} is changed" for name in modified]
            return f"{lane}: {', '.join(changed + shared)}; in PyTorch it is not so."
        case Excess(quantity=quantity, measured=measured, allowed=allowed, against=against):
            return f"{lane}: {measured:,.6g} {quantity}, where {allowed:,.6g} are ample (against {against})."
        case _:
            assert_never(finding.evidence)


def literal(array: Array) -> str:
    """An expression that makes exactly this array as a tensor."""
    shape, dtype = tuple(array.shape), f"torch.{array.dtype}"
    for make in (np.zeros_like, np.ones_like):
        if array.tobytes() == make(array).tobytes():
            return f"torch.{make.__name__.removesuffix('_like')}({shape}, dtype={dtype})"
    if array.size > INLINE:
        packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
        data = "".join(f"\n        {line!r}" for line in textwrap.wrap(packed, 100, break_on_hyphens=False))
        unpacked = f"zlib.decompress(base64.b85decode({data}\n    ))"
        return f"torch.frombuffer(bytearray({unpacked}), dtype={dtype}).reshape({shape})"
    numbers = pprint.pformat(array.tolist(), width=100, compact=True).replace("\n", "\n        ")
    for word in ("nan", "inf"):
        numbers = numbers.replace(word, f'float("{word}")')
    return f"torch.tensor({numbers}, dtype={dtype})"


_IMPORTS = (
    ("import base64", r"\bbase64\."),
    ("import io", r"\bio\."),
    ("import os", r"\bos\."),
    ("import subprocess", r"\bsubprocess\."),
    ("import sys", r"\bsys\."),
    ("import tempfile", r"\btempfile\."),
    ("import zlib", r"\bzlib\."),
    ("", ""),
    ("import ml_dtypes", r"\bml_dtypes\."),
    ("import numpy as np", r"\bnp\."),
    ("import onnx", r"\bonnx\.load"),
    ("import onnxruntime", r"\bonnxruntime\."),
    ("import torch", r"\btorch\."),
    ("import torch.nn.functional as F", r"\bF\."),
    ("import tvm", r"\btvm\."),
    ("from onnxscript import ir, optimizer", r"\boptimizer\."),
    ("from tvm import relax", r"\brelax\."),
    ("from tvm.relax.frontend.onnx import from_onnx", r"\bfrom_onnx\("),
    ("from tvm.relax.frontend.torch import from_exported_program", r"\bfrom_exported_program\("),
)


def _imports(body: str) -> str:
    """Those that the body uses, in the usual order."""
    return "\n".join(line for line, used in _IMPORTS if re.search(used, body)).strip("\n")


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
    return session.run(None, {item.name: inputs[item.name].numpy() for item in session.get_inputs()})
"""
_FROM_ONNX = """
    mod = from_onnx(onnx_model)
    args = [inputs[item.name] for item in onnx_model.graph.input if item.name in inputs]
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
_RUN = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(arg.numpy()) for arg in args))
    return [out.numpy()] if hasattr(out, "numpy") else [item.numpy() for item in out]
"""


def _lane_function(lane: LaneSpec) -> str:
    """`run_lane()`: the outputs as numpy arrays."""
    body = _ONNX if lane.importer is Importer.ONNX else ""
    if lane.engine is Engine.ONNXRUNTIME:
        body += _ONNXRUNTIME
    else:
        body += _FROM_ONNX if lane.importer is Importer.ONNX else _FROM_EXPORT
        body += _compile(lane)
        body += (_C_LIBRARY if lane.target == "c" else "") + _RUN
    return "def run_lane():\n" + "\n".join(line for line in body.split("\n") if line.strip())


def _compile(lane: LaneSpec) -> str:
    """What the lane does between import and library, in the fewest lines that say the same."""
    options = {"kind": lane.target, **({} if lane.llvm_opt is None else {"opt-level": lane.llvm_opt})}
    target = f'"{lane.target}"' if len(options) == 1 else f"tvm.target.Target({options!r})"
    lines = [f"mod = relax.transform.{name}()(mod)" for name in lane.passes]
    if lane.pipeline:
        lines += [f"with tvm.target.Target({target}):", f'    mod = relax.get_pipeline("{lane.pipeline}")(mod)']
    lines.append(f"executable = tvm.compile(mod, target={target})")
    context = [f"opt_level={lane.opt_level}"] if lane.opt_level != DEFAULT_OPT_LEVEL else []
    context += [] if lane.asserts else ['config={"tirx.disable_assert": True}']
    if context:
        lines = [f"with tvm.transform.PassContext({', '.join(context)}):", *("    " + line for line in lines)]
    return "".join(f"    {line}\n" for line in lines)


def _verdict(finding: Finding) -> str:
    match finding.evidence:
        case Raised(type=name):
            return _VERDICT_RAISED.format(short=name.rpartition(".")[2])
        case Died():
            return _VERDICT_DIED
        case TimedOut(seconds=seconds):
            return _VERDICT_TIMED_OUT.format(seconds=max(10, int(seconds)))
        case Mismatch(output=output, worst=worst):
            return _VERDICT_COMPARED.format(
                output=output, compare=_comparison(finding, worst).replace("{output}", str(output))
            )
        case IllFormed() | Mutant() | SideEffect() | Excess():
            return _VERDICT_NONE
        case _:
            assert_never(finding.evidence)


def _comparison(finding: Finding, worst: Worst | None) -> str:
    """The lines that set `wrong`, from `want` and `got`."""
    match finding.kind:
        case Kind.WRONG_ARITY:
            return "wrong = len(result) != len(expected)"
        case Kind.WRONG_SHAPE:
            return "wrong = got.shape != want.shape"
        case Kind.WRONG_DTYPE:
            return "wrong = got.dtype != want.dtype"
        case Kind.UNSTABLE:
            return (
                "# memory that nobody wrote: it may hold the right numbers by chance, hence several runs\n"
                "wrong = any(not np.allclose(run_lane()[{output}], want, 1e-3, 1e-3, equal_nan=True) for _ in range(8))"
            )
        case _ if worst is not None and worst.tolerance > 0:
            at = f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
            return (
                "# the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
                f"wrong = not abs(float(got{at}) - float(want{at})) <= {worst.tolerance!r}"
            )
        case _:
            return "wrong = not np.array_equal(got, want, equal_nan=True)"


_VERDICT_RAISED = """
try:
    run_lane()
except Exception as error:
    print("expected: a result, as PyTorch gives:", expected)
    print(f"actual: {{type(error).__name__}}: {{error}}")
    sys.exit(1 if type(error).__name__ == "{short}" else 2)
print("the bug is gone: the lane gives a result")
"""
_VERDICT_NONE = """
run_lane()
print("this script cannot tell; `fuzz --replay` can")
sys.exit(2)
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
result = run_lane()
want, got = (outputs[min({output}, len(outputs) - 1)] for outputs in (expected, result))
{compare}
print("expected:", want.dtype, want.shape, want, sep="\\n")
print("actual:", got.dtype, got.shape, got, sep="\\n")
print("the bug is there" if wrong else "the bug is gone")
sys.exit(1 if wrong else 0)
"""
