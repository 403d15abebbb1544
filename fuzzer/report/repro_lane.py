"""The part of `repro.py` that does what a lane did: import, passes, compilation, run."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.lanes import EVERY_ROAD
from fuzzer.open_sizes import linear, sample_sizes
from fuzzer.report import repro_gradient, repro_relay, repro_target
from generators.graph import Case, Dim, Expr
from oracles.finding import Excess, Finding, Mismatch, Quantity, SideEffect
from oracles.lane import (
    CONSUMING,
    DEFAULT_OPT_LEVEL,
    Engine,
    Execution,
    Importer,
    LaneSpec,
    Params,
    Pipeline,
    gives_gradients,
    speaks_relay,
)
from oracles.outcome import IllFormed, Mutant
from oracles.targets import NAMED as TARGETS
from oracles.transforms import NAMED as TRANSFORMS
from oracles.transforms import ROUND_TRIPS

IMPORT = "import"
"""The name of the step after which an imported module is looked at."""

_ONNX = """
    file = io.BytesIO()
    torch.onnx.export(model, tuple(inputs.values()), file, @EXPORTER@, input_names=list(inputs))
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
    mod = from_onnx(onnx_model@KEEP@)
    args = [inputs[item.name] for item in onnx_model.graph.input if item.name in inputs]
"""
_FROM_EXPORT = """
    mod = from_exported_program(torch.export.export(model, tuple(inputs.values()))@KEEP@)
    args = list(inputs.values())
"""
_EXPORTED = """
    program = torch.export.export(model, tuple(inputs.values()))@DECOMPOSED@
    return [output.numpy() for output in program.module()(*inputs.values())]
"""
_FROM_FX = """
    types = [(arg.shape, str(arg.dtype).removeprefix("torch.")) for arg in inputs.values()]
    mod = from_fx(torch.fx.symbolic_trace(model), types@KEEP@)
    args = list(inputs.values())
"""
_DYNAMO = """
    @tvm.transform.module_pass(opt_level=0)
    def passes(mod, _):
        with tvm.target.Target("llvm"):
@PASSES@
        return mod

    compiled = torch.compile(model, backend=relax_dynamo(passes), dynamic=False)
    return [output.numpy() for output in compiled(*inputs.values())]
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
    mod = from_exported_program(program@KEEP@)
    args = list(inputs.values())
"""
_DETACH = """
    mod, params = detach_params(mod)
    params = list(params["main"])
"""
_LIBRARY = """
    path = os.path.join(tempfile.mkdtemp(), "model.so")
    executable.export_library(path@OPTIONS@)
    executable = tvm.runtime.load_module(path)
"""
_RUN = """
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(arg.numpy()) for arg in args)@PARAMS@)
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
_PARAMS = {
    Params.INPUTS: ", *params",
    Params.BUNDLED: ", tuple(params)",
    Params.LIFTED: ', *vm["main_transform_params"](params)',
    Params.LIFTED_CONSUMING: ', *vm["main_transform_params"](params)',
    Params.LIFTED_SHARED: ', *vm["transform_params"](params)',
}
"""What main takes after the model's inputs."""
_BEFORE_PASSES = {
    Params.REBOUND: [
        'own = mod["main"].params[-len(params) :]',
        'mod = relax.transform.BindParams("main", dict(zip(own, params)))(mod)',
    ],
    Params.BUNDLED: ["mod = relax.transform.BundleModelParams()(mod)"],
    Params.LIFTED: ["mod = relax.transform.LiftTransformParams()(mod)"],
    Params.LIFTED_CONSUMING: ["mod = relax.transform.LiftTransformParams()(mod)"],
    Params.LIFTED_SHARED: ["mod = relax.transform.LiftTransformParams(shared_transform=True)(mod)"],
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
        'open("/proc/self/clear_refs", "w").write("5")  # proc(5): the peak starts anew\n    began = peak_bytes()',
        "return peak_bytes() - began",
    ),
    Quantity.CONSTANTS: ("", "return constant_bytes(mod)"),
}
_PEAK = """
def peak_bytes():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
"""
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
    texts = [repro_target.placed(text, finding) for text in _functions(case, finding)]
    helpers = dict.fromkeys(TRANSFORMS[name].helper for name in finding.lane.passes if TRANSFORMS[name].helper)
    return [*helpers, *repro_target.blocks(finding), *texts]


