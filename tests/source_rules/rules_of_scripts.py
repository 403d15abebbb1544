"""What makes the source of a script of a report."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from source_file import SourceFile
from source_rule import ANY, Place, Rule

HOME = "fuzzer/report/script_source.py"
CHECKED = (1, "takes a row of a table, a checked graph, or a symbolic size that was parsed")


def is_constant(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.IfExp(body=ast.Constant(), orelse=ast.Constant()):
            return True
        case _:
            return False


def open_templates(file: SourceFile) -> Iterator[Place]:
    """The calls that take another template than a constant."""
    for called, call in file.calls:
        if called in ("source", "source_of", "joined") and not is_constant(call.args[0]):
            yield Place(call.lineno, ast.unparse(call)[:60])


def calls_of(name: str, file: SourceFile) -> Iterator[Place]:
    return (Place(call.lineno, ast.unparse(call)[:60]) for called, call in file.calls if called == name)


RULES = (
    Rule(
        says="one module makes source",
        files=("fuzzer/",),
        places=lambda file: calls_of("Source", file),
        exceptions={HOME: (ANY, "this module")},
        example="Source(text)",
    ),
    Rule(
        says="templates of source are constants",
        files=("fuzzer/report/",),
        without=(HOME,),
        places=open_templates,
        exceptions={"fuzzer/report/regression_test.py: source(record)": (1, "its own function of this name")},
        example="joined(glue, parts)",
    ),
    Rule(
        says="texts of our own tables become source in few places",
        files=("fuzzer/",),
        places=lambda file: calls_of("own_text", file),
        exceptions={
            f"fuzzer/report/{name}.py": CHECKED
            for name in ("module_script", "repro", "repro_importers", "repro_model", "repro_module", "repro_steps")
        },
        example="own_text(text)",
    ),
)
