"""Text of messages, without the parts that depend on the run, the machine or the shapes."""

from __future__ import annotations

import re
from collections.abc import Callable

from oracles.outcome import Frame, Raised

LENGTH = 300
"""The largest length of a skeleton, in characters. The rest of longer messages is dumps of objects."""

MOST = 20_000
"""How many characters of a message are read: children send no more. Some patterns take time that grows with the square
of it."""

_ROUNDS = 10
"""The largest number of rounds of replacement. Replaced text may be part of a longer pattern, such as a list of shapes
in a list. Two or three rounds suffice."""

_DTYPES = r"bool|b?float(16|32|64)|float[48]_e\w+|u?int(4|8|16|32|64)|i(1|8|16|32|64)|double|half"

_SUBSTITUTIONS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # ends of messages; a run of blanks is tried once, from its begin
        (r"(?<!\s)\s*--> <str>:[\s\S]*", ""),  # the line of TVMScript that the parser points at
        (r"(?<!\s)\s*\[Caused by the value [\s\S]*", ""),  # TorchScript's graph around it
        (r"(?<!\s)\s*Argument types: [\s\S]*", ""),  # TorchScript: the dtypes of this call, and all overloads
        (r"(LLVM module verification failed.*\n.*)\n[\s\S]*", r"\1"),
        (r"(?<!\s)\s*(The function is )?# from tvm\.script import [\s\S]*", ""),  # a module
        (r"(?<!\s)\s*# Metadata omitted\. Use show_meta=True in script\(\) method to show it\.", ""),
        # names, addresses, types and numbers
        (r" \[with [^\]]*\]", ""),  # template arguments, as gcc prints them
        (r'\{"kind":[^\n]*\}|\{"kind":[^\n]*$', "TARGET"),
        (r"0x[0-9a-fA-F]+", "ADDRESS"),
        (r"'/[^']*'|\(/[^)]*\)|(?<=Name:)'[^']*'|(?<=\b[Nn]ode )\([^()]*\)|(?<=parameter )\([^()]*\)", "NODE"),
        (r"tensor\(\w+\)", "tensor(DTYPE)"),
        (r"\bTensor\[[^\]]*\]", "TENSOR"),  # Relay's
        (r"\bProxy\(\w+\)", "Proxy(NODE)"),  # of torch.fx
        (r"(?<![\w.~+-])[\w.~+-]*(/[\w.+-]+)+/([\w.+-]+)", r"\2"),
        (r"\btmp[a-z0-9_]{6,}\b", "TMP"),
        (rf"\b(T\.|R\.)?({_DTYPES})\b", "DTYPE"),
        (r"\b(lv|gv|inp|args|ax|[xvwb])_?\d+\b|\b(lv|gv)\b|\b[bp]_[a-z]\w*|\b_local_scalar_dense\w*", "VAR"),
        (r"-?\b\d+(\.\d+)?(e[+-]?\d+)?(L|ll)?\b", "N"),
        (r"\d+", "N"),
        (r"\binff\b", "inf"),
        (r"\b(gamma|beta|moving_mean|moving_var)\b", "PARAMETER"),  # which of them TVM checks first is chance
        (r"\b(pre|post)-pad\b", "PAD"),
        (r"\.MatchesCode\(DLDataTypeCode::kDLFloat\)", ".is_float()"),  # the name in TVM 0.25
        (r"(?<=Invalid layout )\S+", "LAYOUT"),  # letters beyond either end of the alphabet
        (r"(?<=can't find )\w(?= in source)", "AXIS"),
        (r'\bname: "\w+"(?=\s+type: )', "ATTRIBUTE"),  # of an ONNX node, as protobuf prints it
        # kernels, by the names that TVM gives them
        (r"(?<=duplicate global symbol: )\w+", "KERNEL"),
        (r"(?<=when calling:)\s*`\w+\([^`]*\)`", " KERNEL"),
        (r"(?<=\bMismatched )\w+(?=\.\S+ on argument )", "VAR"),  # a parameter of the kernel
        # exporters: one bug that many operators show
        (r"(input parameter NODE of operator) \(\w+\)", r"\1 (OP)"),  # ONNX lacks the operator for a dtype
        (r"(We don't have an op for) aten::\w+", r"\1 aten::OP"),  # TorchScript: a scalar as first operand
        # lists of any length
        (r"\bDTYPE\(N\)", "N"),  # T.int64(3)
        (r"(?<=[\s(\[{])[(\[{]N,?[)\]}](?=[,)\]}])", "N"),  # a shape in a list of them
        (r"(N|VAR)(\s*[,x]\s*(N|VAR))+,?", "N"),
        (r"(?<=[(\[{]N),(?=[)\]}])", ""),
        (r"\s+", " "),
    )
)


