"""The rows of PyTorch that become a call which a converter of one of TVM's importers of PyTorch reads, by their names:
nothing is exported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache

from fuzzer.seeds.torch.aten_names import RENAMED
from generators.torch.ops import OPS

TABLES = ("export", "fx")

ALSO: Mapping[str, tuple[str, ...]] = {
    # by function, without underscores: rows that become it, where their names do not say so
    "addmm": ("linear", "matmul", "bilinear", "rnn*", "lstm*", "gru*"),
    "bmm": ("matmul", "einsum", "tensordot", "baddbmm", "scaled_dot_product*", "bilinear"),
    "cat": ("stack", "hstack", "vstack", "dstack", "column_stack"),
    "concat": ("cat", "stack", "hstack", "vstack", "dstack"),
    "constantpadnd": ("pad*", "constant_pad*"),
    "convolution": ("conv*",),
    "crossentropyloss": ("cross_entropy*",),
    "float": ("to*", "type*"),
    "getitem": ("getitem*", "index*", "select", "narrow"),
    "gridsampler2d": ("grid_sample*",),
    "half": ("to*", "type*"),
    "index": ("index*", "getitem*", "take*"),
    "logsoftmax": ("cross_entropy*",),
    "matmul": ("mm", "bmm", "linear", "einsum", "tensordot", "mv", "dot", "addmm", "baddbmm"),
    "mm": ("matmul", "linear", "einsum", "tensordot", "addmm"),
    "permute": ("transpose", "movedim", "swapaxes", "t", "mT"),
    "slice": ("getitem*", "narrow", "chunk", "split*"),
    "softmax": ("softmin", "scaled_dot_product*"),
    "splitwithsizes": ("split*", "chunk"),
    "tocopy": ("to*", "type*"),
    "view": ("reshape", "flatten", "unflatten", "ravel"),
    "where": ("masked_fill*", "clamp*"),
    "zero": ("zero_*", "zeros_like"),
    "*batchnorm*": ("batch_norm*", "instance_norm*", "native_batch_norm*"),
    "instancenorm*": ("instance_norm*",),
    "upsample*": ("interpolate*", "upsample*"),
    "*floordiv*": ("floor_divide*", "div*"),
    "truediv": ("div*",),
    "iadd": ("add*",),
}
"""By patterns of names of functions, patterns of names of rows. Rows that are left out are found by the tests: what
reaches the changed code is noted."""


RULES: Mapping[str, tuple[str, ...]] = {
    # by rule of dlight (tvm/s_tir/dlight/gpu/*.py, whose docstrings say which kernels it takes)
    "Fallback": ("relu", "add", "mul", "where", "cat"),
    "GEMV": ("mv", "matmul", "linear", "addmv", "bmm"),
    "GeneralReduction": ("softmax", "log_softmax", "layer_norm", "logsumexp"),
    "LowBatchGEMV": ("linear", "matmul", "mm"),
    "Matmul": ("matmul", "mm", "bmm", "linear", "addmm", "baddbmm"),
    "RMSNorm": ("rms_norm",),
    "Reduction": ("sum", "mean", "amax", "amin", "prod", "any", "all"),
    "Transpose": ("permute", "transpose", "t", "movedim"),
}
"""Rows whose kernels a rule schedules."""


def rows_of_rule(name: str) -> tuple[str, ...]:
    """The rows whose kernels a rule of schedules takes, by the name of its class."""
    known = {op.name for op in OPS}
    return tuple(row for row in RULES.get(name, ()) if row in known)


@cache
def rows_of_converter(name: str) -> tuple[str, ...]:
    """The names of the rows. `name` is a converter without its table: `softmax.int`, `linear`, `nn.GELU`."""
    function = name.removeprefix("nn.").split(".")[0]
    plain, renamed = plain_word(function), plain_word(RENAMED.get(function, ("", {}))[0])
    globs = [glob for pattern, many in ALSO.items() if fnmatchcase(plain, pattern) for glob in many]
    others = (op.name for op in OPS if any(fnmatchcase(op.name, glob) for glob in globs))
    return tuple(dict.fromkeys((*rows_of_word(plain), *rows_of_word(renamed), *others)))


def rows_of_word(word: str) -> Iterator[str]:
    """The rows that call a function of this name, in small letters without underscores."""
    yield from _words().get(word, ())


@cache
def _words() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for op in OPS:
        text = op.source if isinstance(op.source, str) else ""
        for word in {plain_word(each) for each in (op.name, *re.findall(r"\.(\w+)\(", text))}:
            found.setdefault(word, []).append(op.name)
    return {word: tuple(rows) for word, rows in found.items()}


def plain_word(name: str) -> str:
    """A name in small letters without underscores."""
    return name.replace("_", "").lower()
