"""Messages: what they say, without what changes from run to run, from machine to machine, from shape to shape."""

from __future__ import annotations

import re
from collections.abc import Callable

from oracles.outcome import Frame, Raised

LENGTH = 300
"""Characters of a skeleton. Longer messages go on with dumps."""

_ROUNDS = 10
"""What is replaced may be part of more: a list of shapes is a list of numbers. Two or three rounds do."""

_DTYPES = r"bool|b?float(16|32|64)|float[48]_e\w+|u?int(4|8|16|32|64)|i(1|8|16|32|64)|double|half"

_SUBSTITUTIONS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # what a message ends with
        (r"\s*--> <str>:[\s\S]*", ""),  # the line of TVMScript that the parser points at
        (r"\s*\[Caused by the value [\s\S]*", ""),  # TorchScript's graph around it
        (r"\s*Argument types: [\s\S]*", ""),  # TorchScript: the dtypes of this call, and all overloads
        (r"(LLVM module verification failed.*\n.*)\n[\s\S]*", r"\1"),
        (r"\s*(The function is )?# from tvm\.script import [\s\S]*", ""),  # a module
        (r"\s*# Metadata omitted\. Use show_meta=True in script\(\) method to show it\.", ""),
        # what it is about
        (r" \[with [^\]]*\]", ""),  # template arguments, as gcc prints them
        (r'\{"kind":[^\n]*\}|\{"kind":[^\n]*$', "TARGET"),
        (r"0x[0-9a-fA-F]+", "ADDRESS"),
        (r"'/[^']*'|\(/[^)]*\)|(?<=Name:)'[^']*'|(?<=\b[Nn]ode )\([^()]*\)|(?<=parameter )\([^()]*\)", "NODE"),
        (r"tensor\(\w+\)", "tensor(DTYPE)"),
        (r"\bTensor\[[^\]]*\]", "TENSOR"),  # Relay's
        (r"[\w.~+-]*(/[\w.+-]+)+/([\w.+-]+)", r"\2"),
        (r"\btmp[a-z0-9_]{6,}\b", "TMP"),
        (rf"\b(T\.|R\.)?({_DTYPES})\b", "DTYPE"),
        (r"\b(lv|gv|inp|args|ax|[xvwb])_?\d+\b|\b(lv|gv)\b|\b[bp]_[a-z]\w*|\b_local_scalar_dense\w*", "VAR"),
        (r"-?\b\d+(\.\d+)?(e[+-]?\d+)?(L|ll)?\b", "N"),
        (r"\d+", "N"),
        (r"\binff\b", "inf"),
        (r"\b(gamma|beta|moving_mean|moving_var)\b", "PARAMETER"),  # which of them TVM looks at first is chance
        (r"\b(pre|post)-pad\b", "PAD"),
        (r"\.MatchesCode\(DLDataTypeCode::kDLFloat\)", ".is_float()"),  # what TVM 0.25 calls it
        (r"(?<=Invalid layout )\S+", "LAYOUT"),  # letters that ran over either end of the alphabet
        (r"(?<=can't find )\w(?= in source)", "AXIS"),
        # exporters: one mistake, made for many operators alike
        (r"(input parameter NODE of operator) \(\w+\)", r"\1 (OP)"),  # of a dtype that ONNX does not have it for
        (r"(We don't have an op for) aten::\w+", r"\1 aten::OP"),  # TorchScript's scalars as first operands
        # how many there are
        (r"\bDTYPE\(N\)", "N"),  # T.int64(3)
        (r"(?<=[\s(\[{])[(\[{]N,?[)\]}](?=[,)\]}])", "N"),  # a shape in a list of them
        (r"(N|VAR)(\s*[,x]\s*(N|VAR))+,?", "N"),
        (r"(?<=[(\[{]N),(?=[)\]}])", ""),
        (r"\s+", " "),
    )
)


def skeleton(message: str) -> str:
    """What stays of a message whatever the run, machine, names, sizes and dtypes. A skeleton's own is itself."""
    text = message
    for _ in range(_ROUNDS):
        previous, text = text, _shortened(_masked(readable(text)))
        if text == previous:
            break
    return text


_OPERATOR = re.compile(r"(?<=^In relax\.)[\w.]+(?=, )|(?<=\bR\.)\w+(?= uses datatype)")


