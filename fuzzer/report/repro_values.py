"""Arrays as expressions in `repro.py`: for PyTorch, or for numpy if the script needs no PyTorch.

Numbers that follow a rule are written as the rule (zeros, ones, a count, a seed). The rule must give exactly the array
that failed.
"""

from __future__ import annotations

import base64
import textwrap
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fuzzer.report.python_source import INDENT, WIDTH, wrapped
from fuzzer.report.script_source import NOTHING, Source, joined, listed, literal_of, name, quoted, source
from generators.graph import SMALL_DTYPES, Array, DType
from generators.values import seeded

INLINE = 600
"""An array with more elements is not written out."""

LINES = 16
"""An array that needs more lines is not written out."""

SHORT = 8
"""An array with more elements is written as a rule, if it follows one. Fewer numbers are easier to read than a rule."""


@dataclass(frozen=True, slots=True)
class Library:
    """The syntax of a library's array expressions."""

    prefix: Source
    dtype: Callable[[str], Source]
    varargs: bool
    from_list: Source
    defaults: tuple[str, ...]
    """The dtypes that need no argument: of zeros and ones, and of a list of floats, of integers, of booleans."""

    def filled(self, function: Source, shape: tuple[int, ...], dtype: str) -> Source:
        sizes = _sizes(shape) if shape and (self.varargs or len(shape) == 1) else literal_of(shape)
        return source("{}.{}({}{})", self.prefix, function, sizes, self.named(dtype, dtype == self.defaults[0]))

    def named(self, dtype: str, default: bool) -> Source:
        return NOTHING if default else source(", dtype={}", self.dtype(dtype))


TORCH = Library(
    source("torch"),
    lambda dtype: source("torch.{}", name(dtype)),
    True,
    source("tensor"),
    ("float32", "float32", "int64", "bool"),
)
NUMPY = Library(
    source("np"),
    lambda dtype: source("ml_dtypes.{}", name(dtype)) if dtype in ("bfloat16", *SMALL_DTYPES) else quoted(dtype),
    False,
    source("array"),
    ("float64", "float64", "int64", "bool"),
)


def _sizes(shape: tuple[int, ...]) -> Source:
    return joined(", ", map(literal_of, shape))


def literal(array: Array, library: Library = TORCH) -> Source:
    """An expression whose value is this array, bit for bit."""
    shape, dtype = tuple(array.shape), str(array.dtype)
    for function, number in ((source("zeros"), 0), (source("ones"), 1)):
        if _same(array, np.full(shape, number, array.dtype)):
            return library.filled(function, shape, dtype)
    if array.size > SHORT:
        for rule, made in _rules(array):
            if _same(array, made):
                text = _from_list(library, rule, library.named(dtype, False))
                return source("{}.reshape({})", text, _sizes(shape)) if array.ndim > 1 else text
    if (found := _seed(array, library)) is not None:
        return found
    if array.size == 0:
        return library.filled(source("zeros"), shape, dtype)
    written = _written(array, library) if array.size <= INLINE else NOTHING
    return written if written and len(wrapped(INDENT + written)) <= LINES else _packed(array, library)


def _from_list(library: Library, numbers: Source, dtype: Source) -> Source:
    return source("{}.{}({}{})", library.prefix, library.from_list, numbers, dtype)


def _written(array: Array, library: Library) -> Source:
    kind = {"f": 1, "i": 2, "b": 3}.get(array.dtype.kind, 0)
    default = bool(kind) and str(array.dtype) == library.defaults[kind]
    return _from_list(library, _numbers(array), library.named(str(array.dtype), default))


def _numbers(array: Array) -> Source:
    """The numbers as nested lists, with as few digits as the dtype needs."""
    if array.dtype.kind in "iub" or array.dtype == np.float64:
        return literal_of(array.tolist())
    short = [float(str(number)) for number in array.ravel()]
    if not _same(array, np.array(short, array.dtype)):
        return literal_of(array.astype(np.float64).tolist())
    return _nested(array.shape, map(literal_of, short))


def _nested(shape: tuple[int, ...], numbers: Iterator[Source]) -> Source:
    return listed([_nested(shape[1:], numbers) for _ in range(shape[0])]) if shape else next(numbers)


def _same(array: Array, made: Array) -> bool:
    return array.tobytes() == made.tobytes()


def _rules(array: Array) -> list[tuple[Source, Array]]:
    """Short expressions of lists, each with its numbers."""
    count = array.size
    numbers = np.arange(1, count + 1)
    signed = np.where(numbers % 2 == 0, -numbers, numbers)
    lists = (
        (source("range(1, {})", count + 1), numbers),
        (source("[n if n % 2 else -n for n in range(1, {})]", count + 1), signed),
        (source("[n % 2 for n in range(1, {})]", count + 1), numbers % 2),
        (source("range({})", count), numbers - 1),
    )
    with np.errstate(all="ignore"):
        made = [(text, numbers.astype(array.dtype)) for text, numbers in lists]
    wide = array.dtype.itemsize > 2 or count <= 127 or array.dtype == np.bool_  # small integer dtypes would overflow
    return made if wide else []


def _seed(array: Array, library: Library) -> Source | None:
    """The expression of `generators.values.seeded`, by which reductions replace large arrays; None for other arrays."""
    dtype = str(array.dtype)
    if array.size <= SHORT or dtype not in ("float32", "float64"):
        return None
    if not _same(array, seeded(tuple(array.shape), DType(dtype))):
        return None
    made = source("np.random.RandomState(0).standard_normal({})", literal_of(tuple(array.shape)))
    if library is TORCH:
        return source("torch.tensor({}, dtype={})", made, library.dtype(dtype))
    return source("{}.astype({})", made, library.dtype(dtype))


def _packed(array: Array, library: Library) -> Source:
    """The array as compressed bytes, for many numbers without a rule. TVM's importers take a bfloat16 tensor by DLPack
    alone, whose memory must be aligned: that of a copy is, that of a bytearray need not be."""
    packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    data = joined(" ", map(quoted, textwrap.wrap(packed, WIDTH - 32, break_on_hyphens=False)))
    unpacked = source("zlib.decompress(base64.b85decode({}))", data)
    taken = source("bytearray({})", unpacked) if library is TORCH else unpacked
    dtype = library.dtype(str(array.dtype))
    made = source("{}.frombuffer({}, dtype={}).reshape({})", library.prefix, taken, dtype, _sizes(array.shape))
    return source("{}.clone()", made) if library is TORCH and str(array.dtype) == DType.BFLOAT16 else made
