"""`repro.py`: a script that shows one finding without difftvm, fit for a bug report.

It exits 1 while the bug is there, 0 when it is gone, 2 when it cannot tell, whatever goes wrong otherwise included.
Where TVM is to blame for what it makes of an ONNX file, the script builds that file and needs no PyTorch.
"""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from typing import assert_never

from fuzzer import gradient
from fuzzer.report import repro_gradient, repro_lane, repro_onnx, repro_relay, repro_verdict, words
from fuzzer.report.python_source import docstring, formatted, listed, powers_hugged, quoted, tuple_of
from fuzzer.report.record import Record
from fuzzer.report.repro_values import literal
from fuzzer.triage.signature import readable
from generators.graph import Array, Case, DType, Input, Layout
from generators.torch_source import HEADER, render
from oracles.finding import PYTORCH, Excess, Finding, Kind, Mismatch, SideEffect
from oracles.lane import gives_gradients, speaks_relay
from oracles.outcome import Cause, Died, IllFormed, Mutant, Raised, TimedOut

EXITS = "Exits 1 while the bug is there, 0 when it is gone, 2 when it cannot tell."

_OTHERWISE = "sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))  # other failures: cannot tell"


def script(record: Record) -> str:
    """The source, formatted."""
    finding, doc = record.finding, record.doc
    preloaded = doc.versions.get("preload", "")
    model = repro_onnx.model(record.onnx, record.case) if record.onnx else _model(record)
    blocks = [*([_PRELOAD] if preloaded else []), *model]
    blocks += [*repro_lane.functions(record.case, finding, record.onnx), repro_verdict.text(finding, record.onnx)]
    body = "\n\n".join(block.strip("\n") for block in blocks)
    if _has_bfloat16(record) and record.onnx is None:
        body = re.sub(r"\b(x|output)\.numpy\(\)", r"as_numpy(\1)", body)
    if re.search(r"\bnames\b", body):
        body = body.replace("\ninputs = ", f"\nnames = {_names(record.case)}\ninputs = ", 1)
    asks = [f"{preloaded} was preloaded: give its path as the argument."] if preloaded else []
    asks += [repro_relay.NEEDS] if speaks_relay(finding.lane) else []
    head = docstring([words.capital(words.plain_title(record)), *asks, f"{EXITS} (difftvm {doc.signature})"])
    return formatted(f"{head}\n\n{_imports(body)}\n\n{_OTHERWISE}\n\n{body.strip()}\n")


_PRELOAD = """
if sys.argv[1:] and sys.argv[1] != "run":
    os.environ["PRELOAD"] = sys.argv.pop(1)  # for processes that this one starts, too
if "PRELOAD" in os.environ:
    runpy.run_path(os.environ["PRELOAD"])
"""


def _model(record: Record) -> list[str]:
    """Model, inputs, and what eager PyTorch makes of them."""
    differentiated = gives_gradients(record.doc.lane)
    case = gradient.as_function(record.case) if differentiated else replace(record.case, graph=record.case.bound)
    return [
        powers_hugged(render(case.graph).removeprefix(HEADER)),
        *([_AS_NUMPY] if _has_bfloat16(record) else []),
        _data(case),
        *([repro_gradient.expected(record.case)] if differentiated else []),
    ]


def _has_bfloat16(record: Record) -> bool:
    graph = record.case.bound
    seen = [item.value.type for item in graph.inputs if not item.role.is_owned] + list(graph.output_types)
    return any(type.dtype is DType.BFLOAT16 for type in seen)


def _data(case: Case) -> str:
    params = ", ".join(f"{name}={literal(array)}" for name, array in case.owned.items())
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    inputs = tuple_of([_laid_out(item, case.tensors[item.value.name]) for item in items])
    return (
        f"torch.set_grad_enabled(False)\nmodel = Model({params}).eval()\ninputs = {inputs}\n"
        "expected = [output.numpy() for output in model(*inputs)]"
    )


def _names(case: Case) -> str:
    return listed([quoted(name) for name in case.inputs])


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
            order = ", ".join(map(str, reversed(range(array.ndim))))
            return f"{literal(array)}.permute({order}).contiguous().permute({order})"
        case Layout.STRIDED:
            return f"{literal(array)}.repeat_interleave(2, -1)[..., ::2]"
        case Layout.EXPANDED:
            return f"{literal(array[:1])}.expand({', '.join(map(str, array.shape))})"


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


_IMPORTS = (
    ("import base64", r"\bbase64\."),
    ("import io", r"\bio\."),
    ("import json", r"\bjson\."),
    ("import os", r"\bos\."),
    ("import random", r"\brandom\."),
    ("import re", r"\bre\."),
    ("import runpy", r"\brunpy\."),
    ("import subprocess", r"\bsubprocess\."),
    ("import sys", r""),
    ("import tempfile", r"\btempfile\."),
    ("import time", r"\btime\."),
    ("import zlib", r"\bzlib\."),
    ("", ""),
    ("import ml_dtypes", r"\bml_dtypes\."),
    ("import numpy as np", r"\bnp\."),
    ("import onnx", r"\bonnx\.load"),
    ("import onnxruntime", r"\bonnxruntime\."),
    ("import torch", r"\btorch\."),
    ("import torch.nn.functional as F", r"\bF\."),
    ("import tvm", r"\btvm\."),
    ("from onnx import TensorProto, helper, numpy_helper", r"\bnumpy_helper\."),
    ("from onnx import TensorProto, helper", r"\A(?!(?s:.*)\bnumpy_helper\.)(?s:.*)\bTensorProto\."),
    ("from onnxscript import ir, optimizer", r"\boptimizer\."),
    ("from tvm import relax", r"\brelax\."),
    ("from tvm import relay", r"\brelay\."),
    ("from tvm.contrib.graph_executor import GraphModule", r"\bGraphModule\("),
    ("from tvm.relax.frontend import detach_params", r"\bdetach_params\("),
    ("from tvm.relax.frontend.onnx import from_onnx", r"(?<!\.)\bfrom_onnx\("),
    ("from tvm.relax.frontend.torch import from_exported_program", r"\bfrom_exported_program\("),
    ("from tvm.relax.frontend.torch import from_fx", r"\bfrom_fx\("),
    ("from tvm.relax.frontend.torch import relax_dynamo", r"\brelax_dynamo\("),
    ("from tvm.relay.build_module import bind_params_by_name", r"\bbind_params_by_name\("),
    ("from tvm.runtime.vm import VirtualMachine", r"(?<![.\w])VirtualMachine\("),
)


def _imports(body: str) -> str:
    """Those that the body uses, in the usual order."""
    return "\n".join(line for line, used in _IMPORTS if re.search(used, body)).strip("\n")
