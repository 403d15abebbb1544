"""From a model of the user to cases: the whole graph, with the user's inputs and the model's own parameters."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzzer.api.checked import Checked, NothingRan
from fuzzer.api.exported_module import ExportedModule
from fuzzer.lanes import select
from fuzzer.seeds import given_inputs
from fuzzer.seeds.case_of_piece import case_with
from fuzzer.seeds.cut import Piece, complete, pieces, whole
from fuzzer.seeds.extract import SUFFIXES
from fuzzer.seeds.onnx import whole_model
from fuzzer.seeds.onnx.importer_alone import importer_says
from fuzzer.seeds.onnx.whole_graph import NotHeld
from fuzzer.seeds.own_weights import WITH_OWN_WEIGHTS, Weights
from fuzzer.seeds.own_weights import read as own_weights_of
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.sample import require_inputs
from fuzzer.seeds.torch import pt2_file
from fuzzer.seeds.torch.resolve import resolve
from fuzzer.system.terminal import number_of
from generators import case_file
from generators.check import check
from generators.graph import Array, Case, Given, Invalid
from generators.torch.cut_given import cut_given
from generators.torch.given import check_given

OTHER_SIZES = (1, 2, 7)
"""Numbers that replace open sizes, besides those of the example and the largest that the program takes."""

FILE_SIZES = (1, 7)
"""Numbers that replace open sizes of a file, besides 2, where it has at most `MOST_NODES` nodes."""

MOST_NODES = 500
"""A larger file takes long at each size."""

IMPORTER_OF_FILES = select("relax-onnx-model-llvm")[0]
"""The lane that a check of an .onnx file has by default."""

LARGEST_SIZE = 64
MOST_TOGETHER = 1024
"""A larger size is not tried, nor several open ones whose product is larger: it would take long."""


@dataclass(frozen=True, slots=True)
class ModelCases:
    """The cases of a model, at least one, and all of one dialect.

    not_covered  each operator that no case has, with the reason
    not_given    why lanes do not run the model as it is; "" where they do, and where a person gave a case
    forms        other forms of the model: of a file with open sizes the case of its graph with open sizes
    drawn        the inputs of a file whose numbers are drawn
    samples      how many of the cases, the first ones, have inputs or sizes that a person means: each of them must run
    """

    cases: tuple[Case, ...]
    not_covered: tuple[str, ...] = ()
    not_given: str = ""
    forms: tuple[Case, ...] = ()
    drawn: tuple[str, ...] = ()
    samples: int = 1

    @property
    def is_given(self) -> bool:
        """Whether lanes run the model as it is."""
        return all(case.given is not None for case in self.cases)

    @property
    def dialect(self) -> str:
        return self.cases[0].graph.dialect


def require_no(kind: str, **given: object) -> None:
    """Raise `Invalid` for an argument that this kind of model has no use for."""
    if useless := [name for name, value in given.items() if value is not None]:
        raise Invalid(f"{kind} takes no {useless[0]}: leave it out")


def cases_of(
    model: Any,
    inputs: Any = None,
    dynamic_shapes: Any = None,
    weights: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> ModelCases:
    """Return the cases of a torch.nn.Module, an .onnx or .pt2 file, a folder with case.json, or a case; those that are
    given are returned. Raise `Invalid` where there is none. `dynamic_shapes` is that of torch.export; only a module has
    it. `weights` are those of `Weights`: by default, a module has its own, and those of a file are drawn. `sizes` are
    numbers for the open sizes of an .onnx file, by their names."""
    if sizes and not (isinstance(model, str | Path) and Path(model).suffix == ".onnx"):
        raise Invalid(
            "only an .onnx file has open sizes with names: give other models inputs of the sizes that you want"
        )
    if weights is not None and weights not in set(Weights):
        raise Invalid(f"weights is {weights!r}; expected {' or '.join(map(repr, map(str, Weights)))}")
    if isinstance(model, ModelCases):
        _no_inputs(inputs, "the module of a Python file")
        require_no("the module of a Python file", dynamic_shapes=dynamic_shapes)
        return model
    if isinstance(model, Case):
        _no_inputs(inputs, "a case")
        require_no("a case", dynamic_shapes=dynamic_shapes, weights=weights)
        check(model)
        return ModelCases((model,))
    if isinstance(model, str | Path):
        require_no("a file", dynamic_shapes=dynamic_shapes)
        return _of_path(Path(model), inputs, sizes or {}, own_weights=weights == Weights.OWN)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        return _of_module(torch, model, inputs, dynamic_shapes, own_weights=weights != Weights.DRAWN)
    raise Invalid(
        f"a {type(model).__name__} cannot be checked: pass a torch.nn.Module, the path of an .onnx or .pt2 file, a "
        "case, a folder with case.json, or a Relax module"
    )


def _of_path(path: Path, inputs: Any, sizes: Mapping[str, int], *, own_weights: bool) -> ModelCases:
    if path.is_dir():
        _no_inputs(inputs, "a saved case")
        return ModelCases((case_file.read(path),))
    if path.suffix not in SUFFIXES:
        raise Invalid(f"{path}: expected {' or '.join(SUFFIXES)}, or a folder with case.json")
    samples = inputs if isinstance(inputs, list) else [inputs]
    if not samples:
        raise Invalid(f"{path}: the list of inputs is empty: pass the inputs of at least one run")
    found = [_of_file(path, _named_arrays(path, each), sizes, own_weights=own_weights) for each in samples]
    cases = tuple(case for each in found for case in each.cases)
    return found[0] if len(found) == 1 else replace(found[0], cases=cases, samples=len(cases))


def _of_file(path: Path, inputs: Mapping[str, Array], sizes: Mapping[str, int], *, own_weights: bool) -> ModelCases:
    if path.suffix == ".onnx":
        return _of_onnx(path, inputs, sizes, own_weights=own_weights)
    return _of_pt2(path, inputs, own_weights=own_weights)


def _named_arrays(path: Path, inputs: Any) -> dict[str, Array]:
    """The arrays that a person gives for one run of a file."""
    given = {} if inputs is None else inputs
    if isinstance(given, str | Path):
        given = given_inputs.read(Path(given))
    if not isinstance(given, Mapping):
        raise Invalid(
            f"{path}: pass the inputs of a file as a dict of arrays, by the names that the file gives them, or as the "
            "path of an .npz file or of a folder with input_0.pb; for several runs, pass a list of these"
        )
    return {name: _array(value) for name, value in given.items()}


def _array(value: Any) -> Array:
    """The array of an input; one object for what is no array, such as a sequence of arrays: the model refuses it."""
    try:
        return np.asarray(value, order="C")
    except ValueError:  # arrays of several shapes
        return np.asarray(None)


def _of_onnx(path: Path, inputs: Mapping[str, Array], sizes: Mapping[str, int], *, own_weights: bool) -> ModelCases:
    """The case of an .onnx file, and those at other sizes where nobody says which sizes it has."""
    try:
        model = whole_model.read(path, inputs, sizes, own_weights=own_weights)
    except NotHeld as why:
        raise _nothing_ran(path, str(why)) from None
    forms = (model.opened.case,) if model.opened else ()
    cases = [model.case]
    names = {name for each in model.resolved.open.values() for name in each if name}
    is_free = bool(names) and not inputs and not sizes and len(model.case.graph.nodes) <= MOST_NODES
    for size in FILE_SIZES if is_free else ():
        with suppress(Invalid):  # the file may not take it
            cases.append(whole_model.read(path, {}, dict.fromkeys(names, size), own_weights=own_weights).case)
    return ModelCases(tuple(cases), forms=forms, drawn=tuple(sorted(model.resolved.inputs - inputs.keys())))


def _nothing_ran(path: Path, why: str) -> NothingRan:
    """The answer on a file that no case holds: what TVM's importer says of it, and that nothing is judged."""
    says = importer_says(path)
    words = f"import: {says}" if says else "TVM imports it, and nothing runs it"
    return NothingRan(Checked((), ((IMPORTER_OF_FILES.name, words),), (), (), 0, 0.0, not_judged=(why,)))


