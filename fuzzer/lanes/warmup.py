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
from generators.graph import Attrs, Case, DType, TensorType, Value
from generators.ops import TABLE
from generators.random_graph import with_values
from oracles.outcome import Stage


def warm_up() -> dict[str, str]:
    """Returns the versions of what was loaded."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    from fuzzer.lanes import LANES
    from fuzzer.lanes.base import Bench
    from fuzzer.lanes.runners import runner_of

    _remember_decompositions()
    bench = Bench(_case(), _ignore)
    for spec in LANES:
        try:
            runner_of(spec).run(bench, spec, _ignore)
        except Exception as error:
            error.add_note(f"lane {spec} cannot run the network that every lane is warmed up with")
            raise
    names = ("torch", "tvm", "onnx", "onnxruntime", "numpy")
    versions = {name: str(importlib.import_module(name).__version__) for name in names}
    return {"python": platform.python_version(), **versions}


def _ignore(stage: Stage) -> None:
    return


def _case() -> Case:
    """A small network that works everywhere: what it makes torch and TVM load and cache, no child does again."""
    builder = Builder(NumpySource(0))
    x = builder.fresh_input(TensorType(DType.FLOAT32, (1, 2, 6, 6)))
    weight = builder.param(DType.FLOAT32, 3, 2, 3, 3)
    window: Attrs = {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}
    steps: tuple[tuple[str, Attrs, tuple[Value, ...]], ...] = (
        ("pad_constant", {"pad": (1, -1), "value": 0.5}, ()),
        ("conv2d", window, (weight,)),
        ("relu", {}, ()),
        (
            "max_pool2d",
            {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1), "ceil_mode": False},
            (),
        ),
        ("flatten", {"start_dim": 1, "end_dim": -1}, ()),
        ("linear", {}, (builder.param(DType.FLOAT32, 4, 27), builder.param(DType.FLOAT32, 4))),
        ("softmax", {"dim": -1}, ()),
        ("unsqueeze", {"dim": 0}, ()),
        ("squeeze", {"dim": 0}, ()),
        ("slice", {"dim": 1, "start": 1, "end": None, "step": 1}, ()),
        ("mean", {"dim": (1,), "keepdim": True}, ()),
        ("add_scalar", {"other": 1.5}, ()),
    )
    for name, attrs, more in steps:
        (x,) = builder.emit(TABLE[name], (x, *more), attrs)
    return with_values(NumpySource(0), builder.graph(), "warm-up")


def _remember_decompositions() -> None:
    """torch.export collects the same set of operators anew at each decomposition, half of its time (measured: 129 to
    82 ms); remembering it changes no result."""
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


def _remembered(collect: Any) -> Any:
    once = functools.cache(collect)
    return lambda: set(once())
