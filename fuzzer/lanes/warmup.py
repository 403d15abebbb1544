"""What a zygote does before it forks: import all compilers, and run a small network in every kind of lane."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import platform
import sys
import warnings
from collections.abc import Iterable, Iterator

from fuzzer.lanes import GRADIENT_REFERENCES, HONEST_LANES, LANES, ONNX_READERS, PLAIN_ROUTES
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.relay import start
from fuzzer.lanes.runners import runner_of
from fuzzer.lanes.torch.decompositions import remember_decompositions
from fuzzer.toolchains.toolchain import HOST_NAME, GraphLanguage, language_of
from generators.dialect import dialects
from oracles.lane import LaneSpec


def warm_up(toolchain: str = HOST_NAME, kind: GraphLanguage = GraphLanguage.RELAX) -> dict[str, str]:
    """Load all lanes of a toolchain and return the versions of what was loaded."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    remember_decompositions()
    if toolchain == HOST_NAME:
        load((*LANES, *ONNX_READERS, *GRADIENT_REFERENCES, *HONEST_LANES))
        for spec, error in _failures(different(LANES)):
            error.add_note(f"lane {spec} cannot run the network that every lane is warmed up with")
            raise error
    else:
        if kind is GraphLanguage.RELAY:
            start.build_and_run()
        lanes = [lane for lane in PLAIN_ROUTES if language_of(lane) is kind]  # references run in the host
        load(lanes)
        for spec, error in _failures(
            different(lanes)
        ):  # a defect of that release: the outcome of the lane will show it
            print(f"lane {spec} is not warmed up: {type(error).__name__}: {error}", file=sys.stderr)
    return versions()


def load(lanes: Iterable[LaneSpec]) -> None:
    """Import the code that runs the lanes."""
    for spec in lanes:
        runner_of(spec)


def different(lanes: Iterable[LaneSpec]) -> Iterator[LaneSpec]:
    """The lanes whose variant or importer no lane of the same engine before them has. Another target would run a C
    compiler, and a child that uses it begins no faster."""
    met: set[object] = set()
    for spec in lanes:
        parts = {(spec.engine, part) for part in (spec.variant, spec.importer)}
        if not parts <= met:
            yield spec
        met |= parts


def _failures(lanes: Iterable[LaneSpec]) -> Iterator[tuple[LaneSpec, Exception]]:
    """Run the lanes on a small network of their dialect; yield those that fail."""
    step = Quiet()
    prepared = {dialect.name: PreparedCase(dialect.network(), step) for dialect in dialects()}
    for spec in lanes:
        try:
            runner_of(spec).run(prepared[spec.dialect], spec, step)
        except Exception as error:
            yield spec, error


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are installed. tvm must be."""
    found = {"python": platform.python_version()}
    for name in ("torch", "tvm", "onnx", "onnxruntime", "numpy"):
        if name == "tvm" or importlib.util.find_spec(name):
            found[name] = str(importlib.import_module(name).__version__)
    return found
