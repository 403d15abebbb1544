"""The exported program of a model as a person gave it, with the numbers of its case."""

from __future__ import annotations

from typing import Any, Self

import torch
from torch._export.serde import schema, serialize
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, TensorArgument
from torch.utils import _pytree as pytree

from fuzzer.lanes.base.arrays import to_torch
from fuzzer.lanes.torch.own_state import module_with_own_state
from generators.graph import Case
from generators.torch.given import check_given

_OWNED = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}
"""What a program owns, and the field that has its name."""


def given_program(case: Case) -> ExportedProgram:
    """The program. Nothing of it is unpickled. Raise `Invalid` where it may not be read."""
    assert case.given is not None
    check_given(case.given.model)
    document = serialize._bytes_to_dataclass(schema.ExportedProgram, case.given.model)
    arrays = {name: case.tensors[own] for own, name in case.given.names.items()}
    state: dict[str, torch.Tensor] = {}
    constants: dict[str, torch.Tensor] = {}
    for spec in document.graph_module.signature.input_specs:
        if spec.type not in _OWNED:
            continue
        owned: Any = spec.value
        name = owned.arg.name
        meta = document.graph_module.graph.tensor_values[name]
        tensor = _of_case(to_torch(arrays[name]), _dtype(meta)) if name in arrays else _unread(meta)
        into = state if _is_saved(spec) else constants
        into[getattr(owned, _OWNED[spec.type])] = torch.nn.Parameter(tensor) if _is_trained(spec, tensor) else tensor
    program: ExportedProgram = serialize.ExportedProgramDeserializer().deserialize(document, state, constants, None)
    return program


def _is_saved(spec: Any) -> bool:
    """Whether it is in the state of the program: a buffer that is not persistent is none of it, and a constant to
    PyTorch."""
    return spec.type == "parameter" or (spec.type == "buffer" and bool(spec.value.persistent))


def _unread(meta: Any) -> torch.Tensor:
    """A tensor that nothing reads."""
    return torch.zeros([size.value for size in meta.sizes], dtype=_dtype(meta))


def _dtype(meta: Any) -> torch.dtype:
    found: torch.dtype = serialize._SERIALIZE_TO_TORCH_DTYPE[meta.dtype]
    return found


def _of_case(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor of a program. A case has complex numbers as real views."""
    return torch.view_as_complex(tensor) if dtype.is_complex else tensor


class FlatModule(torch.nn.Module):
    """A program that takes its tensors in a row and returns its tensors in a tuple, complex ones as real views. The
    numbers, flags and None among its inputs are those that it was exported with."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        self.program = module_with_own_state(program)
        self._tree = program.call_spec.in_spec
        self._others = [None if _is_tensor(spec) else spec.arg for spec in _given_to(program)]
        values = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
        self._dtypes = [values[spec.arg.name].dtype for spec in _given_to(program) if _is_tensor(spec)]

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rest = map(_of_case, tensors, self._dtypes)
        leaves = [next(rest) if other is None else other.value for other in self._others]
        args, kwargs = pytree.tree_unflatten(leaves, self._tree)
        results = pytree.tree_leaves(self.program(*args, **kwargs))
        tensors = tuple(each for each in results if isinstance(each, torch.Tensor))
        return tuple(torch.view_as_real(each.resolve_conj()) if each.is_complex() else each for each in tensors)

    def train(self, mode: bool = True) -> Self:
        """A program has the mode in which it was exported, and its module raises where another is asked for."""
        return self


def _given_to(program: ExportedProgram) -> list[Any]:
    return [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]


def _is_tensor(spec: Any) -> bool:
    return isinstance(spec.arg, TensorArgument)


def _is_trained(spec: Any, tensor: torch.Tensor) -> bool:
    return spec.type == "parameter" and (tensor.is_floating_point() or tensor.is_complex())
