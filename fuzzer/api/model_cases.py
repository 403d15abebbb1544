"""From a model of the user to cases: the whole graph, with the user's inputs and the model's own parameters."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzzer.seeds import pt2_file, whole_model
from fuzzer.seeds.cut import pieces
from fuzzer.seeds.extract import SUFFIXES, read
from fuzzer.seeds.resolve import Resolved, resolve
from fuzzer.seeds.whole_model import case_with, require_inputs
from fuzzer.system.terminal import number_of
from generators import case_file
from generators.check import check
from generators.graph import Array, Case, DType, Invalid


@dataclass(frozen=True, slots=True)
class ModelCases:
    """The cases of a model, at least one, and all of one dialect. `not_covered` names each operator without a row,
    with the reason."""

    cases: tuple[Case, ...]
    not_covered: tuple[str, ...] = ()

    @property
    def dialect(self) -> str:
        return self.cases[0].graph.dialect


@dataclass(frozen=True, slots=True)
class _Source:
    """A model, the values that are known by their names in it, and the values that it returns."""

    model: Resolved
    values: Mapping[str, Array] = field(default_factory=dict)
    returned: frozenset[str] = frozenset()


def cases_of(model: Any, inputs: Any = None) -> ModelCases:
    """Return the cases of a torch.nn.Module, an .onnx or .pt2 file, a folder with case.json, or a case. Raise `Invalid`
    where there is none."""
    if isinstance(model, Case):
        _no_inputs(inputs, "a case")
        check(model)
        return ModelCases((model,))
    if isinstance(model, str | Path):
        return _of_path(Path(model), inputs)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        return _resolved(_of_module(torch, model, inputs))
    raise Invalid(
        f"a {type(model).__name__} cannot be checked: pass a torch.nn.Module, the path of an .onnx or .pt2 file, a "
        "case, a folder with case.json, or a Relax module"
    )


def _of_path(path: Path, inputs: Any) -> ModelCases:
    if path.is_dir():
        _no_inputs(inputs, "a saved case")
        return ModelCases((case_file.read(path),))
    if path.suffix not in SUFFIXES:
        raise Invalid(f"{path}: expected {' or '.join(SUFFIXES)}, or a folder with case.json")
    given = {} if inputs is None else inputs
    if not isinstance(given, Mapping):
        raise Invalid(f"{path}: pass the inputs of a file as a dict of arrays, by the names that the file gives them")
    values = {name: np.asarray(array, order="C") for name, array in given.items()}
    if path.suffix == ".onnx":
        model = whole_model.read(path, values)
        return ModelCases((model.case,), _not_covered(model.resolved))
    (resolved,) = read(path, ("torch",))
    require_inputs(path, values, resolved.inputs)
    return _resolved(_Source(resolved, {**resolved.constants, **values}))


def _no_inputs(inputs: Any, what: str) -> None:
    if inputs is not None:
        raise Invalid(f"{what} has its own inputs: pass none")


# --- a program


def _resolved(source: _Source) -> ModelCases:
    resolved = source.model
    not_covered = _not_covered(resolved)
    size = max(len(resolved.nodes), 1)  # a whole connected part of the graph is one case
    found = pieces(resolved.nodes, resolved.types, resolved.roles, size, source.returned)
    origin = f"checked: {resolved.name}"
    cases = tuple(case_with(piece, source.values, resolved.name, origin) for piece in found)
    if not cases:
        raise Invalid(f"{resolved.name}: {_nothing(resolved, not_covered)}")
    return ModelCases(cases, not_covered)


def _not_covered(resolved: Resolved) -> tuple[str, ...]:
    lacking = resolved.lacking.most_common()
    return tuple(f"{title} ({number_of(times, 'time')}): {why}" for (title, why), times in lacking)


def _nothing(resolved: Resolved, not_covered: Sequence[str]) -> str:
    if not resolved.steps:
        return "the model computes nothing: it has no operator"
    return f"no operator of the model has a row: {'; '.join(not_covered)}"


# --- a module of PyTorch. The user's process has imported torch, and difftvm does not import it


def _of_module(torch: Any, model: Any, inputs: Any) -> _Source:
    args, kwargs = _arguments(torch, model, inputs)
    name = type(model).__name__
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        path = Path(folder) / f"{name}.pt2"
        try:
            exported = torch.export.export(model, args, kwargs)
            torch.export.save(exported, path)
        except Exception as error:  # whatever PyTorch raises about a module that it cannot export
            first = (str(error).strip().splitlines() or ["no message"])[0]
            raise Invalid(f"torch.export cannot export {name}: {type(error).__name__}: {first}") from error
        program = pt2_file.read(path)
    given = _placeholders(torch, exported, args, kwargs)
    made = {result for step in program.steps for result in step.results}
    read_before_made = {ref for step in program.steps for call in step.calls for ref in call.operands}
    values = {**given, **_computed(torch, exported, given, made & read_before_made)}
    returned = frozenset(
        spec.arg.name
        for spec in exported.graph_signature.output_specs
        if spec.kind.name == "USER_OUTPUT"
        if hasattr(spec.arg, "name")
    )
    arrays = {own: _array(torch, tensor) for own, tensor in values.items() if own in program.types}
    return _Source(resolve(program), arrays, returned)


def _arguments(torch: Any, model: Any, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the named arguments of the module's forward."""
    if inputs is None:
        raise Invalid(f"{type(model).__name__} needs example inputs: check(model, (x, ...))")
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, tuple | list):
        return tuple(inputs), {}
    raise Invalid(f"the inputs are a {type(inputs).__name__}: pass a tensor, a tuple of tensors, or a dict by name")


def _placeholders(torch: Any, exported: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Each value that the exported program is given, by its name in the file: inputs, parameters, buffers,
    constants."""
    leaves = iter(torch.utils._pytree.tree_leaves((args, kwargs)))
    found = {}
    for spec in exported.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            value = next(leaves)
        else:
            owned = exported.state_dict
            value = owned[spec.target] if spec.target in owned else exported.constants[spec.target]
        if isinstance(value, torch.Tensor):
            found[spec.arg.name] = value.detach().clone()
    return found


def _computed(torch: Any, exported: Any, given: Mapping[str, Any], wanted: Iterable[str]) -> dict[str, Any]:
    """What PyTorch computes for these values of the exported program. A piece of the graph may begin at each."""
    names, found = set(wanted), {}
    run = torch.fx.Interpreter(exported.graph_module)
    run_node = run.run_node

    def and_kept(node: Any) -> Any:
        value = run_node(node)
        if node.name in names and isinstance(value, torch.Tensor):
            found[node.name] = value.detach().clone()  # a later node may change it in place
        return value

    run.run_node = and_kept
    arguments = [node for node in exported.graph.nodes if node.op == "placeholder"]
    with torch.no_grad():
        run.run(*(_fresh(given.get(node.name)) for node in arguments))
    return found


def _fresh(value: Any) -> Any:
    return None if value is None else value.clone()


def _array(torch: Any, tensor: Any) -> Array:
    """The numbers of a tensor of PyTorch. numpy has no bfloat16, so that its bits are read as integers."""
    plain = tensor.detach().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        bits: Array = plain.view(torch.int16).numpy().view(DType.BFLOAT16.numpy)
        return bits
    numbers: Array = plain.numpy()
    return numbers