def _functions(case: Case, finding: Finding) -> list[str]:
    lane = finding.lane
    if speaks_relay(lane):
        return _in_relay(finding)
    built = repro_target.ending(finding)
    match finding.evidence:
        case IllFormed(after=after):
            looking = [_AFTER_EACH_PASS.replace("@AFTER@", after)] if _by_instrument(after) else []
            return [_CHECKER, *looking, _function("run_lane", case, lane, check_after=after, run=built)]
        case Mutant(legalised=legalised, edits=edits):
            mod = _FROM_EXPORT.replace("@KEEP@", "").split("\n    args")[0].strip("\n")
            mod += "\n    mod = relax.transform.LegalizeOps()(mod)" if legalised else ""
            broken = _MUTANT.replace("@IMPORT@", mod).replace("@EDITS@", _python(edits))
            return [
                broken,
                _named(
                    "run_lane",
                    "    mod, args = broken_module(), list(inputs.values())"
                    + _rest(lane, _RUN.replace("@PARAMS@", "")),
                ),
            ]
        case Excess(quantity=quantity):
            first, last = _MEASURES[quantity]
            helper = [{Quantity.CONSTANTS: _CONSTANTS, Quantity.MEMORY: _PEAK}.get(quantity, "")]
            return [*filter(None, helper), _function("run_lane", case, lane, measured=(quantity, first, last))]
        case SideEffect():
            return [_function("run_lane", case, lane, run=_watched(lane))]
        case Mismatch(against=against) if (plain := _lane_named(against)) and beside(finding):
            return [_function("run_lane", case, lane), _function("run_plain", case, plain)]
        case _:
            return [_function("run_lane", case, lane, run=built)]


def _in_relay(finding: Finding) -> list[str]:
    match finding.evidence:
        case Excess(quantity=quantity):
            return [repro_relay.function("run_lane", finding.lane, *_MEASURES[quantity])]
        case Mismatch(against=against) if (plain := _lane_named(against)) and beside(finding):
            return [repro_relay.function("run_lane", finding.lane), repro_relay.function("run_plain", plain)]
        case _:
            return [repro_relay.function("run_lane", finding.lane)]


def beside(finding: Finding) -> bool:
    """Whether the script holds the lane against another of TVM's, bit for bit."""
    evidence = finding.evidence
    if not isinstance(evidence, Mismatch) or _lane_named(evidence.against) is None:
        return False
    return evidence.worst is None or evidence.worst.truth is None


def _lane_named(name: str) -> LaneSpec | None:
    return next((lane for lane in EVERY_ROAD if lane.name == name), None)


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
        return _named(name, _onnx(lane) + _ONNXRUNTIME)
    if lane.engine is Engine.TORCH and lane.importer.is_exported:
        raw = lane.importer is Importer.EXPORT_RAW
        return _named(name, _EXPORTED.replace("@DECOMPOSED@", "" if raw else ".run_decompositions()"))
    if lane.importer is Importer.DYNAMO:
        return _named(name, _dynamo(lane, check_after))
    body = _imported(case, lane)
    if check_after == IMPORT:
        body += "    check(mod)\n"
    run = run or (
        repro_gradient.RUN if gives_gradients(lane) else _RUN.replace("@PARAMS@", _PARAMS.get(lane.params, ""))
    )
    if measured is None:
        return _named(name, body + _rest(lane, run, check_after))
    quantity, first, last = measured
    body += f"    {first}\n"
    if quantity is Quantity.CONSTANTS:
        return _named(name, body + "\n".join(f"    {line}" for line in _transforms(lane, "")) + f"\n    {last}")
    unloaded = quantity is Quantity.LIBRARY or TARGETS[lane.target].written
    load = "" if unloaded else "    relax.VirtualMachine(executable, tvm.cpu())\n"
    return _named(name, body + _rest(lane, f"{load}    {last}"))


def _named(name: str, body: str) -> str:
    return f"def {name}():\n" + "\n".join(line for line in body.split("\n") if line.strip())


def _imported(case: Case, lane: LaneSpec) -> str:
    """The lines that make `mod` and `args`, and `params` where they are not bound."""
    if gives_gradients(lane):
        return repro_gradient.imported(case)
    keep, option = lane.params is not Params.BOUND, "keep_params_as_input"
    match lane.importer:
        case Importer.ONNX | Importer.ONNX_DYNAMO:
            body, option = _onnx(lane) + _FROM_ONNX, "keep_params_in_input"
        case Importer.FX:
            body = _FROM_FX
        case Importer.EXPORT_RAW:
            body = _FROM_EXPORT.replace("@KEEP@", ", run_ep_decomposition=False@KEEP@")
        case _:
            body = _open_sizes(case) if lane.symbolic else _FROM_EXPORT
    return body.replace("@KEEP@", f", {option}=True" if keep else "") + (_DETACH if keep else "")


