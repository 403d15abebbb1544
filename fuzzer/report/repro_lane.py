"""The part of `repro.py` that does what a lane did: import, passes, compilation, run."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.lanes import SAMPLED_LANES, TVM_LANES
from fuzzer.open_sizes import linear, sample_sizes
from fuzzer.report import repro_gradient
from generators.graph import Case, Dim, Expr
from oracles.finding import Excess, Finding, Mismatch, Quantity, SideEffect
from oracles.lane import DEFAULT_OPT_LEVEL, Engine, Importer, LaneSpec, gives_gradients
from oracles.outcome import IllFormed, Mutant

IMPORT = "import"
"""The name of the step after which an imported module is looked at."""

_ONNX = """
    file = io.BytesIO()
    torch.onnx.export(model, tuple(inputs.values()), file, dynamo=False, input_names=list(inputs))
    folded = ir.serde.deserialize_model(onnx.load_from_string(file.getvalue()))
    optimizer.fold_constants(folded, onnx_shape_inference=True, should_fold=lambda node: True)
    optimizer.remove_unused_nodes(folded)
    onnx_model = ir.serde.serialize_model(folded)
"""
_ONNXRUNTIME = """
    session = onnxruntime.InferenceSession(onnx_model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {item.name: inputs[item.name].numpy() for item in session.get_inputs()})
"""
_FROM_ONNX = """
    mod = from_onnx(onnx_model)
    args = [inputs[item.name] for item in onnx_model.graph.input if item.name in inputs]
"""
_FROM_EXPORT = """
    mod = from_exported_program(torch.export.export(model, tuple(inputs.values())))
    args = list(inputs.values())
"""
_FROM_OPEN_SIZES = """
@DIMS@
    static, auto = torch.export.Dim.STATIC, torch.export.Dim.AUTO
    # exported at other sizes than those it will run at
    sample = @SAMPLE@
    try:
        program = torch.export.export(model, sample, dynamic_shapes=@NAMED@)
    except torch._dynamo.exc.UserError:
        program = torch.export.export(model, sample, dynamic_shapes=@AUTO@)
    mod = from_exported_program(program)
    args = list(inputs.values())
"""
_DETACH = """
    mod, params = detach_params(mod)
"""
_LIBRARY = """
    path = os.path.join(tempfile.mkdtemp(), "model.so")
    executable.export_library(path@OPTIONS@)
    executable = tvm.runtime.load_module(path)
"""
_RUN = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(arg.numpy()) for arg in args))
    return [out.numpy()] if hasattr(out, "numpy") else [item.numpy() for item in out]
"""
_RUN_LIFTED = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    lifted = vm["main_transform_params"](params["main"])
    out = vm["main"](*(tvm.runtime.tensor(arg.numpy()) for arg in args), *lifted)
    return [out.numpy()] if hasattr(out, "numpy") else [item.numpy() for item in out]
"""
_RUN_WATCHED = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    tensors = [tvm.runtime.tensor(arg.numpy()) for arg in args]
    before = [tensor.numpy().tobytes() for tensor in tensors]
    out = @CALL@
    outputs = [out] if hasattr(out, "numpy") else list(out)
    changed = [i for i, tensor in enumerate(tensors) if tensor.numpy().tobytes() != before[i]]
    own = [tensor.data_ptr() for tensor in tensors if tensor.numpy().nbytes]
    shared = [i for i, output in enumerate(outputs) if output.numpy().nbytes and output.data_ptr() in own]
    return changed, shared
"""
_ROUND_TRIPS = {
    "ScriptRoundTrip": "mod = tvm.script.from_source(mod.script(show_meta=True))",
    "JsonRoundTrip": "mod = tvm.ir.load_json(tvm.ir.save_json(mod))",
}
_CHECKER = """
broken = []


def check(mod):
    try:
        relax.analysis.well_formed(mod)
    except Exception as error:
        broken.append(f"{type(error).__name__}: {error}")
"""
_AFTER_EACH_PASS = """
@tvm.ir.instrument.pass_instrument
class Checker:
    def run_after_pass(self, mod, info):
        if info.name == "@AFTER@":
            check(mod)
"""
_MUTANT = """
def broken_module():
@IMPORT@
    document = json.loads(tvm.ir.save_json(mod))
    for number, node in @EDITS@:
        document["nodes"][number : number + 1] = [node]
    return tvm.ir.load_json(json.dumps(document))
"""
_MEASURES = {
    Quantity.LIBRARY: ("", "return os.path.getsize(path)"),
    Quantity.TIME: ("began = time.process_time()", "return time.process_time() - began"),
    Quantity.MEMORY: (
        "began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss",
        "return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - began) * 1024",
    ),
    Quantity.CONSTANTS: ("", "return constant_bytes(mod)"),
}
_CONSTANTS = """
def constant_bytes(mod):
    sizes = {}

    def look(expr):
        if isinstance(getattr(expr, "value", None), tvm.runtime.Tensor):
            sizes[expr.value.data_ptr()] = expr.value.numpy().nbytes

    for function in mod.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return sum(sizes.values())
"""