def skeleton(message: str) -> str:
    """Return the part of the message that does not depend on run, machine, names, sizes and dtypes.

    The skeleton of a skeleton is the skeleton itself.
    """
    text = message
    for _ in range(_ROUNDS):
        previous, text = text, _shortened(_masked(readable(text)))
        if text == previous:
            break
    return text


_OPERATOR = re.compile(r"(?<=^In relax\.)[\w.]+(?=, )|(?<=\bR\.)\w+(?= uses datatype)")


def without_operator(skeleton: str) -> str:
    """Return the skeleton without names of Relax operators.

    For a failure in a converter of a PyTorch frontend, the converter identifies the bug, whichever operators it emits.
    """
    return _OPERATOR.sub("OP", skeleton)


def _masked(text: str) -> str:
    """Replace each variable part by a placeholder."""
    text = _replace_parenthesised(text, re.compile(r" ?\(Type of "), lambda _: "")  # of an operand, in Relax
    text = _replace_parenthesised(text, re.compile(r"(R\.Tensor|R\.Tuple|T\.Buffer|\bTensor)\("), lambda _: "TENSOR")
    text = _replace_parenthesised(text, re.compile(r"\b(R\.[a-z][\w.]*|T\.te\.\w+)\("), lambda call: call.split("(")[0])
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return text.strip()


def _shortened(text: str) -> str:
    """Return at most `LENGTH` characters, cut between words."""
    return text if len(text) <= LENGTH else text[: LENGTH + 1].rpartition(" ")[0].strip() or text[:LENGTH]


def readable(message: str) -> str:
    """Return the message for people, without dumps of whole objects. What comes after `MOST` characters is left out."""
    text = _sanitizer_report(_compiler_error(core_message(message[:MOST])))
    return _replace_parenthesised(text, re.compile(r"ir\.Op\("), _name_of_operator).strip()


def _name_of_operator(dump: str) -> str:
    """Return the operator's name in the dump `ir.Op(span=None, ..., name="relax.add", ...)`."""
    name = re.search(r'name="([^"]+)"', dump)
    return name[1] if name else "OP"


def _replace_parenthesised(text: str, opening: re.Pattern[str], instead: Callable[[str], str]) -> str:
    """Replace each match of `opening` and the text up to the matching closing parenthesis.

    Each match of `opening` must contain a parenthesis. `instead` computes the new text from the old one.
    """
    out, position = [], 0
    closings = _closings(text) if opening.search(text) else {}
    while found := opening.search(text, position):
        end = closings.get(found.start() + found[0].index("("), 0)
        whole = text[found.start() : end] if end else found[0]
        out += [text[position : found.start()], instead(whole) if end else whole]
        position = end or found.end()
    return "".join(out) + text[position:]