def without_operator(skeleton: str) -> str:
    """For what a converter of PyTorch's says: its own name tells more than which operators of Relax it makes."""
    return _OPERATOR.sub("OP", skeleton)


def _masked(text: str) -> str:
    text = _closed(text, re.compile(r" ?\(Type of "), lambda _: "")  # of an operand, in Relax
    text = _closed(text, re.compile(r"(R\.Tensor|R\.Tuple|T\.Buffer|\bTensor)\("), lambda _: "TENSOR")
    text = _closed(text, re.compile(r"\b(R\.[a-z][\w.]*|T\.te\.\w+)\("), lambda call: call.split("(")[0])
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return text.strip()


def _shortened(text: str) -> str:
    """At most `LENGTH` characters, the last word whole."""
    return text if len(text) <= LENGTH else text[: LENGTH + 1].rpartition(" ")[0].strip() or text[:LENGTH]


def readable(message: str) -> str:
    """A message for people: without dumps of whole objects."""
    text = _sanitizer_report(_compiler_error(core_message(message)))
    return _closed(text, re.compile(r"ir\.Op\("), _name_of_operator).strip()


def _name_of_operator(dump: str) -> str:
    """`ir.Op(span=None, ..., name="relax.add", ...)` is printed whole; only its name says anything."""
    name = re.search(r'name="([^"]+)"', dump)
    return name[1] if name else "OP"


def _closed(text: str, opening: re.Pattern[str], instead: Callable[[str], str]) -> str:
    """Each `opening`, which ends in a parenthesis or stands behind one, with all up to the one that closes it,
    replaced."""
    out, position = [], 0
    while found := opening.search(text, position):
        end = _closing(text, found.start() + found[0].index("("))
        whole = text[found.start() : end] if end else found[0]
        out += [text[position : found.start()], instead(whole) if end else whole]
        position = end or found.end()
    return "".join(out) + text[position:]


def _closing(text: str, opening: int) -> int:
    """Behind the parenthesis that closes the one at `opening`; 0 where none does."""
    depth = 0
    for position in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return 0


_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_OLD_STACK = re.compile(r"\ATraceback \(most recent call last\):\n((?: +\S.*\n)*)(?:[\w.]+: )?")
"""TVM before 0.20 puts the traceback of its C++ before what it has to say, outermost first, its lines set in."""
_OLD_LINE = re.compile(r"^ +\d+: (.*)$", re.M)
_NO_SOURCE_MAPS = re.compile(r"The source maps are not populated for this module\. .*\n(Error: )?")
_CAUSE = re.compile(r"^## Exception summary\n\n<class '([\w.]+)'>: (.*?)\n(?:⬆️|\n\(Refer to)", re.M | re.S)
"""torch.onnx through dynamo says the same of every failure, then what led to it, the innermost first."""


def core_message(message: str) -> str:
    """What a message has to say itself."""
    text = _COLOURS.sub("", message)
    if cause := _CAUSE.search(text):
        text = f"{cause[1]}: {cause[2]}"
    return _NO_SOURCE_MAPS.sub("", _OLD_STACK.sub("", text))


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
    """What clang says; one bug of TVM's is not two for being compiled twice."""
    for clang, gcc in _CLANG:
        error = clang.sub(gcc, error)
    return error


_CLANG = (
    (re.compile(r"^use of undeclared identifier '(\w+)'"), r"‘\1’ undeclared (first use in this function)"),
    (re.compile(r"^unexpected type name '(\w+)': expected expression"), r"expected expression before ‘\1’"),
)


_OBJECTION = re.compile(r"ERROR: (AddressSanitizer: [\w-]+)|/lib\d+\.c:\d+:\d+: (runtime error: [^\n:]*)")
_KERNEL = re.compile(r" in (?:__tvm_ffi_)?(\w+) \S*/lib\d+\.c")


def _sanitizer_report(message: str) -> str:
    """Of what a sanitizer prints, what it objects to, and in which kernel of the C that TVM wrote."""
    found, kernel = _OBJECTION.search(message), _KERNEL.search(message)
    if found is None:
        return message
    return f"{found[1] or found[2]} in {kernel[1] if kernel else 'no kernel'}"
