"""What is no failure of a lane: a plain "I do not do this", and a machine that cannot."""

from __future__ import annotations

import re

from fuzzer.signature.frames import IMPORTER
from fuzzer.signature.gpu_damage import GpuDamage, gpu_damage_of
from fuzzer.signature.messages import core_message, skeleton
from oracles.outcome import Died, Outcome, Raised, Skipped, Stage, Unsupported

_REFUSING_TYPES = frozenset(
    {
        "NotImplementedError",
        "tvm.error.OpNotImplemented",
        "tvm.error.OpAttributeInvalid",
        "tvm.error.OpAttributeUnImplemented",
        "torch._dynamo.exc.Unsupported",
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
        "torch.onnx.errors.UnsupportedOperatorError",
        "onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented",
    }
)
"""Whoever raises one of these means to refuse, whatever the stage."""

_REFUSING_TEXT = re.compile(
    r"^Unsupported (function (type|target)|module type|input datatype|data type|type for )"
    r"|^Unsupported transposed convolution|^Got unsupported ScalarType"
    r"|^Unsupported: ONNX|^ONNX does not support|^ONNX export does NOT support"
    r"|only supports? \S+ and \S+ for now|not supported( yet)?\b|is not implemented|not implemented for"
    r"|^Only \S+( or \S+)? \w+ supported|^Expected input's non-batch dimensions to have positive length"  # Relay
    r"|^Currently supports only|must be \S+ for Relax frontend"
    r"|^\S+DispatchError: No ONNX function found for"  # the exporter through dynamo
)
"""A refusal where a model is taken in: on export and on import. What a later stage says so is an internal error: the
frontend had taken the model."""

_STATED_LIMIT = re.compile(
    r"FPrimalGradient has not been registered|now only support one dataflow block"  # relax.transform.Gradient
    r"|^CodeGenWebGPU: (do not|only) support"  # WGSL has no integers of 64 bits, of floats those of 16 and 32
)
"""What a part of TVM is documented not to do, in its own words, whatever the stage."""

_ENVIRONMENT_TEXT = re.compile(
    r"No space left on device|Disk quota exceeded|\[Errno (11|12|23|24|122)\]"  # fork, memory, files, quota
    r"|Unable to allocate [\d.]+ (bytes|KiB|MiB) for an array|Too many open files|cannot find -l\w+"
    r"|signal terminated program (cc1|collect2|ld)"
    r"|No such file or directory: '(\S*/)?(gcc|g\+\+|cc|clang|ld)'|cannot open shared object file"
)


def classify_failure(failure: Raised | Died) -> Outcome:
    """`Unsupported` where an error says plainly that something is not done, `Skipped` where the machine failed the
    lane; the failure itself elsewhere."""
    text = core_message(failure.message) if isinstance(failure, Raised) else failure.log
    if machine := _ENVIRONMENT_TEXT.search(text):
        return Skipped(machine[0], environment=True)
    if (
        isinstance(failure, Died) or gpu_damage_of(failure) is not GpuDamage.NONE
    ):  # CUDA's «not supported» is no plain no
        return failure
    return Unsupported(failure.stage, text.strip().split("\n")[0][:200]) if _refuses(failure, text) else failure


def _refuses(raised: Raised, text: str) -> bool:
    name = raised.type.replace("torch.onnx._internal.torchscript_exporter.errors", "torch.onnx.errors")
    if name in _REFUSING_TYPES or _STATED_LIMIT.search(text):
        return True
    return _takes_a_model_in(raised) and _REFUSING_TEXT.search(text) is not None


def _takes_a_model_in(raised: Raised) -> bool:
    """Whether a model is being exported or imported. torch.compile calls TVM's importer while it compiles."""
    imports = any(frame.file.endswith(IMPORTER) for frame in raised.frames)
    return raised.stage in (Stage.EXPORT, Stage.IMPORT) or imports


_LISTED = (
    re.compile(r"^Unsupported function (?:types? \[|target )(.*)"),
    re.compile(r"^The following operators are not (?:supported for frontend ONNX|implemented): (.*)"),
    re.compile(r"^Exporting the operator ('[\w:]+') to ONNX"),
    re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)'"),
    re.compile(r"Could not find an implementation for (\w+)\("),
)


def missing_features(unsupported: Unsupported) -> tuple[str, ...]:
    """What is not there, name by name where the reason names it: what tables of operator support count."""
    for listed in _LISTED:
        if found := listed.search(unsupported.reason):
            return tuple(sorted(set(re.findall(r"[\w.:]{2,}", found[1]))))
    return (skeleton(unsupported.reason)[:120],)
