"""What a script looks for in an error."""

import pytest

from fuzzer.signature import stable_excerpt


@pytest.mark.parametrize(
    ("message", "piece"),
    [
        ("Check failed: strides.size() == 2 (0 vs. 2) : The input", "Check failed: strides.size() =="),
        ("no value in Constant", "no value in Constant"),
        ("'main'", ""),
        ("0x7f12 at /tmp/x.so", ""),
        ("\n  Unresolved call of `foo` \nthe second line is longer than the first", "Unresolved call of `foo`"),
        ("Compilation error:\n/tmp/a.c:1:2: error: expected expression before 'x'", "expected expression before"),
        (
            "Compilation error:\n/tmp/a.c:1:2: error: invalid initializer: expected expression before 'x'",
            "invalid initializer: expected expression before",
        ),
        ("word " * 40, "word word word word word word word word word word word word"),
        ("", ""),
        (
            "Compilation error:\n/tmp/a.c:1:2: error: use of undeclared identifier 'foo'",
            "",
        ),  # it is translated to gcc's
    ],
)
def test_the_longest_piece_that_stays(message: str, piece: str) -> None:
    assert stable_excerpt(message) == piece
    assert piece in message
