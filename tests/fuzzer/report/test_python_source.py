"""Generated Python is as `ruff format` leaves it, and nothing that a compiler says ends a string."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.report.python_source import docstring, formatted, powers_without_spaces, split


@pytest.mark.parametrize(
    "text",
    [
        '"""',
        "\\",
        '"',
        "'''",
        "a\\nb",
        'ends with "',
        '\\"""\n\nimport os\n"""',
        "\\N{BULLET}",
        "#",
        "a\0b",
        "\ud800",
        "\u202e",
    ],
)
def test_a_docstring_holds_anything(text: str) -> None:
    tree = ast.parse(docstring([f"first {text} last", text]))
    assert len(tree.body) == 1
    assert ast.get_docstring(tree) is not None


NUMBERS = ", ".join(map(str, range(40)))
LONG = "function_with_quite_a_name_" * 2
LINES = [
    "x = f(" + ", ".join(f"argument_{i}={i}" for i in range(12)) + ")",
    "x = (" + "a_rather_long_name_of_a_function([" + ", ".join(map(str, range(30))) + "]),)",
    f"x = torch.tensor([[{NUMBERS}], [{NUMBERS}]]).reshape(2, 40)",
    f"x = takes_a_generator({LONG}(item) for item in another_{LONG}(of_something))",
    "x = " + "a_long_name_that_is_subscripted_with_much" + "[" + ", ".join(f"index_number_{i}" for i in range(6)) + "]",
    'x = f("' + "a" * 60 + '" "' + "b" * 60 + '")',
    'x = {"' + "a" * 60 + '": [1, 2], "' + "b" * 60 + '": "c, (d"}  # with words behind',
    "def f():\n    return 1\n\nx = f()\n\nclass A:\n    y = 1\n\n@a\ndef g():\n    pass\n\nz = 1",
]


@pytest.mark.parametrize("line", LINES)
def test_it_means_the_same_and_ruff_leaves_it(line: str, tmp_path: Path) -> None:
    made = formatted(f"{line}\n")
    without_comment = line.partition("  #")[0]
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(without_comment))
    path = tmp_path / "made.py"
    path.write_text(made)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--diff", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_items_between_commas() -> None:
    assert split("a, f(b, c), [d, e], \"x, (y\", 'z'") == ["a", "f(b, c)", "[d, e]", '"x, (y"', "'z'"]


@pytest.mark.parametrize(
    ("source", "hugged"),
    [
        ("x0 ** 2", "x0**2"),
        ("self.w0 ** -1.5", "self.w0**-1.5"),
        ("f(x) ** 2", "f(x) ** 2"),
        ("x ** f(y)", "x ** f(y)"),
        ("x[0] ** y", "x[0] ** y"),
    ],
)
def test_powers(source: str, hugged: str) -> None:
    assert powers_without_spaces(source) == hugged
