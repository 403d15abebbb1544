"""The functions that modules of cases call by name. Who runs such a module registers them."""

from __future__ import annotations

from collections.abc import Mapping

PURE, DPS = "call_pure_packed", "call_dps_packed"

PACKED: Mapping[str, Mapping[str, str]] = {
    PURE: {"double": "difftvm.double", "difference": "difftvm.difference"},
    DPS: {"double": "difftvm.double_into", "difference": "difftvm.difference_into"},
}
"""For each way to call: the names of the functions by what they compute. With `call_dps_packed`, the last argument is
the tensor that gets the result."""

HELPERS: Mapping[str, str] = {
    "difftvm.double": """
@tvm.register_global_func("difftvm.double", override=True)
def double(a):
    return tvm.runtime.tensor(a.numpy() * 2)
""",
    "difftvm.difference": """
@tvm.register_global_func("difftvm.difference", override=True)
def difference(a, b):
    return tvm.runtime.tensor(a.numpy() - b.numpy())
""",
    "difftvm.double_into": """
@tvm.register_global_func("difftvm.double_into", override=True)
def double_into(a, result):
    result.copyfrom(a.numpy() * 2)
""",
    "difftvm.difference_into": """
@tvm.register_global_func("difftvm.difference_into", override=True)
def difference_into(a, b, result):
    result.copyfrom(a.numpy() - b.numpy())
""",
}
"""The functions in Python, by their names. Lanes run the text that scripts have."""