def functions(case: Case, finding: Finding) -> list[str]:
    """`run_lane()`, and what it needs. It gives the outputs as numpy arrays, or what the evidence is about."""
    lane = finding.lane
    match finding.evidence:
        case IllFormed(after=after):
            looking = [_AFTER_EACH_PASS.replace("@AFTER@", after)] if _by_instrument(after) else []
            return [_CHECKER, *looking, _function("run_lane", case, lane, check_after=after)]
        case Mutant(legalised=legalised, edits=edits):
            mod = _FROM_EXPORT.split("\n    args")[0].strip("\n")
            mod += "\n    mod = relax.transform.LegalizeOps()(mod)" if legalised else ""
            broken = _MUTANT.replace("@IMPORT@", mod).replace("@EDITS@", _python(edits))
            return [
                broken,
                _named("run_lane", "    mod, args = broken_module(), list(inputs.values())" + _rest(lane, _RUN)),
            ]
        case Excess(quantity=quantity):
            first, last = _MEASURES[quantity]
            helper = [_CONSTANTS] if quantity is Quantity.CONSTANTS else []
            return [*helper, _function("run_lane", case, lane, measured=(quantity, first, last))]
        case SideEffect():
            return [_function("run_lane", case, lane, run=_watched(lane))]
        case Mismatch(against=against) if (plain := _lane_named(against)) and beside(finding):
            return [_function("run_lane", case, lane), _function("run_plain", case, plain)]
        case _:
            return [_function("run_lane", case, lane)]


def beside(finding: Finding) -> bool:
    """Whether the script holds the lane against another of TVM's, bit for bit."""
    evidence = finding.evidence
    if not isinstance(evidence, Mismatch) or _lane_named(evidence.against) is None:
        return False
    return evidence.worst is None or not evidence.worst.tolerance > 0


def _lane_named(name: str) -> LaneSpec | None:
    return next((lane for lane in (*TVM_LANES, *SAMPLED_LANES) if lane.name == name), None)


def _python(json: str) -> str:
    """What JSON and Python write alike, but for three words."""
    for word, other in (("null", "None"), ("true", "True"), ("false", "False")):
        json = json.replace(f": {word}", f": {other}")
    return json


def _function(
    name: str,
    case: Case,
    lane: LaneSpec,
    check_after: str = "",
    measured: tuple[Quantity, str, str] | None = None,
    run: str = "",
) -> str:
    if lane.engine is Engine.ONNXRUNTIME:
        return _named(name, _ONNX + _ONNXRUNTIME)
    body = _ONNX + _FROM_ONNX if lane.importer is Importer.ONNX else _from_export(case, lane)
    if check_after == IMPORT:
        body += "    check(mod)\n"
    run = run or (repro_gradient.RUN if gives_gradients(lane) else _RUN_LIFTED if lane.lifted else _RUN)
    if measured is None:
        return _named(name, body + _rest(lane, run, check_after))
    quantity, first, last = measured
    body += f"    {first}\n"
    if quantity is Quantity.CONSTANTS:
        return _named(name, body + "\n".join(f"    {line}" for line in _transforms(lane, "")) + f"\n    {last}")
    load = "" if quantity is Quantity.LIBRARY else "    relax.VirtualMachine(executable, tvm.cpu())\n"
    return _named(name, body + _rest(lane, f"{load}    {last}"))


