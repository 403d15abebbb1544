"""The interface of a lane, and a case with the front-end work that its lanes share. Imported in children only."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from generators.graph import Array, Case, DType, Layout
from generators.onnx.source import File
from generators.onnx.source import render as render_file
from generators.torch.source import render
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Built, Ran, Stage

if TYPE_CHECKING:
    import onnx
    import torch

    from fuzzer.lanes.envelope.program import Program


class Step(Protocol):
    """Called before each stage of a lane, so that the stage of a segfault is known too."""

    def __call__(self, stage: Stage, /) -> None: ...

    def note(self, **facts: object) -> None:
        """Record fields of `Facts` at once. They are kept however the lane ends."""


class Quiet:
    """A step that records nothing."""

    def __call__(self, stage: Stage, /) -> None: ...

    def note(self, **facts: object) -> None: ...


T = TypeVar("T")


class Lane(Protocol):
    """The code of an engine. An exception that `run` raises becomes the outcome of the lane."""

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        """Return why this lane does not run this case, or None."""

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built: ...


class PreparedCase:
    """A case, and the work before TVM that its lanes share. Each part is done once, when it is first needed.

    A part that raised an exception raises it again at once. No lane gets an object that it could change for others:
    each lane imports its own module, and files and tensors are copied.
    """

    def __init__(self, case: Case, step: Callable[[Stage], None], before: PreparedCase | None = None) -> None:
        """`before` is an earlier case of this process. Its exported programs are taken over if they are the same."""
        self.case = case
        self._step = step
        self._stage = Stage.START
        self._failed: dict[str, tuple[Stage, Exception, TracebackType | None]] = {}
        if before is not None and _exports_the_same(case, before.case):
            for name in _EXPORTED_PROGRAMS & before.__dict__.keys():
                self.__dict__[name] = before.__dict__[name]

    def report_to(self, step: Callable[[Stage], None]) -> None:
        """Report the stages of further lanes to `step`."""
        self._step, self._stage = step, Stage.START

    def step(self, stage: Stage) -> None:
        self._stage = stage
        self._step(stage)

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        """The inputs of the model, in the order of the parameters of `forward`, or of the file of a case of ONNX."""
        return self.file.inputs if self.case.graph.opset else self.case.inputs

    @cached_property
    def file(self) -> File:
        """The file of a case of ONNX, at the sizes of the case."""
        return render_file(self.case.bound, self.case.tensors)

    @property
    def model(self) -> torch.nn.Module:
        """A new PyTorch module of the case, in eval mode, in the dtypes of the case."""
        self.step(Stage.RENDER)
        return build_model(render(self.case.bound), self.case.owned)

    @property
    def exported(self) -> torch.export.ExportedProgram:
        """The exported program, decomposed once for all lanes."""
        return self._once("_exported", self._export)

    @property
    def exported_raw(self) -> torch.export.ExportedProgram:
        """The exported program, not decomposed. Decomposition makes a new program, so lanes can share this one."""
        return self._once("_exported_raw", self._export_raw)

    def onnx_file(self, importer: Importer, opset: int | None = None) -> onnx.ModelProto:
        """A copy of the file that one of the exporters of torch.onnx writes, with constants folded; or of the file of a
        case of ONNX, at this opset."""
        import onnx

        make = self._model if importer is Importer.ONNX_MODEL else self._folded
        return onnx.load_from_string(self._once(f"_{importer}_{opset}", lambda: make(importer, opset)))

    def onnx_file_with_open_sizes(self) -> onnx.ModelProto:
        """The file of a case of ONNX, with names for its symbolic dimensions."""
        from fuzzer.lanes.onnx.proto import to_proto

        return to_proto(render_file(self.case.graph, self.case.tensors).model)

    @property
    def onnx_program(self) -> Program:
        """The nodes of a case of ONNX in float64. Every run begins with the numbers of the case."""
        return self._once("_onnx_program", self._onnx_program_of_case)

    def onnx_file_as_exported(self, importer: Importer, opset: int | None = None) -> onnx.ModelProto:
        """A copy of the file as it was exported, without constant folding."""
        import onnx

        return onnx.load_from_string(self._exported_file(importer, opset))

    def torch_inputs(self) -> tuple[torch.Tensor, ...]:
        """New tensors, each in the memory layout that the case gives for it."""
        items = [item for item in self.case.graph.inputs if not item.role.is_owned]
        return tuple(laid_out(to_torch(self.case.tensors[item.value.name]), item.layout) for item in items)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name in self._failed:
            stage, failure, raised_at = self._failed[name]
            self.step(stage)
            raise failure.with_traceback(raised_at)  # without the frames of lanes that got it before
        if name not in self.__dict__:
            try:
                self.__dict__[name] = make()
            except Exception as error:
                self._failed[name] = (self._stage, error, error.__traceback__)
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

    def _model(self, importer: Importer, opset: int | None) -> bytes:
        from fuzzer.lanes.onnx.proto import to_proto

        self.step(Stage.RENDER)
        model = to_proto(self.file.model)
        if opset is not None and opset != self.case.graph.opset:
            from fuzzer.lanes.onnx.converted import converted  # asks onnxruntime, which other toolchains have not

            self.step(Stage.VERIFY)
            model = converted(model, opset, self.inputs)
        written: bytes = model.SerializeToString()
        return written

    def _onnx_program_of_case(self) -> Program:
        from fuzzer.lanes.envelope.program import Program
        from fuzzer.lanes.onnx.kernel import ONNX

        return Program(self.case, ONNX)

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
        file: Any = io.BytesIO()  # torch.onnx.export accepts file objects, but its annotation does not
        self.step(Stage.EXPORT)
        options: dict[str, Any] = {"input_names": list(self.inputs), "opset_version": opset}
        with torch.no_grad():
            if importer is Importer.ONNX_DYNAMO:
                torch.onnx.export(model, self.torch_inputs(), file, dynamo=True, verbose=False, **options)
            else:
                torch.onnx.export(model, self.torch_inputs(), file, dynamo=False, **options)
        written: bytes = file.getvalue()
        return written


_EXPORTED_PROGRAMS = {"_exported_raw", "_exported"}


def _exports_the_same(case: Case, other: Case) -> bool:
    """Whether torch.export gives the same program: it sees the types and layouts of inputs, and never their numbers.

    The exporters of ONNX files run the model, and do see numbers.
    """
    if case.graph != other.graph or case.sizes != other.sizes:
        return False
    return all(array.tobytes() == other.owned[name].tobytes() for name, array in case.owned.items())


def build_model(source: str, params: Mapping[str, Array]) -> torch.nn.Module:
    """Execute rendered source and construct its class `Model`. The source is made from a checked graph, never read."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<case>", "exec"), namespace)
    model: torch.nn.Module = namespace["Model"](*(to_torch(array) for array in params.values()))
    return model.eval()


def to_torch(array: Array) -> torch.Tensor:
    """Copy an array to a new contiguous tensor."""
    import torch

    half = array.dtype == DType.BFLOAT16.numpy  # torch does not support numpy's extension types
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
    """Return a tensor with the same numbers and the strides of a `Layout`."""
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
