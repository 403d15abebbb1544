"""Text fits a terminal of 60, 80 or 120 columns, and no word and no command is cut."""

from __future__ import annotations

import re

import pytest

from fuzzer.commands.tables import table_lines
from fuzzer.system.layout import coloured, fitted, wrapped

LINES = (
    "  1  critical  `F.avg_pool2d` gives wrong values (converter `_avg_pool2d`)  [new; 3 findings; found 5 min ago]  "
    "wrong-value-avgpool2d-6e4dd706fa5e",
    "47 causes: 8 critical, 10 high, 27 medium, 2 low; next: .venv/bin/fuzz --replay crashes/wrong-value-IsInf",
    "      perhaps known upstream: apache/tvm #14795 (divisor_override of avg_pool2d is ignored, in Relay; open issue)",
    "short",
    "",
)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("line", LINES)
def test_lines_fit_and_keep_their_words(line: str, width: int) -> None:
    pieces = wrapped(line, width)
    assert " ".join(" ".join(pieces).split()) == " ".join(line.split())
    assert all(len(piece) <= width or " next: " in f" {piece}" for piece in pieces)
    assert all(re.match(r" {4,}\S", piece) for piece in pieces[1:])


def test_text_goes_on_below_the_text_of_the_list() -> None:
    first, *others = wrapped(LINES[0], 80)
    assert first.startswith("  1  critical  `F.avg_pool2d` ")
    assert all(re.match(r" {15}\S", each) for each in others)


def test_a_command_stays_in_one_piece() -> None:
    assert "next: .venv/bin/fuzz --replay crashes/wrong-value-IsInf" in [each.strip() for each in wrapped(LINES[1], 60)]
    replay = "      .venv/bin/fuzz --replay waiting/internal-error-Attention-Conv-LRN-Erf-BatchNormalizatio-aff14c38"
    assert wrapped(replay, 60) == [replay]
    quoted = "several words before it, and then `fuzz triage --work --campaign night` investigates all of them"
    assert any("`fuzz triage --work --campaign night`" in piece for piece in wrapped(quoted, 60))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_facts_in_brackets_are_wrapped_between_facts_alone(width: int) -> None:
    facts = ["new", "3 findings", "met in 5 tests, last 2 min 10 s ago", "condition not yet looked for"]
    line = f"  1  high      `torch.square` gives wrong values  [{'; '.join(facts)}]  wrong-value-square-6e4dd706fa5e"
    pieces = wrapped(line, width)
    assert all(any(fact in piece for piece in pieces) for fact in facts)
    assert all(len(piece) <= width for piece in pieces)


def test_facts_in_brackets_are_one_piece_where_they_fit() -> None:
    facts = "[new; found 5 min ago; condition not yet looked for]"
    line = f"  1  high      `torch.square` gives values that are wrong  {facts}  wrong-value-square-6e4dd706fa5e"
    assert any(facts in piece for piece in wrapped(line, 80))


def test_a_word_that_is_too_long_has_a_line_of_its_own() -> None:
    assert wrapped(f"before {'x' * 70} after", 60) == ["before", f"    {'x' * 70}", "    after"]


def test_a_narrow_terminal_wraps_itself() -> None:
    assert wrapped(LINES[0], 20) == [LINES[0]]


def test_each_line_of_a_text_is_wrapped() -> None:
    assert fitted("a b\n\nc", 80) == "a b\n\nc"


def test_colours_change_no_character() -> None:
    shown = coloured("\n".join(LINES))
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == "\n".join(LINES)
    assert "\x1b[1;31mcritical\x1b[0m" in shown
    assert "\x1b[2mwrong-value-avgpool2d-6e4dd706fa5e\x1b[0m" in shown
    assert coloured("crashes/wrong-value-avgpool2d-6e4dd706fa5e") == "crashes/wrong-value-avgpool2d-6e4dd706fa5e"


def test_a_table_has_a_header_and_a_line_for_each_row() -> None:
    rows = [("relu", "1", ""), ("clamp", "1 to 3", "min: a number\nor none")]
    assert list(table_lines(("operator", "operands", "attributes"), rows)) == [
        "operator  operands  attributes",
        "relu      1",
        "clamp     1 to 3    min: a number or none",
    ]


def test_the_widest_column_of_a_table_is_wrapped_where_it_has_room() -> None:
    rows = [("relu", "1", ""), ("clamp", "1 to 3", "min: a number or none; max: a number or none")]
    columns = ("operator", "operands", "attributes")
    assert list(table_lines(columns, rows, 50)) == [
        "operator  operands  attributes",
        "relu      1",
        "clamp     1 to 3    min: a number or none; max:",
        "                    a number or none",
    ]
    assert list(table_lines(columns, rows, 40)) == [
        "operator  operands, attributes",
        "relu      1",
        "clamp     1 to 3, min: a number or none; max: a number or none",
    ]
