"""What a zygote does before it forks: import everything, and run one small case through every kind of lane."""

from __future__ import annotations

import functools
import importlib
import logging
import platform
import warnings
from typing import Any

import numpy as np

from generators.graph import Case, DType, Graph, Input, Node, TensorType, Value
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
        runner_of(spec).run(bench, spec, _ignore)
    names = ("torch", "tvm", "onnx", "onnxruntime", "numpy")
    versions = {name: str(importlib.import_module(name).__version__) for name in names}
    return {"python": platform.python_version(), **versions}


def _ignore(stage: Stage) -> None:
    return


def _case() -> Case:
    x, v = (Value(name, TensorType(DType.FLOAT32, (2, 3))) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node("relu", ("x0",), {}, (v,)),), ("v0",))
    return Case(graph, {"x0": np.ones((2, 3), np.float32)})


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
