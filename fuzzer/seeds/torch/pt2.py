"""Read a .pt2 file (torch.export.save) as a `Program`, in pure Python: a zip archive with JSON and bytes. Nothing is
unpickled.

`exported` says which parts of the JSON are decoded, and `exported_steps` what becomes of its nodes. There are two
layouts of the archive: `*/models/*.json` with raw weights (torch 2.13), and `serialized_exported_program.json` with
pickled weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from fuzzer.seeds.archive import Archive
from fuzzer.seeds.bounds import MAX_RANK
from fuzzer.seeds.torch.exported import DTYPES, Argument, Exported, Meta, Payload, Payloads, tensors_in
from fuzzer.seeds.torch.exported_steps import Reader
from fuzzer.seeds.torch.program import Program, no_tensor
from generators.graph import Array, DType, Invalid, Role
from generators.torch.cut_given import for_lanes
from generators.torch.given import without_texts

T = TypeVar("T")

PICKLED_LAYOUT = "serialized_exported_program.json"
MAX_JSON = 256 << 20
MAX_CONSTANT = 1 << 20
"""The most bytes of a tensor whose values are read."""


def read(path: Path) -> Program:
    """Read a file. Raise `Invalid` with one line that describes what is wrong and where. Memory and time are not
    bounded here; `pt2_file` calls this in a child with limits."""
    with Archive(path) as archive:
        model = _model(archive, path)
        exported = _decoded(archive.read(model, MAX_JSON), Exported, f"{path}: {model}")
        module = exported.graph_module
        owned = [
            (each, role)
            for spec in module.signature.input_specs
            for each, role in (
                (spec.parameter, Role.PARAM),
                (spec.buffer, Role.BUFFER),
                (spec.tensor_constant, Role.BUFFER),
            )
            if each is not None
        ]
        reader = Reader(module.graph, str(path))
        given = [each.user_output.arg for each in module.signature.output_specs if each.user_output]
        steps, returned = reader.read(name for arg in given for name in tensors_in(arg))
        names = {each.name: each.arg.name for each, _ in owned}
        constants = dict(_constants(archive, model, names, path))
    roles = {each.arg.name: role for each, role in owned}
    return Program(path.stem, steps, reader.types, roles, constants, returned, reader.as_real)


@dataclass(frozen=True, slots=True)
class Document:
    """The program of a file as it was exported, for cases (`generators.torch.given`), which check it.

    text        JSON, with the tensors alone among the results
    inputs      the names of the tensors that it takes, in order
    results     how many tensors it returns
    no_tensors  a line for each other result, such as `x.shape[0]`
    """

    text: bytes
    inputs: tuple[str, ...]
    results: int
    no_tensors: tuple[str, ...]


def document(path: Path) -> Document:
    """Read the program of a file. Raise `Invalid` where it is of a version that is not read."""
    with Archive(path) as archive:
        model = _model(archive, path)
        text = archive.read(model, MAX_JSON)
    if model == PICKLED_LAYOUT:
        raise Invalid("it was written by a version of PyTorch whose programs are not run any more")
    where = f"{path}: {model}"
    signature = _decoded(text, Exported, where).graph_module.signature
    given = [spec.user_input.arg.as_tensor for spec in signature.input_specs if spec.user_input]
    results = [spec.user_output.arg for spec in signature.output_specs if spec.user_output]
    others = dict.fromkeys(name for arg in results if (name := _number_in(arg)))
    found = for_lanes(without_texts(_decoded(text, dict[str, Any], where)))
    inputs = tuple(each.name for each in given if each)
    return Document(
        msgspec.json.encode(found), inputs, sum(bool(arg.as_tensor) for arg in results), tuple(map(no_tensor, others))
    )


def _number_in(arg: Argument) -> str:
    """The name of a result that is a size, or the number or text that it is; "" for a tensor and for None."""
    for size in (arg.as_sym_int, arg.as_sym_bool, arg.as_sym_float):
        if size and size.as_name:
            return size.as_name
    plain = (arg.as_int, arg.as_float, arg.as_bool, arg.as_string)
    return next((repr(each) for each in plain if each is not None), "")


def weights(path: Path, most: int) -> dict[str, Array]:
    """All tensors of a file, by the names of the program. Raise `Invalid` where one is pickled, which is not read, has
    a dtype that no case has, or does not fill its storage, and where they take more than `most` bytes."""
    with Archive(path) as archive:
        model = _model(archive, path)
        signature = _decoded(archive.read(model, MAX_JSON), Exported, f"{path}: {model}").graph_module.signature
        specs = signature.input_specs
        owned = [each for spec in specs for each in (spec.parameter, spec.buffer, spec.tensor_constant) if each]
        names = {each.name: each.arg.name for each in owned}
        stored = {name: (member, each) for name, member, each in _payloads(archive, model, path) if name in names}
        if missing := [name for name in names if name not in stored]:
            raise Invalid(f"{path}: it has no numbers for {missing[0]!r} that are read")
        if sum(archive.size(member) for member, _ in stored.values()) > most:
            raise Invalid(f"{path}: its weights have more than {most >> 20} MiB")
        return {names[name]: _weight(archive, f"{path}: {name}", *each) for name, each in stored.items()}


def _weight(archive: Archive, where: str, member: str, payload: Payload) -> Array:
    meta = payload.tensor_meta
    if payload.use_pickle or meta is None:
        raise Invalid(f"{where} is pickled, which is not read")
    dtype = DTYPES.get(meta.dtype)
    array = _array(archive.read(member, archive.size(member)), dtype, meta) if dtype else None
    if array is None:
        raise Invalid(f"{where} is no tensor that fills its storage, of a dtype that a case has")
    return array


def _model(archive: Archive, path: Path) -> str:
    if PICKLED_LAYOUT in archive.names:
        return PICKLED_LAYOUT
    found = sorted(name for name in archive.names if name.endswith(".json") and name.split("/")[-2:-1] == ["models"])
    if not found:
        raise Invalid(f"{path}: no exported program in it (a file of torch.export.save has models/model.json)")
    return found[0]


def _decoded(text: bytes, type: type[T], where: str) -> T:
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}: {' '.join(str(error).split())}") from None


# --- numbers


def _constants(archive: Archive, model: str, names: dict[str, str], path: Path) -> Iterator[tuple[str, Array]]:
    """Yield the integer and boolean tensors of the model that the archive stores as raw bytes. Pickled tensors are not
    read."""
    for name, member, payload in _payloads(archive, model, path):
        meta = payload.tensor_meta
        if name not in names or payload.use_pickle or meta is None:
            continue
        dtype = DTYPES.get(meta.dtype)
        if dtype is None or dtype.is_float or archive.size(member) > MAX_CONSTANT:
            continue
        array = _array(archive.read(member, MAX_CONSTANT), dtype, meta)
        if array is not None:
            yield names[name], array


def _payloads(archive: Archive, model: str, path: Path) -> Iterator[tuple[str, str, Payload]]:
    """Each tensor: its name, the member of the archive that has its numbers, and its type."""
    root = model.rpartition("models/")[0]
    for kind, listed in (("weights", "model_weights_config"), ("constants", "model_constants_config")):
        config = f"{root}data/{kind}/{Path(model).stem}{listed.removeprefix('model')}.json"
        if config not in archive.names:
            continue
        for name, payload in _decoded(archive.read(config, MAX_JSON), Payloads, f"{path}: {config}").config.items():
            member = f"{root}data/{kind}/{payload.path_name}"
            if member in archive.names:
                yield name, member, payload


def _array(data: bytes, dtype: DType, meta: Meta) -> Array | None:
    """The tensor where it is contiguous and fills its storage; None otherwise."""
    sizes = [size.number for size in meta.sizes]
    strides = [size.number for size in meta.strides]
    if None in sizes or len(sizes) > MAX_RANK:
        return None
    shape = [size for size in sizes if size is not None]
    count = math.prod(shape)
    plain = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if strides != plain or meta.storage_offset.number != 0 or len(data) != count * dtype.numpy.itemsize:
        return None
    return np.frombuffer(data, np.uint8 if dtype is DType.BOOL else dtype.numpy).astype(dtype.numpy).reshape(shape)
