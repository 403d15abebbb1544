"""What identifies a bug: the only place that reads the text of errors and logs.

Equal signature means same bug. It is made of parts that stay the same over runs, machines, seeds and shapes: never of
addresses, numbers, value names or line numbers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import assert_never

import msgspec

from oracles.finding import PYTORCH, Component, Excess, Finding, Kind, Mismatch, SideEffect
from oracles.outcome import (
    Built,
    Died,
    Frame,
    IllFormed,
    Mutant,
    Outcome,
    Raised,
    Ran,
    Skipped,
    Stage,
    TimedOut,
    Unsupported,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The identity of a finding.

    error     exception type
    skeleton  the message without what changes from run to run
    frame     the innermost C++ and Python functions that mean something
    ops       of the reduced case, where nothing else tells two bugs apart (wrong results, deaths, timeouts)
    where     the importers and targets that show it, for the same kinds
    against   what the lane was held against where that is not PyTorch
    by        what the reduced lane does that the other does not
    """

    kind: Kind
    component: Component
    stage: Stage
    error: str = ""
    skeleton: str = ""
    frame: str = ""
    ops: tuple[str, ...] = ()
    where: str = ""
    against: str = ""
    by: str = ""

    @property
    def id(self) -> str:
        """Findings that are held against PyTorch keep the names that they had before `against` was there."""
        fields = msgspec.to_builtins(self)
        for name in ("against", "by"):
            if not fields[name]:
                del fields[name]
        return hashlib.sha256(msgspec.json.encode(fields)).hexdigest()[:12]

    @property
    def coarse(self) -> Signature:
        """What can be told before reduction; what `reproduces` compares."""
        return replace(self, ops=(), where="", by="")

    @property
    def needs_ops(self) -> bool:
        return self.kind not in _TOLD_WITHOUT_OPERATORS

    def same_failure(self, other: Signature) -> bool:
        """Whether a run that gave `other` shows the failure `self` again."""
        mine, theirs = self.coarse, other.coarse
        if twins(mine.kind, theirs.kind):
            theirs = replace(theirs, kind=mine.kind)
        return mine == theirs


PLAIN_SIBLING = "its plain sibling"

_TOLD_WITHOUT_OPERATORS = frozenset(
    {Kind.INTERNAL_ERROR, Kind.REJECTED, Kind.ILL_FORMED, Kind.CHECKER_GAP, Kind.ALIASED_OUTPUT}
)
"""Most have a message. Aliases are one behaviour, whatever operators amount to an identity: TVM hands out the input."""
_AGAINST_ITSELF = frozenset({Kind.UNSTABLE, Kind.NONDETERMINISTIC})
_GARBAGE = _AGAINST_ITSELF | {Kind.WRONG_VALUE}


def twins(one: Kind, other: Kind) -> bool:
    """Unwritten memory shows now as a wrong value, now as a second run or another process that differs."""
    return one is not other and {one, other} <= _GARBAGE


def signature_of(finding: Finding) -> Signature:
    """The coarse signature of what an oracle saw."""
    coarse = Signature(finding.kind, finding.component, finding.stage)
    match finding.evidence:
        case Raised() as raised:
            return replace(
                coarse, error=raised.type, skeleton=skeleton(raised.message), frame=meaningful(frames_of(raised))
            )
        case Mismatch(against=against, by=by) if against != PYTORCH and finding.kind not in _AGAINST_ITSELF:
            # whose sibling it is, is no part of it: where that is right, the importer is not to blame
            return replace(coarse, against=PLAIN_SIBLING if by else against)
        case Died() | TimedOut() | Mismatch():
            return coarse  # a corrupted heap dies anywhere: only the operators of the reduced case tell deaths apart
        case IllFormed(after=after, type=name, message=message):
            return replace(coarse, error=name, skeleton=skeleton(message), frame=after)
        case Mutant(change=change, fate=fate):
            return replace(coarse, skeleton=skeleton(f"{change}: {fate}"))
        case SideEffect():
            return coarse
        case Excess(quantity=quantity, against=against):
            return replace(coarse, skeleton=quantity.value, against=against)
        case _:
            assert_never(finding.evidence)


# --- what is no failure of a lane: a plain "I do not do this", and a machine that cannot

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
    text = _told(failure.message) if isinstance(failure, Raised) else failure.log
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
    re.compile(r"Could not find an implementation for (\w+)\("),
)


