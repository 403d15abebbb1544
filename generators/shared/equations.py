"""Equations as einsum takes them: which dimensions of operands are multiplied, summed and moved."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import AttrKind, Types, require
from generators.shared.sizes import meet, product

Label = str | int
"""A letter or, for a dimension within an ellipsis, its number from the right: -1, -2, ..."""

EQUATION = AttrKind(
    "an einsum equation",
    lambda v: isinstance(v, str) and re.fullmatch(r"[A-Za-z., ]{0,60}(->[A-Za-z. ]{0,30})?", v) is not None,
)

PATTERNS = (
    # one operand: moves, diagonals, sums
    *("ij->ji", "ba", "i j k -> k i j", "...ij->...ji", "i...->...i", "...", "ijkl->lkji"),
    *("ii->i", "ii", "ijj->ij", "iji->j", "...ii->...i", "...ii->..."),
    *("i->", "ij->j", "ij->", "ijk->ik", "...i->...", "...i->i", "i...->i"),
    # two: products of elements, of vectors, of matrices, in batches
    *("i,i->i", "ij,j->ij", "i,j->ij", "i,j->ji", ",->", "i,->i", "ij,ji->ij", "bi,bj->bij"),
    *("i,i->", "ij,ij->", "ij,ij->i", "ij,j->i", "j,ij->i", "...i,i->...", "...i,...i->..."),
    *("ij,jk->ik", "ij,kj->ik", "ij,jk->ki", "ij,jk", "Ab,bA", "ji,jk->ik", "i j, j k -> i k"),
    *("bij,bjk->bik", "bij,bkj->bik", "bij,jk->bik", "bji,bjk->bik", "bij,kj->bki", "b i j, b j k -> b i k"),
    *("...ij,...jk->...ik", "...ij,jk->...ik", "i...,i...->...", "ij...,jk...->ik..."),
    *("bhqd,bhkd->bhqk", "bhqk,bhkd->bqhd", "bqhd,bkhd->bhqk", "bchw,oc->bohw", "nctv,vw->nctw", "ijkl,jl->ik"),
    *("ij,k->jk", "ij,k->ik", "ij,jk->k", "ij,ik->j", "ij,kl->", "ii,i->i", "ii,ij->j"),
    # three
    *("ij,jk,kl->il", "i,ij,j->", "bi,ijk,bk->bj", "i,i,i->i", "i,j,k->ijk", "ij,ij,ij->i"),
)

SIZES = (1, 2, 2, 3, 3, 4, 5, 8)


def _terms_of(equation: str) -> tuple[list[str], str | None]:
    """The labels of each operand, and those of the result if the equation has them."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    for part in (*parts, right):
        require(part.count("...") <= 1 and "." not in part.replace("...", "", 1), f"einsum: {part!r} has a stray dot")
    return parts, right if arrow else None


def _labels(part: str, rank: int) -> tuple[Label, ...]:
    """One label for each of `rank` dimensions."""
    if "..." not in part:
        require(len(part) == rank, f"einsum: {part!r} does not stand for {rank} dimensions")
        return tuple(part)
    before, after = part.split("...")
    dots = rank - len(before) - len(after)
    require(dots >= 0, f"einsum: {part!r} stands for more than {rank} dimensions")
    return (*before, *range(-dots, 0), *after)


def read(types: Types, attrs: Attrs) -> tuple[dict[Label, int], list[tuple[Label, ...]], tuple[Label, ...]]:
    """The size of each label, the labels of the operands, and the labels of the result."""
    parts, right = _terms_of(str(attrs["equation"]))
    require(len(parts) == len(types), f"einsum: the equation is for {len(parts)} operands, not {len(types)}")
    operands = [_labels(part, t.rank) for part, t in zip(parts, types, strict=True)]
    sizes: dict[Label, int] = {}
    for labels, t in zip(operands, types, strict=True):
        own: dict[Label, int] = {}
        for label, size in zip(labels, t.sizes, strict=True):
            require(own.setdefault(label, size) == size, f"einsum: {label} has two sizes in {t}")
        for label, size in own.items():
            known = sizes.setdefault(label, size)
            require(meet(size, known), f"einsum: {label} has sizes {known} and {size}")
            sizes[label] = known if size == 1 else size
    dots = sorted(label for label in sizes if isinstance(label, int))
    if right is None:
        once = [label for label in sizes if isinstance(label, str) and "".join(parts).count(label) == 1]
        return sizes, operands, (*dots, *sorted(once))
    before, ellipsis, after = right.partition("...")
    out = (*before, *(dots if ellipsis else ()), *after)
    require(len(set(out)) == len(out), f"einsum: {right!r} says a letter twice")
    require(sizes.keys() >= set(out), f"einsum: {right!r} says a letter that no operand has")
    return sizes, operands, out


