"""What is no failure of a lane: a plain "I do not do this", and a machine that cannot."""

from __future__ import annotations

import re

from fuzzer.triage.signature.harm import Harm, harm_of
from fuzzer.triage.signature.messages import skeleton, told
from oracles.outcome import Died, Outcome, Raised, Skipped, Unsupported

_UNSUPPORTED_TYPES = frozenset(
    {
        "NotImplementedError",
        "tvm.error.OpNotImplemented",
        "tvm.error.OpAttributeInvalid",
        "tvm.error.OpAttributeUnImplemented",
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
        "torch.onnx.errors.UnsupportedOperatorError",
        "onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented",
    }
)
_UNSUPPORTED_TEXT = re.compile(
    r"^Unsupported (function (type|target)|module type|input datatype|type for )|^Unsupported transposed convolution"
    r"|^Unsupported: ONNX|^ONNX does not support|^ONNX export does NOT support"
    r"|only supports? \S+ and \S+ for now|not supported( yet)?\b|is not implemented|not implemented for"
    r"|^Only \S+( or \S+)? \w+ supported|^Expected input's non-batch dimensions to have positive length"  # Relay
    r"|FPrimalGradient has not been registered|now only support one dataflow block"
    r"|^Currently supports only|must be \S+ for Relax frontend"
    r"|^\S+DispatchError: No ONNX function found for"  # the exporter through dynamo
    r"|CodeGenWebGPU: (do not|only) support"  # of integers, 64 bits; of floating point, all but 16 and 32
)
_ENVIRONMENT_TEXT = re.compile(
    r"No space left on device|Disk quota exceeded|\[Errno (11|12|23|24|122)\]"  # fork, memory, files, quota
    r"|Unable to allocate [\d.]+ (bytes|KiB|MiB) for an array|Too many open files|cannot find -l\w+"
    r"|signal terminated program (cc1|collect2|ld)"
    r"|No such file or directory: '(\S*/)?(gcc|g\+\+|cc|clang|ld)'|cannot open shared object file"
)


def recognise(failure: Raised | Died) -> Outcome:
    """`Unsupported` where an error says plainly that something is not done, `Skipped` where the machine failed the
    lane; the failure itself elsewhere."""
    text = told(failure.message) if isinstance(failure, Raised) else failure.log
    if machine := _ENVIRONMENT_TEXT.search(text):
        return Skipped(machine[0], environment=True)
    if isinstance(failure, Died) or harm_of(failure) is not Harm.NONE:  # CUDA's «not supported» is no plain no
        return failure
    name = failure.type.replace("torch.onnx._internal.torchscript_exporter.errors", "torch.onnx.errors")
    if name in _UNSUPPORTED_TYPES or _UNSUPPORTED_TEXT.search(text):
        return Unsupported(failure.stage, text.strip().split("\n")[0][:200])
    return failure


_LISTED = (
    re.compile(r"^Unsupported function (?:types? \[|target )(.*)"),
    re.compile(r"^The following operators are not (?:supported for frontend ONNX|implemented): (.*)"),
    re.compile(r"^Exporting the operator ('[\w:]+') to ONNX"),
    re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)'"),
    re.compile(r"Could not find an implementation for (\w+)\("),
)


def lacking(unsupported: Unsupported) -> tuple[str, ...]:
    """What is not there, name by name where the reason names it: what tables of operator support count."""
    for listed in _LISTED:
        if found := listed.search(unsupported.reason):
            return tuple(sorted(set(re.findall(r"[\w.:]{2,}", found[1]))))
    return (skeleton(unsupported.reason)[:120],)
