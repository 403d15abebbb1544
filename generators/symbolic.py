"""Symbolic sizes: formulas of symbols with sums, products and floor divisions, and integers that keep their formula.

Operator rows infer types with integer arithmetic. Applied to `Size`, the same arithmetic also gives the formula of each
result, so a row needs no symbolic inference of its own. Comparisons use the number only, so a formula may not hold for
other sizes: `Builder.emit` checks that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import total_ordering

SYMBOL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_TOKEN = re.compile(r"\s*(//|[0-9]{1,10}|[a-z][a-z0-9_]{0,31}|[-+*()])")


MOST_TERMS, MOST_FACTOR = 256, 10**20
"""The most terms that a product of formulas has, and the largest number in its factors."""


class ExpressionError(ValueError):
    """Raised for a text that is not a formula of sizes."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Atom:
    """A symbol, or the floor of a formula divided by a number: `n`, `(n+1)//2`."""

    name: str
    inner: Expr | None = None
    divisor: int = 1

    def __str__(self) -> str:
        return self.name if self.inner is None else f"({self.inner})//{self.divisor}"

    def __lt__(self, other: Atom) -> bool:
        return str(self) < str(other)

    def at(self, sizes: Mapping[str, int]) -> int:
        """Return the value for these sizes of the symbols."""
        return sizes[self.name] if self.inner is None else self.inner.at(sizes) // self.divisor


Term = tuple[tuple[Atom, ...], int]


@dataclass(frozen=True, slots=True)
class Expr:
    """A sum of products of atoms in a canonical order, written `2*n+1`."""

    terms: tuple[Term, ...]

    @staticmethod
    def of(terms: Iterable[Term]) -> Expr:
        factors: dict[tuple[Atom, ...], int] = {}
        for atoms, factor in terms:
            factors[atoms] = factors.get(atoms, 0) + factor
        nonzero = [(atoms, factor) for atoms, factor in factors.items() if factor]
        return Expr(tuple(sorted(nonzero, key=lambda term: (-len(term[0]), tuple(map(str, term[0]))))))

    @staticmethod
    def number(value: int) -> Expr:
        return Expr.of([((), value)])

    @staticmethod
    def symbol(name: str) -> Expr:
        return Expr((((Atom(name),), 1),))

    @staticmethod
    def parse(text: str) -> Expr:
        """Return the formula that a text describes. Raise `ExpressionError` where it describes none."""
        return _Parser(text).parse()

    def __str__(self) -> str:
        parts = [_written(atoms, factor) for atoms, factor in self.terms]
        return "+".join(parts).replace("+-", "-") or "0"

    def __add__(self, other: Expr) -> Expr:
        return Expr.of((*self.terms, *other.terms))

    def __mul__(self, other: Expr) -> Expr:
        """Raise `ExpressionError` where the product has too many terms, or too large a number."""
        if len(self.terms) * len(other.terms) > MOST_TERMS:
            raise ExpressionError(f"a product of more than {MOST_TERMS} terms")
        if any(abs(factor) > MOST_FACTOR for _, factor in (*self.terms, *other.terms)):
            raise ExpressionError(f"a number larger than {MOST_FACTOR:,}")
        return Expr.of(
            (tuple(sorted((*a, *b))), factor * times) for a, factor in self.terms for b, times in other.terms
        )

    def __floordiv__(self, divisor: int) -> Expr:
        if all(factor % divisor == 0 for _, factor in self.terms):
            return Expr.of((atoms, factor // divisor) for atoms, factor in self.terms)
        return Expr((((Atom("", self, divisor),), 1),))

    @property
    def constant(self) -> int | None:
        """The number that the formula is, or None if it has symbols."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def symbols(self) -> frozenset[str]:
        found: set[str] = set()
        for atoms, _ in self.terms:
            for atom in atoms:
                found |= {atom.name} if atom.inner is None else atom.inner.symbols
        return frozenset(found)

    def at(self, sizes: Mapping[str, int]) -> int:
        """Return the value for these sizes of the symbols."""
        total = 0
        for atoms, factor in self.terms:
            for atom in atoms:
                factor *= atom.at(sizes)
            total += factor
        return total


def _written(atoms: tuple[Atom, ...], factor: int) -> str:
    """Write a term so that parsing gives the same term. A quotient after another factor needs parentheses, because
    otherwise the factor would be divided too."""
    if not atoms:
        return str(factor)
    first = factor in (1, -1)
    names = [str(atom) if atom.inner is None or (first and not i) else f"({atom})" for i, atom in enumerate(atoms)]
    sign = "-" if factor == -1 else "" if factor == 1 else f"{factor}*"
    return sign + "*".join(names)


class _Parser:
    """A recursive descent parser of formulas.

    sum := product (('+'|'-') product)*
    product := unit (('*' unit) | ('//' number))*
    unit := number | name | '(' sum ')'
    """

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if not match or len(self._tokens) > 200:
                raise ExpressionError(f"{text!r} is no size")
            self._tokens.append(match[1])
            position = match.end()
        self._text = text

    def parse(self) -> Expr:
        expr = self._sum()
        if self._tokens:
            raise ExpressionError(f"{self._text!r} is no size")
        return expr

    def _next(self, *tokens: str) -> str | None:
        """Remove and return the next token if it is one of these, else return None."""
        return self._tokens.pop(0) if self._tokens and self._tokens[0] in tokens else None

    def _sum(self) -> Expr:
        sign = -1 if self._next("-") else 1
        total = self._product() * Expr.number(sign)
        while operator := self._next("+", "-"):
            total += self._product() * Expr.number(1 if operator == "+" else -1)
        return total

    def _product(self) -> Expr:
        value = self._unit()
        while operator := self._next("*", "//"):
            other = self._unit()
            if operator == "*":
                value *= other
            elif not other.constant or other.constant < 0:
                raise ExpressionError(f"{self._text!r} divides by something other than a positive number")
            else:
                value //= other.constant
        return value

    def _unit(self) -> Expr:
        if not self._tokens:
            raise ExpressionError(f"{self._text!r} is no size")
        token = self._tokens.pop(0)
        if token == "(":
            inner = self._sum()
            if not self._next(")"):
                raise ExpressionError(f"{self._text!r} lacks a )")
            return inner
        if token.isdigit():
            return Expr.number(int(token))
        if SYMBOL.fullmatch(token):
            return Expr.symbol(token)
        raise ExpressionError(f"{self._text!r} is no size")


class Size(int):
    """An integer with its formula. Sums, differences, products and quotients by plain numbers have a formula too."""

    expr: Expr

    def __new__(cls, value: int, expr: Expr) -> Size:
        size = super().__new__(cls, value)
        size.expr = expr
        return size

    @staticmethod
    def symbol(name: str, value: int) -> Size:
        return Size(value, Expr.symbol(name))

    def __add__(self, other: int) -> Size:
        return Size(int(self) + int(other), self.expr + formula(other))

    __radd__ = __add__

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: int) -> Size:
        return self + -other

    def __rsub__(self, other: int) -> Size:
        return -self + other

    def __mul__(self, other: int) -> Size:
        return Size(int(self) * int(other), self.expr * formula(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> int:
        value = int(self) // int(other)
        return value if isinstance(other, Size) or other <= 0 else Size(value, self.expr // other)


def formula(size: int) -> Expr:
    return size.expr if isinstance(size, Size) else Expr.number(size)
