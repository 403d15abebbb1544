"""The lanes in Relay, as data. They run in a toolchain that has it: `fuzz toolchain add relay`."""

from __future__ import annotations

from typing import Any

from oracles.lane import DEFAULT_OPT_LEVEL, RELAY, Engine, Execution, Importer, LaneSpec, Params

OPSET = 17
"""The newest that Relay's from_onnx knows, or nearly so."""


def _relay(name: str, importer: Importer, **more: Any) -> LaneSpec:
    """Through torch.jit.trace, or through an ONNX file: as it was exported, for Relay folds its own constants."""
    road = "torch" if importer is Importer.TRACE else str(importer)
    opset = OPSET if importer.is_onnx else None
    plain: dict[str, Any] = {"toolchain": "relay", "opset": opset, "executor": Execution.GRAPH}
    return LaneSpec(f"relay-{road}-{name}", Engine.TVM, importer, RELAY, **{**plain, **more})


_IMPORTERS = (Importer.TRACE, Importer.ONNX)

RELAY_ROADS = tuple(_relay(f"O{DEFAULT_OPT_LEVEL}", importer, opt_level=DEFAULT_OPT_LEVEL) for importer in _IMPORTERS)
"""The plain ones. Every test takes these."""

RELAY_OFTEN = tuple(_relay("library", importer, as_library=True) for importer in _IMPORTERS)
"""Every fourth test takes these: what they write is measured."""

RELAY_SAMPLED = (
    *(_relay(f"O{level}", importer, opt_level=level) for importer in _IMPORTERS for level in (0, 1, 3, 4)),
    *(_relay("vm", importer, executor=Execution.VM) for importer in _IMPORTERS),
    # imported with the weights as inputs, which leaves DynamicToStatic undone
    _relay("dynamic-to-static", Importer.ONNX, params=Params.REBOUND, passes=("DynamicToStatic",)),
)
"""A test takes one of them, in turn."""

RELAY_LANES = (*RELAY_ROADS, *RELAY_OFTEN, *RELAY_SAMPLED)