def lacking(unsupported: Unsupported) -> tuple[str, ...]:
    """What is not there, name by name where the reason names it: what tables of operator support count."""
    for listed in _LISTED:
        if found := listed.search(unsupported.reason):
            return tuple(sorted(set(re.findall(r"[\w.:]{2,}", found[1]))))
    return (skeleton(unsupported.reason)[:120],)


# --- messages

_SUBSTITUTIONS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\s*--> <str>:[\s\S]*", ""),  # the line of TVMScript that the parser points at
        (r"0x[0-9a-fA-F]+", "ADDRESS"),
        (r"'/[^']*'|\(/[^)]*\)|(?<=parameter )\(\w+\)", "NODE"),
        (r"tensor\(\w+\)", "tensor(DTYPE)"),
        (r"(/[\w.+-]+)+/([\w.+-]+)", r"\2"),
        (r"(R\.Tensor|R\.Tuple|T\.Buffer|Tensor)\((\([^()]*\)|[^()])*\)", "TENSOR"),
        (r"\b(T\.|R\.)?(bool|float(16|32|64)|u?int(8|16|32|64)|i(1|8|16|32|64)|double|half)\b", "DTYPE"),
        (r"\b(lv|gv|inp|args|ax|[xvwb])_?\d+\b|\b(lv|gv)\b|\b[bp]_[a-z]\w*|\b_local_scalar_dense\w*", "VAR"),
        (r"-?\b\d+(\.\d+)?(e[+-]?\d+)?(L|ll)?\b", "N"),
        (r"\d+", "N"),
        (r"\binff\b", "inf"),
        (r"(LLVM module verification failed.*\n.*)\n[\s\S]*", r"\1"),
        (r"(N|VAR)(\s*[,x]\s*(N|VAR))+,?", "N"),
        (r"\s+", " "),
    )
)


def skeleton(message: str) -> str:
    text = readable(message)
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return text.strip()[:300]


def readable(message: str) -> str:
    """A message for people: without dumps of whole objects."""
    return _without_op_dumps(_sanitizer_report(_compiler_error(_told(message)))).strip()


_OLD_STACK = re.compile(r"\ATraceback \(most recent call last\):\n((?: +\S.*\n)*)(?:[\w.]+: )?")
"""TVM before 0.20 puts the traceback of its C++ before what it has to say, outermost first, its lines set in."""
_OLD_LINE = re.compile(r"^ +\d+: (.*)$", re.M)
_NO_SOURCE_MAPS = re.compile(r"The source maps are not populated for this module\. .*\n(Error: )?")


def _told(message: str) -> str:
    return _NO_SOURCE_MAPS.sub("", _OLD_STACK.sub("", message))


def frames_of(raised: Raised) -> tuple[Frame, ...]:
    """Those of C++ too, where the message holds them."""
    stack = _OLD_STACK.match(raised.message)
    lines = _OLD_LINE.findall(stack[1]) if stack else []
    return (*raised.frames, *(Frame("", 0, line) for line in lines if not _OLD_PLUMBING.match(line)))


_OLD_PLUMBING = re.compile(r"(tvm::(runtime|transform|detail|Diagnostic\w*|ReportAt|relay::transform)\b|_Z|std::|0x)")


def _compiler_error(message: str) -> str:
    """Of what a C compiler prints, its first error, without the advice."""
    found = re.search(r"\berror: ([^;\n]*)", message) if message.startswith("Compilation error") else None
    return f"Compilation error: {_as_gcc_says(found[1])}" if found else message


def _as_gcc_says(error: str) -> str:
    """What clang says of a name that is not there; one bug of TVM's is not two for being compiled twice."""
    return re.sub(r"^use of undeclared identifier '(\w+)'", r"‘\1’ undeclared (first use in this function)", error)


_OBJECTION = re.compile(r"ERROR: (AddressSanitizer: [\w-]+)|/lib\d+\.c:\d+:\d+: (runtime error: [^\n:]*)")
_KERNEL = re.compile(r" in (?:__tvm_ffi_)?(\w+) \S*/lib\d+\.c")


def _sanitizer_report(message: str) -> str:
    """Of what a sanitizer prints, what it objects to, and in which kernel of the C that TVM wrote."""
    found, kernel = _OBJECTION.search(message), _KERNEL.search(message)
    if found is None:
        return message
    return f"{found[1] or found[2]} in {kernel[1] if kernel else 'no kernel'}"


def _without_op_dumps(text: str) -> str:
    """`ir.Op(span=None, ..., name="relax.add", ...)` is printed whole; only its name says anything."""
    out, position = [], 0
    while (start := text.find("ir.Op(", position)) >= 0:
        depth, end = 0, start + len("ir.Op")
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        name = re.search(r'name="([^"]+)"', text[start:end])
        out += [text[position:start], name[1] if name else "OP"]
        position = end
    return "".join(out) + text[position:]


