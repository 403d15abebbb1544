"""Compares formulas with integer arithmetic: a formula gives the number that the same steps give for any binding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.graph import Invalid, TensorType
from generators.symbolic import Expr, ExpressionError, Size, formula

NAMES = ("n", "m")
BINDINGS = st.fixed_dictionaries({name: st.integers(0, 50) for name in NAMES})


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Steps on a growing list of numbers: (operation, index of the operand, a second index or a number)."""
    steps = draw(st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(0, 9), st.integers(0, 9)), max_size=8))
    return list(steps)


def run(steps: list[tuple[str, int, int]], sizes: dict[str, int], *, symbolic: bool) -> list[int]:
    """Run the steps on sizes that keep their formula, or on plain integers."""
    values: list[int] = [Size.symbol(name, sizes[name]) if symbolic else sizes[name] for name in NAMES] + [3]
    for operation, first, second in steps:
        x, y = values[first % len(values)], values[second % len(values)]
        match operation:
            case "+":
                values.append(x + y)
            case "-":
                values.append(x - y)
            case "*":
                values.append(x * y if abs(x * y) < 10**9 else x)
            case _:
                values.append(x // (second + 1))
    return values


@pytest.mark.slow
@given(programs(), BINDINGS)
def test_sizes_have_the_numbers_of_integer_arithmetic(steps: list[tuple[str, int, int]], sizes: dict[str, int]) -> None:
    assert list(map(int, run(steps, sizes, symbolic=True))) == run(steps, sizes, symbolic=False)


@pytest.mark.slow
@given(programs(), BINDINGS)
def test_a_formula_gives_its_number(steps: list[tuple[str, int, int]], sizes: dict[str, int]) -> None:
    for value in run(steps, sizes, symbolic=True):
        assert formula(value).at(sizes) == value


@pytest.mark.slow
@given(programs(), BINDINGS, BINDINGS)
def test_formulas_hold_for_other_sizes_and_are_read_back_from_text(
    steps: list[tuple[str, int, int]], sizes: dict[str, int], others: dict[str, int]
) -> None:
    steps = [step for step in steps if step[0] != "*"]  # `run` compares products with a bound
    for value, other in zip(run(steps, sizes, symbolic=True), run(steps, others, symbolic=False), strict=True):
        expr = formula(value)
        assert expr.at(others) == other
        assert Expr.parse(str(expr)) == expr


@given(programs(), BINDINGS)
def test_a_product_of_quotients_is_read_back_from_its_text(
    steps: list[tuple[str, int, int]], sizes: dict[str, int]
) -> None:
    for value in run(steps, sizes, symbolic=True):
        assert Expr.parse(str(formula(value))) == formula(value)


N = Size.symbol("n", 5)
M = Size.symbol("m", 4)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (N, "n"),
        (N + 1, "n+1"),
        (1 + N, "n+1"),
        (N - 1, "n-1"),
        (3 - N, "-n+3"),
        (2 * N + N, "3*n"),
        (N * M, "m*n"),
        (M * N + 2, "m*n+2"),
        ((N + 1) * (N - 1), "n*n-1"),
        ((2 * N) // 2, "n"),
        ((N + 1) // 2, "(n+1)//2"),
        ((N + 1) // 2 * 2 + 1, "2*((n+1)//2)+1"),
        ((N - 1) // 2 * 3 + 9, "3*((n-1)//2)+9"),
        (9 - (N - 1) // 2, "-(n-1)//2+9"),
        ((N + 1) // 2 * M, "(n+1)//2*m"),
        ((N + 1) // 2 * ((M + 1) // 3), "(m+1)//3*((n+1)//2)"),
        ((N + 1) // 2 * M * -3, "-3*((n+1)//2)*m"),
        (((N + 1) // 2 * 3 + 1) // 4 * 5, "5*((3*((n+1)//2)+1)//4)"),
        (N - N, "0"),
        (sum((N, M, 1)), "m+n+1"),
    ],
)
def test_text(size: int, text: str) -> None:
    assert str(formula(size)) == text
    assert Expr.parse(text) == formula(size)


def test_comparisons_use_the_number() -> None:
    assert N == 5
    assert N > M
    assert max(N, M) is N
    assert {N: 1}[5] == 1


@pytest.mark.parametrize("text", ["", "n+", "(n", "n)", "n m", "n**2", "n//0", "n//m", "import os", "2.5", "n;m", "N"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expr.parse(text)


def test_very_long_text_is_refused() -> None:
    with pytest.raises(ExpressionError):
        Expr.parse("+".join(["n"] * 200))
    with pytest.raises(ExpressionError):
        Expr.parse("(" * 150 + "n")


@pytest.mark.parametrize(
    "text",
    ["1" * 11, "1" * 100_000, "*".join(["9999999999"] * 4), "*".join(f"(a{i}+b{i})" for i in range(28))],
    ids=["digits", "many-digits", "factor", "terms"],
)
def test_a_number_or_a_sum_that_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expr.parse(text)
    with pytest.raises(Invalid, match="is no dimension"):
        TensorType.parse(f"float32[{text}]")