def _of_pt2(path: Path, inputs: Mapping[str, Array], *, own_weights: bool) -> ModelCases:
    """The case of a .pt2 file, which lanes run as it is where they may."""
    model = pt2_file.read_model(path)
    resolved = resolve(model.program, whole=True)
    require_inputs(path, inputs, resolved.inputs)
    numbers = own_weights_of(path) if own_weights else {}
    order = tuple(name for name in model.inputs if name in resolved.types)
    found = _of_program(resolved, {**resolved.constants, **numbers, **inputs}, order, own_weights=own_weights)
    if not model.document:
        return found.as_read(model.not_given)
    cases = found.with_given(model.document, model.results, is_open=model.is_open)
    return replace(cases, not_covered=(*cases.not_covered, *model.no_tensors))


def _no_inputs(inputs: Any, what: str) -> None:
    if inputs is not None:
        raise Invalid(f"{what} has its own inputs: pass none")


# --- a program


@dataclass(frozen=True, slots=True)
class _Read:
    """The cases of a program, each with the piece of the program that it is."""

    cases: tuple[Case, ...]
    pieces: tuple[Piece, ...]
    not_covered: tuple[str, ...]

    def as_read(self, why: str) -> ModelCases:
        """The cases, as difftvm reads them."""
        return ModelCases(self.cases, self.not_covered, why)

    def with_given(self, model: bytes, results: int, *, is_open: bool, named_alike: bool = True) -> ModelCases:
        """The cases with the program as it was exported, or with their parts of it. `results` is how many tensors the
        program returns: a case may have fewer. Only where it has the values of the cases, `named_alike`, it can be
        cut."""
        if not named_alike:
            if self.not_covered or len(self.cases[0].graph.outputs) != results:
                return self.as_read("it was rewritten to be read, and a part of it is cut out")
            self = replace(self, pieces=tuple(replace(piece, made={}) for piece in self.pieces))
        try:
            given = [self._given(place, model, results, is_open) for place in range(len(self.cases))]
        except Invalid as why:
            return self.as_read(str(why))
        return ModelCases(tuple(given), self.not_covered)

    def _given(self, place: int, model: bytes, results: int, is_open: bool) -> Case:
        case, piece = self.cases[place], self.pieces[place]
        if not self.not_covered and len(case.graph.outputs) == results:
            check_given(model)
            return replace(case, given=Given(case.graph, model, piece.origins, is_open, piece.made))
        names = {**piece.origins, **piece.made}
        types = case.graph.types
        outputs = {names[name]: types[name] for name in case.graph.outputs}
        if len(outputs) < len(case.graph.outputs):
            raise Invalid("a part of it returns a value twice")
        inputs = {names[item.value.name]: item for item in case.graph.inputs}
        part, taken = cut_given(model, inputs, outputs)
        if taken:
            raise Invalid(f"a part of it reads {taken[0]!r} too")
        check_given(part)
        return replace(case, given=Given(case.graph, part, piece.origins, is_open, piece.made))


