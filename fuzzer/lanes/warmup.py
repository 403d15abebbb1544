"""What a zygote does before it forks: import everything, and run one small case through every kind of lane."""

from __future__ import annotations

import functools
import importlib
import logging
import platform
import warnings
from typing import Any

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Case, DType, TensorType
from generators.motifs import call
from generators.random_graph import with_values


def warm_up() -> dict[str, str]:
    """Returns the versions of what was loaded."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    from fuzzer.lanes import LANES
    from fuzzer.lanes.base import Bench, Quiet
    from fuzzer.lanes.runners import runner_of

    remember_decompositions()
    step = Quiet()
    bench = Bench(_case(), step)
    for spec in LANES:
        try:
            runner_of(spec).run(bench, spec, step)
        except Exception as error:
            error.add_note(f"lane {spec} cannot run the network that every lane is warmed up with")
            raise
    names = ("torch", "tvm", "onnx", "onnxruntime", "numpy")
    versions = {name: str(importlib.import_module(name).__version__) for name in names}
    return {"python": platform.python_version(), **versions}


def _case() -> Case:
    """A small network that works everywhere: what it makes torch and TVM load and cache, no child does again."""
    b = Builder(NumpySource(0))
    x = b.fresh_input(TensorType(DType.FLOAT32, (1, 2, 6, 6)))
    x = call(b, "pad_constant", x, pad=(1, -1), value=0.5)
    x = call(b, "conv2d", x, b.param(DType.FLOAT32, 3, 2, 3, 3), padding=(1, 1))
    x = call(b, "max_pool2d", call(b, "relu", x), kernel_size=(2, 2))
    x = call(b, "flatten", x, start_dim=1)
    x = call(b, "linear", x, b.param(DType.FLOAT32, 4, 27), b.param(DType.FLOAT32, 4))
    x = call(b, "softmax", x, dim=-1)
    x = call(b, "squeeze", call(b, "unsqueeze", x, dim=0), dim=0)
    x = call(b, "slice", x, dim=1, start=1, end=None, step=1)
    call(b, "add_scalar", call(b, "mean", x, dim=(1,), keepdim=True), other=1.5)
    return with_values(b, "warm-up")


def remember_decompositions() -> None:
    """torch.export collects the same set of operators anew at each decomposition, half of its time (measured: 129 to
    82 ms); remembering it changes no result. Of what is left, half went into the annotation `Callable[_P, _T]`, which
    Python makes anew at each of ten thousand registrations (measured: 219 to 81 ms)."""
    ops: Any = importlib.import_module("torch._ops")
    if not isinstance(ops.Callable, _Remembered):
        ops.Callable = _Remembered(ops.Callable)
    utils = importlib.import_module("torch._export.utils")
    for name in ("_collect_all_valid_cia_ops", "_collect_all_valid_cia_ops_for_aten_namespace"):
        collect = getattr(utils, name, None)
        if collect is None:
            continue  # another release: slower, the same result
        remembered = _remembered(collect)
        for module in ("torch._export.utils", "torch.export.decomp_utils", "torch.export.exported_program"):
            loaded = importlib.import_module(module)
            if getattr(loaded, name, None) is collect:
                setattr(loaded, name, remembered)


class _Remembered:
    """A generic type that makes each of its aliases once."""

    def __init__(self, generic: Any) -> None:
        self._generic = generic
        self._alias = functools.cache(lambda *parameters: generic[parameters])

    def __getitem__(self, parameters: tuple[Any, ...]) -> Any:
        try:
            return self._alias(*parameters)
        except TypeError:  # a list among them
            return self._generic[parameters]

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._generic)


def _remembered(collect: Any) -> Any:
    once = functools.cache(collect)
    return lambda: set(once())
