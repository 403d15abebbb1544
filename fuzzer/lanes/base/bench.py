"""What a lane is, and what the lanes of one case share inside a child. Imported in children only."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from generators.graph import Array, Case, DType, Layout
from generators.torch_source import render
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Built, Ran, Stage

if TYPE_CHECKING:
    import onnx
    import torch


class Step(Protocol):
    """Called before each step of a lane: even a segfault then has an address."""

    def __call__(self, stage: Stage, /) -> None: ...

    def note(self, **seen: object) -> None:
        """Fields of `Facts` that are known now; they stay known however the lane ends."""


class Quiet:
    """A step that tells nobody."""

    def __call__(self, stage: Stage, /) -> None: ...

    def note(self, **seen: object) -> None: ...


T = TypeVar("T")


class Lane(Protocol):
    """One engine. Only exceptions escape `run`; whatever they say becomes the lane's outcome."""

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        """Why this lane does not run this case, or None."""

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran | Built: ...


class Bench:
    """The front-end work that lanes share: made once, on first use. What raised once, raises again at once.

    Nothing on it is handed to a lane that could change it: modules are imported afresh by each lane.
    """

    def __init__(self, case: Case, step: Callable[[Stage], None]) -> None:
        self.case = case
        self._step = step
        self._stage = Stage.START
        self._failed: dict[str, tuple[Stage, Exception]] = {}

    def step(self, stage: Stage) -> None:
        self._stage = stage
        self._step(stage)

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """The model's inputs in the order of its forward."""
        return self.case.inputs

    @property
    def model(self) -> torch.nn.Module:
        """The case's PyTorch module, in eval mode, on its own precision. A new one at each call."""
        self.step(Stage.RENDER)
        return build_model(render(self.case.bound), self.case.owned)

    @property
    def exported(self) -> torch.export.ExportedProgram:
        """torch.export's program, decomposed once for all lanes."""
        return self._once("_exported", self._export)

    @property
    def exported_raw(self) -> torch.export.ExportedProgram:
        """torch.export's program as it is. What decomposes it makes another."""
        return self._once("_exported_raw", self._export_raw)

    def onnx_file(self, importer: Importer, opset: int | None = None) -> onnx.ModelProto:
        """torch.onnx's file, of either exporter, with constants folded; a copy at each call."""
        import onnx

        name = f"_{importer}_{opset}"
        return onnx.load_from_string(self._once(name, lambda: self._folded(importer, opset)))

    def onnx_file_as_exported(self, importer: Importer, opset: int | None = None) -> onnx.ModelProto:
        """The same file before that; a copy at each call."""
        import onnx

        return onnx.load_from_string(self._exported_file(importer, opset))

    def torch_inputs(self) -> tuple[torch.Tensor, ...]:
        """New tensors, laid out in memory as the case says."""
        items = [item for item in self.case.graph.inputs if not item.role.is_owned]
        return tuple(laid_out(to_torch(self.case.tensors[item.value.name]), item.layout) for item in items)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name in self._failed:
            stage, error = self._failed[name]
            self.step(stage)
            raise error
        if name not in self.__dict__:
            try:
                self.__dict__[name] = make()
            except Exception as error:
                self._failed[name] = (self._stage, error)
                raise
        value: T = self.__dict__[name]
        return value

    def _export_raw(self) -> torch.export.ExportedProgram:
        import torch

        model = self.model
        self.step(Stage.EXPORT)
        with torch.no_grad():
            program: torch.export.ExportedProgram = torch.export.export(model, self.torch_inputs())
            return program

    def _export(self) -> torch.export.ExportedProgram:
        import torch

        program = self.exported_raw
        self.step(Stage.EXPORT)
        with torch.no_grad():
            decomposed: torch.export.ExportedProgram = program.run_decompositions()
            return decomposed

    def _folded(self, importer: Importer, opset: int | None) -> bytes:
        from fuzzer.lanes.base.onnx_file import fold_constants

        file = self._exported_file(importer, opset)
        self.step(Stage.VERIFY)
        return fold_constants(file)

    def _exported_file(self, importer: Importer, opset: int | None) -> bytes:
        return self._once(f"_{importer}_{opset}_as_exported", lambda: self._export_onnx(importer, opset))

    def _export_onnx(self, importer: Importer, opset: int | None) -> bytes:
        import torch

        model = self.model
        file: Any = io.BytesIO()  # torch documents file objects, its annotation lacks them
        self.step(Stage.EXPORT)
        options: dict[str, Any] = {"input_names": list(self.inputs), "opset_version": opset}
        with torch.no_grad():
            if importer is Importer.ONNX_DYNAMO:
                torch.onnx.export(model, self.torch_inputs(), file, dynamo=True, verbose=False, **options)
            else:
                torch.onnx.export(model, self.torch_inputs(), file, dynamo=False, **options)
        written: bytes = file.getvalue()
        return written


def build_model(source: str, params: Mapping[str, Array]) -> torch.nn.Module:
    """Run rendered source (made from a checked graph, never read from a file) and construct its Model."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<case>", "exec"), namespace)
    model: torch.nn.Module = namespace["Model"](*(to_torch(array) for array in params.values()))
    return model.eval()


def to_torch(array: Array) -> torch.Tensor:
    """A contiguous tensor with memory of its own."""
    import torch

    half = array.dtype == DType.BFLOAT16.numpy  # torch does not know numpy's extension types
    tensor = torch.from_numpy(np.array(array.view(np.int16) if half else array))
    tensor = tensor.clone(memory_format=torch.contiguous_format)  # numpy's strides of empty arrays are zero
    return tensor.view(torch.bfloat16) if half else tensor


def from_torch(tensor: torch.Tensor) -> Array:
    import torch

    tensor = tensor.detach().contiguous()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(DType.BFLOAT16.numpy)
    array: Array = tensor.numpy()
    return array


def laid_out(tensor: torch.Tensor, layout: Layout) -> torch.Tensor:
    """The same numbers with other strides (`generators.graph.Layout`)."""
    match layout:
        case Layout.CONTIGUOUS:
            return tensor
        case Layout.TRANSPOSED:
            order = tuple(reversed(range(tensor.dim())))
            return tensor.permute(order).contiguous().permute(order)
        case Layout.STRIDED:
            return tensor.repeat_interleave(2, -1)[..., ::2]
        case Layout.EXPANDED:
            return tensor[:1].expand(tensor.shape)
