"""What goes into a script is made of constants, literals and checked names, and nothing else can go in."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from fuzzer.report import repro, script_source
from fuzzer.report.script_source import Source, literal_of, name, only_source, quoted

FUZZER = Path(__file__).parents[3] / "fuzzer"
TEXTS = [
    *("plain", 'a "b"', "a 'b'", "both ' and \"", "\\", "\\'", '\\"', "\n", "ä", "", "'", '"', "''\\''", '""\\""'),
    *("\0", "\x0c", "\u2028", "\ud800", "\u202e", "😀", "{}", "{0}", "{{ x }}", "\x7f\x85"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_quoted_string_is_itself_in_ascii(text: str) -> None:
    made = quoted(text)
    assert ast.literal_eval(made) == text
    assert made.isascii()
    assert made.isprintable()


@pytest.mark.parametrize(
    "value",
    [None, True, -3, 10**40, 0.1, -0.0, 1e300, [], ["a", [1, 2.5]], (), (1,), ("a", None), {"a": [True], "'": {}}],
)
def test_a_literal_is_its_value(value: object) -> None:
    assert repr(ast.literal_eval(literal_of(value))) == repr(value)


def test_numbers_without_a_literal() -> None:
    assert literal_of([math.inf, -math.inf, math.nan]) == '[float("inf"), float("-inf"), float("nan")]'
    assert script_source.short_number(math.inf, 3) == 'float("inf")'
    assert script_source.short_number(0.123456, 3) == "0.123"


def test_an_object_has_no_literal() -> None:
    with pytest.raises(TypeError, match="has no literal"):
        literal_of(object())


@pytest.mark.parametrize("text", ["", "a b", "a()", "1a", "a.", "é", "a\n", "a;b", "a.b\n"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(ValueError, match="is no name"):
        name(text)


@pytest.mark.parametrize("value", ["text", 1.5, None, ["a"], math.nan])
def test_a_template_takes_source_and_whole_numbers_only(value: object) -> None:
    with pytest.raises(TypeError, match="is neither source nor a whole number"):
        repro._TEMPLATES.from_string("x = {{ value }}").render(value=value)
    with pytest.raises(TypeError, match="is neither source nor a whole number"):
        script_source.source("x = {}", value)  # type: ignore[arg-type]
    assert only_source(3) == 3
    assert repro._TEMPLATES.from_string("x = {{ value }}").render(value=quoted("a")) == 'x = "a"'


def test_templates_write_no_constants_as_values() -> None:
    """`{{ "text" }}` would be refused only where it is reached."""
    for path in (FUZZER / "templates" / "repro").rglob("*.j2"):
        for output in repro._TEMPLATES.parse(path.read_text()).find_all(repro.jinja2.nodes.Output):
            for each in output.nodes:
                texts = [node for node in each.find_all(repro.jinja2.nodes.Const) if isinstance(node.value, str)]
                allowed = ("Getitem", "Call")  # outputs["any"], numpy("x")
                assert not texts or type(each).__name__ in allowed, f"{path.name}: {texts}"


def test_source_is_text() -> None:
    assert isinstance(quoted("a"), Source)
