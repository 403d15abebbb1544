"""Outcomes that are not failures of a lane: a plain refusal of an operator, and a fault of the machine."""

from __future__ import annotations

import re

from fuzzer.signature.frames import IMPORTER
from fuzzer.signature.gpu_damage import GpuDamage, gpu_damage_of
from fuzzer.signature.messages import core_message, skeleton, tells_of_a_cause
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
        "fuzzer.lanes.onnx.session.NotKnown",  # to onnxruntime
        "fuzzer.lanes.onnx.converted.NotConvertible",  # onnx.version_converter
        "fuzzer.lanes.schedules.NotComparable",
        "fuzzer.lanes.launched.launch.DeviceLacks",  # a driver for the processor that computes no float16
    }
)
"""Exceptions that mean a refusal in every stage."""

_EXPORTER = "torch/onnx/"
"""A part of the file names of PyTorch's exporters."""

_LIMIT = re.compile(r"\b(un)?support(s|ed)?\b|\bimplemented\b", re.IGNORECASE)
"""The word for a limit. Where a statement of a frontend itself raises with it, that says what the frontend lacks. A
frontend that takes a valid model for an invalid one speaks of sizes, axes or attributes instead."""

_REFUSING_TEXT = re.compile(
    r"^Unsupported (function (type|target)|module type|(in|out)put datatype|data type|type for )"
    r"|^Unsupported coordinate_transformation_mode|^Unsupported transposed convolution|^Got unsupported ScalarType"
    r"|^Unsupported: ONNX|^ONNX does not support|^ONNX export does NOT support"
    r"|only supports? \S+ and \S+ for now|not supported( yet)?\b|is not implemented|not implemented for"
    r"|\b(currently|yet) (un)?supported\b|currently only supports\b|must be a (constant$|Constant or )"
    r"|requires (a statically )?known\b|unknown at compile time|proven to be \S+ at import time"
    r"|^Only \S+( or \S+)? \w+ supported|^Expected input's non-batch dimensions to have positive length"  # Relay
    r"|^Currently supports only|must be \S+ for Relax frontend"
    r"|^\S+DispatchError: No ONNX function found for"  # the exporter through dynamo
)
"""Messages that mean a refusal during export and import, wherever they are raised. In a later stage they are internal
errors, because the frontend has accepted the model."""

_STATED_LIMIT = re.compile(
    r"FPrimalGradient has not been registered|now only support one dataflow block"  # relax.transform.Gradient
    r"|MatchCast is not supported in global lifting"  # relax.transform.LiftTransformParams(shared_transform=True)
    r"|(^|: )CodeGenWebGPU: (do not|only) support"  # WGSL has no integers of 64 bits, of floats those of 16 and 32
)
"""Messages for documented limits of a part of TVM. They mean a refusal in every stage."""

_PASSING_TEXT = (
    r"No space left on device|Disk quota exceeded|Read-only file system|Input/output error|Stale file handle"
    r"|\[Errno (5|11|12|23|24|30|116|122)\]"  # disk, fork, memory, files, files, disk, network file system, quota
    r"|Resource temporarily unavailable|can't start new thread|\bv?fork: Cannot allocate memory"
    r"|Unable to allocate [\d.]+ (bytes|KiB|MiB) for an array|Too many open files"
    r"|signal terminated program (cc1|collect2|ld)"
)
_MISSING = re.compile(
    r"cannot find -l\w+|does not give the known answer"  # a device
    r"|No such file or directory: '(\S*/)?(gcc|g\+\+|cc|clang|ld)'|cannot open shared object file"
)
_ENVIRONMENT_TEXT = re.compile(f"{_PASSING_TEXT}|{_MISSING.pattern}")


def classify_failure(failure: Raised | Died) -> Outcome:
    """Return `Unsupported` for a plain refusal, `Skipped` for a fault of the machine, and otherwise the failure."""
    text = core_message(failure.message) if isinstance(failure, Raised) else failure.log
    if machine := _ENVIRONMENT_TEXT.search(text):
        return Skipped(machine[0], environment=True)
    gpu_error = gpu_damage_of(failure) is not GpuDamage.NONE  # "not supported" in an error of CUDA is not a refusal
    if isinstance(failure, Died) or gpu_error:
        return failure
    return Unsupported(failure.stage, text.strip().split("\n")[0][:200]) if _refuses(failure, text) else failure


def passing_lack(outcome: Outcome) -> str:
    """What the machine was short of for a moment, so that there is no result; "" where another thing is the reason. A
    library or a program that is missing is no such thing."""
    cause = classify_failure(outcome) if isinstance(outcome, Raised | Died) else outcome
    lacks = isinstance(cause, Skipped) and cause.environment and not _MISSING.search(cause.reason)
    return cause.reason if isinstance(cause, Skipped) and lacks else ""


def _refuses(raised: Raised, text: str) -> bool:
    """Return whether the exception, whose message is `text`, is a plain refusal."""
    name = raised.type.replace("torch.onnx._internal.torchscript_exporter.errors", "torch.onnx.errors")
    if name in _REFUSING_TYPES or _STATED_LIMIT.search(text):
        return True
    if not _in_frontend(raised):
        return False
    return _REFUSING_TEXT.search(text) is not None or (_by_frontend(raised) and _LIMIT.search(text) is not None)


def _by_frontend(raised: Raised) -> bool:
    """Return whether a `raise` or an `assert` of a frontend itself is the innermost line, and the words are its own."""
    innermost = raised.frames[-1] if raised.frames and not tells_of_a_cause(raised.message) else None
    return innermost is not None and innermost.raises and (innermost.in_frontend or _EXPORTER in innermost.file)


def _in_frontend(raised: Raised) -> bool:
    """Return whether the failure occurred in export or import. torch.compile calls TVM's importer while it compiles."""
    imports = any(frame.file.endswith(IMPORTER) for frame in raised.frames)
    return raised.stage in (Stage.EXPORT, Stage.IMPORT) or imports


_NAMES_IN_REASON = (
    re.compile(r"^Unsupported function (?:types? \[|target )(.*)"),
    re.compile(r"^The following operators are not (?:supported for frontend ONNX|implemented): (.*)"),
    re.compile(r"^Exporting the operator ('[\w:]+') to ONNX"),
    re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)'"),
    re.compile(r"Could not find an implementation for (\w+)\("),
)


def missing_features(unsupported: Unsupported) -> tuple[str, ...]:
    """Return the operators that the reason names, or else the shortened reason, for tables of operator support."""
    for listed in _NAMES_IN_REASON:
        if found := listed.search(unsupported.reason):
            return tuple(sorted(set(re.findall(r"[\w.:]{2,}", found[1]))))
    return (skeleton(unsupported.reason)[:120],)