def _onnx(lane: LaneSpec) -> str:
    exporter = f"dynamo={lane.importer is Importer.ONNX_DYNAMO}"
    return _ONNX.replace("@EXPORTER@", exporter + (f", opset_version={lane.opset}" if lane.opset else ""))


def _dynamo(lane: LaneSpec, check_after: str) -> str:
    lines = _transforms(lane, check_after)
    if lane.pipeline is not Pipeline.DEFAULT:
        lines.append(f'mod = relax.get_pipeline("{lane.pipeline}")(mod)')
    passes = "\n".join(f"            {line}" for line in lines or ["pass"])
    body = _DYNAMO.replace("@PASSES@", passes)
    if context := _context(lane, check_after):
        call = "    return [output.numpy() for"
        body = body.replace(call, f"    with tvm.transform.PassContext({', '.join(context)}):\n    {call}")
    return body


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
    lines = _transforms(lane, check_after)
    if lane.pipeline is Pipeline.ZERO:
        lines.append('mod = relax.get_pipeline("zero")(mod)')
    if lane.passes or lane.pipeline is not Pipeline.DEFAULT or not _is_plain(lane.target):
        lines = [f"with {_target(lane)} as target:", *("    " + line for line in [*lines, _compile(lane, "target")])]
    else:
        lines.append(_compile(lane, f'"{lane.target}"'))
    if context := _context(lane, check_after):
        lines = [f"with tvm.transform.PassContext({', '.join(context)}):", *("    " + line for line in lines)]
    text = "".join(f"    {line}\n" for line in lines)
    row = TARGETS[lane.target]
    if row.compilers or lane.as_library or "path" in run:
        options = f', cc="{row.compilers[0]}", options={list(row.flags)!r}' if row.compilers else ""
        text += _LIBRARY.replace("@OPTIONS@", options)
    return f"\n{text}{run}"


def _compile(lane: LaneSpec, target: str) -> str:
    whole = ", relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)"
    more = whole if lane.pipeline is Pipeline.CPU else ""
    if lane.executor is Execution.COMPILED:
        return f'executable = relax.build(mod, {target}{more}, exec_mode="compiled")'
    return f"executable = tvm.compile(mod, {target}{more})"


def _context(lane: LaneSpec, check_after: str) -> list[str]:
    """The arguments of PassContext that are not its defaults."""
    options = [*lane.options, *([] if lane.asserts else ["tirx.disable_assert"])]
    options += [CONSUMING] if lane.params is Params.LIFTED_CONSUMING else []
    context = [f"opt_level={lane.opt_level}"] if lane.opt_level != DEFAULT_OPT_LEVEL else []
    context += [f"config={dict.fromkeys(options, True)!r}".replace("'", '"')] if options else []
    context += [f"disabled_pass={list(lane.disabled)!r}".replace("'", '"')] if lane.disabled else []
    return context + (["instruments=[Checker()]"] if _by_instrument(check_after) else [])


def _by_instrument(check_after: str) -> bool:
    """Whether it is a pass of TVM's that the module is looked at after."""
    return check_after not in ("", IMPORT, *ROUND_TRIPS)


def _watched(lane: LaneSpec) -> str:
    call = f'vm["main"](*tensors{_PARAMS.get(lane.params, "")})'
    if gives_gradients(lane):
        call = 'list(vm["main_adjoint"](*tensors)[1])'
    return _RUN_WATCHED.replace("@CALL@", call)


def _transforms(lane: LaneSpec, check_after: str) -> list[str]:
    lines = list(_BEFORE_PASSES.get(lane.params, []))
    for name in lane.passes:
        lines.append(f"mod = {TRANSFORMS[name].source}")
        if name == check_after and name in ROUND_TRIPS:
            lines.append("check(mod)")
    return lines


def _target(lane: LaneSpec) -> str:
    config = dict(TARGETS[lane.target].config)
    plain = _is_plain(lane.target)
    return f'tvm.target.Target("{lane.target}")' if plain else f"tvm.target.Target({config!r})".replace("'", '"')


def _is_plain(target: str) -> bool:
    """Whether its name is all that TVM needs."""
    return dict(TARGETS[target].config) == {"kind": target}
