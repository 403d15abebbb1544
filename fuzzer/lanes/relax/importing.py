"""From a model to a Relax module, by the code that the importer's row names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from tvm.relax.frontend import detach_params

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.guard_zones import Constants, Zone
from fuzzer.lanes.relax.wrong_operand import wrong_operand_noted
from generators.graph import Array
from oracles.importers import evaluated_importers
from oracles.lane import LaneSpec, Params


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported Relax module.

    module     used by this lane only
    inputs     the model's inputs in the order of main's parameters
    constants  the memory of the constants and parameters
    params     the parameters that main takes after the inputs, where they are not bound as constants
    """

    module: Any
    inputs: Mapping[str, Array]
    constants: Sequence[Zone]
    params: Sequence[Any] = ()


class Read(Protocol):
    """The function `read` of a module of `fuzzer.lanes.relax.importers`."""

    def __call__(
        self, prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool, /
    ) -> tuple[Any, Mapping[str, Array]]:
        """Return TVM's module, and the model's inputs in the order of main's parameters.

        step       call it with `Stage.EXPORT` before the export, and with `Stage.IMPORT` before the import
        constants  TVM is called inside `constants.guarded()`, so that its constants get guarded memory
        keep       whether the parameters become parameters of main
        """


def _code_of(name: str) -> Read:
    read: Read = import_module(f"fuzzer.lanes.relax.importers.{name}").read
    return read


_READ = {importer: _code_of(importer.row.code) for importer in evaluated_importers()}


def imported(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Imported:
    if spec.importer not in _READ:
        raise ValueError(f"no importer of Relax: {spec.importer}")
    keep, constants = spec.params is not Params.BOUND, Constants()
    with wrong_operand_noted(prepared.case, step):
        module, inputs = _READ[spec.importer](prepared, spec, step, constants, keep)
    if not keep:
        return Imported(module, inputs, constants.zones)
    module, params = detach_params(module)
    return Imported(module, inputs, constants.zones, list(params.get("main", ())))  # no entry: main has no parameters
