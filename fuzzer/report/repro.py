"""`repro.py`: a script that shows one finding with torch, TVM and numpy alone, fit for a bug report."""

from __future__ import annotations

import base64
import pprint
import re
import signal
import textwrap
import zlib
from dataclasses import replace
from typing import assert_never

import numpy as np

from fuzzer import gradient
from fuzzer.report import repro_gradient, repro_lane, repro_relay, repro_verdict
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.signature import readable
from generators.graph import Array, Case, DType, Input, Layout
from generators.torch_source import HEADER, render
from oracles.finding import PYTORCH, Excess, Finding, Kind, Mismatch, SideEffect
from oracles.lane import gives_gradients, speaks_relay
from oracles.outcome import Cause, Died, IllFormed, Mutant, Raised, TimedOut

INLINE = 600
"""Elements up to which an array is written out."""

_SECTIONS = "torch.set_grad|result|try|if |summed|mod = broken|measured|changed, shared|broken = "
"""How the parts of a script begin that are no functions."""


def script(found: Confirmed, slug: str, preloaded: str = "") -> str:
    """The source. It prints expected and actual; exits 1 while the bug is there, 0 when gone, 2 if it cannot tell.
    `preloaded` is the file that was executed before, which is not in it."""
    finding = found.finding
    told = textwrap.fill(headline(finding), 110, break_long_words=False)
    differentiated = gives_gradients(finding.lane)
    case = gradient.as_function(found.case) if differentiated else replace(found.case, graph=found.case.bound)
    seen = [item.value.type for item in case.graph.inputs if not item.role.is_owned] + list(case.graph.output_types)
    half = any(type.dtype is DType.BFLOAT16 for type in seen)
    blocks = [
        *([_PRELOAD] if preloaded else []),
        render(case.graph).removeprefix(HEADER),
        *([_AS_NUMPY] if half else []),
        _data(case),
        *([repro_gradient.expected(found.case)] if differentiated else []),
        *repro_lane.functions(found.case, finding),
        repro_verdict.text(finding),
    ]
    body = "\n\n".join(block.strip("\n") for block in blocks)
    if half:
        body = re.sub(r"\b(arg|output)\.numpy\(\)", r"as_numpy(\1)", body)
    body = re.sub(rf"\n{{2,}}(?=def |class )|(?<=\S)\n\n(?={_SECTIONS})", "\n\n\n", body)
    exits = "Exits 1 while the bug is there, 0 when it is gone, 2 when it cannot tell."
    asks = f"{preloaded} was preloaded: give its path as the argument.\n" if preloaded else ""
    asks += f"{repro_relay.NEEDS}\n" if speaks_relay(finding.lane) else ""
    return f'"""{slug}\n\n{told}\n{asks}{exits}\n"""\n\n{_imports(body)}\n\n\n{body.strip()}\n'


_PRELOAD = """
if sys.argv[1:] and sys.argv[1] != "run":
    os.environ["PRELOAD"] = sys.argv.pop(1)  # for processes that this one starts, too
if "PRELOAD" in os.environ:
    runpy.run_path(os.environ["PRELOAD"])
"""


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
    ("import json", r"\bjson\."),
    ("import os", r"\bos\."),
    ("import random", r"\brandom\."),
    ("import re", r"\bre\."),
    ("import re", r"\bre\."),
    ("import runpy", r"\brunpy\."),
    ("import subprocess", r"\bsubprocess\."),
    ("import sys", r"\bsys\."),
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
