"""The lanes in Relay, as data. They run in a toolchain that has it: `fuzz toolchain add relay`."""

from __future__ import annotations

from typing import Any

from oracles.importers import Importer
from oracles.lane import DEFAULT_OPT_LEVEL, RELAY, Engine, Execution, LaneSpec, Params

OPSET = 17
"""Relay's from_onnx supports this opset, and hardly any newer one."""


def _relay(name: str, importer: Importer, **more: Any) -> LaneSpec:
    """Return a lane that imports a torch.jit.trace, or an ONNX file as exported (Relay folds constants itself)."""
    frontend = "torch" if importer.row.reads.is_by_jit else str(importer)
    opset = OPSET if importer.row.reads.is_exported_file else None
    plain: dict[str, Any] = {"toolchain": "relay", "opset": opset, "executor": Execution.GRAPH}
    return LaneSpec(f"relay-{frontend}-{name}", Engine.TVM, importer, RELAY, **{**plain, **more})


_IMPORTERS = (Importer.TRACE, Importer.ONNX)

RELAY_ROUTES = tuple(_relay(f"O{DEFAULT_OPT_LEVEL}", importer, opt_level=DEFAULT_OPT_LEVEL) for importer in _IMPORTERS)
"""The plain lanes. Every test runs these."""

RELAY_OFTEN = tuple(_relay("library", importer, as_library=True) for importer in _IMPORTERS)
"""Every fourth test runs these. The size of the library that they write is measured."""

RELAY_SAMPLED = (
    *(_relay(f"O{level}", importer, opt_level=level) for importer in _IMPORTERS for level in (0, 1, 3, 4)),
    *(_relay("vm", importer, executor=Execution.VM) for importer in _IMPORTERS),
    # from_onnx runs DynamicToStatic itself unless the weights are imported as inputs
    _relay("dynamic-to-static", Importer.ONNX, params=Params.REBOUND, passes=("DynamicToStatic",)),
)
"""Each test runs one of them, in turn."""

RELAY_LANES = (*RELAY_ROUTES, *RELAY_OFTEN, *RELAY_SAMPLED)
