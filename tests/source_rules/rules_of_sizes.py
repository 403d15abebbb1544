"""No function has more than 60 lines or 8 parameters, but those that are listed here."""

from __future__ import annotations

from collections.abc import Iterator

from source_file import Function, SourceFile
from source_rule import Place, Rule

LINES, PARAMETERS = 60, 8

PUBLIC = (1, "a public function: each parameter is a keyword argument of users")
ONNX = (1, "ONNX gives the inputs and attributes of its operators")
ROW = (1, "makes a row of the operator table: its calls are data, and most parameters have defaults")


def lines(function: Function) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def parameters(function: Function) -> int:
    given = function.args
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs])


def long(file: SourceFile) -> Iterator[Place]:
    return (Place(each.lineno, each.name) for each in file.functions if lines(each) > LINES)


def with_many_parameters(file: SourceFile) -> Iterator[Place]:
    return (Place(each.lineno, each.name) for each in file.functions if parameters(each) > PARAMETERS)


RULES = (
    Rule(
        says=f"a function has at most {LINES} lines",
        places=long,
        exceptions={
            "fuzzer/api/check.py: check": (1, "half of it documents the parameters of a public function"),
        },
        example="def f():\n" + "    g()\n" * LINES,
    ),
    Rule(
        says=f"a function has at most {PARAMETERS} parameters",
        places=with_many_parameters,
        exceptions={
            "fuzzer/api/check.py: check": PUBLIC,
            "fuzzer/api/own_passes.py: check_pass": PUBLIC,
            "fuzzer/api/own_passes.py: check_backend": PUBLIC,
            "fuzzer/lanes/onnx/definitions/attention.py: _run": ONNX,
            "fuzzer/lanes/onnx/definitions/contributed.py: _run": ONNX,
            "fuzzer/lanes/onnx/definitions/conv.py: _run": ONNX,
            "fuzzer/lanes/onnx/definitions/norm.py: _run": ONNX,
            "generators/relax/row.py: row": ROW,
            "generators/torch/ops/activation.py: _row": ROW,
            "generators/torch/ops/reduced.py: loss_row": ROW,
        },
        example="def f(a, b, c, d, /, e, f, *, g, h, i): ...",
    ),
)