def reduced_terms(types: Types, attrs: Attrs) -> int:
    sizes, _, out = read(types, attrs)
    return max(1, product([size for label, size in sizes.items() if label not in out])) * max(1, len(types) - 1)


# --- what is drawn


def operands(b: Builder, dtypes: Sequence[DType], *, mixed: bool) -> tuple[Value, ...]:
    """Operands for some pattern, or for random letters: values that share sizes. `mixed`: some also differ in dtype."""
    source = b.source
    if source.chance(70):
        parts = _terms_of(source.choice(PATTERNS))[0]
    else:
        parts = ["".join(source.some("abcde", 0, 4)) for _ in range(source.integer(2, 3))]
    sizes: dict[Label, int] = {}
    values: list[Value] = []
    for part in parts:
        letters = len(part.replace("...", ""))
        labels = _labels(part, letters + source.integer(0, min(2, 4 - letters)) if "..." in part else letters)
        own = dtypes if mixed or not values else (values[0].type.dtype,)
        values.append(_operand(b, labels, sizes, own, values[0].type.dtype if values else None))
        for label, size in zip(labels, values[-1].type.sizes, strict=True):
            sizes[label] = max(size, sizes.get(label, size))
    return tuple(values)


def _operand(
    b: Builder, labels: tuple[Label, ...], sizes: dict[Label, int], dtypes: Sequence[DType], dtype: DType | None
) -> Value:
    """A value whose dimensions can have these labels, where some labels have sizes already."""

    def fits(t: TensorType) -> bool:
        if len(t.shape) != len(labels) or t.dtype not in dtypes or dtype not in (None, t.dtype):
            return False
        own: dict[Label, int] = {}
        pairs = list(zip(labels, t.sizes, strict=True))
        return all(sizes.get(label, size) in (1, size) and own.setdefault(label, size) == size for label, size in pairs)

    def otherwise() -> TensorType:
        own = {label: size for label, size in sizes.items() if label in labels}
        room = b.limits.max_numel // max(1, product(list(sizes.values())))
        for label in labels:
            if label not in own:
                few = [size for size in SIZES if size <= room] or [1]
                own[label] = b.symbolic_size(room, 40) or b.source.choice(few)
                room //= max(1, own[label])
            elif b.source.chance(8):
                own[label] = 1
        kept = dtype is not None and b.source.chance(90)
        return TensorType(
            dtype if dtype is not None and kept else b.dtype(dtypes), tuple([own[label] for label in labels])
        )

    return b.fresh_input(otherwise()) if sizes and b.source.chance(40) else b.pick(fits, otherwise)


def any_equation(source: ChoiceSource, types: Types) -> str:
    """Random letters that the sizes allow. A letter is repeated for a product or for a diagonal."""
    sizes: dict[str, int] = {}
    parts: list[str] = []
    for t in types:
        part = ""
        for size in t.sizes:
            known = [
                letter
                for letter in sizes
                if letter not in part and (sizes[letter] == size or 1 in (sizes[letter], size))
            ]
            twice = [letter for letter in part if t.sizes[part.index(letter)] == size]
            if twice and source.chance(15):
                part += source.choice(twice)
            elif known and source.chance(75):
                part += source.choice(known)
            else:
                part += next(letter for letter in string.ascii_letters if letter not in sizes and letter not in part)
        parts.append(part)
        for letter, size in zip(part, t.sizes, strict=True):
            sizes[letter] = max(size, sizes.get(letter, size))
    left = ",".join(parts)
    if source.chance(10):
        return left
    few = len(sizes) if source.chance(30) else 0
    return f"{left}->{''.join(source.some(list(sizes), few, len(sizes)))}"


COUNTED = [(equation, len(_terms_of(equation)[0])) for equation in PATTERNS]
"""The patterns, each with the number of its operands."""
