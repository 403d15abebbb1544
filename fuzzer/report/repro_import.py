"""The part of `repro.py` that reads the model: gives `mod`, and `params` where they are not bound."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fuzzer.open_sizes import linear, sample_sizes
from fuzzer.report import repro_gradient
from fuzzer.report.python_source import tuple_of
from generators.graph import Case, Dim, Expr
from oracles.lane import Importer, LaneSpec, Params, gives_gradients

ONNX_FILE = """
    file = io.BytesIO()
    torch.onnx.export(model, inputs, file, @EXPORTER@, input_names=names)
    folded = ir.serde.deserialize_model(onnx.load_from_string(file.getvalue()))
    optimizer.fold_constants(folded, onnx_shape_inference=True, should_fold=lambda node: True)
    optimizer.remove_unused_nodes(folded)
    onnx_model = ir.serde.serialize_model(folded)
    feeds = dict(zip(names, inputs))
"""
_FROM_ONNX = """
    mod = from_onnx(onnx_model@KEEP@)
    args = [feeds[item.name] for item in onnx_model.graph.input if item.name in feeds]
"""
_FROM_MODEL = """
    mod = from_onnx(model@KEEP@)
"""
FROM_EXPORT = """
    mod = from_exported_program(torch.export.export(model, inputs)@KEEP@)
"""
_FROM_FX = """
    types = [(x.shape, str(x.dtype).removeprefix("torch.")) for x in inputs]
    mod = from_fx(torch.fx.symbolic_trace(model), types@KEEP@)
"""
_FROM_OPEN_SIZES = """
@DIMS@
    static, auto = torch.export.Dim.STATIC, torch.export.Dim.AUTO
    sample = @SAMPLE@  # other sizes than those it will run at
    try:
        program = torch.export.export(model, sample, dynamic_shapes=@NAMED@)
    except torch._dynamo.exc.UserError:
        program = torch.export.export(model, sample, dynamic_shapes=@AUTO@)
    mod = from_exported_program(program@KEEP@)
"""
_DETACH = """
    mod, params = detach_params(mod)
    params = list(params["main"])
"""


def imported(case: Case, lane: LaneSpec, *, built: bool) -> str:
    """`built`: the script builds the ONNX file itself."""
    if gives_gradients(lane):
        return repro_gradient.imported(case)
    keep, option = lane.params is not Params.BOUND, "keep_params_as_input"
    match lane.importer:
        case Importer.ONNX | Importer.ONNX_DYNAMO:
            body, option = _FROM_MODEL if built else onnx_file(lane) + _FROM_ONNX, "keep_params_in_input"
        case Importer.FX:
            body = _FROM_FX
        case Importer.EXPORT_RAW:
            body = FROM_EXPORT.replace("@KEEP@", ", run_ep_decomposition=False@KEEP@")
        case _:
            body = _open_sizes(case) if lane.symbolic else FROM_EXPORT
    return body.replace("@KEEP@", f", {option}=True" if keep else "") + (_DETACH if keep else "")


def arguments(lane: LaneSpec, *, built: bool) -> str:
    """What main takes of the model's inputs, as the inside of a generator: TVM's tensors in main's order."""
    if not lane.importer.is_onnx:
        return "tvm.runtime.tensor(x.numpy()) for x in inputs"
    if built:
        return "tvm.runtime.tensor(x) for x in inputs.values()"
    return "tvm.runtime.tensor(x.numpy()) for x in args"


def onnx_file(lane: LaneSpec) -> str:
    return ONNX_FILE.replace("@EXPORTER@", exporter(lane))


def exporter(lane: LaneSpec) -> str:
    """The arguments of torch.onnx.export that say which exporter it is."""
    opset = f", opset_version={lane.opset}" if lane.opset else ""
    return f"dynamo={lane.importer is Importer.ONNX_DYNAMO}{opset}"


def _open_sizes(case: Case) -> str:
    """The lines that make `mod` for all sizes, as `fuzzer.lanes.symbolic` does."""
    dims = "\n".join(
        f'    {s.name} = torch.export.Dim("{s.name}", min={s.low}, max={s.high})' for s in case.graph.symbols
    )
    values = [item.value for item in case.graph.inputs if not item.role.is_owned]
    sizes = sample_sizes(case)
    sample = tuple_of([f"torch.zeros({v.type.bind(sizes).sizes}, dtype=torch.{v.type.dtype})" for v in values])
    named, auto = (_shapes([v.type.shape for v in values], names=names) for names in (True, False))
    text = _FROM_OPEN_SIZES.replace("@DIMS@", dims).replace("@SAMPLE@", sample)
    return text.replace("@NAMED@", named).replace("@AUTO@", auto)


def _shapes(shapes: Sequence[tuple[Dim, ...]], *, names: bool) -> str:
    def one(size: Dim) -> str:
        if not isinstance(size, Expr):
            return "static"
        return re.sub(r"(?<=\w)([*+-])", r" \1 ", str(size)) if names and linear(size) else "auto"

    return tuple_of([tuple_of([one(size) for size in shape]) for shape in shapes])
