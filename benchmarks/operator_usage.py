"""Counts in how many files of published models each operator is called: `fuzzer/findings/operator_usage.txt`.

    python benchmarks/operator_usage.py GIT_DIRECTORY:FOLDER... > fuzzer/findings/operator_usage.txt

Reads the Python files below FOLDER in the newest commit of each repository; nothing is checked out or executed. A file
uses an operator if it calls all functions of one way to write the operator's row: `torch.selu(`, `F.selu(`, `.selu(`,
`nn.SELU(`. Operators that are Python syntax (`+`, `[...]`, `[1:]`) count by the syntax, also those that a program has
in place of it, such as select. The count says what people write, not what runs.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from generators.op import Layer, Op, Spelling
from generators.torch.ops import OPS

_CALL = re.compile(r"(?:torch|F|nn|\}|\))?(?:\.\w+)*\.(\w+)\(")
_SYNTAX = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul", ast.Pow: "pow",
    ast.Mod: "remainder", ast.FloorDiv: "floor_divide", ast.Subscript: "getitem", ast.USub: "neg", ast.Gt: "gt",
    ast.Lt: "lt", ast.GtE: "ge", ast.LtE: "le", ast.Invert: "bitwise_not", ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
}  # fmt: skip


INDEXING = frozenset({"select", "setitem", "setitem_scalar", "setitem_update"})
"""Rows that a program has where people write `x[...]`."""


def spellings(op: Op) -> list[set[str]]:
    """For each way to write the row: the names that it calls, as `plain` gives them."""
    found = [{plain(op.name)}, *([{"getitem"}] if op.name in INDEXING else [])]
    for form in (op.source, *op.forms.values()):
        text = form.source if isinstance(form, Spelling) else form.make if isinstance(form, Layer) else form
        if isinstance(text, str) and (names := {plain(name) for name in _CALL.findall(text)}):
            found.append(names)
    return found


def plain(name: str) -> str:
    """`Conv2d`, `conv2d` and `conv_2d` are one name, and so are `BatchNorm2d` and `batch_norm`."""
    return re.sub(r"(norm|dropout|shuffle)\dd$", r"\1", name.lower().replace("_", ""))


def sources(repository: str, folder: str) -> Iterator[str]:
    command = ["git", "-C", repository, "ls-tree", "-r", "--name-only", "HEAD", folder]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    for path in listed.stdout.split("\n"):
        if path.endswith(".py") and not path.endswith("__init__.py"):
            shown = subprocess.run(["git", "-C", repository, "show", f"HEAD:{path}"], capture_output=True, check=True)
            yield shown.stdout.decode(errors="replace")


def called_in(source: str) -> set[str]:
    """The names that a file calls, and the operators whose syntax it has. Nothing for a file that defines no module."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    if "nn.Module" not in source:
        return set()
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
                found.add(plain(name))
            case ast.BinOp(op=op) | ast.UnaryOp(op=op):
                found.add(plain(_SYNTAX.get(type(op), "")))
            case ast.Compare(ops=ops):
                found |= {plain(_SYNTAX.get(type(op), "")) for op in ops}
            case ast.Subscript():
                found.add("getitem")
            case ast.Slice():
                found.add("slice")
    return found


def main() -> None:
    files, uses, heads = 0, Counter[str](), []
    for argument in sys.argv[1:]:
        repository, _, folder = argument.partition(":")
        before = files
        for source in sources(repository, folder):
            if called := called_in(source):
                files += 1
                uses.update(called)
        command = ["git", "-C", repository, "rev-parse", "--short=12", "HEAD"]
        revision = subprocess.run(command, capture_output=True, text=True, check=True)
        heads.append((folder, revision.stdout.strip(), files - before))
    print("# How many files of published models call each operator (benchmarks/operator_usage.py).")
    for folder, head, count in heads:
        print(f"# {folder} at {head}: {count} files")
    print(f"# {files} files")
    for op in sorted(OPS, key=lambda op: op.name):
        if count := max(min(uses[name] for name in names) for names in spellings(op)):
            print(f"{op.name} {count}")


if __name__ == "__main__":
    main()
