"""The differences between the releases of TVM in which Relax lanes run: 0.25.0.post1, 0.26.0 and 0.27.0.post1.

All other modules are written for the newest release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tvm
from torch.utils.dlpack import from_dlpack

SCRIPT = (0, 27)
"""The first release whose TVMScript is that of `generators.relax.source`: types, blocks and call_tir have other names
before."""


def other_script() -> str:
    """Why this release does not parse the module of a case or the loops of a schedule; "" where it does."""
    major, minor, *_ = tvm.__version__.split(".")
    found = int(major), int(minor)
    return "" if found >= SCRIPT else f"TVM {major}.{minor} has other names in TVMScript than {SCRIPT[0]}.{SCRIPT[1]}"


def address(tensor: Any) -> int:
    """Return the address of a tensor's first byte. Up to 0.25 only PyTorch, which can share the memory, shows it."""
    if hasattr(tensor, "data_ptr"):
        return int(tensor.data_ptr())
    return int(from_dlpack(tensor).data_ptr())


def replace_function(name: str, function: Callable[..., Any]) -> None:
    """Let TVM's registry give another function under this name."""
    getattr(tvm, "register_global_func" if hasattr(tvm, "register_global_func") else "register_func")(
        name, function, override=True
    )


def constant_in(expr: Any) -> Any:
    """Return the tensor of a Relax constant; None for another expression. Up to 0.25 the field is data."""
    found = getattr(expr, "value", None)
    found = found if isinstance(found, tvm.runtime.Tensor) else getattr(expr, "data", None)
    return found if isinstance(found, tvm.runtime.Tensor) else None


def type_of(expr: Any) -> Any:
    """Return the type of a Relax expression. Up to 0.25 the field is struct_info."""
    return expr.ty if hasattr(expr, "ty") else expr.struct_info


def type_arguments(call: Any) -> Any:
    """Return the result types of a call of call_tir."""
    return call.ty_args if hasattr(call, "ty_args") else call.sinfo_args


@dataclass(frozen=True, slots=True)
class JsonForm:
    """How a release writes a module as numbered nodes in JSON.

    kinds, fields   from the names of the newest release to the names of this one
    int_nodes       whether the value of an IntImm is a node, not a number
    dtype_nodes     whether the dtype of a tensor's type is a node, and an IntImm has a type
    """

    kinds: Mapping[str, str]
    fields: Mapping[str, str]
    int_nodes: bool = True
    dtype_nodes: bool = True

    def read(self, node: Any) -> Any:
        """Rename a node of this release to the names of the newest release."""
        return _renamed(node, {v: k for k, v in self.kinds.items()}, {v: k for k, v in self.fields.items()})

    def written(self, node: Any) -> Any:
        """Rename a node to the names of this release."""
        return _renamed(node, self.kinds, self.fields)


def _renamed(node: Any, kinds: Mapping[str, str], fields: Mapping[str, str]) -> Any:
    data = node.get("data")
    if isinstance(data, dict):
        data = {fields.get(key, key): value for key, value in data.items()}
    return {**node, "type": kinds.get(node["type"], node["type"]), **({} if data is None else {"data": data})}


_EXPR = {f"ir.{name}": f"relax.expr.{name}" for name in ("Tuple", "TupleGetItem")}
_FORMS = {
    (0, 25): JsonForm(
        {
            **_EXPR,
            "ir.Call": "relax.expr.Call",
            "ir.TupleType": "relax.TupleStructInfo",
            **{f"relax.{name}Type": f"relax.{name}StructInfo" for name in ("Tensor", "Shape", "Func")},
        },
        {"ty": "struct_info_", "ty_args": "sinfo_args", "ret_ty": "ret_struct_info"},
        int_nodes=False,
        dtype_nodes=False,
    ),
    (0, 26): JsonForm(_EXPR, {}, int_nodes=False),
}


def json_form() -> JsonForm:
    """Return the form of the installed release: the newest form where it is unknown, that of 0.25 where it is older."""
    major, minor, *_ = tvm.__version__.split(".")
    release = max((int(major), int(minor)), min(_FORMS))
    return _FORMS.get(release, JsonForm({}, {}))