def _closings(text: str) -> dict[int, int]:
    """Return, for the index of each opening parenthesis that is closed, the index after the closing one."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for parenthesis in re.finditer(r"[()]", text):
        if parenthesis[0] == "(":
            opened.append(parenthesis.start())
        elif opened:
            found[opened.pop()] = parenthesis.end()
    return found


_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_OLD_STACK = re.compile(r"\ATraceback \(most recent call last\):\n((?: +\S.*\n)*)(?:[\w.]+: )?")
"""TVM before 0.20 puts the C++ traceback before the message, outermost frame first, in indented lines."""
_OLD_LINE = re.compile(r"^ +\d+: (.*)$", re.M)
_NO_SOURCE_MAPS = re.compile(r"The source maps are not populated for this module\. .*\n(Error: )?")
_CAUSE = re.compile(r"^## Exception summary\n\n<class '([\w.]+)'>: (.*?)\n(?:⬆️|\n\(Refer to)", re.M | re.S)
"""torch.onnx through dynamo prints the same text for every failure, and then the causes, innermost first."""


def core_message(message: str) -> str:
    """Return the message without colours, tracebacks and text that is the same for every failure."""
    text = _COLOURS.sub("", message)
    if cause := _CAUSE.search(text):
        text = f"{cause[1]}: {cause[2]}"
    return _NO_SOURCE_MAPS.sub("", _OLD_STACK.sub("", text))


def tells_of_a_cause(message: str) -> bool:
    """Whether the message is of an exporter that says that something else failed, and what: `core_message` is then not
    the text of the exception itself."""
    return _CAUSE.search(_COLOURS.sub("", message)) is not None


def frames_of(raised: Raised) -> tuple[Frame, ...]:
    """Return the frames of an exception, with the C++ frames that its message contains."""
    stack = _OLD_STACK.match(raised.message)
    lines = _OLD_LINE.findall(stack[1]) if stack else []
    return (*raised.frames, *(Frame("", 0, line) for line in lines if not _OLD_PLUMBING.match(line)))


_OLD_PLUMBING = re.compile(r"(tvm::(runtime|transform|detail|Diagnostic\w*|ReportAt|relay::transform)\b|_Z|std::|0x)")


def compiler_that_refuses(message: str) -> str:
    """Who refuses the code that TVM has written: "the C compiler", "`nvcc`"; "" where the message is none of theirs."""
    found = _REFUSES.match(message)
    if found is None:
        return ""
    return f"`{found['program']}`" if found["program"] else "the C compiler"


def error_of_compiler(message: str) -> str:
    """The first error that a compiler reports in its output; "" where it has none."""
    text = readable(message)
    return text.removeprefix(_REFUSED) if text.startswith(_REFUSED) else ""


_REFUSED = "Compilation error: "
_REFUSES = re.compile(r"Compilation error(?:, (?P<program>[\w.+-]+) on \.\w+)?:")


def _compiler_error(message: str) -> str:
    """Return the first error in the output of a C compiler, without its advice; other messages unchanged."""
    found = re.search(r"\berror: ([^;\n]*)", message) if message.startswith("Compilation error") else None
    return _REFUSED + _in_one_wording(found[1]) if found else message


def _in_one_wording(error: str) -> str:
    """Replace other texts for an error by one text of gcc, so that one bug has one signature."""
    for other, gcc in _WORDINGS:
        error = other.sub(gcc, error)
    return error


_WORDINGS = (
    (re.compile(r"^use of undeclared identifier '(\w+)'"), r"‘\1’ undeclared (first use in this function)"),  # clang
    (re.compile(r"^unknown type name [‘'](\w+)[’']"), r"‘\1’ undeclared (first use in this function)"),  # both
    (re.compile(r"^unexpected type name '(\w+)': expected expression"), r"expected expression before ‘\1’"),  # clang
)


_SANITIZER_ERROR = re.compile(r"ERROR: (AddressSanitizer: [\w-]+)|/lib\d+\.c:\d+:\d+: (runtime error: [^\n:]*)")
_KERNEL = re.compile(r" in (?:__tvm_ffi_)?(\w+) \S*/lib\d+\.c")


def _sanitizer_report(message: str) -> str:
    """Return the error in the output of a sanitizer, and the kernel that TVM generated; other messages unchanged."""
    found, kernel = _SANITIZER_ERROR.search(message), _KERNEL.search(message)
    if found is None:
        return message
    return f"{found[1] or found[2]} in {kernel[1] if kernel else 'no kernel'}"


_OPERATORS = re.compile(
    r"\bOp\([^()]*\)|\b(?:intrinsic |operator |op )?(?:tirx?|relax|topi|te|aten|onnx|prim|torch|nn|R)(?:(?:\.|::)\w+)+"
    r"|\b(?:intrinsic|operator|op) \w+"
    r"|(?<= in )[A-Z]\w+(?=\.?$)|(?<=')\w+(?=' object\b)|(?<=[Bb]uffer )\w*[\d_]\w*"
    r"|(?<=^Var )\w+(?= is not defined)|(?<=^object of type ')\w+(?=')|(?<=^Cannot convert )\w+(?= with type )"
)
"""The last two lines are for nodes of ONNX (`Missing outputs in MaxPool`), types of operands (`'Var' object has no
attribute`, `object of type 'Var' has no len()`), buffers (`The buffer x_red_temp_v0`), variables (`Var storage1 is not
defined`) and nodes of PyTorch's graph (`Cannot convert getitem with type`)."""

_UNPACKED = re.compile(r"^(?:not enough|too many) values to unpack \(.*\)$")


def without_operators(text: str) -> str:
    """A skeleton without the names of operators, intrinsics, buffers and variables in it: `Unresolved call OP`. A tuple
    of another length than expected has one text, whether it is shorter or longer. Provisional causes are compared by
    it; signatures keep the names, because two operators may have two bugs."""
    return _OPERATORS.sub("OP", _UNPACKED.sub("another number of values to unpack", text))