def _named(name: str, body: str) -> str:
    return f"def {name}():\n" + "\n".join(line for line in body.split("\n") if line.strip())


def _from_export(case: Case, lane: LaneSpec) -> str:
    if gives_gradients(lane):
        return repro_gradient.imported(case)
    body = _open_sizes(case) if lane.symbolic else _FROM_EXPORT
    if not lane.lifted:
        return body
    keep = ", keep_params_as_input=True)\n    args"
    return body.replace(")\n    args", keep) + _DETACH


def _open_sizes(case: Case) -> str:
    """The lines that make `mod` for all sizes, as `fuzzer.lanes.symbolic` does."""
    dims = "\n".join(
        f'    {s.name} = torch.export.Dim("{s.name}", min={s.low}, max={s.high})' for s in case.graph.symbols
    )
    values = [item.value for item in case.graph.inputs if not item.role.is_owned]
    sizes = sample_sizes(case)
    sample = _tuple([f"torch.zeros({v.type.bind(sizes).sizes}, dtype=torch.{v.type.dtype})" for v in values])
    named, auto = (_shapes([v.type.shape for v in values], names=names) for names in (True, False))
    text = _FROM_OPEN_SIZES.replace("@DIMS@", dims).replace("@SAMPLE@", sample)
    return text.replace("@NAMED@", named).replace("@AUTO@", auto)


def _shapes(shapes: Sequence[tuple[Dim, ...]], *, names: bool) -> str:
    def one(size: Dim) -> str:
        if not isinstance(size, Expr):
            return "static"
        return str(size) if names and linear(size) else "auto"

    return _tuple([_tuple([one(size) for size in shape]) for shape in shapes])


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


def _rest(lane: LaneSpec, run: str, check_after: str = "") -> str:
    """From the imported module to the end of the function."""
    lines = [*_transforms(lane, check_after), f"executable = tvm.compile(mod, target={_target(lane)})"]
    context = [f"opt_level={lane.opt_level}"] if lane.opt_level != DEFAULT_OPT_LEVEL else []
    context += [] if lane.asserts else ['config={"tirx.disable_assert": True}']
    context += ["instruments=[Checker()]"] if _by_instrument(check_after) else []
    if context:
        lines = [f"with tvm.transform.PassContext({', '.join(context)}):", *("    " + line for line in lines)]
    text = "".join(f"    {line}\n" for line in lines)
    options = ', cc="gcc"' if lane.target == "c" else ""
    if lane.target == "c" or lane.as_library or "path" in run:
        text += _LIBRARY.replace("@OPTIONS@", options)
    return f"\n{text}{run}"


def _by_instrument(check_after: str) -> bool:
    """Whether it is a pass of TVM's that the module is looked at after."""
    return check_after not in ("", IMPORT, *_ROUND_TRIPS)


def _watched(lane: LaneSpec) -> str:
    call = 'vm["main"](*tensors)'
    if lane.lifted:
        call = 'vm["main"](*tensors, *vm["main_transform_params"](params["main"]))'
    elif gives_gradients(lane):
        call = 'list(vm["main_adjoint"](*tensors)[1])'
    return _RUN_WATCHED.replace("@CALL@", call)


def _transforms(lane: LaneSpec, check_after: str) -> list[str]:
    lines = ["mod = relax.transform.LiftTransformParams()(mod)"] if lane.lifted else []
    for name in lane.passes:
        lines.append(_ROUND_TRIPS.get(name, f"mod = relax.transform.{name}()(mod)"))
        if name == check_after and name in _ROUND_TRIPS:
            lines.append("check(mod)")
    if lane.pipeline:
        lines += [f"with tvm.target.Target({_target(lane)}):", f'    mod = relax.get_pipeline("{lane.pipeline}")(mod)']
    return lines


def _target(lane: LaneSpec) -> str:
    options = {"kind": lane.target, **({} if lane.llvm_opt is None else {"opt-level": lane.llvm_opt})}
    return f'"{lane.target}"' if len(options) == 1 else f"tvm.target.Target({options!r})"
