"""What no framework defines, as rows with their sources. All dialects use these rows: the envelope marks the elements
of the outputs that depend on such a value (`fuzzer/lanes/envelope/`), and no oracle compares them.

The words of the sources are those of the versions that difftvm installs: PyTorch 2.13, onnx 1.23, and the standard of C
(C17, ISO/IEC 9899:2018), to which TVM's target `c` compiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generators.undefined import elements, writes
from generators.undefined.elements import Where, both, converted


@dataclass(frozen=True, slots=True)
class Undefined:
    """One row.

    name     short and unique
    what     what has no defined value, in a few words
    sources  where that is written, with the words
    where    from the name of an operator to its elements without a value. A name of ONNX without a version stands for
             all versions
    """

    name: str
    what: str
    sources: tuple[str, ...]
    where: Mapping[str, Where]


def _of(where: Where, names: str) -> dict[str, Where]:
    return dict.fromkeys(names.split(), where)


_POOLS = " ".join(f"{name}_pool{rank}d_with_indices" for name in ("max", "adaptive_max") for rank in (1, 2, 3))
"""Rows of PyTorch that give the position of each largest element."""

INTEGER_QUOTIENT = "integer-quotient"
"""The name of the row whose operations may end a process."""

ROWS: tuple[Undefined, ...] = (
    Undefined(
        "conversion-to-integer",
        "the conversion of NaN, infinities and floats out of range to an integer",
        (
            "ONNX, Cast: 'Casting from floating point to fixed point: undefined if OOR'",
            "PyTorch, Tensor.to: 'If the truncated value cannot fit into the target type, the behavior is undefined'",
            "C17 6.3.1.4p1: 'If the value of the integral part cannot be represented by the integer type, the behavior "
            "is undefined'",
        ),
        {
            **_of(converted(0), "Cast CastLike relax.astype to to_uint8 type_as sum nansum prod cumsum cumprod"),
            **_of(converted(1), "copy fill_tensor setitem slice_scatter select_scatter diagonal_scatter"),
            **_of(converted(2), "masked_fill_tensor index_fill_tensor"),
            "Pow": elements.powers_out_of_range,
        },
    ),
    Undefined(
        "quantization-of-nan",
        "the grid point of NaN and infinities; for PyTorch also where no 64-bit integer holds the quotient by the step",
        (
            "ONNX, QuantizeLinear: 'y = saturate((x / y_scale) + y_zero_point)' says nothing of NaN. onnx's evaluator "
            "converts the quotient to int32 before it saturates, as above; onnxruntime saturates infinities first",
            "PyTorch, fake_quantize_per_tensor_affine: 'std::nearby_int(input / scale)', a conversion as above",
        ),
        {"QuantizeLinear": elements.not_finite, "fake_quantize": elements.no_grid_point},
    ),
    Undefined(
        "quantization-without-range",
        "all results of a quantization that chooses its step, where a number is NaN or infinite or all are zero",
        (
            "ONNX, DynamicQuantizeLinear: 'intermediate_zero_point = qmin - min(x)/y_scale', where y_scale is 0, "
            "infinite or NaN",
        ),
        {"DynamicQuantizeLinear": elements.no_range},
    ),
    Undefined(
        "shift-too-far",
        "a shift by a negative number, or by at least as many bits as the integer has",
        (
            "PyTorch, bitwise_right_shift: 'if the value of the right operand is negative or is greater or equal to "
            "the number of bits in the promoted left operand, the behavior is undefined'",
            "ONNX, BitShift of version 11 says nothing of it; a later version defines it",
            "C17 6.5.7p3: 'If the value of the right operand is negative or is greater than or equal to the width of "
            "the promoted left operand, the behavior is undefined'",
        ),
        _of(
            elements.shifted_too_far,
            "BitShift-11 bitwise_left_shift bitwise_right_shift bitwise_left_shift_scalar bitwise_right_shift_scalar",
        ),
    ),
    Undefined(
        INTEGER_QUOTIENT,
        "the quotient and the remainder of integers by 0, and of the smallest integer by -1",
        (
            "PyTorch, fmod: 'raises RuntimeError for integer division by zero on CPU; integer division by zero on GPU "
            "may return any value'; nothing is said of the smallest integer",
            "ONNX, Div and Mod say nothing of it",
            "C17 6.5.5p5 and p6: 'if the value of the second operand is zero, the behavior is undefined'; 'If the "
            "quotient a/b is representable, (a/b)*b + a%b shall equal a; otherwise, the behavior of both a/b and a%b "
            "is undefined'",
        ),
        {
            **_of(
                elements.no_quotient,
                "Div Mod div floor_divide remainder fmod div_scalar floor_divide_scalar remainder_scalar fmod_scalar",
            ),
            **_of(elements.number_divided, "rfloor_divide_scalar rremainder_scalar"),
        },
    ),
    Undefined(
        "order-of-nan",
        "which number is the largest or the smallest among numbers of which one is NaN, for ONNX",
        (
            "ONNX, ArgMax, ArgMin, Hardmax, TopK, Max, Min, ReduceMax, ReduceMin, MaxPool: none of them says where NaN "
            "is in the order",
            "IEEE 754-2019 5.11: NaN is unordered",
        ),
        {
            **_of(elements.nan, "ArgMax ArgMin Max Min ReduceMax ReduceMin MaxPool GlobalMaxPool"),
            "Hardmax": elements.all_with_nan,  # of two dimensions, until version 13
            "Hardmax-13": elements.slices_with_nan,
        },
    ),
    Undefined(
        "open-order",
        "the indices of equal elements in a ranking that is not stable, and the results of one that is not sorted",
        (
            "PyTorch, argsort: 'If False, the relative order of values which compare equal is not guaranteed'",
            "PyTorch, median: 'indices does not necessarily contain the first occurrence of each median value found'; "
            "cummax, cummin, kthvalue and max_pool2d say nothing of equal elements; max documents the first one",
            "PyTorch, topk: 'the indices of tied elements are not guaranteed to be stable'; 'sorted, if True, will "
            "make sure that the returned k elements are themselves sorted'",
            "ONNX, TopK: 'If sorted is 0, order of returned Values and Indices are undefined'; nothing of NaN",
            "ONNX, NonMaxSuppression: 'Boxes are suppressed if their IOU with a previously selected box is strictly "
            "greater than iou_threshold'; nothing of equal scores",
            "TVM, relax.op.argmax, argmin, argsort, median and topk say nothing of equal elements",
        ),
        {
            **_of(elements.positions_of_equals, "sort argsort"),
            **_of(elements.positions_without_nan, "kthvalue median_dim nanmedian_dim cummax cummin"),
            **_of(elements.positions_without_nan, _POOLS),
            "topk": both(elements.positions_of_equals, elements.any_order),
            "topk_values": elements.any_order,
            "TopK": both(elements.nan, elements.any_order),
            "NonMaxSuppression": elements.ranked(1),
            **_of(elements.places_of_equals, "relax.argsort relax.topk"),
            "relax.argmax": elements.place_of_equals(largest=True),
            "relax.argmin": elements.place_of_equals(largest=False),
            "relax.median": elements.place_of_median,
        },
    ),
    Undefined(
        "written-twice",
        "an element that several numbers are written to which differ",
        (
            "PyTorch, scatter_: 'When indices are not unique, the behavior is non-deterministic'; put_: 'the behavior "
            "is undefined if index contain duplicate elements'; index_copy_: 'The result is nondeterministic'",
            "PyTorch, index_put_: 'If accumulate is False, the behavior is undefined if indices contain duplicate "
            "elements'; MaxUnpool2d: 'This operation may behave nondeterministically when the input indices has repeat "
            "values'; assignment to x[index] calls index_put_",
            "ONNX, ScatterElements and ScatterND: 'indices should not have duplicate entries'; MaxUnpool says nothing "
            "of them",
            "TVM, relax.op.scatter_elements, scatter_nd and index_put say nothing of them",
        ),
        {
            **_of(writes.along("dim"), "scatter index_copy"),
            **_of(writes.along("axis"), "Scatter ScatterElements relax.scatter_elements"),
            **_of(writes.by_coordinates, "ScatterND relax.scatter_nd"),
            **_of(writes.by_items, "setitem setitem_update"),
            "index_put": writes.by_tensors(1),
            "relax.index_put": writes.by_tensors(-1),
            "put": writes.into_flat,
            **{f"max_unpool{rank}d": writes.unpooled(rank) for rank in (1, 2, 3)},
            "MaxUnpool": writes.unpooled(0),
        },
    ),
    Undefined(
        "reduction-of-nothing",
        "the mean of no numbers, and the logarithm of the sum of no integers, for ONNX",
        (
            "ONNX, ReduceMean: 'Reduction over an empty set of values yields undefined'",
            "ONNX, ReduceLogSum and ReduceLogSumExp: 'yields minus infinity (if supported by the datatype) or "
            "undefined otherwise'",
        ),
        {
            "ReduceMean": elements.nothing_to_average,
            **_of(elements.nothing_among_integers, "ReduceLogSum ReduceLogSumExp"),
        },
    ),
)


def rows_of(op: str) -> tuple[tuple[Undefined, Where], ...]:
    """The rows about an operator, each with the function that finds its elements."""
    title = op.partition("-")[0]
    found = ((row, row.where.get(op) or row.where.get(title)) for row in ROWS)
    return tuple((row, where) for row, where in found if where is not None)