# --- frames

_PLUMBING_FILES = re.compile(
    r"/_?ffi/|tvm_ffi|expr_functor|/ir/(transform|module|expr)\.|function\.pxi|base_(py|fx)_?func|block_builder\.(py|cc)"
    r"|logging|error\.h|/relax/utils\.py|/tirx/build\.py|/relax/vm_build\.py|/driver/build_module\.py|functor\.h"
    r"|object_path|stmt_functor|/fuzzer/"
)
_PLUMBING_FUNCTIONS = frozenset({"from_exported_program", "from_onnx", "_translate_fx_graph", "_convert_operator"})
_OURS = re.compile(r"(^|/)(fuzzer|generators|oracles)/[a-z_/]+\.py$")


def is_ours(frame: Frame) -> bool:
    """A line of difftvm: it led there, and has no part in what went wrong."""
    return _OURS.search(frame.file) is not None


def meaningful(frames: Sequence[Frame]) -> str:
    """`file:function` of the innermost frames that say where the fault is: C++ first, then Python."""
    cpp = python = ""
    for frame in reversed(frames):
        if _PLUMBING_FILES.search(frame.file) or is_ours(frame) or frame.function in _PLUMBING_FUNCTIONS:
            continue
        name = ":".join(filter(None, (PurePosixPath(frame.file).name, plain_function(frame.function))))
        if frame.file.endswith(".py"):
            python = python or name
        elif not python:  # C++ above the innermost Python frame only
            cpp = cpp or name
    return " < ".join(part for part in (cpp, python) if part)


def plain_function(function: str) -> str:
    """A C++ signature without return type, template arguments and parameters."""
    previous = ""
    while previous != function:
        previous, function = function, re.sub(r"<[^<>]*>", "", function)
    name = function.split("(")[0] if not function.startswith("(") else function
    return name.split()[-1] if name.split() else function


# --- devices


class Harm(StrEnum):
    """What an outcome says about the GPU that it was seen on."""

    NONE = "none"
    WORKER = "worker"  # an error of CUDA: the process that had it is of no more use
    DEVICE = "device"  # the hardware itself: no process will fare better on it


_BROKEN_DEVICE = (
    r"CUDA_ERROR_(ECC|NVLINK)_UNCORRECTABLE|cudaError(ECC|Nvlink)Uncorrectable",  # 214, 220
    r"uncorrectable (ECC|NVLink) error",
    r"fallen off the bus|GPU is lost|GPU requires reset|\bXid\b",  # as the driver and nvidia-smi say it
)
_CUDA_ERROR = (
    r"\bCUDA_ERROR_[A-Z]|\bcudaError[A-Z]|\bCU(BLAS|DNN|SPARSE|SOLVER|FFT|RAND)_STATUS_(?!SUCCESS)[A-Z]",
    r"\bCUDA( Runtime|Launch)? ?[Ee]rror\b|(^|: )CUDA: |\bCUDA out of memory\b",  # TVM's words, and PyTorch's
    # cudaGetErrorString of those that leave the process «in an inconsistent state» (CUDA driver API, CUresult)
    r"an illegal memory access was encountered|device-side assert triggered",  # 700, 710
    r"the launch timed out and was terminated|hardware stack error",  # 702, 714
    r"an illegal instruction was encountered|misaligned address",  # 715, 716
    r"operation not supported on global/shared address space|invalid program counter",  # 717, 718
    r"unspecified launch failure|tensor memory not completely freed",  # 719, 721
    r"Invalid access of peer GPU memory over nvlink or a hardware error",  # 226
)
_HARM = tuple(
    (re.compile("|".join(texts), re.M), harm)
    for texts, harm in ((_BROKEN_DEVICE, Harm.DEVICE), (_CUDA_ERROR, Harm.WORKER))
)


def harm_of(outcome: Outcome) -> Harm:
    """Some errors of CUDA (running out of memory, say) leave a process whole, most do not; a worker is cheaper than the
    question."""
    match outcome:
        case Raised(type=name, message=message):
            text = f"{name}: {message}"
        case Died(log=text) | Skipped(reason=text) | Unsupported(reason=text):
            pass
        case Ran() | Built() | TimedOut():
            return Harm.NONE
        case _:
            assert_never(outcome)
    return next((harm for pattern, harm in _HARM if pattern.search(text)), Harm.NONE)
