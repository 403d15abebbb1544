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
from generators.graph import Array, DType
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

    prefix: str
    dtype: Callable[[str], str]
    varargs: bool
    from_list: str
    defaults: tuple[str, ...]
    """The dtypes that need no argument: of zeros and ones, and of a list of floats, of integers, of booleans."""

    def filled(self, function: str, shape: tuple[int, ...], dtype: str) -> str:
        sizes = ", ".join(map(str, shape)) if shape and (self.varargs or len(shape) == 1) else str(shape)
        return f"{self.prefix}.{function}({sizes}{self.named(dtype, dtype == self.defaults[0])})"

    def named(self, dtype: str, default: bool) -> str:
        return "" if default else f", dtype={self.dtype(dtype)}"


TORCH = Library("torch", lambda name: f"torch.{name}", True, "tensor", ("float32", "float32", "int64", "bool"))
NUMPY = Library(
    "np",
    lambda name: f'"{name}"' if name != "bfloat16" else "ml_dtypes.bfloat16",
    False,
    "array",
    ("float64", "float64", "int64", "bool"),
)


def literal(array: Array, library: Library = TORCH) -> str:
    """An expression whose value is this array, bit for bit."""
    shape, dtype = tuple(array.shape), str(array.dtype)
    for name, number in (("zeros", 0), ("ones", 1)):
        if _same(array, np.full(shape, number, array.dtype)):
            return library.filled(name, shape, dtype)
    if array.size > SHORT:
        for rule, made in _rules(array):
            if _same(array, made):
                text = f"{library.prefix}.{library.from_list}({rule}{library.named(dtype, False)})"
                return text + (f".reshape({', '.join(map(str, shape))})" if array.ndim > 1 else "")
    if (found := _seed(array, library)) is not None:
        return found
    if array.size == 0:
        return library.filled("zeros", shape, dtype)
    written = _written(array, library) if array.size <= INLINE else ""
    return written if written and len(wrapped(INDENT + written)) <= LINES else _packed(array, library)


def _written(array: Array, library: Library) -> str:
    numbers = _numbers(array)
    for word in ("nan", "inf"):
        numbers = numbers.replace(word, f'float("{word}")')
    kind = {"f": 1, "i": 2, "b": 3}.get(array.dtype.kind, 0)
    default = bool(kind) and str(array.dtype) == library.defaults[kind]
    return f"{library.prefix}.{library.from_list}({numbers}{library.named(str(array.dtype), default)})"


def _numbers(array: Array) -> str:
    """The numbers as nested lists, with as few digits as the dtype needs."""
    if array.dtype.kind in "iub" or array.dtype == np.float64:
        return repr(array.tolist())
    short = [str(float(str(number))) for number in array.ravel()]
    if not _same(array, np.array([float(number) for number in short], array.dtype)):
        return repr(array.astype(np.float64).tolist())
    numbers = iter(short)
    return _nested(array.shape, numbers)


def _nested(shape: tuple[int, ...], numbers: Iterator[str]) -> str:
    if not shape:
        return next(numbers)
    return f"[{', '.join(_nested(shape[1:], numbers) for _ in range(shape[0]))}]"


def _same(array: Array, made: Array) -> bool:
    return array.tobytes() == made.tobytes()


def _rules(array: Array) -> list[tuple[str, Array]]:
    """Short expressions of lists, each with its numbers."""
    count = array.size
    numbers = np.arange(1, count + 1)
    signed = np.where(numbers % 2 == 0, -numbers, numbers)
    lists = (
        (f"range(1, {count + 1})", numbers),
        (f"[n if n % 2 else -n for n in range(1, {count + 1})]", signed),
        (f"[n % 2 for n in range(1, {count + 1})]", numbers % 2),
        (f"range({count})", numbers - 1),
    )
    with np.errstate(all="ignore"):
        made = [(text, numbers.astype(array.dtype)) for text, numbers in lists]
    wide = array.dtype.itemsize > 2 or count <= 127 or array.dtype == np.bool_  # small integer dtypes would overflow
    return made if wide else []


def _seed(array: Array, library: Library) -> str | None:
    """The expression of `generators.values.seeded`, by which reductions replace large arrays; None for other arrays."""
    dtype = str(array.dtype)
    if array.size <= SHORT or dtype not in ("float32", "float64"):
        return None
    if not _same(array, seeded(tuple(array.shape), DType(dtype))):
        return None
    made = f"np.random.RandomState(0).standard_normal({tuple(array.shape)})"
    return f"torch.tensor({made}, dtype=torch.{dtype})" if library is TORCH else f'{made}.astype("{dtype}")'


def _packed(array: Array, library: Library) -> str:
    """The array as compressed bytes, for many numbers without a rule."""
    packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    data = " ".join(f'"{line}"' for line in textwrap.wrap(packed, WIDTH - 32, break_on_hyphens=False))
    unpacked = f"zlib.decompress(base64.b85decode({data}))"
    taken = f"bytearray({unpacked})" if library is TORCH else unpacked
    shape = ", ".join(map(str, array.shape))
    return f"{library.prefix}.frombuffer({taken}, dtype={library.dtype(str(array.dtype))}).reshape({shape})"
