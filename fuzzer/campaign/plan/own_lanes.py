"""The lanes that fuzz a user's own pass: the plain lane of exported programs, with the pass."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.lanes import TVM_LANES
from generators.graph import Invalid
from oracles.lane import LaneSpec
from oracles.transforms import IDEMPOTENT, KERNELS, LEGALIZE, OWN, ROUNDINGS, ModuleForm, own_transform

PLAIN = TVM_LANES[0]
"""The lane without the pass: relax-export-llvm. It decides whether a failure is the pass's."""

_BEFORE_KERNELS = {"legalized": (LEGALIZE,), "fused": (LEGALIZE, "AnnotateTIROpPattern", "FuseOps")}


def own_lanes(claimed: str) -> tuple[LaneSpec, ...]:
    """The lanes of a pass that is registered as NAME: with the pass alone; of a pass on kernels, with the pass after
    LegalizeOps, and after FuseOps. `claimed` is `NAME[:kernels][:idempotent][:ROUNDING]`. Raise `Invalid`."""
    row = own_transform(OWN + claimed)
    if row is None:
        form = f"NAME[:{KERNELS}][:{IDEMPOTENT}][:{'|'.join(ROUNDINGS)}]"
        raise Invalid(f"own pass {claimed[:80]!r}: it is not {form}, NAME of letters, digits, '_', '.' and '-'")
    name = f"relax-export-own-{claimed.partition(':')[0]}"
    if row.form is not ModuleForm.KERNELS:
        return (replace(PLAIN, name=name, passes=(row.name,)),)
    return tuple(
        replace(PLAIN, name=f"{name}-{where}", passes=(*before, row.name)) for where, before in _BEFORE_KERNELS.items()
    )
