"""Ranges of numbers, matrices of indices, and windows, which have no operands."""

from __future__ import annotations

import math

from generators.choice import ChoiceSource
from generators.graph import FLOATS, INTEGERS, Attrs, DType, Form, TensorType
from generators.op import (
    BOOL,
    INT,
    NUMBER,
    OPTIONAL_DTYPE,
    Infer,
    Op,
    Spelling,
    Types,
    int_of,
    number_of,
    one_term,
    optional,
    require,
)
from generators.shared.numbers import largest, require_fits
from generators.torch.ops.literals import dtype_of_numbers, dtype_or, dtype_text, filled, maybe_dtype, nothing
from generators.torch.ops.rules import DEFAULT_FLOAT, NUMERIC, require_dtype

# --- ranges


def _arange(types: Types, attrs: Attrs) -> TensorType:
    start, end, step = (number_of(attrs, key) for key in ("start", "end", "step"))
    dtype = dtype_or(attrs, dtype_of_numbers(start, end, step))
    require(dtype is not DType.BOOL, "arange is not defined for bool")
    whole = dtype_of_numbers(start, end, step) is DType.INT64
    require(dtype.is_float or whole, f"{dtype} cannot hold fractions")  # the result depends on the integer dtype
    require(step != 0, "step must not be zero")
    require((end - start) * step >= 0, f"step {step} leads away from {end}")
    steps = (end - start) / step
    require(steps < 2**40, f"{steps} elements are too many")
    count = int(-((start - end) // step)) if whole else math.ceil(steps)
    for number in (start, step, start + max(count - 1, 0) * step):
        require_fits(number, dtype)
    return TensorType(dtype, (count,))


def _arange_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Attributes for all three ways to call it. Steps go in either direction, and may reach the end exactly or not."""
    dtype = maybe_dtype(source, NUMERIC)
    count, floats = source.integer(0, 12), dtype in (None, *FLOATS) and source.chance(50)
    start: int | float = 0
    step: int | float = 1
    if source.chance(60):
        start = source.integer(-12, 12) / 4 if floats else source.integer(-6, 6)
    if source.chance(50):
        step = source.choice((0.25, 0.5, -0.75, 2.5, 0.1)) if floats else source.choice((2, 3, -1, -2))
    if dtype == DType.UINT8:
        start, step = abs(start), abs(step)
    end = start + count * step
    if floats:
        end = float(end) if source.chance(70) else end + step / 2
    return {"start": start, "end": end, "step": step, "dtype": dtype}


def _arange_source(args: tuple[str, ...], attrs: Attrs) -> str:
    start, end, step = (attrs[key] for key in ("start", "end", "step"))
    bounds = [end] if repr((start, step)) == "(0, 1)" else [start, end] if repr(step) == "1" else [start, end, step]
    return f"torch.arange({', '.join(map(repr, bounds))}{dtype_text(attrs)})"


def _linspace(types: Types, attrs: Attrs) -> TensorType:
    start, end, steps = number_of(attrs, "start"), number_of(attrs, "end"), int_of(attrs, "steps")
    dtype = dtype_or(attrs, DEFAULT_FLOAT)
    require_dtype((TensorType(dtype, ()),), *NUMERIC)
    require(steps >= 0, "steps must not be negative")
    # otherwise rounding would determine to which integer a step is truncated
    whole = isinstance(start, int) and isinstance(end, int) and (end - start) % max(steps - 1, 1) == 0
    require(dtype.is_float or whole, f"{dtype} cannot hold {steps} even steps from {start} to {end}")
    require_fits(start, dtype)
    require_fits(end, dtype)
    return TensorType(dtype, (steps,))


def _linspace_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype, steps = maybe_dtype(source, NUMERIC), source.choice((0, 1, 2, 3, 4, 5, 5, 7, 9, 16))
    if dtype in INTEGERS:
        start = source.integer(0, 5)
        end = start + max(steps - 1, 1) * source.integer(0 if dtype == DType.UINT8 else -3, 3)
        return {"start": start, "end": end, "steps": steps, "dtype": dtype}
    halves = [source.integer(-16, 16) for _ in range(2)]
    first, last = [half / 2 for half in halves] if source.chance(60) else halves
    return {"start": first, "end": last, "steps": steps, "dtype": dtype}


def _logspace(types: Types, attrs: Attrs) -> TensorType:
    """Floats only: rounding would decide to which integer a power is truncated. Bases are positive: others give NaN."""
    dtype, steps = dtype_or(attrs, DEFAULT_FLOAT), int_of(attrs, "steps")
    start, end, base = (number_of(attrs, key) for key in ("start", "end", "base"))
    require_dtype((TensorType(dtype, ()),), *FLOATS)
    require(steps >= 0 and base > 0, "takes steps >= 0 and a positive base")
    for number in (start, end, base):
        require_fits(number, dtype)
    digits = abs(math.log10(base)) * max(abs(start), abs(end))
    require(digits < math.log10(largest(dtype)), f"{dtype} cannot hold {base} to the power of {start} or {end}")
    return TensorType(dtype, (steps,))


def _logspace_attrs(source: ChoiceSource, types: Types) -> Attrs:
    start, end = (source.choice((source.integer(-3, 3), source.integer(-6, 6) / 2)) for _ in range(2))
    base = source.choice((10.0, 10.0, 2, 0.5, 2.5))
    return {
        "start": start,
        "end": end,
        "steps": source.integer(0, 9),
        "base": base,
        "dtype": maybe_dtype(source, FLOATS),
    }


# --- matrices


def _eye(types: Types, attrs: Attrs) -> TensorType:
    n = int_of(attrs, "n")
    return filled(1, (n, n if attrs["m"] is None else int_of(attrs, "m")), dtype_or(attrs, DEFAULT_FLOAT))


def _triangle(upper: bool) -> Infer:
    """The indices of the elements of a triangle in a row-by-col matrix: two rows."""

    def below(row: int, col: int, offset: int) -> int:
        """Row i of a lower triangle has i + offset + 1 elements, but none below 0 or above col."""

        def total(last: int) -> int:
            full = max(last - col, 0)
            return max(last - full, 0) * (last - full + 1) // 2 + full * col

        return total(row + offset) - total(offset)

    def infer(types: Types, attrs: Attrs) -> TensorType:
        row, col, offset = (int_of(attrs, key) for key in ("row", "col", "offset"))
        dtype = dtype_or(attrs, DType.INT64)
        require(dtype in (DType.INT64, DType.INT32), f"is not defined for {dtype}")
        require(row >= 0 and col >= 0, "row and col must not be negative")
        count = row * col - below(row, col, offset - 1) if upper else below(row, col, offset)
        return TensorType(dtype, (2, count))

    return infer


def _triangle_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "row": source.integer(0, 6),
        "col": source.integer(0, 6),
        "offset": source.choice((0, 0, 1, -1, 2, source.integer(-8, 8))),
        "dtype": maybe_dtype(source, (DType.INT64, DType.INT32)),
    }


# --- windows


def _window(types: Types, attrs: Attrs) -> TensorType:
    dtype = dtype_or(attrs, DEFAULT_FLOAT)
    require_dtype((TensorType(dtype, ()),), *FLOATS)
    return filled(1, (int_of(attrs, "window_length"),), dtype)


def _window_row(name: str, **defaults: float) -> Op:
    """PyTorch accepts a parameter only together with all earlier ones."""

    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        """Draw some of the first parameters. The others keep their defaults."""
        count = source.choice((0, *range(len(defaults) + 1)))
        shape = {
            key: source.integer(1, 16) / 8 * default if index < count else default
            for index, (key, default) in enumerate(defaults.items())
        }
        length = source.choice((0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 32))
        return {"window_length": length, "periodic": source.chance(40), **shape, "dtype": maybe_dtype(source, FLOATS)}

    def short(args: tuple[str, ...], attrs: Attrs) -> str:
        keys = list(defaults)
        while keys and attrs[keys[-1]] == defaults[keys[-1]]:
            keys.pop()
        names = ("window_length", *(("periodic", *keys) if keys or not attrs["periodic"] else ()))
        return f"torch.{name}({', '.join(repr(attrs[key]) for key in names)}{dtype_text(attrs)})"

    given = "".join(f", {{{key}}}" for key in ("window_length", "periodic", *defaults))
    return Op(
        name,
        nothing,
        _window,
        f"torch.{name}({given.removeprefix(', ')}{{more}})",
        attrs,
        {"window_length": INT, "periodic": BOOL, **dict.fromkeys(defaults, NUMBER), "dtype": OPTIONAL_DTYPE},
        {"periodic": True, **defaults, "dtype": None},
        arity=(0, 0),
        terms=_many,
        scale=1.0,
        forms={Form.FUNCTION: Spelling(short)},
    )


def _many(types: Types, attrs: Attrs) -> int:
    """Several functions are applied in sequence, and each of them rounds."""
    return 16


OPS = (
    Op(
        "arange",
        nothing,
        _arange,
        _arange_source,
        _arange_attrs,
        {"start": NUMBER, "end": NUMBER, "step": NUMBER, "dtype": OPTIONAL_DTYPE},
        {"start": 0, "step": 1, "dtype": None},
        arity=(0, 0),
        terms=one_term,
        scale=1.0,
        forms={Form.FUNCTION: "torch.arange({start}, {end}, {step}{more})"},
    ),
    Op(
        "linspace",
        nothing,
        _linspace,
        "torch.linspace({start}, {end}, {steps}{more})",
        _linspace_attrs,
        {"start": NUMBER, "end": NUMBER, "steps": INT, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        arity=(0, 0),
        terms=one_term,
        scale=8.0,
    ),
    Op(
        "logspace",
        nothing,
        _logspace,
        "torch.logspace({start}, {end}, {steps}{more})",
        _logspace_attrs,
        {"start": NUMBER, "end": NUMBER, "steps": INT, "base": NUMBER, "dtype": OPTIONAL_DTYPE},
        {"base": 10.0, "dtype": None},
        arity=(0, 0),
        terms=_many,
    ),
    Op(
        "eye",
        nothing,
        _eye,
        "torch.eye({n}{more})",
        lambda source, types: {
            "n": source.integer(0, 6),
            "m": None if source.chance(50) else source.integer(0, 6),
            "dtype": maybe_dtype(source),
        },
        {"n": INT, "m": optional(INT), "dtype": OPTIONAL_DTYPE},
        {"m": None, "dtype": None},
        arity=(0, 0),
    ),
    *(
        Op(
            name,
            nothing,
            _triangle(upper),
            f"torch.{name}({{row}}, {{col}}{{more}})",
            _triangle_attrs,
            {"row": INT, "col": INT, "offset": INT, "dtype": OPTIONAL_DTYPE},
            {"offset": 0, "dtype": None},
            arity=(0, 0),
        )
        for name, upper in (("tril_indices", False), ("triu_indices", True))
    ),
    _window_row("hann_window"),
    _window_row("hamming_window", alpha=0.54, beta=0.46),
    _window_row("blackman_window"),
    _window_row("bartlett_window"),
    _window_row("kaiser_window", beta=12.0),
)
