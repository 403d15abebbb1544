"""What a person says of a model of ONNX that is read: numbers of its inputs, and of its open sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.seeds import given_inputs
from generators.graph import Array, Invalid


@dataclass(frozen=True, slots=True)
class Sample:
    """The inputs of one run, by their names, and numbers for open sizes, by theirs. What is left out is drawn, or is
    2."""

    inputs: Mapping[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


NOTHING = Sample()


def samples_of(inputs: Sequence[Path], sizes: Mapping[str, int]) -> tuple[Sample, ...]:
    """A sample for each file or folder with inputs, at least one. Raise `Invalid` where one of them cannot be read."""
    return tuple(Sample(given_inputs.read(path), sizes) for path in inputs) or (Sample(sizes=sizes),)


def require_one_file(model: str, samples: Sequence[Sample]) -> None:
    """Raise `Invalid` where something is said of what is no .onnx file: its inputs have no such names."""
    if any(each.inputs or each.sizes for each in samples) and not model.endswith(".onnx"):
        raise Invalid(f"{model}: --inputs and --sizes are for one .onnx file")


def require_inputs(path: Path, given: Mapping[str, Array], there: tuple[str, ...] | frozenset[str]) -> None:
    """Raise `Invalid` where one of the given names is no input of the model."""
    if unknown := [name for name in given if name not in there]:
        raise Invalid(f"{path}: it has no input {unknown[0]!r}; its inputs are {', '.join(sorted(there))}")
