"""One line of a message, for lists."""

from __future__ import annotations

from fuzzer.findings.headline import first_line


def test_a_long_line_is_cut_at_a_blank_and_says_so() -> None:
    assert first_line("operands are float32\nand advice") == "operands are float32"
    assert first_line("word " * 39 + "a_long_word at the end") == "word " * 38 + "word ..."
    assert first_line("x" * 300) == "x" * 200 + " ..."