def _of_program(
    resolved: Resolved, values: Mapping[str, Array], inputs: Sequence[str] = (), *, own_weights: bool
) -> _Read:
    """The cases of a model: one where nothing of it is cut out, else one for each connected part. `inputs` are those of
    the model, in its order, where that is known."""
    not_covered = _not_covered(resolved)
    if not resolved.nodes:
        raise Invalid(f"{resolved.name}: {_nothing(resolved, not_covered)}")
    nodes, types, roles, returned = resolved.nodes, resolved.types, resolved.roles, resolved.returned
    dialect, opset = resolved.dialect, resolved.opset
    if not_covered:
        found = tuple(pieces(nodes, types, roles, len(nodes), dialect, opset, returned))
    elif returned:
        found = (complete(nodes, types, roles, returned, dialect, opset, inputs),)
    else:
        found = (whole(nodes, types, roles, (), dialect, opset),)
    origin = f"checked: {resolved.name}{WITH_OWN_WEIGHTS if own_weights and roles else ''}"
    cases = tuple(case_with(piece, values, resolved.name, origin) for piece in found)
    return _Read(cases, found, not_covered)


def _not_covered(resolved: Resolved) -> tuple[str, ...]:
    lacking = resolved.lacking.most_common()
    read = (name for node in resolved.nodes for name in node.args)
    stale = dict.fromkeys(name.partition(":")[0] for name in (*read, *resolved.returned) if ":" in name)
    return (
        *(f"{title} ({number_of(times, 'time')}): {why}" for (title, why), times in lacking),
        *(f"{name}: a part of it is changed in place, and its numbers are drawn" for name in stale),
    )


def _nothing(resolved: Resolved, not_covered: Sequence[str]) -> str:
    if not resolved.steps:
        return "the model computes nothing: it has no operator"
    return f"no operator of the model has a row: {'; '.join(not_covered)}"


# --- a module of PyTorch. The user's process has imported torch, and difftvm does not import it


def _of_module(torch: Any, model: Any, inputs: Any, dynamic_shapes: Any, *, own_weights: bool) -> ModelCases:
    """The case of a module, and where it has open sizes those at other sizes."""
    exported = ExportedModule(torch, model, *_arguments(torch, model, inputs), dynamic_shapes)
    found = _of_exported(exported, own_weights)
    if exported.open_sizes and found.is_given and not found.not_covered:
        low = max(low for low, _ in exported.open_sizes.values())
        high = min(high for _, high in exported.open_sizes.values())
        found = replace(found, cases=(*found.cases, *_at_other_sizes(exported, low, high, own_weights)))
    return replace(found, not_covered=(*found.not_covered, *exported.no_tensors))


def _at_other_sizes(exported: ExportedModule, low: int, high: int, own_weights: bool) -> Iterator[Case]:
    """The case with other numbers in place of all open sizes. PyTorch says which ones the program takes."""
    sizes = [size for size in OTHER_SIZES if low <= size <= high]
    if high <= LARGEST_SIZE and high ** len(exported.open_sizes) <= MOST_TOGETHER:
        sizes.append(high)
    for size in dict.fromkeys(sizes):
        with suppress(Exception):  # at a size that it does not take, the code of the model may raise anything
            yield from _of_exported(exported.at(size), own_weights).cases


def _of_exported(exported: ExportedModule, own_weights: bool) -> ModelCases:
    resolved = resolve(exported.program(), whole=True)
    made = {value.name for node in resolved.nodes for value in node.results}
    given = {name for node in resolved.nodes for name in node.args} - made
    values = exported.arrays(given)
    if not own_weights:
        values = {name: array for name, array in values.items() if name not in resolved.roles or _is_kept(array)}
    found = _of_program(resolved, values, exported.inputs, own_weights=own_weights)
    try:
        document = exported.document()
    except Invalid as why:
        return found.as_read(str(why))
    is_open, named_alike = bool(exported.open_sizes), exported.is_as_exported
    return found.with_given(document, exported.results, is_open=is_open, named_alike=named_alike)


def _is_kept(array: Array) -> bool:
    """Whether numbers of the model are kept where its weights are drawn, as those of files are."""
    return array.dtype.kind in "biu" or array.size == 1


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
